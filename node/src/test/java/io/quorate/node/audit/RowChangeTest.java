// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.audit;

import static org.assertj.core.api.Assertions.assertThat;

import io.quorate.sst.audit.AuditedTable.Row;
import java.util.Map;
import org.junit.jupiter.api.Test;

class RowChangeTest {
    private static Row row(String version) {
        return new Row(version, Map.of(), Map.of());
    }

    private static void assertChange(RowChange change, long deleted, long inserted, String name) {
        assertThat(change).isEqualTo(new RowChange(deleted, inserted));
        assertThat(change.name()).isEqualTo(name);
    }

    @Test
    void aRowWithAKeyComesGoesOrIsReplaced() {
        assertChange(RowChange.between(true, null, row("hash")), 0, 1, "inserted");
        assertChange(RowChange.between(true, row("hash"), null), 1, 0, "deleted");
        assertChange(RowChange.between(true, row("hash"), row("other")), 1, 1, "replaced");
    }

    @Test
    void ofOneWithoutAKeyThereAreAsManyAsThereAreToBe() {
        assertChange(RowChange.between(false, null, row("3")), 0, 3, "inserted");
        assertChange(RowChange.between(false, row("1"), row("3")), 0, 2, "inserted");
        assertChange(RowChange.between(false, row("5"), row("3")), 2, 0, "deleted");
        assertChange(RowChange.between(false, row("5"), null), 5, 0, "deleted");
    }
}
