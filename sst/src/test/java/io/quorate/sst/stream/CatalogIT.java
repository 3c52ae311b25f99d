// SPDX-License-Identifier: Apache-2.0
package io.quorate.sst.stream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.quorate.core.QuorateException;
import io.quorate.core.ShownTable;
import io.quorate.core.TableName;
import io.quorate.sandbox.MySqlDialect;
import io.quorate.sandbox.MySqlServer;
import io.quorate.sst.stream.Catalog.Account;
import io.quorate.sst.stream.Catalog.Table;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import tools.jackson.databind.json.JsonMapper;

/** What isn't rows, copied with an account that may do just that, to a server whose settings are others. */
@Timeout(120)
class CatalogIT {
    private static final String USER = "copier";
    private static final String PASSWORD = "cop'ier";

    private static String[] account(MySqlDialect dialect) {
        return new String[] {
            "SET sql_log_bin = 0",
            "CREATE USER copier@localhost " + dialect.identifiedBy() + " 'cop''ier'",
            // As docs/accounts.md has it.
            "GRANT SELECT, INSERT, UPDATE, DELETE, CREATE, DROP, ALTER, INDEX, REFERENCES, CREATE TEMPORARY TABLES,"
                    + " PROCESS, XA_RECOVER_ADMIN, REPLICATION SLAVE, REPLICATION CLIENT, REPLICATION_APPLIER,"
                    + " SESSION_VARIABLES_ADMIN, SYSTEM_VARIABLES_ADMIN, CONNECTION_ADMIN ON *.*"
                    + " TO copier@localhost WITH GRANT OPTION",
            // To see it all, at a donor.
            "GRANT SHOW VIEW, SHOW_ROUTINE, TRIGGER, EVENT ON *.* TO copier@localhost",
            // To make it all, at a joiner.
            "GRANT CREATE VIEW, CREATE ROUTINE, ALTER ROUTINE, EXECUTE, CREATE USER, SYSTEM_USER,"
                    + " ROLE_ADMIN, CREATE TABLESPACE, SUPER, " + dialect.anyDefiner()
                    + " ON *.* TO copier@localhost WITH GRANT OPTION",
            "GRANT PROXY ON ''@'' TO copier@localhost WITH GRANT OPTION"
        };
    }

    private static MySqlServer donor;
    private static MySqlServer joiner;

    @BeforeAll
    static void start() throws Exception {
        donor = MySqlServer.builder().relaxed().start();
        joiner = MySqlServer.builder()
                .serverId(2)
                .relaxed()
                .option("default-time-zone", "-03:30")
                .option("sql-mode", "ANSI,TRADITIONAL,NO_BACKSLASH_ESCAPES")
                .option("character-set-server", "latin1")
                .option("partial-revokes", "ON")
                .option("sql-generate-invisible-primary-key", "ON")
                .option("sql-require-primary-key", "ON")
                .option("default-storage-engine", "MyISAM")
                .start();
        donor.execute(account(donor.dialect()));
        joiner.execute(account(joiner.dialect()));
        donor.execute("SET GLOBAL log_bin_trust_function_creators = ON", "CREATE DATABASE quorate");
        try (Connection root = donor.connect();
                Statement statement = root.createStatement()) {
            statement.setEscapeProcessing(false);
            for (String sql : script(donor.dialect())) {
                try {
                    statement.execute(sql);
                } catch (SQLException e) {
                    throw new SQLException(e.getMessage() + " in: " + sql, e);
                }
            }
        }
    }

    private static String[] script(MySqlDialect dialect) throws IOException {
        return new String(
                        CatalogIT.class
                                .getResourceAsStream("/awkward-catalog.sql")
                                .readAllBytes(),
                        StandardCharsets.UTF_8)
                .replace("mysql_native_password", dialect.oldestPlugin())
                .split("\n;;\n");
    }

    @AfterAll
    static void stop() {
        for (MySqlServer server : new MySqlServer[] {donor, joiner}) {
            if (server != null) {
                server.close();
            }
        }
    }

    private static Connection connect(MySqlServer server) throws SQLException {
        return server.connect(USER, PASSWORD, "");
    }

    /** What arrives, by JSON as between nodes. */
    private static Catalog read(Omitted omitted) throws SQLException {
        try (Connection connection = connect(donor)) {
            Catalog plain = Catalog.read(connection, omitted);
            List<TableName> names = plain.tables().stream().map(Table::fullName).toList();
            Catalog catalog = plain.with(Catalog.read(connection, names).tables());
            JsonMapper json = JsonMapper.builder().build();
            Catalog arrived = json.readValue(json.writeValueAsString(catalog), Catalog.class);
            assertThat(arrived).isEqualTo(catalog);
            return arrived;
        }
    }

    private static Map<String, String> definitions(MySqlServer server) throws SQLException {
        try (Connection root = server.connect()) {
            return Definitions.of(root);
        }
    }

    private static List<String> restore(Catalog catalog) throws SQLException {
        CatalogRestore restore = new CatalogRestore(catalog);
        try (Connection connection = connect(joiner)) {
            restore.requireRights(connection, USER);
            restore.create(connection);
            for (Table table : catalog.tables()) {
                restore.addIndexes(connection, table);
            }
            for (Table table : catalog.tables()) {
                restore.addForeignKeys(connection, table);
            }
            List<String> left = restore.createRest(connection);
            left.addAll(restore.accounts(connection, USER));
            return left;
        }
    }

    /** A trigger keeps the collation that its schema had when it was made; the schema has another one by now. */
    @Test
    void aSchemaKeepsItsCollationWhenTriggersOfItAreMade() throws Exception {
        TableName table = new TableName("lent", "t");
        String collation = "SELECT DEFAULT_COLLATION_NAME FROM information_schema.SCHEMATA WHERE SCHEMA_NAME = 'lent'";
        donor.execute(
                "CREATE DATABASE lent COLLATE latin2_bin",
                "CREATE TABLE lent.t (id INT PRIMARY KEY)",
                "CREATE TRIGGER lent.tr BEFORE INSERT ON lent.t FOR EACH ROW SET @a = 1",
                "ALTER DATABASE lent COLLATE utf8mb4_bin");
        joiner.execute("CREATE DATABASE lent COLLATE latin5_bin");
        try (Connection connection = connect(joiner)) {
            CatalogRestore restore = new CatalogRestore(read(Omitted.NOTHING).only(Set.of(table)));
            restore.create(connection);
            restore.createMissingTriggers(connection, Set.of(table));
            assertThat(joiner.queryOne(collation)).isEqualTo("latin5_bin");
            assertThat(joiner.queryOne("SELECT DATABASE_COLLATION FROM information_schema.TRIGGERS"
                            + " WHERE TRIGGER_SCHEMA = 'lent'"))
                    .isEqualTo("latin2_bin");
            // A copy that broke off.
            new SchemaCollations(Session.ofJoiner(connection)).lend("lent", "latin2_bin");
            assertThat(joiner.queryOne(collation)).isEqualTo("latin2_bin");
            restore.create(connection);
            assertThat(joiner.queryOne(collation)).isEqualTo("latin5_bin");
        } finally {
            donor.execute("DROP DATABASE lent");
            joiner.execute("DROP DATABASE lent");
        }
    }

    /** They go on both when others cover their columns. Seen: they stayed on a server that had got a copy. */
    @Test
    void anIndexThatTheServerHasGeneratedIsGeneratedAgain() throws Exception {
        TableName child = new TableName("made", "child");
        donor.execute(
                "CREATE DATABASE made",
                "CREATE TABLE made.parent (id INT PRIMARY KEY)",
                "CREATE TABLE made.child (id INT PRIMARY KEY, a INT, b INT, c INT, d INT, e INT, f INT,"
                        + " FOREIGN KEY (a) REFERENCES made.parent (id),"
                        + " FOREIGN KEY given (b) REFERENCES made.parent (id),"
                        + " CONSTRAINT named FOREIGN KEY (c) REFERENCES made.parent (id),"
                        + " CONSTRAINT gone FOREIGN KEY (d) REFERENCES made.parent (id),"
                        + " KEY asked (e), CONSTRAINT asked FOREIGN KEY (e) REFERENCES made.parent (id),"
                        + " CONSTRAINT renamed FOREIGN KEY (f) REFERENCES made.parent (id))",
                "ALTER TABLE made.child DROP FOREIGN KEY gone, RENAME INDEX renamed TO other");
        try (Connection connection = connect(joiner)) {
            Catalog catalog = read(Omitted.NOTHING).only(Set.of(child, new TableName("made", "parent")));
            CatalogRestore restore = new CatalogRestore(catalog);
            for (int i = 0; i < 2; i++) {
                restore.create(connection);
                for (Table table : catalog.tables()) {
                    restore.addIndexes(connection, table);
                    restore.addForeignKeys(connection, table);
                }
                assertThat(shown(joiner)).isEqualTo(shown(donor));
            }
            String covering = "ALTER TABLE made.child ADD KEY (a, id), ADD KEY (b, id), ADD KEY (c, id),"
                    + " ADD KEY (d, id), ADD KEY (e, id), ADD KEY (f, id)";
            donor.execute(covering);
            joiner.execute("SET sql_log_bin = 0", covering);
            assertThat(shown(donor))
                    .contains("KEY `asked` (`e`)", "KEY `other` (`f`)")
                    .doesNotContain("(`a`),");
            assertThat(shown(joiner)).isEqualTo(shown(donor));
        } finally {
            donor.execute("DROP DATABASE made");
            joiner.execute("SET sql_log_bin = 0", "DROP DATABASE IF EXISTS made");
        }
    }

    @Test
    void aTableThatAClientHasLockedIsNotWaitedFor() throws Exception {
        donor.execute("CREATE DATABASE held", "CREATE TABLE held.t (id INT PRIMARY KEY, a INT, KEY (a))");
        try (Connection client = donor.connect();
                Statement statement = client.createStatement();
                Connection connection = connect(donor);
                Session session = Session.ofDonor(connection)) {
            statement.execute("LOCK TABLES held.t WRITE");
            assertThat(GeneratedKeys.among(
                            List.of(new Catalog.Clause("a", "KEY `a` (`a`)")), session, new TableName("held", "t")))
                    .isEmpty();
            // Tablespaces are locked, too.
            assertThat(new SharedObjects(session).read()).isNotNull();
        } finally {
            donor.execute("DROP DATABASE held");
        }
    }

    private static String shown(MySqlServer server) throws SQLException {
        try (Connection connection = server.connect();
                Session session = Session.ofDonor(connection)) {
            return ShownTable.comparable(
                    session.rows("SHOW CREATE TABLE made.child").get(0).get(1), Map.of());
        }
    }

    /** After all rows were copied it would be too late, and the copy would begin anew for ever. */
    @Test
    void rightsThatTheServiceMayNotGrantAreNamedBeforeAnythingIsCopied() throws Exception {
        donor.execute("CREATE USER stopper@'%'", "GRANT SHUTDOWN, SELECT, FILE ON *.* TO stopper@'%'");
        Catalog catalog = read(Omitted.NOTHING);
        try (Connection connection = connect(donor)) {
            assertThat(CatalogRestore.notGrantable(connection, USER))
                    .containsEntry("'stopper'@'%'", List.of("SHUTDOWN", "FILE"))
                    .doesNotContainKey("'root'@'localhost'");
        }
        donor.execute("DROP USER stopper@'%'");
        try (Connection connection = connect(joiner)) {
            assertThatThrownBy(() -> new CatalogRestore(catalog).requireRights(connection, USER))
                    .hasMessageContaining("account 'stopper'@'%' of the donor has SHUTDOWN, FILE, which")
                    .hasMessageContaining("GRANT SHUTDOWN, FILE ON *.* TO '" + USER + "'@")
                    .hasMessageContaining("REVOKE SHUTDOWN, FILE ON *.* FROM 'stopper'@'%'");
            new CatalogRestore(read(Omitted.NOTHING)).requireRights(connection, USER);
        }
    }

    @Test
    void makesEverythingAsItIsAtTheDonor() throws Exception {
        joiner.execute(
                "SET sql_log_bin = 0",
                "CREATE DATABASE own",
                "CREATE TABLE own.t (a INT PRIMARY KEY)",
                "CREATE DATABASE own_frozen",
                "ALTER DATABASE own_frozen READ ONLY = 1",
                "CREATE TABLESPACE own ADD DATAFILE 'a.ibd' ENGINE = InnoDB",
                "CREATE TABLE own.in_it (a INT PRIMARY KEY) TABLESPACE own ENGINE = InnoDB",
                "CREATE SERVER own FOREIGN DATA WRAPPER mysql OPTIONS (PORT 1)",
                "CREATE USER own@localhost",
                "CREATE USER native@'%'",
                "GRANT SELECT, DELETE ON *.* TO native@'%'",
                "CREATE ROLE reader, own_role",
                "GRANT own_role TO reader, native@'%'");
        String executed = joiner.queryOne("SELECT @@GLOBAL.gtid_executed");
        Catalog catalog = read(Omitted.NOTHING);
        try (Connection connection = connect(joiner)) {
            new CatalogRestore(catalog).dropAll(connection);
        }
        for (int i = 0; i < 2; i++) {
            assertThat(restore(catalog))
                    .satisfiesExactlyInAnyOrder(
                            left -> assertThat(left).startsWith("VIEW `shop`.`invalid`: "),
                            left -> assertThat(left).startsWith("VIEW `shop`.`invalid2`: "),
                            left -> assertThat(left).startsWith("VIEW `shop`.`invalid3`: "),
                            left -> assertThat(left).startsWith("GRANT SELECT ON `shop`.`gone` TO "));
            assertSame();
            if (i == 0) {
                breakSome();
            }
        }
        replacesObjects(catalog);
        assertThat(joiner.queryOne("SELECT @@GLOBAL.gtid_executed")).isEqualTo(executed);
        joiner.connect("login", "sha2 sec'ret", "").close();
        joiner.connect("native", "native'secret", "").close();
        seesEveryDifference();
    }

    /** On a server whose tables are right and whose objects aren't. */
    private static void replacesObjects(Catalog catalog) throws SQLException {
        joiner.execute(
                "SET sql_log_bin = 0, sql_mode = ''",
                "CREATE VIEW shop.own_view AS SELECT 1",
                "CREATE PROCEDURE shop.own_procedure () SET @a = 1",
                "CREATE FUNCTION shop.own_function () RETURNS INT DETERMINISTIC RETURN 1",
                "CREATE EVENT shop.own_event ON SCHEDULE EVERY 1 DAY DISABLE DO SET @a = 1",
                "CREATE TRIGGER shop.own_trigger AFTER DELETE ON shop.plain FOR EACH ROW SET @a = 1",
                "DROP TRIGGER shop.z_runs_first",
                "DROP VIEW shop.z_last",
                "CREATE OR REPLACE VIEW shop.a_first AS SELECT 2 AS other",
                "CREATE DATABASE another",
                "CREATE TABLE another.t (id INT PRIMARY KEY)",
                "ALTER DATABASE shop CHARACTER SET ascii",
                "CREATE USER another@localhost",
                "CREATE SERVER another FOREIGN DATA WRAPPER mysql OPTIONS (PORT 2)",
                "DROP USER login@'%'");
        try (Connection connection = connect(joiner)) {
            CatalogRestore restore = new CatalogRestore(catalog);
            restore.setSchemas(connection, Set.of("another", "shop"));
            assertThat(joiner.queryOne("SELECT DEFAULT_COLLATION_NAME FROM information_schema.SCHEMATA"
                            + " WHERE SCHEMA_NAME = 'shop'"))
                    .isEqualTo("utf8mb4_bin");
            assertThatThrownBy(() -> restore.replaceRest(connection, USER, Set.of("another")))
                    .hasMessageContaining("has table t");
            joiner.execute("SET sql_log_bin = 0", "DROP TABLE another.t");
            restore.replaceRest(connection, USER, Set.of("another", "shop"));
        }
        assertSame();
    }

    /** As if the service had ended in between. */
    private static void breakSome() {
        joiner.execute(
                "SET sql_log_bin = 0, foreign_key_checks = 0, sql_mode = ''",
                "DROP INDEX ft2 ON shop.plain",
                "DROP INDEX after_it ON shop.second_auto",
                "ALTER TABLE `o,d)d ``sch{ema`.child DROP FOREIGN KEY a_unique",
                "DROP TRIGGER shop.z_runs_first",
                "DROP VIEW shop.z_last",
                "DROP USER login@'%'",
                "DROP SERVER `far away`",
                "DROP TABLESPACE `b-c`",
                "GRANT DELETE ON *.* TO reader",
                "ALTER USER old@'%' ACCOUNT UNLOCK",
                "ALTER DATABASE shop COLLATE utf8mb4_german2_ci");
    }

    @Test
    void leavesOutWhatItIsTold() throws Exception {
        Omitted omitted = new Omitted(List.of("frozen.*", "shop.p*", "*.weird"), true, false, true, true, false);
        Catalog catalog = read(omitted);
        try (Connection connection = connect(joiner)) {
            new CatalogRestore(catalog).dropAll(connection);
        }
        long accounts = joiner.queryLong("SELECT COUNT(*) FROM mysql.user");
        assertThat(restore(catalog)).anyMatch(left -> left.startsWith("VIEW `shop`.`z_last`: "));
        assertThat(definitions(joiner).keySet())
                .noneMatch(what -> what.contains("frozen") || what.startsWith("TABLE `shop`.`p"))
                .noneMatch(what -> what.startsWith("EVENT ") || what.startsWith("TRIGGER "))
                .contains("TABLE `shop`.`docs`", "FUNCTION `shop`.`f1`");
        assertThat(joiner.queryLong("SELECT COUNT(*) FROM mysql.user")).isEqualTo(accounts);
    }

    @Test
    void refusesToReadWhatItCannotSee() throws Exception {
        donor.execute("SET sql_log_bin = 0", "REVOKE TRIGGER, SHOW_ROUTINE ON *.* FROM copier@localhost");
        try {
            assertThatThrownBy(() -> read(Omitted.NOTHING))
                    .isInstanceOf(QuorateException.class)
                    .hasMessageContaining("GRANT SHOW_ROUTINE, TRIGGER ON *.* TO copier@localhost");
            assertThat(read(new Omitted(List.of(), true, true, false, true, false))
                            .tables())
                    .isNotEmpty();
        } finally {
            donor.execute("SET sql_log_bin = 0", "GRANT TRIGGER, SHOW_ROUTINE ON *.* TO copier@localhost");
        }
    }

    @Test
    void tellsNoPassword() throws Exception {
        Catalog catalog = read(Omitted.NOTHING);
        assertThat(catalog.accounts().toString()).contains("'login'@'%'").doesNotContain("IDENTIFIED");
        for (String by : List.of("'mysql_native_password' AS 'sekret'", "x AS AS 'sekret'", "'nothere' AS 'sekret'")) {
            Account account = new Account(
                    "a'b", "%", "CREATE USER 'a''b'@'%' IDENTIFIED WITH " + by, List.of(), List.of(), List.of());
            Catalog broken = new Catalog(
                    Omitted.NOTHING,
                    List.of(),
                    List.of(),
                    List.of(),
                    List.of(),
                    List.of(),
                    List.of(),
                    List.of(),
                    List.of(account));
            try (Connection connection = connect(joiner)) {
                assertThatThrownBy(() -> new CatalogRestore(broken).accounts(connection, USER))
                        .isInstanceOf(QuorateException.class)
                        .hasMessageContaining("'a''b'@'%'")
                        .hasMessageNotContaining("sekret")
                        .hasNoCause();
            }
        }
    }

    private static Map<String, String> expected() throws SQLException {
        Map<String, String> expected = new TreeMap<>(definitions(donor));
        expected.keySet().removeIf(what -> what.startsWith("VIEW `shop`.`invalid"));
        expected.computeIfPresent(
                "grants 'native'@'%'",
                (what, grants) -> grants.replaceAll(", \\[GRANT SELECT ON `shop`.`gone`[^]]*]", ""));
        return expected;
    }

    private static void assertSame() throws SQLException {
        Map<String, String> expected = expected();
        Map<String, String> actual = definitions(joiner);
        // Each server's own: its hash has a salt where passwords are checked by caching_sha2_password.
        expected.remove("account '" + USER + "'@'localhost'");
        actual.remove("account '" + USER + "'@'localhost'");
        assertThat(actual.keySet()).isEqualTo(expected.keySet());
        expected.forEach((what, text) -> assertThat(actual.get(what)).as(what).isEqualTo(text));
    }

    /** That it is the same must be because it is, not because nothing is compared. */
    private static void seesEveryDifference() throws SQLException {
        Map<String, String> expected = expected();
        for (String change : List.of(
                "DROP INDEX inv ON shop.plain",
                "ALTER TABLE shop.tree DROP FOREIGN KEY `up, (a)`",
                "ALTER VIEW shop.m_middle AS SELECT 1",
                "DROP TRIGGER shop.z_runs_first",
                "ALTER EVENT shop.once ENABLE",
                "ALTER PROCEDURE shop.strange COMMENT 'x'",
                "ALTER DATABASE shop COLLATE utf8mb4_german2_ci",
                "REVOKE reader FROM login@'%'",
                "REVOKE INSERT ON shop.* FROM native@'%'",
                "ALTER USER native@'%' IDENTIFIED BY 'x'",
                "DROP ROLE reader")) {
            Map<String, String> before = definitions(joiner);
            joiner.execute("SET sql_log_bin = 0, sql_mode = ''", "SET GLOBAL mandatory_roles = ''", change);
            assertThat(definitions(joiner)).as(change).isNotEqualTo(before).isNotEqualTo(expected);
        }
    }
}
