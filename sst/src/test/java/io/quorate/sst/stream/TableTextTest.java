// SPDX-License-Identifier: Apache-2.0
package io.quorate.sst.stream;

import static org.assertj.core.api.Assertions.assertThat;

import io.quorate.sst.stream.Catalog.Clause;
import java.sql.SQLException;
import java.util.Set;
import org.junit.jupiter.api.Test;

class TableTextTest {
    private static TableText of(String body) throws SQLException {
        return of(body, plain -> Set.of());
    }

    private static TableText of(String body, TableText.Generated generated) throws SQLException {
        return TableText.of("CREATE TABLE `t(``` (\n  " + body + "\n) ENGINE=InnoDB COMMENT=')'", "InnoDB", generated);
    }

    @Test
    void defersSecondaryKeysAndForeignKeys() throws SQLException {
        TableText text = of("""
                `a` int COMMENT 'it''s \\\\ '',
                  KEY `b` (`a`)',
                  `KEY ``(` int,
                  PRIMARY KEY (`a`),
                  UNIQUE KEY `u,` (`a`,`KEY ``(`),
                  KEY `f` ((`a` + 1)),
                  CONSTRAINT `c` FOREIGN KEY (`a`) REFERENCES `t` (`a`) ON DELETE CASCADE,
                  CONSTRAINT `d` CHECK ((`a` <> _utf8mb4'\\'),'))""");
        assertThat(text.create()).isEqualTo("""
                CREATE TABLE `t(``` (
                  `a` int COMMENT 'it''s \\\\ '',
                  KEY `b` (`a`)',
                  `KEY ``(` int,
                  PRIMARY KEY (`a`),
                  CONSTRAINT `d` CHECK ((`a` <> _utf8mb4'\\'),'))
                ) ENGINE=InnoDB COMMENT=')'""");
        assertThat(text.indexes())
                .containsExactly(
                        new Clause("u,", "UNIQUE KEY `u,` (`a`,`KEY ``(`)"), new Clause("f", "KEY `f` ((`a` + 1))"));
        assertThat(text.foreignKeys()).extracting(Clause::name).containsExactly("c");
    }

    @Test
    void keepsTheKeyOfACounterAndThoseBeforeIt() throws SQLException {
        TableText text = of("`a` int,\n  `n` int NOT NULL AUTO_INCREMENT,\n  PRIMARY KEY (`a`,`n`),\n  KEY `x` (`a`),\n"
                + "  KEY `n` (`n`),\n  KEY `y` (`n`,`a`)");
        assertThat(text.create()).contains("KEY `x`", "KEY `n`").doesNotContain("KEY `y`");
        assertThat(text.indexes()).extracting(Clause::name).containsExactly("y");
    }

    @Test
    void keepsAllKeysWithoutAPrimaryOne() throws SQLException {
        TableText text = of("`a` int NOT NULL,\n  UNIQUE KEY `u` (`a`),\n  KEY `k` (`a`)");
        assertThat(text.create()).contains("UNIQUE KEY `u`", "KEY `k`");
        assertThat(text.indexes()).isEmpty();
    }

    /** Those of a counter stay all the same. */
    @Test
    void hasGeneratedKeysGeneratedAgain() throws SQLException {
        String body = "`a (b` int,\n  `n` int NOT NULL AUTO_INCREMENT,\n  KEY `n` (`n`),\n  KEY `f``(` (`a (b`,`n`),\n"
                + "  KEY `x` (`a (b`(3)),\n  KEY `y` (`n` DESC)";
        TableText text = of(body, plain -> {
            assertThat(plain).extracting(Clause::name).containsExactly("n", "f`(");
            return Set.of("n", "f`(");
        });
        assertThat(text.create()).contains("KEY `n`", "KEY `x`", "KEY `y`").doesNotContain("KEY `f");
        assertThat(text.indexes()).containsExactly(new Clause("f`(", "FOREIGN KEY `f``(` (`a (b`,`n`)"));
    }

    @Test
    void leavesOutACollationThatIsTheTables() throws SQLException {
        assertThat(of("`a COLLATE x` text COLLATE utf8mb4_bin NOT NULL COMMENT ' COLLATE y',\n"
                                + "  `b` text CHARACTER SET utf8mb4 COLLATE utf8mb4_bin,\n  `c` text COLLATE"
                                + " utf8mb4_bin")
                        .create())
                .contains("`a COLLATE x` text NOT NULL COMMENT ' COLLATE y',\n")
                .contains("`b` text CHARACTER SET utf8mb4 COLLATE utf8mb4_bin,\n  `c` text\n");
    }
}
