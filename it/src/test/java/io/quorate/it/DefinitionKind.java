// SPDX-License-Identifier: Apache-2.0
package io.quorate.it;

import java.util.ArrayList;
import java.util.List;

/**
 * A class of definitions of the 8.0 manual, with what it needs, for {@link MatrixTrials}. All is about {@code m.t
 * (id INT PRIMARY KEY, a INT, s VARCHAR(50), KEY k (a))} with the rows 1 to 20, unless its set-up makes another.
 *
 * @param setUp what all nodes have seen, beside that table
 * @param definition what is run
 * @param other what another node runs at the same time, where it isn't the same
 * @param row inserts row {@code %1$d}; for some kinds one that the definition doesn't allow
 */
record DefinitionKind(String name, List<String> setUp, String definition, String other, String row) {
    static final String TABLE = "CREATE TABLE m.t (id INT PRIMARY KEY, a INT, s VARCHAR(50), KEY k (a))";
    static final String ROWS = "INSERT INTO m.t WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n"
            + " WHERE i < 20) SELECT i, i, 'row' FROM n";

    private static final String ROW = "INSERT INTO m.t (id, a, s) VALUES (%1$d, %1$d, 'new')";
    private static final String OTHER = "ALTER TABLE m.t ADD COLUMN o INT DEFAULT 3";
    private static final String PARTITIONED = "ALTER TABLE m.t PARTITION BY RANGE (id) (PARTITION p0 VALUES LESS THAN"
            + " (10), PARTITION p1 VALUES LESS THAN MAXVALUE)";

    private static DefinitionKind of(String name, String definition) {
        return new DefinitionKind(name, List.of(), definition, OTHER, ROW);
    }

    private DefinitionKind after(String... before) {
        return new DefinitionKind(name, List.of(before), definition, other, row);
    }

    private DefinitionKind besides(String definitionOfOthers) {
        return new DefinitionKind(name, setUp, definition, definitionOfOthers, row);
    }

    private DefinitionKind with(String rowOfOthers) {
        return new DefinitionKind(name, setUp, definition, other, rowOfOthers);
    }

    static List<DefinitionKind> all() {
        List<DefinitionKind> kinds = new ArrayList<>();
        kinds.addAll(columns());
        kinds.addAll(indexes());
        kinds.addAll(constraints());
        kinds.addAll(whole());
        kinds.addAll(taking());
        kinds.addAll(objects());
        kinds.addAll(accounts());
        kinds.addAll(nothing());
        return kinds;
    }

    private static List<DefinitionKind> columns() {
        return List.of(
                of("column at the end, NULL", "ALTER TABLE m.t ADD COLUMN b INT NULL"),
                of("column at the end, constant default", "ALTER TABLE m.t ADD COLUMN b INT NOT NULL DEFAULT 5"),
                of("column in front", "ALTER TABLE m.t ADD COLUMN b INT DEFAULT 5 FIRST"),
                of("column with the time", "ALTER TABLE m.t ADD COLUMN b TIMESTAMP DEFAULT CURRENT_TIMESTAMP"),
                of("column, NOT NULL without default", "ALTER TABLE m.t ADD COLUMN b INT NOT NULL"),
                of("generated column", "ALTER TABLE m.t ADD COLUMN b INT AS (a + 1) STORED"),
                of("DROP COLUMN", "ALTER TABLE m.t DROP COLUMN s"),
                of("RENAME COLUMN", "ALTER TABLE m.t RENAME COLUMN s TO s2")
                        .besides("ALTER TABLE m.t RENAME COLUMN s TO s3"),
                of("MODIFY, longer", "ALTER TABLE m.t MODIFY s VARCHAR(60)")
                        .besides("ALTER TABLE m.t MODIFY s VARCHAR(70)"),
                of("MODIFY, shorter, and too long a row", "ALTER TABLE m.t MODIFY s VARCHAR(5)")
                        .with("INSERT INTO m.t (id, a, s) VALUES (%1$d, %1$d, 'much longer')"),
                of("MODIFY, another type", "ALTER TABLE m.t MODIFY a BIGINT"),
                of("MODIFY NOT NULL, and a null", "ALTER TABLE m.t MODIFY a INT NOT NULL")
                        .with("INSERT INTO m.t (id, a, s) VALUES (%1$d, NULL, 'new')"),
                of("a label more", "ALTER TABLE m.t MODIFY e ENUM('x', 'y', 'z')")
                        .after("ALTER TABLE m.t ADD COLUMN e ENUM('x', 'y') DEFAULT 'x'"),
                of("SET DEFAULT", "ALTER TABLE m.t ALTER COLUMN a SET DEFAULT 9"),
                of("AUTO_INCREMENT that numbers rows", "ALTER TABLE m.bare ADD id INT AUTO_INCREMENT PRIMARY KEY FIRST")
                        .after("CREATE TABLE m.bare (a INT)", "INSERT INTO m.bare VALUES (1), (2)")
                        .with("INSERT INTO m.bare (a) VALUES (%1$d)"));
    }

    private static List<DefinitionKind> indexes() {
        return List.of(
                of("index", "ALTER TABLE m.t ADD INDEX i (a, s)"),
                of("CREATE INDEX, descending", "CREATE INDEX i ON m.t (a DESC)"),
                of("index of an expression", "ALTER TABLE m.t ADD INDEX i ((a + 1))"),
                of("FULLTEXT", "ALTER TABLE m.t ADD FULLTEXT INDEX i (s)"),
                of("DROP INDEX", "DROP INDEX k ON m.t"),
                of("RENAME INDEX", "ALTER TABLE m.t RENAME INDEX k TO k2"),
                of("index invisible", "ALTER TABLE m.t ALTER INDEX k INVISIBLE"),
                of("unique, and a duplicate", "ALTER TABLE m.t ADD UNIQUE u (a)")
                        .with("INSERT INTO m.t (id, a, s) VALUES (%1$d, 1, 'new')"),
                of("unique, and none", "ALTER TABLE m.t ADD UNIQUE u (a)"),
                of("DROP UNIQUE", "ALTER TABLE m.t DROP INDEX u").after("ALTER TABLE m.t ADD UNIQUE u (a)"),
                of("another primary key", "ALTER TABLE m.t DROP PRIMARY KEY, ADD PRIMARY KEY (id, a)")
                        .after("ALTER TABLE m.t MODIFY a INT NOT NULL"));
    }

    private static List<DefinitionKind> constraints() {
        String parent = "CREATE TABLE m.p (id INT PRIMARY KEY)";
        String parents = "INSERT INTO m.p SELECT id FROM m.t";
        return List.of(
                of("check, and a row against it", "ALTER TABLE m.t ADD CONSTRAINT c CHECK (a > 0)")
                        .with("INSERT INTO m.t (id, a, s) VALUES (%1$d, -1, 'new')"),
                of("check, and none", "ALTER TABLE m.t ADD CONSTRAINT c CHECK (a > 0)"),
                of("DROP CHECK", "ALTER TABLE m.t DROP CHECK c")
                        .after("ALTER TABLE m.t ADD CONSTRAINT c CHECK (a > 0)"),
                of("foreign key, and an orphan", "ALTER TABLE m.t ADD CONSTRAINT f FOREIGN KEY (a) REFERENCES m.p (id)")
                        .after(parent, parents),
                of("foreign key, and none", "ALTER TABLE m.t ADD CONSTRAINT f FOREIGN KEY (a) REFERENCES m.p (id)")
                        .after(parent, parents)
                        .with("INSERT INTO m.t (id, a, s) VALUES (%1$d, 1, 'new')"),
                of("DROP FOREIGN KEY, and deleted parents", "ALTER TABLE m.t DROP FOREIGN KEY f")
                        .after(
                                parent,
                                parents,
                                "ALTER TABLE m.t ADD CONSTRAINT f FOREIGN KEY (a) REFERENCES m.p (id) ON DELETE"
                                        + " CASCADE")
                        .with("DELETE FROM m.p WHERE id = 2 + %1$d %% 18"));
    }

    private static List<DefinitionKind> whole() {
        return List.of(
                of("rebuild", "ALTER TABLE m.t ENGINE = InnoDB, FORCE"),
                of("another character set", "ALTER TABLE m.t CONVERT TO CHARACTER SET latin1"),
                of("options of a table", "ALTER TABLE m.t COMMENT = 'c', AUTO_INCREMENT = 1000"),
                of("OPTIMIZE", "OPTIMIZE TABLE m.t"),
                of("partitions", "ALTER TABLE m.t PARTITION BY HASH (id) PARTITIONS 3"),
                of(
                        "partitions, and a row outside",
                        "ALTER TABLE m.t PARTITION BY RANGE (id) (PARTITION p VALUES LESS THAN (100))"),
                of(
                                "REORGANIZE PARTITION",
                                "ALTER TABLE m.t REORGANIZE PARTITION p1 INTO (PARTITION p1 VALUES LESS THAN (15),"
                                        + " PARTITION p2 VALUES LESS THAN MAXVALUE)")
                        .after(PARTITIONED),
                of("REMOVE PARTITIONING", "ALTER TABLE m.t REMOVE PARTITIONING").after(PARTITIONED));
    }

    private static List<DefinitionKind> taking() {
        return List.of(
                of("TRUNCATE", "TRUNCATE m.t"),
                of("TRUNCATE PARTITION", "ALTER TABLE m.t TRUNCATE PARTITION p1")
                        .after(PARTITIONED),
                of("DROP PARTITION", "ALTER TABLE m.t DROP PARTITION p1").after(PARTITIONED),
                of("EXCHANGE PARTITION", "ALTER TABLE m.t EXCHANGE PARTITION p1 WITH TABLE m.x")
                        .after(
                                PARTITIONED,
                                "CREATE TABLE m.x (id INT PRIMARY KEY, a INT, s VARCHAR(50), KEY k (a))",
                                "INSERT INTO m.x VALUES (50, 50, 'row')"),
                of("DROP TABLE", "DROP TABLE m.t"),
                of("RENAME TABLE", "RENAME TABLE m.t TO m.away").besides("RENAME TABLE m.t TO m.elsewhere"),
                of("swap", "RENAME TABLE m.t TO m.old, m.u TO m.t")
                        .after("CREATE TABLE m.u LIKE m.t", "INSERT INTO m.u SELECT * FROM m.t"),
                of("CREATE TABLE", "CREATE TABLE m.n (id INT PRIMARY KEY, a INT)")
                        .besides("CREATE TABLE m.n (id BIGINT PRIMARY KEY)"),
                of("CREATE TABLE LIKE", "CREATE TABLE m.n LIKE m.t").besides("CREATE TABLE m.n LIKE m.still"),
                of("CREATE TABLE SELECT", "CREATE TABLE m.n AS SELECT * FROM m.t"),
                of("CREATE DATABASE", "CREATE DATABASE m2").besides("CREATE DATABASE m2 CHARACTER SET latin1"),
                of("DROP DATABASE", "DROP DATABASE m2")
                        .after("CREATE DATABASE m2", "CREATE TABLE m2.t (id INT PRIMARY KEY)")
                        .besides("CREATE TABLE m2.n (id INT PRIMARY KEY)")
                        .with("INSERT INTO m2.t VALUES (%1$d)"),
                of("ALTER DATABASE", "ALTER DATABASE m CHARACTER SET latin1")
                        .besides("CREATE TABLE m.n (id INT PRIMARY KEY, s VARCHAR(9))"),
                of("CREATE TABLESPACE", "CREATE TABLESPACE m_s ADD DATAFILE 'm_s.ibd'"),
                of("ALTER TABLESPACE", "ALTER TABLESPACE m_s RENAME TO m_s2")
                        .after("CREATE TABLESPACE m_s ADD DATAFILE 'm_s.ibd'")
                        .besides("CREATE TABLE m.n (id INT PRIMARY KEY) TABLESPACE m_s"));
    }

    private static List<DefinitionKind> objects() {
        String view = "CREATE VIEW m.v AS SELECT id FROM m.t";
        String trigger = "CREATE TRIGGER m.g BEFORE INSERT ON m.t FOR EACH ROW SET NEW.s = CONCAT(NEW.s, '+')";
        String event = "CREATE EVENT m.e ON SCHEDULE EVERY 1 DAY STARTS '2090-01-01' DO DELETE FROM m.t";
        String routine = "CREATE PROCEDURE m.r () SELECT 1";
        return List.of(
                of("CREATE VIEW", view).besides("CREATE VIEW m.v AS SELECT a FROM m.t"),
                of("ALTER VIEW", "ALTER VIEW m.v AS SELECT s FROM m.t")
                        .after(view)
                        .besides("DROP VIEW m.v"),
                of("CREATE TRIGGER", trigger),
                of("DROP TRIGGER", "DROP TRIGGER m.g").after(trigger),
                of("CREATE EVENT", event).besides("CREATE EVENT m.e ON SCHEDULE EVERY 2 DAY DO SELECT 1"),
                of("ALTER EVENT", "ALTER EVENT m.e COMMENT 'c'").after(event).besides("DROP EVENT m.e"),
                of("CREATE PROCEDURE", routine).besides("CREATE PROCEDURE m.r () SELECT 2"),
                of("ALTER PROCEDURE", "ALTER PROCEDURE m.r COMMENT 'c'")
                        .after(routine)
                        .besides("DROP PROCEDURE m.r"),
                of("CREATE FUNCTION", "CREATE FUNCTION m.f (x INT) RETURNS INT DETERMINISTIC RETURN x + 1")
                        .besides("CREATE FUNCTION m.f (x INT) RETURNS INT DETERMINISTIC RETURN x + 2"));
    }

    private static List<DefinitionKind> accounts() {
        String user = "CREATE USER m_u@localhost IDENTIFIED BY 'x'";
        String role = "CREATE ROLE m_r";
        return List.of(
                of("CREATE USER", user).besides("CREATE USER m_u@localhost IDENTIFIED BY 'y'"),
                of("ALTER USER", "ALTER USER m_u@localhost ACCOUNT LOCK")
                        .after(user)
                        .besides("ALTER USER m_u@localhost IDENTIFIED BY 'z'"),
                of("RENAME USER", "RENAME USER m_u@localhost TO m_v@localhost")
                        .after(user)
                        .besides("GRANT SELECT ON m.* TO m_u@localhost"),
                of("DROP USER", "DROP USER m_u@localhost").after(user).besides("GRANT SELECT ON m.* TO m_u@localhost"),
                of("GRANT", "GRANT INSERT (a), SELECT ON m.t TO m_u@localhost")
                        .after(user)
                        .besides("DROP USER m_u@localhost"),
                of("REVOKE", "REVOKE SELECT ON m.* FROM m_u@localhost")
                        .after(user, "GRANT SELECT, INSERT ON m.* TO m_u@localhost")
                        .besides("REVOKE ALL PRIVILEGES, GRANT OPTION FROM m_u@localhost"),
                of("CREATE ROLE", role).besides("CREATE USER m_r@'%'"),
                of("GRANT of a role", "GRANT m_r TO m_u@localhost")
                        .after(user, role)
                        .besides("DROP ROLE m_r"));
    }

    private static List<DefinitionKind> nothing() {
        return List.of(
                of("IF NOT EXISTS, a table that is there", "CREATE TABLE IF NOT EXISTS m.t (id INT PRIMARY KEY)")
                        .besides("DROP TABLE IF EXISTS m.nowhere"),
                of("IF EXISTS, nothing", "DROP TABLE IF EXISTS m.nowhere")
                        .besides("CREATE TABLE m.nowhere (id INT PRIMARY KEY)"),
                of("ALTER TABLE of nothing", "ALTER TABLE m.t"),
                of("FLUSH PRIVILEGES", "FLUSH PRIVILEGES").besides("CREATE USER IF NOT EXISTS m_u@localhost"),
                of("ANALYZE", "ANALYZE TABLE m.t").besides("OPTIMIZE TABLE m.t"));
    }
}
