// SPDX-License-Identifier: Apache-2.0
package io.quorate.core.answer;

import java.util.List;
import java.util.Map;

/**
 * Something that isn't the same on all nodes, although no writeset was on its way: a row, or the definition of a table.
 *
 * @param table {@code schema.table}
 * @param identity of the row; null when the table itself differs
 * @param versions by node: the row's hash; for a row without a key, how often it occurs; or {@link #ABSENT}. For a
 *     table, its definition
 * @param right the version that more than half of the nodes have, null when there is none
 * @param rows by node: the row's values by column, those that differ and those of its key; a value is null for NULL
 * @param outcome of its repair, for people; null before that
 */
public record Difference(
        String table,
        String identity,
        Map<String, String> versions,
        String right,
        Map<String, Map<String, String>> rows,
        String outcome) {
    /** In place of a version: the row isn't there. */
    public static final String ABSENT = "absent";

    public Difference {
        table = LeftOut.orEmpty(table);
        versions = LeftOut.orEmpty(versions);
        rows = LeftOut.orEmpty(rows);
    }

    /** Nodes that have another version. */
    public List<String> odd(String version) {
        return versions.entrySet().stream()
                .filter(e -> !e.getValue().equals(version))
                .map(Map.Entry::getKey)
                .toList();
    }

    public Difference outcome(String said) {
        return new Difference(table, identity, versions, right, rows, said);
    }
}
