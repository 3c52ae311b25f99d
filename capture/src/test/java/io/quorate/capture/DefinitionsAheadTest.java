// SPDX-License-Identifier: Apache-2.0
package io.quorate.capture;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class DefinitionsAheadTest {
    @ParameterizedTest
    @ValueSource(
            strings = {
                "ALTER TABLE t DROP FOREIGN KEY f",
                "alter table t add b int, drop  foreign key f /* xid=12 */",
                "ALTER TABLE t DROP\nCONSTRAINT f",
                "ALTER TABLE t DROP /* the */ FOREIGN KEY f",
                "ALTER TABLE t /*!80000 DROP */ FOREIGN KEY f",
                "ALTER TABLE t DROP -- the\nFOREIGN KEY f",
                "ALTER TABLE t DROP # the\nFOREIGN KEY f",
                "ALTER TABLE t COMMENT 'a\\', DROP COLUMN b"
            })
    void aForeignKeyMayBeGoneAfterIt(String sql) {
        assertThat(DefinitionsAhead.mayEndCascades(sql, DefinitionsAhead.parse(sql, "d")))
                .isTrue();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "ALTER TABLE t DROP CHECK k /* xid=12 */",
                "ALTER TABLE t DROP COLUMN c, DROP b, DROP INDEX i",
                "ALTER TABLE t ALTER a DROP DEFAULT",
                "ALTER TABLE t MODIFY a BIGINT",
                "ALTER TABLE t DROP PARTITION p",
                "ALTER TABLE t DROP PRIMARY KEY, ADD PRIMARY KEY (b)",
                "ALTER TABLE t COMMENT \"it's\", DROP COLUMN b, COMMENT 'a\\tb'",
                "DROP TABLE t",
                "TRUNCATE t"
            })
    void noForeignKeyIsGoneAfterIt(String sql) {
        assertThat(DefinitionsAhead.mayEndCascades(sql, DefinitionsAhead.parse(sql, "d")))
                .isFalse();
    }
}
