// SPDX-License-Identifier: Apache-2.0
package io.quorate.node;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * How far an audit is and what it has found; {@code audit.json} in the data directory. Only its owner's thread changes it, by
 * making another one.
 *
 * @param started,ended by this node's clock; ended null while it runs
 * @param only the one table to be audited, null for all
 * @param stopped whether it was ended by hand
 * @param table the one that is next or under way, null before the first
 * @param from where the next stretch of it begins, null at its beginning
 * @param nodes that were compared
 * @param rows compared so far
 * @param left tables that were not audited, with the reason
 * @param missed of nodes that could not be asked all the time: how many stretches were compared without them
 * @param found how many rows and tables differ; of these the first are in {@code differences}
 */
record AuditState(
        String started,
        String ended,
        boolean stopped,
        String only,
        String table,
        String from,
        TreeSet<String> nodes,
        int tables,
        int tablesDone,
        long rows,
        long rowsToDo,
        long seconds,
        Map<String, String> left,
        Map<String, Long> missed,
        long found,
        List<Difference> differences) {
    static final int DIFFERENCES_MAX = 1000;

    /** In place of a version: the row isn't there. */
    static final String ABSENT = "absent";

    /**
     * Something that isn't the same on all nodes, though no writeset was on its way.
     *
     * @param identity of the row; null when the table itself differs
     * @param versions by node: the row's hash, of a row without a key how often it is there, {@link #ABSENT}; of a table its
     *     definition
     * @param right the version that more than half of the nodes have, null when there is none
     * @param rows by node: the row's values, those that differ and those of its key
     * @param outcome of putting it right, null before
     */
    record Difference(
            String table,
            String identity,
            Map<String, String> versions,
            String right,
            Map<String, Map<String, String>> rows,
            String outcome) {
        /** Nodes that have another version than the right one. */
        List<String> odd() {
            return right == null ? List.of() : odd(right);
        }

        List<String> odd(String version) {
            return versions.entrySet().stream()
                    .filter(e -> !e.getValue().equals(version))
                    .map(Map.Entry::getKey)
                    .toList();
        }

        Difference outcome(String said) {
            return new Difference(table, identity, versions, right, rows, said);
        }
    }

    static AuditState begin(String started, String only) {
        return new AuditState(
                started,
                null,
                false,
                only,
                null,
                null,
                new TreeSet<>(),
                0,
                0,
                0,
                0,
                0,
                Map.of(),
                Map.of(),
                0,
                List.of());
    }

    boolean isRunning() {
        return ended == null;
    }

    AuditState planned(int all, long estimatedRows) {
        return new AuditState(
                started,
                ended,
                stopped,
                only,
                table,
                from,
                nodes,
                all,
                tablesDone,
                rows,
                estimatedRows,
                seconds,
                left,
                missed,
                found,
                differences);
    }

    AuditState at(String next, int done) {
        return new AuditState(
                started,
                ended,
                stopped,
                only,
                next,
                null,
                nodes,
                tables,
                done,
                rows,
                rowsToDo,
                seconds,
                left,
                missed,
                found,
                differences);
    }

    /** @param without nodes that were asked and did not answer */
    AuditState compared(
            String upTo, long more, java.util.Collection<String> with, java.util.Collection<String> without) {
        TreeSet<String> all = new TreeSet<>(nodes);
        all.addAll(with);
        Map<String, Long> lacking = new TreeMap<>(missed);
        without.forEach(node -> lacking.merge(node, 1L, Long::sum));
        return new AuditState(
                started,
                ended,
                stopped,
                only,
                table,
                upTo,
                all,
                tables,
                tablesDone,
                rows + more,
                rowsToDo,
                seconds,
                left,
                lacking,
                found,
                differences);
    }

    AuditState worked(long more) {
        return new AuditState(
                started,
                ended,
                stopped,
                only,
                table,
                from,
                nodes,
                tables,
                tablesDone,
                rows,
                rowsToDo,
                seconds + more,
                left,
                missed,
                found,
                differences);
    }

    AuditState leftOut(String which, String why) {
        Map<String, String> more = new LinkedHashMap<>(left);
        more.put(which, why);
        return new AuditState(
                started,
                ended,
                stopped,
                only,
                table,
                from,
                nodes,
                tables,
                tablesDone,
                rows,
                rowsToDo,
                seconds,
                more,
                missed,
                found,
                differences);
    }

    AuditState with(List<Difference> more) {
        List<Difference> all = new ArrayList<>(differences);
        more.stream().limit(Math.max(0, DIFFERENCES_MAX - all.size())).forEach(all::add);
        return new AuditState(
                started,
                ended,
                stopped,
                only,
                table,
                from,
                nodes,
                tables,
                tablesDone,
                rows,
                rowsToDo,
                seconds,
                left,
                missed,
                found + more.size(),
                all);
    }

    AuditState repaired(List<Difference> told) {
        return new AuditState(
                started,
                ended,
                stopped,
                only,
                table,
                from,
                nodes,
                tables,
                tablesDone,
                rows,
                rowsToDo,
                seconds,
                left,
                missed,
                found,
                told);
    }

    AuditState end(String when, boolean byHand) {
        return new AuditState(
                started,
                when,
                byHand,
                only,
                table,
                from,
                nodes,
                tables,
                tablesDone,
                rows,
                rowsToDo,
                seconds,
                left,
                missed,
                found,
                differences);
    }
}
