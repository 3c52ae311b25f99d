// SPDX-License-Identifier: Apache-2.0
package io.quorate.applier;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class InvokerTest {
    @ParameterizedTest
    @CsvSource(
            delimiter = '>',
            value = {
                "ALTER EVENT e DO SELECT 1 > ALTER DEFINER = `u`@`h` EVENT e DO SELECT 1",
                "alter /* EVENT */ Event s.e ENABLE > alter DEFINER = `u`@`h` /* EVENT */ Event s.e ENABLE",
                "/*! ALTER */EVENT e > /*! ALTER DEFINER = `u`@`h` */EVENT e",
                "/*!80000 ALTER*/ /*!80000 EVENT e*/ > /*!80000 ALTER DEFINER = `u`@`h`*/ /*!80000 EVENT e*/",
                "/**/ALTER/**/EVENT`e` > /**/ALTER DEFINER = `u`@`h`/**/EVENT`e`"
            })
    void namesTheDefinerOfAnEvent(String statement, String named) {
        assertThat(Invoker.mayBeImplied(statement)).isTrue();
        assertThat(Invoker.name(statement, "u", "h")).isEqualTo(named);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '>',
            value = {
                "DROP USER CURRENT_USER() > DROP USER `u`@`h`",
                "DROP USER IF EXISTS current_user, x > DROP USER IF EXISTS `u`@`h`, x",
                "RENAME /**/ USER CURRENT_USER ( ) TO you > RENAME /**/ USER `u`@`h` TO you",
                "REVOKE SELECT ON `current_user`.* FROM CURRENT_USER > REVOKE SELECT ON `current_user`.* FROM `u`@`h`",
                "ALTER USER CURRENT_USER() COMMENT \"CURRENT_USER\" > ALTER USER `u`@`h` COMMENT \"CURRENT_USER\"",
                "REVOKE /* CURRENT_USER */ r FROM my_current_user > REVOKE /* CURRENT_USER */ r FROM my_current_user"
            })
    void namesTheCurrentUser(String statement, String named) {
        assertThat(Invoker.mayBeImplied(statement)).isTrue();
        assertThat(Invoker.name(statement, "u", "h")).isEqualTo(named);
    }

    @Test
    void stringsAreLeftAsTheyAre() {
        assertThat(Invoker.name("ALTER USER a COMMENT 'it''s \\' CURRENT_USER' DEFAULT ROLE b", "u", "h"))
                .isEqualTo("ALTER USER a COMMENT 'it''s \\' CURRENT_USER' DEFAULT ROLE b");
        String large = "ALTER USER CURRENT_USER COMMENT '" + "x''".repeat(200_000) + "'";
        assertThat(Invoker.name(large, "$1", "h"))
                .startsWith("ALTER USER `$1`@`h` COMMENT")
                .hasSize(large.length() - 4);
    }

    @Test
    void commentsEndWithTheirLine() {
        assertThat(Invoker.name("-- EVENT\n# x\nALTER -- DEFINER\nEVENT e", "u", "h"))
                .isEqualTo("-- EVENT\n# x\nALTER DEFINER = `u`@`h` -- DEFINER\nEVENT e");
    }

    @Test
    void quotesTheAccount() {
        assertThat(Invoker.name("ALTER EVENT e", "a`b", "")).isEqualTo("ALTER DEFINER = `a``b`@`` EVENT e");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "ALTER DEFINER = CURRENT_USER EVENT e ENABLE",
                "/*!50106 ALTER*/ /*!50117 DEFINER=`root`@`localhost`*/ /*!50106 EVENT e*/",
                "ALTER EVENTS",
                "ALTER TABLE event ADD a INT",
                "ALTER VIEW v AS SELECT CURRENT_USER()",
                "CREATE EVENT e ON SCHEDULE EVERY 1 DAY DO ALTER EVENT f DISABLE"
            })
    void leavesOtherStatementsAlone(String statement) {
        assertThat(Invoker.mayBeImplied(statement)).isFalse();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '>',
            quoteCharacter = '~',
            value = {
                "GRANT PROCESS ON *.* TO 'r'@'%' AS 'a'@'localhost' WITH ROLE NONE > GRANT PROCESS ON *.* TO 'r'@'%'",
                "GRANT ALL ON *.* TO `r` WITH GRANT OPTION AS `a` WITH ROLE DEFAULT"
                        + " > GRANT ALL ON *.* TO `r` WITH GRANT OPTION",
                "GRANT PROCESS ON *.* TO r AS 'a'@'%' WITH ROLE ALL EXCEPT 'x'@'%','y'@'%' > GRANT PROCESS ON *.* TO r",
                "GRANT PROCESS ON *.* TO r AS 'a'@'%' WITH ROLE `x`@`%`,`y`@`%` > GRANT PROCESS ON *.* TO r",
                "GRANT SELECT ON a.* TO ' AS ''a'' WITH ROLE NONE' > GRANT SELECT ON a.* TO ' AS ''a'' WITH ROLE NONE'"
            })
    void leavesOutWhoGranted(String statement, String without) {
        assertThat(Invoker.withoutGrantor(statement)).isEqualTo(without);
    }

    @Test
    void leavesTheBodyOfARoutineAsItIs() {
        String routine = "CREATE PROCEDURE p() GRANT PROCESS ON *.* TO 'r'@'%' AS 'a'@'h' WITH ROLE NONE";
        assertThat(Invoker.withoutGrantor(routine)).isEqualTo(routine);
    }

    @Test
    void restrictionsMayComeFromTheGrantorAlone() {
        assertThat(Invoker.grantors("GRANT PROCESS ON *.* TO 'r'@'%' AS 'a'@'h' WITH ROLE NONE"))
                .isEqualTo("User = 'a' AND Host = 'h'");
        assertThat(Invoker.grantors("GRANT PROCESS ON *.* TO 'r'@'%' AS 'a'@'h' WITH ROLE 'x'@'%'"))
                .isEqualTo("TRUE");
        assertThat(Invoker.grantors("GRANT PROCESS ON *.* TO 'r'@'%' AS 'a\\''@'h' WITH ROLE NONE"))
                .isEqualTo("TRUE");
    }
}
