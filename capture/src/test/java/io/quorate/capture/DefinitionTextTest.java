// SPDX-License-Identifier: Apache-2.0
package io.quorate.capture;

import static io.quorate.capture.CaptureFixture.type;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.quorate.core.KeyType;
import io.quorate.core.Keys;
import io.quorate.core.Matrix;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class DefinitionTextTest {
    private static DefinitionText read(String text) {
        return DefinitionText.of(text, "db", 0, false);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "ALTER TABLE t ADD c INT NULL|false",
                "ALTER TABLE t ADD INDEX (c)|false",
                "CREATE INDEX i ON t (c)|false",
                "CREATE TABLE t (id INT PRIMARY KEY)|false",
                "CREATE TABLE IF NOT EXISTS t (id INT, FOREIGN KEY (id) REFERENCES p (id))|false",
                "CREATE TABLE t LIKE u|false",
                "CREATE VIEW v AS SELECT * FROM t|false",
                "CREATE DATABASE d|false",
                "ALTER TABLE t ADD c INT NOT NULL|true",
                "ALTER TABLE t ADD UNIQUE (c)|true",
                "CREATE UNIQUE INDEX i ON t (c)|true",
                "ALTER TABLE t DROP c|true",
                "ALTER TABLE t ALTER c SET DEFAULT 5|true",
                "ALTER TABLE t MODIFY c BIGINT|true",
                "RENAME TABLE t TO old, u TO t|true",
                "TRUNCATE t|true",
                "DROP TABLE t|true",
                "DROP DATABASE d|true",
                "ALTER TABLE t PARTITION BY HASH (id) PARTITIONS 4|true",
            })
    void keepsClientsFromWritingOnlyWhereRowsMayNotFit(String text, boolean fence) {
        assertThat(read(text).needsFence()).isEqualTo(fence);
    }

    /** Rows written to a table that turns out to be there lose nothing by it. */
    @Test
    void aTableThatIsCreatedConflictsWithDefinitionsAndWithNoRows() {
        Keys keys = read("CREATE TABLE IF NOT EXISTS t (id INT)").keys();
        assertThat(keys.size()).isEqualTo(2);
        assertThat(type(keys, KeyNames.table("db", "t"))).isEqualTo(KeyType.UPDATE);
        assertThat(type(keys, KeyNames.schema("db"))).isEqualTo(KeyType.REFERENCE);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                // A table gets the character set that its schema has when it is created.
                "ALTER DATABASE d CHARACTER SET latin1|CREATE TABLE d.t (id INT)|true",
                "ALTER DATABASE CHARACTER SET latin1|CREATE TABLE t (id INT)|true",
                "ALTER DATABASE d CHARACTER SET latin1|CREATE TABLE t (id INT)|false",
                "ALTER DATABASE d CHARACTER SET latin1|CREATE PROCEDURE d.p (a CHAR(3)) DO 1|true",
                "ALTER DATABASE d CHARACTER SET latin1|ALTER TABLE t RENAME TO d.t|true",
                "CREATE DATABASE d|CREATE SCHEMA D CHARACTER SET latin1|true",
                "CREATE DATABASE d|CREATE DATABASE e|false",
                "CREATE VIEW v AS SELECT 1|CREATE VIEW w AS SELECT 1|false",
                "CREATE VIEW v AS SELECT 1|CREATE OR REPLACE SQL SECURITY INVOKER VIEW db.v AS SELECT 2|true",
                "CREATE VIEW v AS SELECT 1|DROP VIEW IF EXISTS w, v|true",
                "CREATE VIEW v AS SELECT 1|CREATE TABLE v (id INT)|true",
                "CREATE VIEW v AS SELECT * FROM w|CREATE OR REPLACE VIEW w AS SELECT 1 AS b|true",
                "CREATE PROCEDURE p () DO 1|DROP PROCEDURE P|true",
                "CREATE PROCEDURE p () DO 1|CREATE FUNCTION p () RETURNS INT RETURN 1|false",
                "CREATE TRIGGER a BEFORE INSERT ON t FOR EACH ROW SET @a = 1|"
                        + "CREATE TRIGGER b AFTER DELETE ON t FOR EACH ROW SET @a = 1|true",
                "CREATE TRIGGER a BEFORE INSERT ON t FOR EACH ROW SET @a = 1|"
                        + "CREATE TRIGGER b BEFORE INSERT ON u FOR EACH ROW SET @a = 1|false",
                "CREATE TRIGGER a BEFORE INSERT ON t FOR EACH ROW SET @a = 1|DROP TRIGGER a|true",
                "CREATE EVENT e ON SCHEDULE EVERY 1 DAY DO SET @a = 1|ALTER EVENT d.x RENAME TO db.e|true",
                "CREATE EVENT e ON SCHEDULE EVERY 1 DAY DO SET @a = 1|DROP EVENT f|false",
                "CREATE SERVER s FOREIGN DATA WRAPPER mysql OPTIONS (USER 'u')|DROP SERVER s|true",
            })
    void aDefinitionConflictsWithWhatNamesTheSame(String one, String other, boolean conflicts) {
        assertThat(conflict(read(one).keys(), read(other).keys())).isEqualTo(conflicts);
        assertThat(conflict(read(other).keys(), read(one).keys())).isEqualTo(conflicts);
    }

    private static boolean conflict(Keys found, Keys incoming) {
        for (int i = 0; i < found.size(); i++) {
            KeyType type = type(incoming, found.hash(i));
            if (type != null && Matrix.conflicts(found.type(i).ordinal(), type.ordinal())) {
                return true;
            }
        }
        return false;
    }

    /** MySQL stores a view with the columns that {@code *} stands for when it is made. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "CREATE VIEW v AS SELECT * FROM t|true",
                "CREATE OR REPLACE SQL SECURITY INVOKER VIEW v AS SELECT t.* FROM t|true",
                "CREATE MATERIALIZED VIEW v AS SELECT * FROM t|true",
                "ALTER VIEW v AS TABLE t|true",
                "CREATE VIEW v AS SELECT a FROM t NATURAL JOIN u|true",
                "CREATE VIEW v AS SELECT id, a FROM t|false",
                "DROP VIEW v|false",
                "CREATE PROCEDURE p () SELECT * FROM t|false"
            })
    void aViewOfAllColumnsConflictsWithDefinitionsOfTables(String text, boolean conflicts) {
        Keys view = read(text).keys();
        for (String other : List.of("ALTER TABLE u ADD b INT", "ALTER TABLE u DROP COLUMN b", "RENAME TABLE u TO w")) {
            assertThat(conflict(view, read(other).keys())).as(other).isEqualTo(conflicts);
        }
        for (String other : List.of("CREATE INDEX i ON u (a)", "CREATE TABLE w (i INT)")) {
            assertThat(conflict(view, read(other).keys())).as(other).isFalse();
        }
    }

    @Test
    void rowsBeforeAStatementAreNoTrouble() {
        Keys keys = read("TRUNCATE t").keys();
        assertThat(keys.contains(Keys.NO_ROWS_BEFORE)).isFalse();
        assertThat(type(keys, KeyNames.table("db", "t"))).isEqualTo(KeyType.EXCLUSIVE);
        assertThat(read("DROP DATABASE d").keys().touchEverything()).isTrue();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "''|there is no statement",
                "-- nothing|there is no statement",
                "DROP TABLE a; DROP TABLE b|several statements",
                "INSERT INTO t VALUES (1)|changes or reads rows",
                "SELECT 1|changes or reads rows",
                "USE d|--schema",
                "SET GLOBAL read_only = 1|accounts and variables",
                "GRANT ALL ON *.* TO a|accounts",
                "CREATE USER a IDENTIFIED BY 'x'|accounts",
                "DROP ROLE a|accounts",
                "FLUSH TABLES WITH READ LOCK|defines nothing",
                "OPTIMIZE TABLE t|defines nothing",
                "INSTALL PLUGIN p SONAME 'x.so'|one server",
                "CREATE FUNCTION f RETURNS INT SONAME 'x.so'|one server",
                "ALTER TABLE t DISCARD TABLESPACE|one server",
                "ALTER TABLE t IMPORT PARTITION p TABLESPACE|one server",
                "ALTER INSTANCE RELOAD TLS|one server",
                "CREATE TEMPORARY TABLE t (i INT)|temporary",
                "CREATE TABLE t AS SELECT * FROM u|its own rows",
                "CREATE TABLE t (i INT) SELECT 1 AS i|its own rows",
                "CREATE TABLE t TABLE u|its own rows",
                "CREATE TABLE t AS VALUES ROW(1)|its own rows",
                "DROP TABLE quorate.position|the service's own",
                "DROP DATABASE IF EXISTS `quorate`|the service's own",
                "CREATE DEFINER = CURRENT_USER VIEW v AS SELECT 1|name the account",
                "COMMIT|no definition",
                "what is this|no definition",
            })
    void refusesWithCauseAndWayOut(String text, String cause) {
        assertThatThrownBy(() -> read(text)).hasMessageContaining("QRT-3013").hasMessageContaining(cause);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "CREATE TABLE t (i INT) COMMENT 'SELECT; 1'",
                "ALTER TABLE t ADD import INT NULL",
                "CREATE TABLE event (i INT)",
                "CREATE PROCEDURE p() BEGIN SELECT 1; SELECT CURRENT_USER(); END",
                "CREATE TABLE t (i INT) PARTITION BY RANGE (i) (PARTITION p VALUES LESS THAN (5));",
                "DROP TABLE t ; "
            })
    void takesOneStatementWhateverItsWords(String text) {
        assertThat(read(text).shortText()).isNotBlank();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "CREATE VIEW v AS SELECT 1|CREATE DEFINER = a VIEW v AS SELECT 1",
                "CREATE OR REPLACE ALGORITHM = MERGE SQL SECURITY INVOKER VIEW v AS SELECT 1"
                        + "|CREATE OR REPLACE ALGORITHM = MERGE DEFINER = a SQL SECURITY INVOKER VIEW v AS SELECT 1",
                "CREATE MATERIALIZED VIEW v AS SELECT 1|CREATE MATERIALIZED DEFINER = a VIEW v AS SELECT 1",
                "CREATE JSON RELATIONAL DUALITY VIEW v AS SELECT 1"
                        + "|CREATE DEFINER = a JSON RELATIONAL DUALITY VIEW v AS SELECT 1",
                "CREATE DEFINER = b PROCEDURE p() SELECT 1|CREATE DEFINER = b PROCEDURE p() SELECT 1",
                "CREATE TRIGGER x BEFORE INSERT ON t FOR EACH ROW SET @a = 1"
                        + "|CREATE DEFINER = a TRIGGER x BEFORE INSERT ON t FOR EACH ROW SET @a = 1",
                "ALTER EVENT e ENABLE|ALTER DEFINER = a EVENT e ENABLE",
                "ALTER PROCEDURE p COMMENT 'x'|ALTER PROCEDURE p COMMENT 'x'",
                "CREATE TABLE event (i INT)|CREATE TABLE event (i INT)",
                "DROP VIEW v|DROP VIEW v",
            })
    void namesWhoeverAsksAsTheDefiner(String text, String complete) {
        assertThat(read(text).text("a")).isEqualTo(complete);
    }
}
