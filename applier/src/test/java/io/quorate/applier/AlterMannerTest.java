// SPDX-License-Identifier: Apache-2.0
package io.quorate.applier;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class AlterMannerTest {
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '^',
            value = {
                "alter table t add c int, algorithm=instant|alter table t add c int, algorithm = DEFAULT",
                "ALTER TABLE t ALGORITHM INPLACE, LOCK=NONE, ADD c INT"
                        + "|ALTER TABLE t ALGORITHM = DEFAULT, LOCK = DEFAULT, ADD c INT",
                "/* x */ ALTER /*! TABLE */ t ADD c INT /*!80012 , ALGORITHM = INSTANT */"
                        + "|/* x */ ALTER /*! TABLE */ t ADD c INT /*!80012 , ALGORITHM = DEFAULT */",
                "CREATE UNIQUE INDEX i ON t (a) ALGORITHM=INPLACE LOCK=NONE"
                        + "|CREATE UNIQUE INDEX i ON t (a) ALGORITHM = DEFAULT LOCK = DEFAULT",
                "DROP INDEX i ON t LOCK = SHARED|DROP INDEX i ON t LOCK = DEFAULT"
            })
    void leavesTheMannerToTheServer(String statement, String anyHow) {
        assertThat(AlterManner.any(statement)).isEqualTo(anyHow);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '^',
            value = {
                "CREATE ALGORITHM=MERGE VIEW v AS SELECT 1",
                "ALTER TABLE t ADD `algorithm = copy` INT COMMENT 'lock = none' /* lock = none */",
                "ALTER TABLE t ADD lock INT, ADD algorithm INT, ADD KEY (algorithm, lock)",
                "ALTER TABLE t ADD c INT, ALGORITHM = DEFAULT",
                "CREATE PROCEDURE p() ALTER TABLE t ADD c INT, ALGORITHM = INSTANT"
            })
    void leavesEverythingElseAsItIs(String statement) {
        assertThat(AlterManner.any(statement)).isEqualTo(statement);
    }
}
