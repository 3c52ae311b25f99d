// SPDX-License-Identifier: Apache-2.0
package io.quorate.applier;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class EventDefinerTest {
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
    void namesTheDefiner(String statement, String named) {
        assertThat(EventDefiner.isImplied(statement)).isTrue();
        assertThat(EventDefiner.name(statement, "u", "h")).isEqualTo(named);
    }

    @Test
    void commentsEndWithTheirLine() {
        assertThat(EventDefiner.name("-- EVENT\n# x\nALTER -- DEFINER\nEVENT e", "u", "h"))
                .isEqualTo("-- EVENT\n# x\nALTER DEFINER = `u`@`h` -- DEFINER\nEVENT e");
    }

    @Test
    void quotesTheAccount() {
        assertThat(EventDefiner.name("ALTER EVENT e", "a`b", "")).isEqualTo("ALTER DEFINER = `a``b`@`` EVENT e");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "ALTER DEFINER = CURRENT_USER EVENT e ENABLE",
                "/*!50106 ALTER*/ /*!50117 DEFINER=`root`@`localhost`*/ /*!50106 EVENT e*/",
                "ALTER EVENTS",
                "ALTER TABLE event ADD a INT",
                "CREATE EVENT e ON SCHEDULE EVERY 1 DAY DO ALTER EVENT f DISABLE"
            })
    void leavesOtherStatementsAlone(String statement) {
        assertThat(EventDefiner.isImplied(statement)).isFalse();
    }
}
