// SPDX-License-Identifier: Apache-2.0
package io.quorate.sandbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(value = 5, unit = TimeUnit.MINUTES)
class MySqlServerIT {
    @TempDir
    Path directory;

    @Test
    void survivesKillAndRestartWithItsDataAndItsUuid() {
        try (MySqlServer server = MySqlServer.builder().directory(directory).start()) {
            server.execute(
                    "CREATE DATABASE shop", "CREATE TABLE shop.t (a INT PRIMARY KEY)", "INSERT shop.t VALUES (7)");
            String uuid = server.uuid();
            long pid = server.pid();

            server.kill9();
            assertThat(server.isAlive()).isFalse();
            assertThat(Ports.isFree(server.port())).isTrue();

            server.start();
            assertThat(server.queryLong("SELECT a FROM shop.t")).isEqualTo(7);
            assertThat(server.uuid()).isEqualTo(uuid);
            server.restart();
            assertThat(server.pid()).isNotEqualTo(pid).isPositive();
        }
    }

    /** What quorate check advises is a SET PERSIST, and the command line is not to be stronger. */
    @Test
    void keepsWhatSetPersistHasSet() {
        try (MySqlServer server =
                MySqlServer.builder().directory(directory).relaxed().start()) {
            server.execute("SET PERSIST sync_binlog = 7", "SET PERSIST max_connections = 33");
            server.kill9();
            server.start();
            assertThat(server.query("SELECT @@sync_binlog, @@max_connections")).containsExactly(List.of("7", "33"));
        }
    }

    @Test
    void hasTheSettingsQuorateAsksFor() {
        try (MySqlServer one = MySqlServer.builder().start();
                MySqlServer two = MySqlServer.builder()
                        .serverId(2)
                        .option("max_connections", "77")
                        .relaxed()
                        .start()) {
            assertThat(one.query("SELECT @@gtid_mode, @@binlog_format, @@binlog_row_image, @@binlog_row_metadata,"
                            + " @@sync_binlog, @@innodb_flush_log_at_trx_commit,"
                            + " @@performance_schema, @@gtid_executed"))
                    .containsExactly(List.of("ON", "ROW", "FULL", "FULL", "1", "1", "1", ""));
            assertThat(two.query("SELECT @@server_id, @@max_connections, @@sync_binlog"))
                    .containsExactly(List.of("2", "77", "0"));
            assertThat(one.uuid()).isNotEqualTo(two.uuid());
        }
    }

    @Test
    void isRecognizedByAnObjectMadeLater() {
        try (MySqlServer server = MySqlServer.builder().directory(directory).start()) {
            MySqlServer later = MySqlServer.builder()
                    .directory(directory)
                    .port(server.port())
                    .build();
            assertThat(later.pid()).isEqualTo(server.pid());
            later.stop();
            assertThat(server.isAlive()).isFalse();
        }
    }

    @Test
    void namesTheReasonWhenItCannotStart() {
        MySqlServer server = MySqlServer.builder()
                .directory(directory)
                .option("no-such-option", "1")
                .build();
        assertThatThrownBy(server::start)
                .isInstanceOf(SandboxException.class)
                .hasMessageContaining("unknown variable 'no-such-option=1'");
        assertThat(server.isAlive()).isFalse();
    }

    @Test
    void takesSettingsThatAreFixedAtInitialization() {
        try (MySqlServer server =
                MySqlServer.builder().option("lower_case_table_names", "1").start()) {
            assertThat(server.queryLong("SELECT @@lower_case_table_names")).isEqualTo(1);
        }
    }

    @Test
    void usesAnotherPlaceForASocketWhosePathIsTooLong() throws Exception {
        Path deep = Files.createDirectories(directory.resolve("d".repeat(90)));
        try (MySqlServer server = MySqlServer.builder().directory(deep).start()) {
            assertThat(server.socket().toString()).hasSizeLessThan(108);
            assertThat(server.isAlive()).isTrue();
        }
    }
}
