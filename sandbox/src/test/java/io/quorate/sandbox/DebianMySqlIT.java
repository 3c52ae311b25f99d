// SPDX-License-Identifier: Apache-2.0
package io.quorate.sandbox;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Skipped where Debian's archive can't be reached. */
@Timeout(900)
class DebianMySqlIT {
    private static MySqlDistribution distribution() {
        try {
            return MySqlDistribution.find(DebianMySql.SERIES, System.err::println);
        } catch (SandboxException e) {
            Assumptions.abort(e.getMessage());
            throw e;
        }
    }

    @Test
    void runsWithItsOwnLibraries() {
        MySqlDistribution distribution = distribution();
        assertThat(distribution.version()).startsWith(DebianMySql.SERIES + ".");
        for (String plugin : List.of("semisync_source.so", "mysql_clone.so", "group_replication.so")) {
            assertThat(distribution.hasPlugin(plugin)).as(plugin).isTrue();
        }
        Command.Result client =
                Command.run(Duration.ofMinutes(1), List.of(distribution.client().toString(), "--version"));
        assertThat(client.output()).contains(distribution.version());
        try (MySqlServer server =
                MySqlServer.builder().series(DebianMySql.SERIES).relaxed().start()) {
            assertThat(server.queryOne("SELECT VERSION()")).startsWith(distribution.version());
            server.execute("INSTALL PLUGIN rpl_semi_sync_source SONAME 'semisync_source.so'");
            server.stop();
            server.start();
            assertThat(server.queryOne("SELECT LOWER(CONVERT('Ä' USING utf8mb4))"))
                    .isEqualTo("ä");
        }
    }
}
