// SPDX-License-Identifier: Apache-2.0
package io.quorate.sst.stream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.quorate.core.ErrorCode;
import io.quorate.core.QuorateException;
import io.quorate.core.TableName;
import io.quorate.sandbox.MySqlServer;
import io.quorate.sst.audit.AuditedTable;
import io.quorate.sst.audit.AuditedTable.Stretch;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Rows of all types, read at one server and loaded at another one with other settings, compared byte by byte. */
@Timeout(240)
class RowsIT {
    private static final Path AWKWARD = Path.of("../applier/src/test/resources/awkward-types.sql");

    /** Rows of sessions of many settings: each server would compute these columns by its own. */
    private static final String[] STORED = {
        "USE awkward",
        "CREATE TABLE kept (id INT PRIMARY KEY,"
                + " ts TIMESTAMP NULL DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP,"
                + " u TIMESTAMP NULL ON UPDATE CURRENT_TIMESTAMP, d DATE AS (DATE(ts)) STORED,"
                + " m VARCHAR(20) AS (MONTHNAME(ts)) STORED, UNIQUE (d))",
        "CREATE TABLE stored_bag (ts TIMESTAMP, h INT AS (HOUR(ts)) STORED)",
        "CREATE TABLE mixed_bag (ts TIMESTAMP, t VARCHAR(20), h INT AS (HOUR(ts)) STORED,"
                + " d DATE AS (CAST(t AS DATE)) STORED)",
        "CREATE TABLE divided (id INT PRIMARY KEY, n INT, q DECIMAL(20, 12) AS (1 / n) STORED)",
        "CREATE TABLE sealed (id INT PRIMARY KEY, n INT, e VARBINARY(100) AS (AES_ENCRYPT(n, 'k')) STORED)",
        "CREATE TABLE of_text (id INT PRIMARY KEY, t VARCHAR(20), d DATE AS (CAST(t AS DATE)) STORED)",
        "CREATE TABLE mixed (id INT PRIMARY KEY, ts TIMESTAMP NULL, n INT, t VARCHAR(20), h INT AS (HOUR(ts)) STORED,"
                + " m VARCHAR(20) AS (MONTHNAME(ts)) STORED, q DECIMAL(20, 12) AS (1 / n) STORED,"
                + " e VARBINARY(100) AS (AES_ENCRYPT(n, 'k')) STORED, d DATE AS (CAST(t AS DATE)) STORED,"
                + " w INT AS (EXTRACT(WEEK FROM ts)) STORED)",
        "CREATE TABLE virtuals (id INT PRIMARY KEY, ts TIMESTAMP NULL, d DATE AS (DATE(ts)) VIRTUAL, UNIQUE (d))",
        "CREATE TABLE indexed (id INT PRIMARY KEY, ts TIMESTAMP NULL, UNIQUE ((DATE(ts))), KEY (ts))",
        "CREATE TABLE checked (id INT PRIMARY KEY, ts TIMESTAMP NULL, CHECK (HOUR(ts) < 7))",
        "SET time_zone = '+05:00', lc_time_names = 'de_DE'",
        "INSERT INTO virtuals (id, ts) VALUES (1, '2026-03-15 01:30:00'), (2, '2026-03-14 23:30:00')",
        "INSERT INTO indexed (id, ts) VALUES (1, '2026-03-15 01:30:00'), (2, '2026-03-14 23:30:00')",
        "INSERT INTO kept (id, ts) VALUES (1, '2026-03-15 01:30:00'), (2, '2026-03-14 23:30:00')",
        "INSERT INTO stored_bag (ts) VALUES ('2026-03-15 01:30:00'), ('2026-03-15 01:30:00')",
        "SET time_zone = '-02:30', lc_time_names = 'en_US'",
        "INSERT INTO kept (id, ts) VALUES (3, '2026-03-16 22:30:00'), (4, NULL)",
        "SET time_zone = DEFAULT",
        "INSERT INTO kept (id, ts) VALUES (5, '2026-03-18 22:30:00')",
        "INSERT INTO divided (id, n) VALUES (1, 3)",
        "INSERT INTO of_text (id, t) VALUES (1, '2026-01-01')",
        "SET div_precision_increment = 9, block_encryption_mode = 'aes-256-ecb', sql_mode = ''",
        "FLUSH TABLES",
        "INSERT INTO divided (id, n) VALUES (2, 3), (3, 0)",
        "INSERT INTO sealed (id, n) VALUES (1, 3)",
        "INSERT INTO of_text (id, t) VALUES (2, '0000-00-00')",
        "SET time_zone = '+05:45', lc_time_names = 'de_DE', default_week_format = 6",
        "FLUSH TABLES",
        "INSERT INTO mixed (id, ts, n, t) VALUES (1, '2026-03-01 01:30:00', 3, '0000-00-00')",
        "SET time_zone = '-02:30', lc_time_names = 'ja_JP', div_precision_increment = 2",
        "FLUSH TABLES",
        "INSERT INTO mixed (id, ts, n, t) VALUES (2, '2026-02-28 23:30:00', 7, '2026-02-01'), (3, NULL, 0, NULL)",
        "SET sql_mode = 'NO_ZERO_DATE'",
        "INSERT INTO of_text (id, t) VALUES (3, '0000-00-00')",
        "INSERT INTO mixed_bag (ts, t) VALUES ('2026-03-15 01:30:00', '0000-00-00')"
    };

    @TempDir
    private Path directory;

    @Test
    void everyTypeArrivesExactly() throws Exception {
        try (MySqlServer origin = MySqlServer.builder()
                        .relaxed()
                        .option("local-infile", "ON")
                        .start();
                MySqlServer server = MySqlServer.builder()
                        .serverId(2)
                        .relaxed()
                        .option("local-infile", "ON")
                        .option("default-time-zone", "-03:30")
                        .option("sql-mode", "ANSI,TRADITIONAL")
                        .option("character-set-server", "latin1")
                        .start()) {
            List<String> statements = Files.readAllLines(AWKWARD, StandardCharsets.UTF_8);
            origin.execute(Stream.concat(
                            Stream.of("CREATE DATABASE awkward", "USE awkward"),
                            statements.stream().filter(s -> !s.startsWith("--") && !s.isBlank()))
                    .toArray(String[]::new));
            origin.execute(
                    "USE awkward",
                    "CREATE TABLE huge (id INT PRIMARY KEY, b LONGBLOB)",
                    "INSERT INTO huge VALUES (1, REPEAT(x'005C090A0D27FF', 3000000)), (2, NULL)",
                    "CREATE TABLE members (s SET(" + members() + "), b BIT(64), id INT PRIMARY KEY)",
                    "INSERT INTO members VALUES (1 << 63 | 1, 1 << 63 | 1, 1)");
            origin.execute(STORED);
            copy(origin, server);
            List<String> here = contents(server);
            List<String> there = contents(origin);
            List<String> missing = new ArrayList<>(there);
            missing.removeAll(here);
            List<String> extra = new ArrayList<>(here);
            extra.removeAll(there);
            assertThat(extra).as("not at the origin; there are: %s", missing).isEmpty();
            assertThat(here).hasSameSizeAs(there).hasSizeGreaterThan(60);
            whatADonorMakesUpIsNotLoaded(server);
            whatNobodyComputesIsSaid(server);
            rowsThatFitUnderNoTimeZoneAreSaid(server);
            assertThat(contents(server)).as("nothing of it is here").isEqualTo(here);
            server.execute("UPDATE awkward.docs SET j = CAST(CAST(j AS CHAR) AS JSON) WHERE id = 2");
            assertThat(contents(server)).as("a type lost is seen").isNotEqualTo(here);
        }
    }

    /** As the service connects to its server, to which somebody else may answer. */
    @Test
    void aServerGetsNoFileThatItAsksFor() throws Exception {
        Path secret = Files.writeString(directory.resolve("secret"), "the password");
        try (MySqlServer server = MySqlServer.builder()
                        .relaxed()
                        .option("local-infile", "ON")
                        .start();
                HostileServer hostile = new HostileServer(server.port(), secret);
                Connection load = DriverManager.getConnection(
                        server.jdbcUrl().replace(":" + server.port(), ":" + hostile.port()) + "&"
                                + RowLoader.CONNECTION_PARAMETER,
                        "root",
                        "")) {
            server.execute("CREATE DATABASE s", "CREATE TABLE s.t (id INT PRIMARY KEY)");
            RowLoader.prepare(load);
            assertThat(AuditedTable.read(load, "mysql", "user")).isNull();
            assertThat(AuditedTable.read(load, "MYSQL", "user")).isNull();
            AuditedTable table = AuditedTable.read(load, "s", "t");
            ByteArrayOutputStream piece = new ByteArrayOutputStream();
            DataOutputStream out = new DataOutputStream(piece);
            out.writeInt(3);
            out.write("17\n".getBytes(StandardCharsets.UTF_8));
            out.writeInt(0);
            out.writeLong(1);
            out.writeInt(0);
            RowLoader loader = new RowLoader(
                    new DataInputStream(new ByteArrayInputStream(piece.toByteArray())), count -> {}, null, Map.of());

            hostile.asksAt("LOAD DATA LOCAL");
            assertThatThrownBy(() -> loader.load(load, table)).isInstanceOf(Exception.class);
            assertThat(hostile.given()).isEqualTo("17\n");

            hostile.asksAt("SELECT 4711");
            assertThatThrownBy(() -> load.createStatement().execute("SELECT 4711"))
                    .isInstanceOf(SQLException.class);
            assertThat(hostile.given()).isEmpty();
        }
    }

    /** Lengths that aren't there, and statements that are no corrections. */
    private static void whatADonorMakesUpIsNotLoaded(MySqlServer server) throws Exception {
        for (int length : new int[] {-1, Integer.MIN_VALUE, Integer.MAX_VALUE, 64 << 20}) {
            ByteArrayOutputStream block = new ByteArrayOutputStream();
            new DataOutputStream(block).writeInt(length);
            assertThatThrownBy(() -> load(server, block.toByteArray())).hasStackTraceContaining("a block of " + length);
            ByteArrayOutputStream correction = noRows();
            new DataOutputStream(correction).writeInt(length == 64 << 20 ? (64 << 20) + 1 : length);
            assertThatThrownBy(() -> load(server, correction.toByteArray())).hasMessageContaining("at most");
        }
        for (String statement : List.of(
                "DELETE FROM awkward.huge",
                "UPDATE `mysql`.`user` SET `User` = X'41'",
                "UPDATE `awkward`.`huge` SET `b` = LOAD_FILE('/etc/passwd')",
                "SET GLOBAL offline_mode = OFF")) {
            ByteArrayOutputStream correction = noRows();
            DataOutputStream out = new DataOutputStream(correction);
            out.writeInt(statement.length());
            out.writeBytes(statement);
            assertThatThrownBy(() -> load(server, correction.toByteArray())).hasMessageContaining("QRT-7001");
        }
    }

    private static void whatNobodyComputesIsSaid(MySqlServer server) throws Exception {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        DataOutputStream out = new DataOutputStream(bytes);
        out.writeInt(0);
        out.writeLong(0);
        out.writeInt(0);
        out.writeInt(1);
        out.writeUTF("1");
        out.writeUTF("0".repeat(32));
        out.writeInt(0);
        assertIsNotByStream(() -> load(server, "of_text", bytes.toByteArray()), "awkward.of_text");
    }

    private static void assertIsNotByStream(ThrowingCallable copy, String name) {
        assertThatThrownBy(copy)
                .hasMessageContaining(name)
                .isInstanceOfSatisfying(
                        QuorateException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.COPY_NOT_BY_STREAM));
    }

    private static void rowsThatFitUnderNoTimeZoneAreSaid(MySqlServer server) throws Exception {
        byte[] row = "1\t2026-03-15 10:30:00\n".getBytes(StandardCharsets.UTF_8);
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        DataOutputStream out = new DataOutputStream(bytes);
        out.writeInt(row.length);
        out.write(row);
        out.writeInt(0);
        out.writeLong(1);
        out.writeInt(0);
        assertIsNotByStream(() -> load(server, "checked", bytes.toByteArray()), "checked_chk_1");
        server.execute(
                "CREATE DATABASE mixed",
                "CREATE TABLE mixed.t LIKE awkward.virtuals",
                "SET time_zone = '+05:00'",
                "INSERT INTO mixed.t (id, ts) VALUES (1, '2026-03-15 01:30:00'), (2, '2026-03-14 23:30:00')",
                "SET time_zone = '-05:00'",
                "INSERT INTO mixed.t (id, ts) VALUES (3, '2026-06-15 01:30:00'), (4, '2026-06-14 23:30:00')");
        try (Connection connection = connect(server)) {
            Catalog catalog = Catalog.read(connection, Omitted.NOTHING);
            server.execute("ALTER TABLE mixed.t DROP INDEX d");
            Catalog.Table table = catalog.tables().stream()
                    .filter(each -> each.schema().equals("mixed"))
                    .findFirst()
                    .orElseThrow();
            new CatalogRestore(catalog).addIndexesBeforeRows(connection, table);
            assertIsNotByStream(() -> new CatalogRestore(catalog).addIndexes(connection, table), "`mixed`.`t`");
        } finally {
            server.execute("DROP DATABASE mixed");
        }
    }

    /** A table's stretch without rows, and with one correction, which follows. */
    private static ByteArrayOutputStream noRows() throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        DataOutputStream out = new DataOutputStream(bytes);
        out.writeInt(0);
        out.writeLong(0);
        out.writeInt(1);
        return bytes;
    }

    private static void load(MySqlServer server, byte[] stream) throws Exception {
        load(server, "huge", stream);
    }

    private static void load(MySqlServer server, String table, byte[] stream) throws Exception {
        try (Connection connection = connect(server)) {
            RowLoader.prepare(connection);
            DataInputStream in = new DataInputStream(new ByteArrayInputStream(stream));
            new RowLoader(in, count -> {}, server::connect, new HashMap<>())
                    .load(connection, AuditedTable.read(connection, "awkward", table));
        }
    }

    private static String members() {
        return Stream.iterate(1, i -> i + 1).limit(64).map(i -> "'m" + i + "'").collect(Collectors.joining(","));
    }

    private static Connection connect(MySqlServer server) throws Exception {
        return DriverManager.getConnection(server.jdbcUrl() + "&" + RowLoader.CONNECTION_PARAMETER, "root", "");
    }

    private static void copy(MySqlServer origin, MySqlServer server) throws Exception {
        try (Connection from = connect(origin);
                Connection read = connect(origin);
                Connection to = connect(server);
                Connection load = connect(server)) {
            Catalog catalog = Catalog.read(from, Omitted.NOTHING);
            CatalogRestore restore = new CatalogRestore(catalog);
            restore.create(to);
            RowWriter.prepare(read);
            RowLoader.prepare(load);
            Map<TableName, Set<Map<String, String>>> settings = new HashMap<>();
            for (Catalog.Table table : catalog.tables()) {
                ByteArrayOutputStream bytes = new ByteArrayOutputStream();
                AuditedTable there = AuditedTable.read(read, table.schema(), table.name());
                // In pieces of two rows where there is a key.
                List<Stretch> stretches = new ArrayList<>();
                String at = null;
                do {
                    String next = there.next(read, at, 2);
                    stretches.add(new Stretch(at, next));
                    at = next;
                } while (at != null);
                DataOutputStream out = new DataOutputStream(bytes);
                for (Stretch stretch : stretches) {
                    new RowWriter(out).write(read, there, stretch);
                }
                DataInputStream in = new DataInputStream(new ByteArrayInputStream(bytes.toByteArray()));
                for (int i = 0; i < stretches.size(); i++) {
                    new RowLoader(in, count -> {}, server::connect, settings)
                            .load(load, AuditedTable.read(load, table.schema(), table.name()));
                }
                load.commit();
            }
            assertThat(settings.get(new TableName("awkward", "kept")))
                    .as("what has helped with the rows of each session, for other pieces")
                    .hasSize(2);
            for (Catalog.Table table : catalog.tables()) {
                restore.addIndexes(to, table);
            }
            for (Catalog.Table table : catalog.tables()) {
                restore.addForeignKeys(to, table);
            }
        }
    }

    private static List<String> contents(MySqlServer server) throws Exception {
        List<String> all = new ArrayList<>();
        try (Connection connection = server.connect();
                Statement statement = connection.createStatement()) {
            statement.execute("SET SESSION sql_mode = '', time_zone = '+00:00'");
            for (List<String> table : rows(
                    statement,
                    "SELECT table_name FROM information_schema.tables"
                            + " WHERE table_schema = 'awkward' AND table_type = 'BASE TABLE' ORDER BY 1")) {
                String name = "awkward.`" + table.get(0).replace("`", "``") + "`";
                String create =
                        rows(statement, "SHOW CREATE TABLE " + name).get(0).get(1);
                all.add(create.replaceAll(" AUTO_INCREMENT=\\d+", ""));
                if (!create.contains(" array")) {
                    all.add(name + rows(statement, "CHECKSUM TABLE " + name));
                }
                String columns = rows(statement, "SHOW COLUMNS FROM " + name).stream()
                        .map(c -> c.get(1).equals("json") ? json(c.get(0)) : hex(c.get(0)))
                        .collect(Collectors.joining(", "));
                rows(statement, "SELECT " + columns + " FROM " + name).stream()
                        .map(row -> name + row)
                        .sorted()
                        .forEach(all::add);
            }
        }
        return all;
    }

    private static List<List<String>> rows(Statement statement, String sql) throws Exception {
        List<List<String>> rows = new ArrayList<>();
        try (ResultSet row = statement.executeQuery(sql)) {
            while (row.next()) {
                List<String> values = new ArrayList<>();
                for (int i = 1; i <= row.getMetaData().getColumnCount(); i++) {
                    values.add(row.getString(i));
                }
                rows.add(values);
            }
        }
        return rows;
    }

    private static String hex(String column) {
        String quoted = "`" + column.replace("`", "``") + "`";
        return "IF(LENGTH(" + quoted + ") > 2000, SHA2(" + quoted + ", 256), HEX(CONCAT(" + quoted + ")))";
    }

    private static String json(String column) {
        return "LEFT(HEX(CAST(`" + column + "` AS CHAR)), 500), JSON_TYPE(JSON_EXTRACT(`" + column
                + "`, '$.t')), JSON_TYPE(JSON_EXTRACT(`" + column + "`, '$.x')), JSON_TYPE(JSON_EXTRACT(`" + column
                + "`, '$.u'))";
    }
}
