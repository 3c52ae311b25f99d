// SPDX-License-Identifier: Apache-2.0
package io.quorate.it;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * Random definitions of every class of the 8.0 manual, but for those that the binlog doesn't have (servers, resource
 * groups, spatial reference systems, the instance) and those of other engines (NDB). Names are few, so that what one
 * adds another drops, and many statements find nothing to do and fail at once.
 *
 * <p>Tables of {@link #STEADY} keep their rows: no statement here takes any, so what was acknowledged can be counted.
 * The others are truncated, dropped and swapped.
 */
final class SoakStatements {
    static final String ACCOUNT = "'soak'@'localhost'";

    /**
     * All rights of an application that administers itself; none that replicates, or sets global variables. Where
     * servers differ, none whose name they don't share.
     */
    static String[] accountSetUp(Cluster cluster) {
        Set<String> anyDefiner = cluster.servers().stream()
                .map(node -> cluster.mysql(node).dialect().anyDefiner())
                .collect(Collectors.toSet());
        return new String[] {
            "CREATE USER " + ACCOUNT + " IDENTIFIED BY 'soak'",
            "GRANT SELECT, INSERT, UPDATE, DELETE, CREATE, DROP, ALTER, INDEX, REFERENCES, CREATE TEMPORARY TABLES,"
                    + " LOCK TABLES, CREATE VIEW, SHOW VIEW, CREATE ROUTINE, ALTER ROUTINE, EXECUTE, EVENT, TRIGGER,"
                    + " PROCESS, RELOAD, SHOW DATABASES, CREATE USER, CREATE ROLE, DROP ROLE, CREATE TABLESPACE,"
                    + " SESSION_VARIABLES_ADMIN, ROLE_ADMIN, SYSTEM_USER"
                    + (anyDefiner.size() == 1 ? ", " + anyDefiner.iterator().next() : "") + " ON *.* TO " + ACCOUNT
                    + " WITH GRANT OPTION"
        };
    }

    static final List<String> SET_UP = List.of(
            "CREATE DATABASE soak",
            "CREATE TABLE soak.ref (id INT PRIMARY KEY)",
            "INSERT INTO soak.ref WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 180)"
                    + " SELECT i FROM n",
            "CREATE TABLE soak.kept (id BIGINT PRIMARY KEY, tag VARCHAR(40) NOT NULL, a INT NOT NULL, b INT)",
            "CREATE TABLE soak.plain (tag VARCHAR(40) NOT NULL, a INT NOT NULL, b INT)",
            "CREATE TABLE soak.trail (id BIGINT AUTO_INCREMENT PRIMARY KEY, what VARCHAR(20))",
            // What is computed of its rows depends on the session that writes them.
            "CREATE TABLE soak.zoned (id BIGINT PRIMARY KEY, ts TIMESTAMP NOT NULL, c CHAR(9) NOT NULL,"
                    + " d DATE AS (DATE(ts)) STORED, w VARCHAR(40) AS (DATE_FORMAT(ts, '%W %M')) STORED,"
                    + " l INT AS (CHAR_LENGTH(c)) STORED, KEY d (d), CHECK (HOUR(ts) < 24))",
            "CREATE TABLE soak.parent (id INT PRIMARY KEY, a INT)",
            "CREATE TABLE soak.child (id INT PRIMARY KEY, parent INT,"
                    + " FOREIGN KEY (parent) REFERENCES soak.parent (id) ON DELETE CASCADE ON UPDATE CASCADE)",
            loose(0),
            loose(1),
            loose(2));

    /** For all tables to have one. */
    static final String[] KEYS = {
        "ALTER TABLE bank.scrap ADD id BIGINT AUTO_INCREMENT PRIMARY KEY",
        "ALTER TABLE soak.plain ADD id BIGINT AUTO_INCREMENT PRIMARY KEY"
    };

    /** Tables that keep the rows that they have got; under the second name while one of them is renamed. */
    static final List<String> STEADY = List.of("bank.account", "bank.history", "bank.scrap", "soak.kept", "soak.plain");

    static final String AWAY = "_away";

    /**
     * What is run one after the other on one node.
     *
     * @param kind of the last statement
     * @param first whether {@code quorate ddl} takes the last one
     */
    record Definition(String kind, boolean first, List<String> statements) {
        String last() {
            return statements.get(statements.size() - 1);
        }
    }

    private record Kind(String name, int weight, boolean first, Function<Draw, List<String>> make) {}

    /** What is drawn for one statement. */
    private record Draw(Random random, int node) {
        int below(int bound) {
            return random.nextInt(bound);
        }

        @SafeVarargs
        final <T> T one(T... of) {
            return of[below(of.length)];
        }

        /** A table that keeps its rows; those of the tests' own writers more often than the bank's. */
        String steady() {
            return below(2) == 0 ? one("soak.kept", "soak.plain") : STEADY.get(below(STEADY.size()));
        }

        String loose() {
            return one("soak.loose0", "soak.loose1", "soak.loose2", "soak.child");
        }

        String any() {
            return below(3) == 0 ? loose() : steady();
        }

        String column() {
            return "c" + below(3);
        }

        String index() {
            return "i" + below(3);
        }

        /** One of this node's names, now and then one that all nodes use. */
        String name(String kind) {
            return kind + (below(5) == 0 ? "_all" : node + "_" + below(2));
        }

        String user() {
            return "'" + name("u") + "'@'localhost'";
        }

        String role() {
            return "'" + name("r") + "'@'%'";
        }

        /** Columns that a table always has. */
        String fixed(String table) {
            return switch (table) {
                case "bank.account" -> one("id", "balance", "token");
                case "bank.history" -> one("source", "target", "amount");
                case "bank.scrap" -> one("account", "note");
                case "soak.child" -> one("id", "parent");
                default -> one("a", "b");
            };
        }
    }

    private static final List<Kind> KINDS = kinds();

    private final Random random;
    private final int node;

    SoakStatements(Random random, int node) {
        this.random = random;
        this.node = node;
    }

    Definition next() {
        int at = random.nextInt(KINDS.stream().mapToInt(Kind::weight).sum());
        for (Kind kind : KINDS) {
            at -= kind.weight;
            if (at < 0) {
                return new Definition(kind.name, kind.first, kind.make.apply(new Draw(random, node)));
            }
        }
        throw new IllegalStateException();
    }

    static String loose(int i) {
        return "CREATE TABLE IF NOT EXISTS soak.loose" + i
                + " (id INT PRIMARY KEY, a INT, b INT, KEY a (a)) PARTITION BY RANGE (id) (PARTITION p0"
                + " VALUES LESS THAN (1000), PARTITION p1 VALUES LESS THAN MAXVALUE)";
    }

    private static String alter(String table, String change) {
        return "ALTER TABLE " + table + " " + change;
    }

    private static List<Kind> kinds() {
        List<Kind> kinds = new ArrayList<>();
        columns(kinds);
        indexes(kinds);
        constraints(kinds);
        whole(kinds);
        taking(kinds);
        objects(kinds);
        accounts(kinds);
        ofSessions(kinds);
        nothing(kinds);
        return List.copyOf(kinds);
    }

    private static void ofTables(List<Kind> kinds, String name, int weight, Function<Draw, String> make) {
        kinds.add(new Kind(name, weight, true, draw -> List.of(make.apply(draw))));
    }

    private static void others(List<Kind> kinds, String name, int weight, Function<Draw, String> make) {
        kinds.add(new Kind(name, weight, false, draw -> List.of(make.apply(draw))));
    }

    private static void columns(List<Kind> kinds) {
        ofTables(
                kinds,
                "ADD COLUMN at the end",
                8,
                d -> alter(
                        d.any(),
                        "ADD COLUMN " + d.column()
                                + d.one(" INT NULL", " INT DEFAULT 5", " VARCHAR(20) NOT NULL DEFAULT 'x'", " JSON")));
        ofTables(kinds, "ADD COLUMN elsewhere", 4, d -> {
            String table = d.any();
            return alter(
                    table,
                    "ADD COLUMN " + d.column() + " INT DEFAULT 3 "
                            + d.one("FIRST", "AFTER " + d.fixed(table), "INVISIBLE"));
        });
        ofTables(
                kinds,
                "ADD COLUMN without a default",
                1,
                d -> alter(
                        d.any(),
                        "ADD COLUMN " + d.column() + d.one(" INT NOT NULL", " TIMESTAMP DEFAULT CURRENT_TIMESTAMP")));
        ofTables(kinds, "ADD generated column", 2, d -> {
            String table = d.any();
            return alter(
                    table,
                    "ADD COLUMN " + d.column() + " VARCHAR(60) GENERATED ALWAYS AS (CONCAT(" + d.fixed(table)
                            + ", '-')) " + d.one("VIRTUAL", "STORED"));
        });
        ofTables(kinds, "DROP COLUMN", 10, d -> alter(d.any(), "DROP COLUMN " + d.column()));
        ofTables(
                kinds,
                "RENAME COLUMN, CHANGE",
                3,
                d -> alter(
                        d.any(),
                        d.one(
                                "RENAME COLUMN " + d.column() + " TO " + d.column(),
                                "CHANGE COLUMN " + d.column() + " " + d.column() + " BIGINT NULL")));
        ofTables(
                kinds,
                "MODIFY",
                5,
                d -> d.one(
                        alter("soak.kept", "MODIFY b " + d.one("INT", "BIGINT")),
                        alter("soak.kept", "MODIFY tag VARCHAR(" + (40 + d.below(40)) + ") NOT NULL"),
                        alter("soak.plain", "MODIFY tag VARCHAR(" + (40 + d.below(300)) + ") NOT NULL"),
                        alter("bank.account", "MODIFY balance " + d.one("BIGINT", "DECIMAL(20,0)") + " NOT NULL"),
                        alter("bank.history", "MODIFY amount " + d.one("INT", "BIGINT") + " NOT NULL"),
                        alter("bank.scrap", "MODIFY note VARCHAR(" + (20 + d.below(40)) + ")"),
                        alter(d.loose(), "MODIFY a " + d.one("INT", "BIGINT", "VARCHAR(20)"))));
        kinds.add(new Kind(
                "MODIFY NOT NULL",
                2,
                false,
                d -> List.of(
                        "UPDATE soak.kept SET b = 0 WHERE b IS NULL", alter("soak.kept", "MODIFY b INT NOT NULL"))));
        ofTables(kinds, "MODIFY NULL", 4, d -> alter("soak.kept", "MODIFY b INT NULL"));
        ofTables(
                kinds,
                "SET DEFAULT, DROP DEFAULT",
                3,
                d -> alter(
                        d.any(), "ALTER COLUMN " + d.one("b", d.column()) + d.one(" SET DEFAULT 7", " DROP DEFAULT")));
    }

    private static void indexes(List<Kind> kinds) {
        ofTables(kinds, "ADD INDEX", 6, d -> {
            String table = d.any();
            return d.one(
                    alter(table, "ADD INDEX " + d.index() + " (" + d.fixed(table) + ")"),
                    "CREATE INDEX " + d.index() + " ON " + table + " (" + d.fixed(table) + " DESC)");
        });
        ofTables(
                kinds,
                "ADD INDEX of an expression, FULLTEXT",
                2,
                d -> d.one(
                        alter(d.one("soak.kept", "soak.plain"), "ADD INDEX " + d.index() + " ((a + 1))"),
                        alter("soak.plain", "ADD FULLTEXT INDEX " + d.index() + " (tag)")));
        ofTables(
                kinds,
                "DROP INDEX",
                8,
                d -> d.one(alter(d.any(), "DROP INDEX " + d.index()), "DROP INDEX " + d.index() + " ON " + d.any()));
        ofTables(
                kinds,
                "RENAME INDEX, visibility",
                3,
                d -> alter(
                        d.any(),
                        d.one(
                                "RENAME INDEX " + d.index() + " TO " + d.index(),
                                "ALTER INDEX " + d.index() + d.one(" INVISIBLE", " VISIBLE"))));
        kinds.add(new Kind("ADD UNIQUE that rows may violate", 5, false, d -> {
            String table = d.one("soak.kept", "soak.plain");
            return List.of(
                    "UPDATE " + table + " SET b = NULL WHERE b IS NOT NULL",
                    d.one(
                            alter(table, "ADD UNIQUE u0 (b)"),
                            alter(table, "ADD COLUMN " + d.column() + " INT NULL, ADD UNIQUE u0 (b)"),
                            "CREATE UNIQUE INDEX u0 ON " + table + " (b)"));
        }));
        ofTables(
                kinds,
                "ADD UNIQUE that rows fit",
                2,
                d -> d.one(
                        alter("bank.account", "ADD UNIQUE u0 (token, id)"),
                        alter("bank.history", "ADD UNIQUE u0 (writer, n, source)")));
        ofTables(
                kinds,
                "DROP UNIQUE",
                8,
                d -> alter(d.one("soak.kept", "soak.plain", "bank.account", "bank.history"), "DROP INDEX u0"));
        ofTables(
                kinds,
                "DROP and ADD PRIMARY KEY",
                1,
                d -> d.one(
                        alter("soak.kept", "DROP PRIMARY KEY, ADD PRIMARY KEY (id)"),
                        alter("bank.history", "DROP PRIMARY KEY, ADD PRIMARY KEY (writer, n)")));
    }

    private static void constraints(List<Kind> kinds) {
        kinds.add(new Kind(
                "ADD CHECK",
                4,
                false,
                d -> d.one(
                        List.of(
                                "UPDATE soak.kept SET b = NULL WHERE b > 150",
                                alter("soak.kept", "ADD CONSTRAINT k_kept CHECK (b <= 150)")),
                        List.of(alter(
                                "bank.account",
                                "ADD CONSTRAINT k_account CHECK (balance > " + -d.below(2000) + ")")))));
        ofTables(
                kinds,
                "DROP CHECK",
                6,
                d -> d.one(
                        alter("soak.kept", "DROP CHECK k_kept"),
                        alter("bank.account", d.one("DROP CHECK k_account", "ALTER CHECK k_account NOT ENFORCED"))));
        kinds.add(new Kind(
                "ADD FOREIGN KEY",
                4,
                false,
                d -> d.one(
                        List.of(
                                "UPDATE soak.kept SET b = NULL WHERE b > 180 OR b = 0",
                                alter("soak.kept", "ADD CONSTRAINT f_kept FOREIGN KEY (b) REFERENCES soak.ref (id)")),
                        List.of(alter(
                                "bank.scrap",
                                "ADD CONSTRAINT f_scrap FOREIGN KEY (account) REFERENCES bank.account (id)")))));
        ofTables(
                kinds,
                "DROP FOREIGN KEY",
                6,
                d -> d.one(
                        alter("soak.kept", "DROP FOREIGN KEY f_kept"),
                        alter("bank.scrap", "DROP FOREIGN KEY f_scrap")));
    }

    private static void whole(List<Kind> kinds) {
        ofTables(
                kinds,
                "rebuild, options of a table",
                4,
                d -> alter(
                        d.any(),
                        d.one(
                                "ENGINE = InnoDB",
                                "FORCE",
                                "COMMENT = 'c" + d.below(9) + "'",
                                "ROW_FORMAT = " + d.one("DYNAMIC", "COMPRESSED"),
                                "CONVERT TO CHARACTER SET " + d.one("latin1", "utf8mb4"),
                                "DEFAULT CHARACTER SET latin1",
                                "AUTO_INCREMENT = 1000")));
        kinds.add(new Kind("RENAME away and back", 2, false, d -> {
            String table = d.steady();
            return d.one(
                    List.of(
                            "RENAME TABLE " + table + " TO " + table + AWAY,
                            "RENAME TABLE " + table + AWAY + " TO " + table),
                    List.of(alter(table, "RENAME TO " + table + AWAY), alter(table + AWAY, "RENAME TO " + table)));
        }));
        ofTables(
                kinds,
                "AUTO_INCREMENT that numbers rows",
                1,
                d -> alter(d.one("soak.plain", "bank.scrap"), "ADD COLUMN numbered INT AUTO_INCREMENT PRIMARY KEY"));
        ofTables(
                kinds,
                "partitions",
                4,
                d -> d.one(
                        alter("soak.kept", "PARTITION BY HASH (id) PARTITIONS " + (2 + d.below(3))),
                        alter("soak.plain", "PARTITION BY KEY (a) PARTITIONS 3"),
                        alter("bank.scrap", "PARTITION BY KEY (account) PARTITIONS 2"),
                        alter(d.steady(), "ADD PARTITION PARTITIONS 1"),
                        alter(d.steady(), "COALESCE PARTITION 1"),
                        alter(d.steady(), "REBUILD PARTITION ALL"),
                        alter(d.steady(), "REMOVE PARTITIONING")));
    }

    private static void taking(List<Kind> kinds) {
        ofTables(kinds, "TRUNCATE", 2, d -> "TRUNCATE " + d.loose());
        kinds.add(new Kind("DROP and CREATE TABLE", 2, false, d -> {
            int i = d.below(3);
            return List.of("DROP TABLE IF EXISTS soak.loose" + i, loose(i));
        }));
        ofTables(
                kinds,
                "CREATE TABLE",
                3,
                d -> "CREATE TABLE soak." + d.name("t")
                        + d.one(
                                " (id INT PRIMARY KEY, a INT UNIQUE)",
                                " LIKE soak.kept",
                                " LIKE " + d.loose(),
                                " (a JSON)"));
        others(
                kinds,
                "CREATE TABLE SELECT",
                2,
                d -> "CREATE TABLE soak." + d.name("t") + " AS SELECT * FROM " + d.loose());
        ofTables(
                kinds,
                "DROP TABLE",
                5,
                d -> "DROP TABLE IF EXISTS soak." + d.name("t") + d.one("", ", soak." + d.name("t")));
        ofTables(
                kinds,
                "swap",
                1,
                d -> "RENAME TABLE soak.loose0 TO soak.loose_x, soak.loose1 TO soak.loose0,"
                        + " soak.loose_x TO soak.loose1");
        kinds.add(new Kind("copy and swap", 1, false, d -> {
            int i = d.below(3);
            return List.of(
                    "DROP TABLE IF EXISTS soak.loose_new, soak.loose_old",
                    "CREATE TABLE soak.loose_new LIKE soak.loose" + i,
                    "ALTER TABLE soak.loose_new ADD COLUMN " + d.column() + " INT",
                    "INSERT INTO soak.loose_new (id, a, b) SELECT id, a, b FROM soak.loose" + i,
                    "RENAME TABLE soak.loose" + i + " TO soak.loose_old, soak.loose_new TO soak.loose" + i);
        }));
        ofTables(
                kinds,
                "partitions with rows",
                3,
                d -> alter(
                        "soak.loose" + d.below(3),
                        d.one(
                                "TRUNCATE PARTITION p0",
                                "DROP PARTITION p0",
                                "REORGANIZE PARTITION p1 INTO (PARTITION p0 VALUES LESS THAN (2000), PARTITION p1"
                                        + " VALUES LESS THAN MAXVALUE)",
                                "REMOVE PARTITIONING",
                                "PARTITION BY RANGE (id) (PARTITION p0 VALUES LESS THAN (1500), PARTITION p1"
                                        + " VALUES LESS THAN MAXVALUE)")));
        kinds.add(new Kind("databases", 1, false, d -> {
            String name = d.name("soak_d");
            return d.one(
                    List.of("CREATE DATABASE " + name, "CREATE TABLE " + name + ".t (id INT PRIMARY KEY)"),
                    List.of("CREATE DATABASE " + name + " CHARACTER SET latin1"),
                    List.of("DROP DATABASE " + name));
        }));
        ofTables(
                kinds,
                "ALTER DATABASE",
                2,
                d -> "ALTER DATABASE " + d.one("soak", "bank") + " CHARACTER SET " + d.one("latin1", "utf8mb4"));
        kinds.add(new Kind("tablespaces", 1, false, d -> {
            String space = d.name("soak_s");
            return d.one(
                    List.of("CREATE TABLESPACE " + space + " ADD DATAFILE '" + space + ".ibd'"),
                    List.of("CREATE TABLE soak." + d.name("t") + " (id INT PRIMARY KEY) TABLESPACE " + space),
                    List.of("ALTER TABLESPACE " + space + " RENAME TO " + d.name("soak_s")),
                    List.of("DROP TABLESPACE " + space));
        }));
    }

    private static void objects(List<Kind> kinds) {
        others(kinds, "views", 4, d -> {
            String view = "soak." + d.name("v");
            return d.one(
                    "CREATE OR REPLACE VIEW " + view + " AS SELECT id, a FROM soak.kept",
                    "CREATE SQL SECURITY INVOKER VIEW " + view + " AS SELECT * FROM " + d.any(),
                    "ALTER VIEW " + view + " AS SELECT tag FROM soak.plain",
                    "DROP VIEW IF EXISTS " + view);
        });
        others(kinds, "routines", 4, d -> {
            String program = "soak." + d.name("p");
            return d.one(
                    "CREATE PROCEDURE " + program + " () INSERT INTO soak.trail (what) VALUES ('procedure')",
                    "CREATE FUNCTION " + program + " (x INT) RETURNS INT DETERMINISTIC RETURN x + " + d.below(9),
                    "ALTER PROCEDURE " + program + " COMMENT 'c" + d.below(9) + "'",
                    "DROP PROCEDURE IF EXISTS " + program,
                    "DROP FUNCTION IF EXISTS " + program);
        });
        others(kinds, "triggers", 4, d -> {
            String trigger = d.name("g");
            return d.one(
                    "CREATE TRIGGER soak." + trigger + " BEFORE INSERT ON " + d.one("soak.kept", "soak.plain")
                            + " FOR EACH ROW SET NEW.a = NEW.a + 1",
                    "CREATE TRIGGER soak." + trigger + " AFTER UPDATE ON soak.kept FOR EACH ROW INSERT INTO soak.trail"
                            + " (what) VALUES ('trigger')",
                    "DROP TRIGGER IF EXISTS soak." + trigger,
                    "DROP TRIGGER IF EXISTS soak." + trigger);
        });
        others(kinds, "events", 3, d -> {
            String event = "soak." + d.name("e");
            return d.one(
                    "CREATE EVENT " + event + " ON SCHEDULE EVERY 2 SECOND DO INSERT INTO soak.trail (what) VALUES"
                            + " ('event')",
                    "ALTER EVENT " + event + d.one(" DISABLE", " COMMENT 'c'", " ON SCHEDULE EVERY 3 SECOND"),
                    "DROP EVENT IF EXISTS " + event,
                    "DROP EVENT IF EXISTS " + event);
        });
    }

    private static void accounts(List<Kind> kinds) {
        others(
                kinds,
                "accounts",
                6,
                d -> d.one(
                        "CREATE USER " + d.user() + " IDENTIFIED BY 'x'",
                        "CREATE USER IF NOT EXISTS " + d.user(),
                        "ALTER USER " + d.user() + d.one(" ACCOUNT LOCK", " ACCOUNT UNLOCK", " IDENTIFIED BY 'y'"),
                        "SET PASSWORD FOR " + d.user() + " = 'z'",
                        "RENAME USER " + d.user() + " TO " + d.user(),
                        "DROP USER IF EXISTS " + d.user()));
        others(
                kinds,
                "roles",
                3,
                d -> d.one(
                        "CREATE ROLE IF NOT EXISTS " + d.role(),
                        "DROP ROLE IF EXISTS " + d.role(),
                        "GRANT " + d.role() + " TO " + d.user(),
                        "SET DEFAULT ROLE ALL TO " + d.user(),
                        "REVOKE " + d.role() + " FROM " + d.user()));
        others(
                kinds,
                "grants",
                6,
                d -> d.one(
                        "GRANT SELECT ON soak.* TO " + d.user(),
                        "GRANT INSERT (a), UPDATE ON soak.kept TO " + d.user(),
                        "GRANT EXECUTE ON PROCEDURE soak." + d.name("p") + " TO " + d.user(),
                        "GRANT PROCESS ON *.* TO " + d.role(),
                        "REVOKE SELECT ON soak.* FROM " + d.user(),
                        "REVOKE ALL PRIVILEGES, GRANT OPTION FROM " + d.user()));
    }

    /** What is more than its text. */
    private static void ofSessions(List<Kind> kinds) {
        kinds.add(new Kind(
                "events by user variables",
                2,
                false,
                d -> List.of(
                        "SET @days = " + (1 + d.below(99)) + ", lc_time_names = 'de_DE', time_zone = '+05:45'",
                        "CREATE EVENT soak." + d.name("e") + " ON SCHEDULE "
                                + d.one(
                                        "EVERY @days DAY STARTS '2090-01-01 00:00:00'",
                                        "AT '2090-01-01' + INTERVAL FLOOR(RAND() * 1000) HOUR")
                                + " DO SET @x = 1")));
        // Its server gets a copy of the table.
        kinds.add(new Kind(
                "rows in a statement's format",
                1,
                false,
                d -> List.of(
                        "SET SESSION binlog_format = '" + d.one("STATEMENT", "MIXED") + "'",
                        "UPDATE soak.loose" + d.below(3) + " SET b = b + 1 WHERE id < 500 LIMIT 3")));
        others(
                kinds,
                "tables of each server's own",
                2,
                d -> d.one(
                        "ALTER TABLE mysql.slow_log ENGINE = MyISAM",
                        "ALTER TABLE mysql.slow_log ENGINE = CSV",
                        "TRUNCATE mysql.general_log",
                        "ANALYZE TABLE mysql.time_zone_name"));
    }

    private static void nothing(List<Kind> kinds) {
        others(
                kinds,
                "no-ops",
                8,
                d -> d.one(
                        loose(d.below(3)),
                        "CREATE TABLE IF NOT EXISTS soak.kept (id INT PRIMARY KEY)",
                        "CREATE DATABASE IF NOT EXISTS soak",
                        "DROP TABLE IF EXISTS soak.nowhere",
                        "DROP VIEW IF EXISTS soak.nowhere",
                        "DROP TRIGGER IF EXISTS soak.nowhere",
                        "ALTER TABLE " + d.any(),
                        "FLUSH PRIVILEGES",
                        "FLUSH TABLES",
                        "FLUSH TABLES " + d.any(),
                        "FLUSH BINARY LOGS",
                        "CREATE TEMPORARY TABLE soak.passing (id INT PRIMARY KEY)"));
        others(kinds, "upkeep", 4, d -> d.one("ANALYZE", "OPTIMIZE", "CHECK", "REPAIR") + " TABLE " + d.any());
    }
}
