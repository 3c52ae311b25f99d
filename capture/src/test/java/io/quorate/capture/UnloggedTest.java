// SPDX-License-Identifier: Apache-2.0
package io.quorate.capture;

import static io.quorate.core.CarriedSetting.BLOCK_ENCRYPTION_MODE;
import static io.quorate.core.CarriedSetting.DEFAULT_STORAGE_ENGINE;
import static io.quorate.core.CarriedSetting.DEFAULT_WEEK_FORMAT;
import static io.quorate.core.CarriedSetting.DIV_PRECISION_INCREMENT;
import static io.quorate.core.CarriedSetting.INNODB_FT_ENABLE_STOPWORD;
import static io.quorate.core.CarriedSetting.INNODB_FT_USER_STOPWORD_TABLE;
import static io.quorate.core.CarriedSetting.OLD_ALTER_TABLE;
import static io.quorate.core.CarriedSetting.SQL_QUOTE_SHOW_CREATE;
import static org.assertj.core.api.Assertions.assertThat;

import io.quorate.core.CarriedSetting;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class UnloggedTest {
    private static Unlogged of(String sql) {
        return Unlogged.of(sql, 0);
    }

    private static void assertSettings(String sql, CarriedSetting... settings) {
        Set<CarriedSetting> named = of(sql).named();
        if (List.of(settings).contains(DEFAULT_STORAGE_ENGINE)) {
            assertThat(of(sql).settings()).as(sql).containsExactly(settings);
        } else {
            assertThat(named).as(sql).isEqualTo(Set.of(settings));
            assertThat(of(sql).settings()).as(sql).containsAll(named).doesNotContain(DEFAULT_STORAGE_ENGINE);
        }
        assertThat(of(sql).unrepeatable()).as(sql).isNull();
    }

    @Test
    void aWeekWithoutModeIsWhatItsSessionMakesOfIt() {
        assertSettings("CREATE VIEW v AS SELECT WEEK(d) FROM t", DEFAULT_WEEK_FORMAT);
        assertSettings(
                "CREATE OR REPLACE ALGORITHM=MERGE DEFINER=`a`@`b` VIEW v AS SELECT week (d)", DEFAULT_WEEK_FORMAT);
        assertSettings("CREATE TABLE c (d DATE, CHECK (WEEK(d) < 53)) ENGINE=InnoDB", DEFAULT_WEEK_FORMAT);
        assertSettings("ALTER TABLE t ADD w INT AS (WEEK(DATE(d))) STORED", DEFAULT_WEEK_FORMAT);
        assertSettings("CREATE INDEX i ON t ((WEEK(d)))", DEFAULT_WEEK_FORMAT);
        assertSettings("ALTER TABLE t ADD w INT AS (WEEK(IF(d, d, 1), 3)) STORED");
        assertSettings("CREATE PROCEDURE p() SELECT WEEK(d) FROM t");
        assertSettings("CREATE TRIGGER g BEFORE INSERT ON t FOR EACH ROW SET NEW.w = WEEK(NEW.d)");
        assertSettings("CREATE TABLE t (week INT, `week` INT, c INT COMMENT 'week(d)') ENGINE InnoDB");
    }

    @Test
    void whatIsEvaluatedForRowsThatAreThereDependsOnMore() {
        assertSettings("ALTER TABLE t ADD q DECIMAL(9, 5) DEFAULT (a / 7)", DIV_PRECISION_INCREMENT);
        assertSettings("ALTER TABLE t ADD w INT AS (EXTRACT(WEEK FROM d)) STORED", DEFAULT_WEEK_FORMAT);
        assertSettings("CREATE UNIQUE INDEX i ON t ((AES_ENCRYPT(a, 'k')))", BLOCK_ENCRYPTION_MODE);
        assertSettings("CREATE VIEW v AS SELECT a / 7, EXTRACT(WEEK FROM d), AES_DECRYPT(a, 'k') FROM t");
        assertSettings("CREATE TABLE t (a INT, q DECIMAL(9, 5) AS (a / 7) STORED) ENGINE = InnoDB");
        assertSettings("ALTER TABLE t ADD c INT COMMENT 'a / 7' /* a / 7 */");
    }

    @Test
    void aTableWithoutEngineIsOfItsSessionsEngine() {
        assertSettings("CREATE TABLE t (a INT)", DEFAULT_STORAGE_ENGINE);
        assertSettings("CREATE TABLE IF NOT EXISTS s.t (engine INT, KEY (engine))", DEFAULT_STORAGE_ENGINE);
        assertSettings("CREATE TABLE s.engine (a INT)", DEFAULT_STORAGE_ENGINE);
        assertSettings("CREATE TABLE `t` (`a` int) START TRANSACTION", DEFAULT_STORAGE_ENGINE);
        assertSettings("CREATE TABLE t (a VARCHAR(9) AS (a LIKE 'x'))", SQL_QUOTE_SHOW_CREATE, DEFAULT_STORAGE_ENGINE);
        assertSettings("CREATE TABLE t (a INT) ENGINE=MyISAM");
        assertSettings("CREATE TABLE t (a INT) COMMENT 'c' ENGINE MyISAM");
        assertSettings("CREATE TABLE t LIKE s.u");
        assertSettings("CREATE TABLE IF NOT EXISTS s.t (LIKE u)");
        assertSettings("ALTER TABLE t ADD a INT");
        assertSettings("DROP TABLE t");
    }

    @Test
    void theTextOfAViewOrCheckIsQuotedAsItsSessionHasIt() {
        assertSettings("CREATE TABLE t (a INT, CHECK (a > 0))", SQL_QUOTE_SHOW_CREATE, DEFAULT_STORAGE_ENGINE);
        for (String sql : List.of(
                "ALTER TABLE t ADD CONSTRAINT c CHECK (a > 0)", "CREATE TABLE t LIKE u", "ALTER VIEW v AS SELECT 1")) {
            assertThat(of(sql).settings()).as(sql).contains(SQL_QUOTE_SHOW_CREATE);
        }
    }

    @Test
    void aFulltextIndexLeavesOutTheWordsOfItsSession() {
        for (String sql : new String[] {
            "CREATE FULLTEXT INDEX i ON t (a)",
            "ALTER TABLE t ADD FULLTEXT (a)",
            "CREATE TABLE t (a TEXT, FULLTEXT (a)) ENGINE=InnoDB"
        }) {
            assertSettings(sql, INNODB_FT_ENABLE_STOPWORD, INNODB_FT_USER_STOPWORD_TABLE);
        }
    }

    /** It makes a table anew, with whatever expressions that has. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "ALTER TABLE t ADD c INT",
                "CREATE INDEX i ON t (a)",
                "DROP INDEX i ON t",
                "OPTIMIZE TABLE t",
                "ALTER TABLE t ENGINE = InnoDB"
            })
    void expressionsThatAreThereAreEvaluatedAnew(String sql) {
        assertThat(of(sql).settings())
                .containsExactlyInAnyOrder(
                        DEFAULT_WEEK_FORMAT, DIV_PRECISION_INCREMENT, BLOCK_ENCRYPTION_MODE, OLD_ALTER_TABLE);
        assertThat(of(sql).named()).isEmpty();
        assertThat(Unlogged.ofExpression("extract(week from `d`)")).containsExactly(DEFAULT_WEEK_FORMAT);
        assertThat(Unlogged.ofExpression("week(`d`,6)")).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "ALTER TABLE t ADD c INT DEFAULT (ps_current_thread_id())",
                "ALTER TABLE t ADD c VARCHAR(99) DEFAULT (CURRENT_ROLE())",
                "CREATE EVENT e ON SCHEDULE EVERY @@wait_timeout SECOND DO SET @x = 1",
                "CREATE DEFINER=`a`@`b` EVENT e ON SCHEDULE EVERY LENGTH(CURRENT_USER) HOUR DO SET @x = 1",
                "ALTER EVENT e ON SCHEDULE AT NOW() + INTERVAL UUID_SHORT() % 100 HOUR"
            })
    void someFunctionsAreInNoLog(String sql) {
        assertThat(of(sql).unrepeatable()).isNotNull();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "CREATE EVENT e ON SCHEDULE EVERY @n HOUR STARTS NOW() DO SET @@SESSION.sql_mode = UUID()",
                "ALTER EVENT e DO DELETE FROM t WHERE u = USER() AND r < RAND()",
                "CREATE TABLE t (c VARCHAR(99) DEFAULT (CURRENT_ROLE())) ENGINE = InnoDB",
                "CREATE VIEW v AS SELECT CURRENT_USER(), ps_current_thread_id(), @@port",
                "ALTER TABLE t ADD user INT, ADD version INT, ADD KEY (user, version)"
            })
    void otherThingsAreEvaluatedByWhoeverUsesThem(String sql) {
        assertThat(of(sql).unrepeatable()).isNull();
        assertThat(of(sql).drawsLots()).isFalse();
    }

    @Test
    void lotsAreDrawnInSchedules() {
        assertThat(of("CREATE EVENT e ON SCHEDULE AT NOW() + INTERVAL RAND() HOUR DO SELECT 1")
                        .drawsLots())
                .isTrue();
    }
}
