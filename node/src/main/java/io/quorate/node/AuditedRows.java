// SPDX-License-Identifier: Apache-2.0
package io.quorate.node;

import io.quorate.core.ColumnMask;
import io.quorate.core.answer.Difference;
import io.quorate.node.Audit.Stopped;
import io.quorate.node.AuditQuestion.Rows;
import io.quorate.node.AuditQuestion.Shown;
import io.quorate.node.AuditQuestion.ShownRows;
import io.quorate.node.AuditQuestion.TableName;
import io.quorate.node.AuditQuestion.Versions;
import io.quorate.node.AuditedNodes.Answers;
import io.quorate.sst.audit.AuditedTable.Row;
import io.quorate.sst.audit.AuditedTable.Stretch;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/** The rows of stretches whose sums differ, one by one: which of them aren't the same everywhere, whose are odd, and what is in them. */
final class AuditedRows {
    /** So often the same difference is seen before it is one. */
    static final int LOOKS = 3;
    /** Rows of a stretch that are shown with their values. */
    private static final int SHOWN_ROWS = 100;

    private final AuditedNodes nodes;
    private final ColumnMask mask;
    private final Check check;

    /** Called now and then, to end the work. */
    @FunctionalInterface
    interface Check {
        void run() throws Stopped;
    }

    AuditedRows(AuditedNodes nodes, ColumnMask mask, Check check) {
        this.nodes = nodes;
        this.mask = mask;
        this.check = check;
    }

    /** What isn't the same on all nodes, by node. */
    static Map<String, Map<String, String>> differing(Map<String, Map<String, String>> versions) {
        Set<String> all = new TreeSet<>();
        versions.values().forEach(each -> all.addAll(each.keySet()));
        Map<String, Map<String, String>> differing = new LinkedHashMap<>();
        for (String each : all) {
            Map<String, String> byNode = new TreeMap<>();
            versions.forEach((node, has) -> byNode.put(node, has.getOrDefault(each, Difference.ABSENT)));
            if (new HashSet<>(byNode.values()).size() > 1) {
                differing.put(each, byNode);
            }
        }
        return differing;
    }

    static String majority(Map<String, String> versions) {
        return versions.values().stream()
                .filter(v -> 2 * versions.values().stream().filter(v::equals).count() > versions.size())
                .findFirst()
                .orElse(null);
    }

    /**
     * Which rows of a stretch differ, at every one of several looks.
     *
     * @return their versions by identity and node, null when a node could not answer all the time
     */
    Map<String, Map<String, String>> differing(Set<String> servers, String table, Stretch stretch)
            throws InterruptedException, Stopped {
        Map<String, Map<String, String>> before = null;
        for (int looks = 0; looks < LOOKS; looks++) {
            check.run();
            long after = nodes.settle(servers);
            if (after < 0) {
                return null;
            }
            Answers<Versions> rows = nodes.ask(servers, new Rows(TableName.of(table), stretch, after));
            if (!rows.without().isEmpty()) {
                return null;
            }
            Map<String, Map<String, String>> versions = new TreeMap<>();
            rows.given().forEach((node, each) -> versions.put(node, each.versions()));
            Map<String, Map<String, String>> differing = differing(versions);
            if (before != null) {
                differing.entrySet().retainAll(before.entrySet());
            }
            if (differing.isEmpty()) {
                return differing;
            }
            before = differing;
        }
        return before;
    }

    /** The same for people: who is right, and the rows' values. */
    List<Difference> described(Set<String> servers, String table, Map<String, Map<String, String>> differing)
            throws InterruptedException {
        List<String> shown = differing.keySet().stream().limit(SHOWN_ROWS).toList();
        Answers<ShownRows> contents = nodes.ask(servers, new Shown(TableName.of(table), shown));
        List<Difference> described = new ArrayList<>();
        differing.forEach((identity, versions) -> {
            Map<String, Row> rows = new TreeMap<>();
            contents.given().forEach((node, each) -> {
                Row row = each.rows().get(identity);
                if (row != null) {
                    rows.put(node, row);
                }
            });
            described.add(new Difference(table, identity, versions, majority(versions), values(table, rows), null));
        });
        return described;
    }

    private Map<String, Map<String, String>> values(String table, Map<String, Row> rows) {
        Map<String, Map<String, String>> values = new TreeMap<>();
        rows.forEach((node, row) -> {
            Map<String, String> line = new LinkedHashMap<>();
            row.shown().forEach((column, value) -> line.put(column, shown(table, column, value)));
            values.put(node, line);
        });
        return values;
    }

    private String shown(String table, String column, String value) {
        if (value == null) {
            return null;
        }
        if (mask.hides(TableName.of(table).schema(), TableName.of(table).name(), column)) {
            return ColumnMask.MASKED;
        }
        return value;
    }
}
