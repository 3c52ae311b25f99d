// SPDX-License-Identifier: Apache-2.0
package io.quorate.capture;

import static org.assertj.core.api.Assertions.assertThat;

import io.quorate.core.Gtid;
import io.quorate.core.Keys;
import io.quorate.core.Payload;
import io.quorate.core.TableName;
import io.quorate.core.WriteSet;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class DefinedTablesTest {
    private static final Gtid GTID = new Gtid(UUID.fromString("11111111-2222-3333-4444-555555555555"), 1);

    private final DefinedTables defined = new DefinedTables(
            Map.of(),
            false,
            Set.of(new TableName("db", "triggered"), new TableName("db", "v")),
            Set.of("f"),
            Map.of(new TableName("db", "is_here"), new TableName("db", "triggered")));

    private static WriteSet definition(byte[] payload) {
        return new WriteSet(GTID, 0, 0, WriteSet.Kind.DDL, Keys.NONE, Payload.of(payload), WriteSet.BUILT_ON_NONE, 0);
    }

    private static WriteSet definition(String sql) {
        return definition(Events.query(sql));
    }

    /** Whether a copy of everything that has all that it names would begin anew. */
    private boolean changesTables(WriteSet definition) {
        Set<TableName> named = defined.of(definition);
        return !defined.isOfObjects(definition)
                && (defined.schema(definition) != null || named == null || !named.isEmpty());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "GRANT SELECT ON db.t TO a",
                "/* of a tool */ REVOKE SELECT ON db.t FROM a",
                "SET PASSWORD FOR a = 'x'",
                "RENAME USER a TO b",
                "DROP ROLE r",
                "FLUSH PRIVILEGES",
                "ANALYZE TABLE t",
                "OPTIMIZE TABLE t",
                "CREATE OR REPLACE ALGORITHM = MERGE DEFINER = `root`@`%` SQL SECURITY INVOKER VIEW v AS SELECT 1",
                "CREATE DEFINER=`root`@`%` TRIGGER x BEFORE INSERT ON t FOR EACH ROW SET @a = 1",
                "DROP PROCEDURE p",
                "ALTER EVENT e DISABLE",
                "CREATE SERVER s FOREIGN DATA WRAPPER mysql OPTIONS (HOST 'h')",
            })
    void anAccountAViewOrAProgramChangesNoTable(String sql) {
        assertThat(changesTables(definition(sql))).isFalse();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "CREATE TABLE u (id INT PRIMARY KEY)",
                "ALTER TABLE t ADD b INT",
                "CREATE INDEX i ON t (a)",
                "RENAME TABLE t TO u",
                "TRUNCATE t",
                "DROP DATABASE d",
                // What a copy has of these it has from its beginning.
                "CREATE DATABASE d",
                "ALTER SCHEMA d CHARACTER SET utf8mb4",
                "CREATE TABLESPACE x ADD DATAFILE 'x.ibd'",
                "SOMETHING new",
            })
    void whatIsNotUnderstoodMayChangeTables(String sql) {
        assertThat(changesTables(definition(sql))).isTrue();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "REPLACE INTO db.t (a) SELECT COUNT(*) FROM db.v",
                "insert low_priority ignore db.t values (1)",
                "UPDATE IGNORE `db`.`t` SET a = RAND()",
                "DELETE QUICK FROM db.t WHERE a > NOW()",
                "DELETE FROM db.t",
            })
    void aStatementThatChangesRowsConcernsItsTable(String sql) {
        assertThat(defined.of(definition(sql))).containsExactly(new TableName("db", "t"));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "INSERT INTO db.triggered VALUES (1)",
                "INSERT INTO db.v VALUES (1)",
                "INSERT INTO db.t VALUES (`F`(1))",
                "UPDATE db.t a, db.u b SET a.x = 1, b.x = 1",
                "UPDATE db.t AS a SET a.x = 1",
                "UPDATE db.t JOIN db.u SET u.x = 1",
                "DELETE t, u FROM db.t JOIN db.u",
                "DELETE FROM t USING db.t JOIN db.u",
                "WITH a AS (SELECT 1) DELETE FROM db.t",
                "LOAD DATA INFILE 'x' INTO TABLE db.t",
                "CALL p()",
            })
    void aStatementThatChangesRowsMayConcernAnyTable(String sql) {
        assertThat(defined.of(definition(sql))).isNull();
    }

    @Test
    void whatIsNoStatementMayChangeTables() {
        assertThat(changesTables(definition(new byte[0]))).isTrue();
        assertThat(changesTables(definition(Events.tableMap(7, "db", "t")))).isTrue();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "CREATE TRIGGER x BEFORE INSERT ON t FOR EACH ROW SET @a = 1",
                "create definer=`trigger`@`%` trigger if not exists db.X after update on db.`t` for each row set @a=1",
                "CREATE DEFINER=`a`@`b` TRIGGER `x` /* y */ BEFORE DELETE ON t FOR EACH ROW FOLLOWS y DELETE FROM u",
            })
    void aTriggerConcernsItsTable(String sql) {
        assertThat(defined.of(definition(sql))).containsExactly(new TableName("db", "t"));
        assertThat(defined.of(definition("DROP TRIGGER IF EXISTS db.x"))).containsExactly(new TableName("db", "t"));
        assertThat(defined.of(definition("DROP TRIGGER is_Here"))).containsExactly(new TableName("db", "triggered"));
        assertThat(defined.of(definition("CREATE TRIGGER x AFTER INSERT ON u FOR EACH ROW SET @a = 1")))
                .as("another table had it before")
                .containsExactlyInAnyOrder(new TableName("db", "t"), new TableName("db", "u"));
    }

    @Test
    void aTriggerThatIsNotKnownMayConcernAnyTable() {
        assertThat(defined.of(definition("DROP TRIGGER x"))).isNull();
        assertThat(defined.of(definition("CREATE DEFINER=`a`@`b` TRIGGER x"))).isNull();
        assertThat(defined.of(definition("CREATE VIEW v AS SELECT 1"))).isEmpty();
        assertThat(defined.of(definition("ALTER TABLE t ADD b INT"))).containsExactly(new TableName("db", "t"));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "GRANT SELECT ON db.t TO a",
                "SET PASSWORD FOR a = 'x'",
                "CREATE OR REPLACE VIEW v AS SELECT 1",
                "CREATE DEFINER=`root`@`%` TRIGGER x BEFORE INSERT ON t FOR EACH ROW SET @a = 1",
                "DROP PROCEDURE p",
            })
    void accountsViewsAndProgramsCanBeCopiedWithoutTables(String sql) {
        assertThat(defined.isOfObjects(definition(sql))).isTrue();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "CREATE DATABASE d",
                "ALTER DATABASE d CHARACTER SET utf8mb4",
                "DROP DATABASE d",
                "ALTER TABLE t ADD b INT",
                "ANALYZE TABLE t",
                "FLUSH PRIVILEGES",
                "CREATE TABLESPACE x ADD DATAFILE 'x.ibd'",
                "SOMETHING new",
            })
    void nothingElseCan(String sql) {
        assertThat(defined.isOfObjects(definition(sql))).isFalse();
    }

    @Test
    void theDatabaseOfADefinitionIsKnown() {
        assertThat(defined.schema(definition("CREATE SCHEMA IF NOT EXISTS d")))
                .isEqualTo(new DefinedTables.Schema("d", false));
        assertThat(defined.schema(definition("ALTER DATABASE COLLATE latin1_bin")))
                .isEqualTo(new DefinedTables.Schema("db", false));
        assertThat(defined.schema(definition("DROP DATABASE `d`"))).isEqualTo(new DefinedTables.Schema("d", true));
        assertThat(defined.schema(definition("ALTER DATABASE d READ ONLY = 1"))).isNull();
        assertThat(defined.schema(definition("CREATE VIEW d.v AS SELECT 1"))).isNull();
        assertThat(defined.schema(definition("CREATE TABLE d.t (a INT)"))).isNull();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "ALTER TABLE t ADD b INT",
                "ALTER TABLE t DROP COLUMN a, ADD UNIQUE (b)",
                "ALTER TABLE t ALTER a DROP DEFAULT",
                "ALTER TABLE t RENAME COLUMN a TO b, RENAME INDEX i TO j",
                "ALTER TABLE t ADD FOREIGN KEY (a) REFERENCES p (id)",
                "CREATE UNIQUE INDEX i ON t (a)",
                "DROP INDEX i ON t",
            })
    void anAlteredTableStaysWithItsRows(String sql) {
        assertThat(defined.altersInPlace(definition(sql))).isTrue();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "ALTER TABLE t RENAME TO u",
                "ALTER TABLE t ADD b INT, RENAME u",
                "ALTER TABLE t TRUNCATE PARTITION p0",
                "ALTER TABLE t REMOVE PARTITIONING",
                "ALTER TABLE t DISCARD TABLESPACE",
                "ALTER TABLE t MODIFY a INT NOT NULL",
                "ALTER TABLE t CHANGE a b INT",
                "ALTER TABLE t CONVERT TO CHARACTER SET latin1",
                "ALTER TABLE t ADD PRIMARY KEY (a)",
                "RENAME TABLE t TO u",
                "TRUNCATE t",
                "DROP TABLE t",
                "CREATE TABLE t (a INT)",
                "CREATE VIEW v AS SELECT 1",
                "DROP DATABASE d",
                "SOMETHING new",
            })
    void anythingElseMayMoveEmptyOrConvertIt(String sql) {
        assertThat(defined.altersInPlace(definition(sql))).isFalse();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "CREATE TABLE u (id INT PRIMARY KEY, at TIMESTAMP DEFAULT CURRENT_TIMESTAMP)",
                "ALTER TABLE t ADD b INT NOT NULL DEFAULT 5",
                "ALTER DATABASE db CHARACTER SET utf8mb4",
                "CREATE DATABASE d",
                "DROP DATABASE d",
                "CREATE INDEX i ON t (a)",
                "GRANT SELECT ON db.t TO a",
                "CREATE PROCEDURE p () SELECT NOW()",
            })
    void theSameStatementDoesTheSame(String sql) {
        assertThat(defined.doTheSame(definition(sql), definition(sql))).isTrue();
        assertThat(defined.doTheSame(definition(sql), definition(sql + " "))).isFalse();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "CREATE TABLE IF NOT EXISTS u (id INT PRIMARY KEY)",
                "CREATE DATABASE IF NOT EXISTS d",
                "CREATE USER IF NOT EXISTS a@b",
                "CREATE ROLE IF NOT EXISTS a",
                "CREATE OR REPLACE VIEW v AS SELECT 1",
                "ALTER DATABASE d CHARACTER SET latin1",
                "GRANT SELECT ON db.t TO a",
            })
    void aServerAloneSaysOkToWhoGivesItTwice(String sql) {
        assertThat(defined.isAnsweredBy(definition(sql), definition(sql))).isTrue();
        assertThat(defined.isAnsweredBy(definition(sql), definition("CREATE TABLE other (id INT)")))
                .isFalse();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "CREATE TABLE u (id INT PRIMARY KEY)",
                "CREATE DATABASE d",
                "CREATE USER a@b",
                "CREATE VIEW v AS SELECT 1",
                "ALTER TABLE t ADD b INT NOT NULL DEFAULT 5",
                "CREATE INDEX i ON t (a)",
                "DROP TABLE u",
                "RENAME TABLE t TO u",
            })
    void aServerAloneHasAnErrorForTheSecondOne(String sql) {
        assertThat(defined.isAnsweredBy(definition(sql), definition(sql))).isFalse();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "ALTER TABLE t ADD at DATETIME DEFAULT CURRENT_TIMESTAMP",
                "ALTER TABLE t ADD at TIMESTAMP",
                "ALTER TABLE t ADD u CHAR(36) DEFAULT (UUID())",
                "ALTER TABLE t ADD id INT AUTO_INCREMENT PRIMARY KEY",
                "CREATE EVENT e ON SCHEDULE EVERY 1 HOUR DO SET @a = 1",
                "SOMETHING new",
            })
    void whatDependsOnWhenAndWhereItIsRunDoesNot(String sql) {
        assertThat(defined.doTheSame(definition(sql), definition(sql))).isFalse();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "CREATE VIEW v AS SELECT 1|CREATE OR REPLACE SQL SECURITY INVOKER VIEW v AS SELECT 2|true",
                "DROP VIEW v|CREATE OR REPLACE VIEW v AS SELECT 2|true",
                "DROP VIEW v, w|CREATE OR REPLACE VIEW v AS SELECT 2|false",
                "CREATE OR REPLACE VIEW v AS SELECT 2|CREATE VIEW v AS SELECT 1|false",
                "CREATE VIEW w AS SELECT 1|CREATE OR REPLACE VIEW v AS SELECT 2|false",
                "ALTER DATABASE d CHARACTER SET latin1|ALTER SCHEMA d COLLATE utf8mb4_bin|true",
                "ALTER DATABASE d CHARACTER SET latin1|ALTER DATABASE e COLLATE utf8mb4_bin|false",
                "ALTER DATABASE d ENCRYPTION 'N'|ALTER DATABASE d COLLATE utf8mb4_bin|false",
                "CREATE DATABASE d|ALTER DATABASE d COLLATE utf8mb4_bin|false",
                "CREATE PROCEDURE v () DO 1|CREATE OR REPLACE VIEW v AS SELECT 2|false",
            })
    void whatIsMadeAnewLeavesNothingOfWhatWasBefore(String before, String after, boolean overwrites) {
        assertThat(defined.overwrites(definition(before), definition(after))).isEqualTo(overwrites);
    }
}
