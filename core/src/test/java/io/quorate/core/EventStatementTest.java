// SPDX-License-Identifier: Apache-2.0
package io.quorate.core;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class EventStatementTest {
    @ParameterizedTest
    @CsvSource(
            delimiter = '>',
            quoteCharacter = '~',
            value = {
                "CREATE EVENT e ON SCHEDULE EVERY 1 DAY DO SELECT 1"
                        + "> CREATE EVENT e ON SCHEDULE EVERY 1 DAY DISABLE ON SLAVE DO SELECT 1",
                "create event s.e on schedule at NOW() enable do select 1"
                        + "> create event s.e on schedule at NOW() DISABLE ON SLAVE do select 1",
                "CREATE DEFINER=`do`@`h` EVENT IF NOT EXISTS `do`.`enable` ON SCHEDULE EVERY 1 DAY COMMENT 'do' DO DO 1"
                        + "> CREATE DEFINER=`do`@`h` EVENT IF NOT EXISTS `do`.`enable` ON SCHEDULE EVERY 1 DAY"
                        + " DISABLE ON SLAVE COMMENT 'do' DO DO 1",
                "CREATE DEFINER = CURRENT_USER() EVENT comment ON SCHEDULE AT (SELECT (enable)) + INTERVAL 1 DAY DO DO 1"
                        + "> CREATE DEFINER = CURRENT_USER() EVENT comment ON SCHEDULE AT (SELECT (enable))"
                        + " + INTERVAL 1 DAY DISABLE ON SLAVE DO DO 1",
                "CREATE DEFINER=event@h EVENT enable.`do` ON SCHEDULE EVERY 1 DAY STARTS '2020-01-01 DO' DO DO 1"
                        + "> CREATE DEFINER=event@h EVENT enable.`do` ON SCHEDULE EVERY 1 DAY STARTS '2020-01-01 DO'"
                        + " DISABLE ON SLAVE DO DO 1",
                "/* DO */ CREATE /*!50117 DEFINER=`u`@`h`*/ /*!50106 EVENT e ON SCHEDULE EVERY 1 DAY DO SELECT 1 */"
                        + "> /* DO */ CREATE /*!50117 DEFINER=`u`@`h`*/ /*!50106 EVENT e ON SCHEDULE EVERY 1 DAY"
                        + " DISABLE ON SLAVE DO SELECT 1 */",
                "ALTER EVENT e ENABLE > ALTER EVENT e DISABLE ON SLAVE",
                "ALTER DEFINER = `u`@`h` EVENT e RENAME TO enable ENABLE"
                        + "> ALTER DEFINER = `u`@`h` EVENT e RENAME TO enable DISABLE ON SLAVE",
                "ALTER EVENT e RENAME TO s.disable ENABLE COMMENT 'x' DO DO 1"
                        + "> ALTER EVENT e RENAME TO s.disable DISABLE ON SLAVE COMMENT 'x' DO DO 1",
            })
    void runsWhereItsClientIs(String statement, String elsewhere) {
        assertThat(EventStatement.elsewhere(statement)).isEqualTo(elsewhere);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "CREATE EVENT e ON SCHEDULE EVERY 1 DAY DISABLE DO SELECT 1",
                "CREATE EVENT e ON SCHEDULE EVERY 1 DAY DISABLE ON SLAVE DO SELECT 1",
                "ALTER EVENT e DISABLE",
                "ALTER EVENT e RENAME TO enable",
                "ALTER EVENT enable DO UPDATE t SET enable = 1",
                "ALTER EVENT e ON COMPLETION PRESERVE COMMENT 'ENABLE'",
                "DROP EVENT e",
                "CREATE TABLE event (enable INT)",
                "CREATE PROCEDURE p () ALTER EVENT e ENABLE",
                "CREATE DEFINER=event@h PROCEDURE p () ALTER EVENT e ENABLE",
                "CREATE EVENT",
                "CREATE EVENT `e",
                ""
            })
    void everythingElseStaysAsItIs(String statement) {
        assertThat(EventStatement.elsewhere(statement)).isEqualTo(statement);
    }

    @ParameterizedTest
    @CsvSource({
        "ENABLE, false, DISABLE ON SLAVE",
        "ENABLE, true, DISABLE ON SLAVE",
        "DISABLE ON SLAVE, false, DISABLE ON SLAVE",
        "DISABLE ON SLAVE, true, ENABLE",
        "DISABLE, false, DISABLE",
        "DISABLE, true, DISABLE"
    })
    void aCopyRunsWhereTheEventRan(String there, boolean ranHere, String here) {
        String create = "CREATE DEFINER=`root`@`localhost` EVENT `enable` ON SCHEDULE EVERY 1 DAY STARTS"
                + " '2026-01-01 00:00:00' ON COMPLETION NOT PRESERVE %s COMMENT 'it''s DISABLE' DO SET @a = 1";
        assertThat(EventStatement.copied(create.formatted(there), ranHere)).isEqualTo(create.formatted(here));
    }
}
