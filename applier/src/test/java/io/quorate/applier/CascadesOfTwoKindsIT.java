// SPDX-License-Identifier: Apache-2.0
package io.quorate.applier;

import static org.assertj.core.api.Assertions.assertThat;

import io.quorate.core.Certified;
import io.quorate.core.Payload;
import io.quorate.core.WriteSet;
import io.quorate.sandbox.MySqlDistribution;
import io.quorate.sandbox.MySqlServer;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Servers of which one has cascades in its binlog and the other has not, whose transactions are applied together to a
 * third one; skipped where MySQL 9.7 can't be had.
 */
@Timeout(300)
class CascadesOfTwoKindsIT {
    private static final Duration LOCK_WAIT = Duration.ofSeconds(20);
    private static final int STATEMENT_BYTES = 1 << 20;
    private static final String[] TABLES = {
        "SET SESSION sql_log_bin = 0",
        "CREATE DATABASE s",
        "CREATE TABLE s.p (id INT PRIMARY KEY)",
        "CREATE TABLE s.c (id INT PRIMARY KEY, p INT, FOREIGN KEY (p) REFERENCES s.p (id) ON DELETE CASCADE)",
        "CREATE TABLE s.q (id INT PRIMARY KEY)",
        "CREATE TABLE s.r (id INT PRIMARY KEY, q INT, FOREIGN KEY (q) REFERENCES s.q (id) ON DELETE CASCADE)",
        "INSERT INTO s.p VALUES (1)",
        "INSERT INTO s.c VALUES (10, 1), (11, 1)",
        "INSERT INTO s.q VALUES (1)",
        "INSERT INTO s.r VALUES (10, 1), (11, 1)",
    };

    @BeforeAll
    static void find() {
        MySqlDistribution.unavailable("9.7").ifPresent(Assumptions::abort);
    }

    private static MySqlServer start(String series, int id) {
        MySqlServer server = MySqlServer.builder()
                .series(series)
                .serverId(id)
                .relaxed()
                .option("loose-innodb-native-foreign-keys", "OFF")
                .start();
        server.execute(server.dialect().resetBinlogs());
        server.execute(TABLES);
        return server;
    }

    private static WriteSet delete(MySqlServer server, String table) {
        server.execute("DELETE FROM s." + table, "FLUSH BINARY LOGS");
        List<WriteSet> all = BinlogReader.writeSets(server.dataDirectory());
        return all.get(all.size() - 1);
    }

    private static boolean hasItsCascades(WriteSet writeSet) {
        for (Payload.Events event = writeSet.payload().events(); event.next(); ) {
            if (event.isRows()) {
                return event.cascadesAreLogged();
            }
        }
        throw new IllegalStateException("no rows in " + writeSet);
    }

    /** Also as one statement, although about the checks of foreign keys its first event decides. */
    @Test
    void eachIsCarriedOutAsItsServerDid() throws SQLException {
        try (MySqlServer older = start("8.0", 1);
                MySqlServer newer = start("9.7", 2);
                MySqlServer server = start("9.7", 3)) {
            WriteSet logged = delete(newer, "q");
            WriteSet unlogged = delete(older, "p");
            assertThat(hasItsCascades(logged)).isTrue();
            assertThat(hasItsCascades(unlogged)).isFalse();
            List<Certified> group = List.of(Records.certified(1, 0, logged), Records.certified(2, 0, unlogged));
            Statements statements = new Statements(new TableMaps(event -> null), STATEMENT_BYTES);
            statements.begin(group, 0, null, null);
            try (Session session = Session.open(ApplierDataSource.of(server.jdbcUrl(), "root", ""), LOCK_WAIT)) {
                session.binlog(statements);
                session.connection().commit();
            }
            for (String table : List.of("q", "r", "p", "c")) {
                assertThat(server.queryLong("SELECT COUNT(*) FROM s." + table))
                        .as("rows left in %s", table)
                        .isZero();
            }
        }
    }
}
