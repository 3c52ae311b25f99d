// SPDX-License-Identifier: Apache-2.0
package io.quorate.core;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.api.Test;

class ShownTableTest {
    private static final Map<String, String> DEFAULTS =
            Map.of("utf8mb3", "utf8mb3_general_ci", "utf8mb4", "utf8mb4_0900_ai_ci");

    /** Seen for a copy of mysql.time_zone_name, on the server where it was made and on a replica. */
    @Test
    void aCollationMayBeNamedOrNot() {
        String origin = "`Name` char(64) CHARACTER SET utf8mb3 NOT NULL";
        String replica = "`Name` char(64) CHARACTER SET utf8mb3 COLLATE utf8mb3_general_ci NOT NULL";
        assertThat(comparable(origin)).isEqualTo(comparable(replica));
        assertThat(comparable(origin)).isNotEqualTo(comparable(replica.replace("general", "unicode")));
    }

    @Test
    void aCharacterSetMayBeNamedOrNot() {
        String shown = "`a` char(5) COLLATE utf8mb4_bin DEFAULT NULL";
        assertThat(comparable(shown)).isEqualTo(comparable(shown.replace("COLLATE", "CHARACTER SET utf8mb4 COLLATE")));
        assertThat(comparable(shown)).isNotEqualTo(comparable("`a` char(5) CHARACTER SET utf8mb4 DEFAULT NULL"));
    }

    @Test
    void eachServerCountsItsNumbers() {
        assertThat(comparable(") ENGINE=InnoDB AUTO_INCREMENT=17 COMMENT='a'"))
                .isEqualTo(comparable(") ENGINE=InnoDB AUTO_INCREMENT=4 COMMENT='a'"))
                .isNotEqualTo(comparable(") ENGINE=InnoDB COMMENT='b'"));
    }

    /** Seen of one table on three servers, after copies and ALTER CHECK. */
    @Test
    void aNegativeNumberMayBeSimplified() {
        String shown = "CONSTRAINT `k` CHECK ((`balance` > -(738)))";
        assertThat(comparable(shown))
                .isEqualTo(comparable("CONSTRAINT `k` CHECK ((`balance` > -738))"))
                .isNotEqualTo(comparable("CONSTRAINT `k` CHECK ((`balance` > -739))"));
        assertThat(comparable("CHECK ((`a` > -(`b`)))")).isEqualTo("CHECK ((`a` > -(`b`)))");
    }

    @Test
    void keysMayBeInAnySequenceIfTheyAreNotUnique() {
        String shown = "  UNIQUE KEY `u` (`a`),\n  KEY `b` (`b`),\n  KEY `a` (`a`)\n) ENGINE=InnoDB";
        assertThat(comparable(shown))
                .isEqualTo(comparable("  UNIQUE KEY `u` (`a`),\n  KEY `a` (`a`),\n  KEY `b` (`b`)\n) ENGINE=InnoDB"))
                .isNotEqualTo(
                        comparable("  UNIQUE KEY `u` (`a`),\n  KEY `a` (`b`),\n  KEY `b` (`a`)\n) ENGINE=InnoDB"));
        assertThat(comparable("  KEY `b` (`b`),\n  KEY `a` (`a`),\n  CONSTRAINT `c` CHECK (1)"))
                .isEqualTo("  KEY `a` (`a`),\n  KEY `b` (`b`),\n  CONSTRAINT `c` CHECK (1)");
    }

    private static String comparable(String shown) {
        return ShownTable.comparable(shown, DEFAULTS);
    }
}
