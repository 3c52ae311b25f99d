// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.audit;

import io.quorate.core.ColumnMask;
import io.quorate.core.answer.Difference;
import io.quorate.node.audit.AuditQuestion.Shown;
import io.quorate.node.audit.AuditQuestion.ShownRows;
import io.quorate.node.audit.AuditQuestion.TableName;
import io.quorate.sst.audit.AuditedTable.Row;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/** Describes rows that differ, for people: as each node has them, without masked values. */
final class DifferenceText {
    /** How many rows of a stretch are shown with their values. */
    private static final int SHOWN_ROWS = 100;
    /** What a question has room for, with its other parts. */
    private static final int SHOWN_CHARACTERS = 32 << 10;

    private final AuditedNodes nodes;
    private final ColumnMask mask;

    DifferenceText(AuditedNodes nodes, ColumnMask mask) {
        this.nodes = nodes;
        this.mask = mask;
    }

    /** The first of these rows, as many as one question can name. */
    private static List<String> shown(Collection<String> identities) {
        List<String> shown = new ArrayList<>();
        int characters = 0;
        for (String identity : identities) {
            characters += identity.length();
            if (shown.size() == SHOWN_ROWS || characters > SHOWN_CHARACTERS) {
                break;
            }
            shown.add(identity);
        }
        return shown;
    }

    /** @param differing for each row, by its identity, its version by node */
    List<Difference> describe(Set<String> servers, String table, Map<String, Map<String, String>> differing)
            throws InterruptedException {
        TableName name = TableName.of(table);
        List<String> shown = shown(differing.keySet());
        Map<String, ShownRows> rows = nodes.ask(servers, new Shown(name, shown)).given();
        List<Difference> described = new ArrayList<>();
        differing.forEach((identity, versions) ->
                described.add(LastingDifferences.ofRow(table, identity, versions, values(name, identity, rows))));
        return described;
    }

    private Map<String, Map<String, String>> values(TableName table, String identity, Map<String, ShownRows> rows) {
        Map<String, Map<String, String>> values = new TreeMap<>();
        rows.forEach((node, each) -> {
            Row row = each.rows().get(identity);
            if (row != null) {
                values.put(node, masked(table, row));
            }
        });
        return values;
    }

    private Map<String, String> masked(TableName table, Row row) {
        Map<String, String> masked = new LinkedHashMap<>();
        row.shown()
                .forEach((column, value) -> masked.put(
                        column,
                        value != null && mask.hides(table.schema(), table.name(), column) ? ColumnMask.MASKED : value));
        return masked;
    }
}
