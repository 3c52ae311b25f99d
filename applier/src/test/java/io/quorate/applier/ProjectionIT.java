// SPDX-License-Identifier: Apache-2.0
package io.quorate.applier;

import static org.assertj.core.api.Assertions.assertThat;

import io.quorate.core.Payload;
import io.quorate.core.Spool;
import io.quorate.core.WriteSet;
import io.quorate.core.binlog.Projection;
import io.quorate.sandbox.MySqlServer;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Rows that were written with a column, at a server that has dropped it before. */
@Timeout(400)
class ProjectionIT {
    private static final List<String> LEFT = List.of(
            "id INT UNSIGNED PRIMARY KEY",
            "text VARCHAR(300) CHARACTER SET latin1",
            "flag BIT(11)",
            "price DECIMAL(12, 3)",
            "kind ENUM('a', 'b') CHARACTER SET utf8mb4",
            "several SET('x', 'y', 'z')",
            "document JSON",
            "at DATETIME(3)",
            "small TINYINT UNSIGNED",
            "bytes BLOB",
            "signed_one BIGINT",
            "fixed CHAR(4)",
            "place POINT");
    private static final List<String> GONE = List.of(
            "g1 VARCHAR(20)",
            "g2 INT UNSIGNED",
            "g3 ENUM('p', 'q')",
            "g4 DECIMAL(5, 2)",
            "g5 LONGTEXT",
            "g6 JSON",
            "g7 SET('r', 's')",
            "g8 TIME(2)",
            "g9 CHAR(9)",
            "g10 BIT(3)",
            "g11 POINT",
            "g12 DOUBLE",
            "g13 YEAR");

    @Test
    void whatIsLeftOfEachRowArrivesExactly() throws Exception {
        try (MySqlServer origin = MySqlServer.builder().relaxed().start();
                MySqlServer server = MySqlServer.builder().serverId(2).relaxed().start();
                Replica replica = new Replica(origin, server)) {
            replica.start(Replica.SETTINGS);
            List<String> columns = new ArrayList<>();
            for (int i = 0; i < LEFT.size(); i++) {
                columns.add(LEFT.get(i));
                columns.add(GONE.get(i));
            }
            origin.execute("CREATE DATABASE p", "CREATE TABLE p.t (" + String.join(", ", columns) + ")");
            origin.execute(
                    "INSERT INTO p.t VALUES (1, 'gone', 'grün', 1, x'0555', 'q', 12.345, 1.5, 'b', 'long', 'x,z',"
                            + " '{\"g\": 1}', '{\"a\": [1, 2]}', 'r', '2024-02-29 01:02:03.456', '11:22:33.4', 200,"
                            + " 'fix', x'00ff', 5, -9, ST_PointFromText('POINT(1 2)'), 'ab', 0.5,"
                            + " ST_PointFromText('POINT(3 4)'), 2026)",
                    "INSERT INTO p.t (id) VALUES (2), (3)",
                    "INSERT INTO p.t (id, g2, text) VALUES (4, 7, REPEAT('x', 300))",
                    "UPDATE p.t SET g1 = 'only this', g13 = 1999 WHERE id = 1",
                    "UPDATE p.t SET g5 = REPEAT('y', 70000), price = -1.001, kind = NULL WHERE id < 3",
                    "DELETE FROM p.t WHERE id = 3");
            origin.execute("ALTER TABLE p.t "
                    + String.join(
                            ", ",
                            GONE.stream()
                                    .map(column -> "DROP COLUMN " + name(column))
                                    .toList()));
            origin.execute("FLUSH BINARY LOGS");
            List<WriteSet> written = new ArrayList<>(BinlogReader.writeSets(origin.dataDirectory()));
            written.add(2, written.remove(written.size() - 1));
            Set<String> left = Set.copyOf(LEFT.stream().map(ProjectionIT::name).toList());
            replica.append(Records.certified(
                    written.stream()
                            .map(w -> w.isDefinition()
                                    ? w
                                    : w.withPayload(Projection.of(w.payload(), t -> left, Spool.HEAP)))
                            .toList(),
                    1,
                    seqno -> seqno - 1));
            replica.awaitApplied();
            replica.assertSame("p");
        }
    }

    @Test
    void rowsStayAsTheyAreWhereItCanNotBeToldWhichColumnBecameWhich() {
        try (MySqlServer server = MySqlServer.builder().relaxed().start()) {
            server.execute("CREATE DATABASE p", "CREATE TABLE p.t (id INT, a INT)", "INSERT INTO p.t VALUES (1, 2)");
            Payload row = BinlogReader.writeSets(server.dataDirectory()).get(2).payload();
            Stream.of(Set.of("id", "b"), Set.of("id", "a"), Set.of("id", "a", "b"), Set.of("b"))
                    .forEach(left -> assertThat(Projection.of(row, t -> left, Spool.HEAP))
                            .as("%s", left)
                            .isEqualTo(row));
            assertThat(Projection.of(row, t -> null, Spool.HEAP)).isEqualTo(row);
            assertThat(Projection.of(row, t -> Set.of("a"), Spool.HEAP).size()).isLessThan(row.size());
        }
    }

    private static String name(String column) {
        return column.substring(0, column.indexOf(' '));
    }
}
