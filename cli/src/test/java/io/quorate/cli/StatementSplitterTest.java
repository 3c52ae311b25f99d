// SPDX-License-Identifier: Apache-2.0
package io.quorate.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class StatementSplitterTest {
    private static List<String> split(String script) {
        return StatementSplitter.split(script).stream()
                .map(StatementSplitter.Piece::text)
                .toList();
    }

    @Test
    void cutsAtSemicolons() {
        assertThat(split("CREATE TABLE a (i INT);\n DROP TABLE b ;\n\n"))
                .containsExactly("CREATE TABLE a (i INT)", "DROP TABLE b");
    }

    @Test
    void leavesStringsNamesAndCommentsWhole() {
        String tricky = "ALTER TABLE `a;b` COMMENT 'x;''y\\';z' /* ; */ -- ; it's\n, ADD c INT # ;\n DEFAULT \"1;\"";
        assertThat(split(tricky + "; DROP TABLE t")).containsExactly(tricky, "DROP TABLE t");
    }

    @Test
    void leavesOutWhatIsOnlyComments() {
        assertThat(split("-- nothing;\n/* here; */;\n;;")).isEmpty();
        assertThat(split("/*!80000 DROP TABLE t */;")).containsExactly("/*!80000 DROP TABLE t */");
    }

    @Test
    void twoDashesAreACommentOnlyBeforeASpace() {
        assertThat(split("ALTER TABLE t ADD c INT DEFAULT 1--1; DROP TABLE u")).hasSize(2);
    }

    @Test
    void cutsProgramsAtTheirDelimiter() {
        assertThat(split("DELIMITER //\nCREATE PROCEDURE p() BEGIN SELECT 1; END //\ndelimiter ;\nDROP TABLE t;"))
                .containsExactly("CREATE PROCEDURE p() BEGIN SELECT 1; END", "DROP TABLE t");
    }

    @Test
    void knowsTheLines() {
        assertThat(StatementSplitter.split("\n\nDROP TABLE a;\n\nDROP TABLE b;"))
                .extracting(StatementSplitter.Piece::line)
                .containsExactly(3, 5);
    }
}
