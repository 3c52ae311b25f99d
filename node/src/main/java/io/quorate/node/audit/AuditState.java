// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.audit;

import com.fasterxml.jackson.annotation.JsonIgnore;
import io.quorate.core.answer.AuditAnswer;
import io.quorate.core.answer.Difference;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Consumer;

/**
 * How far an audit is and what it has found; kept in {@code audit.json} in the data directory. An audit's state changes
 * by being replaced by another one.
 *
 * @param started,ended by this node's clock; {@code ended} is null while the audit runs
 * @param only the one table that is to be audited; null for all tables
 * @param stopped whether it ended before it was complete
 * @param table the table that is being compared or comes next; null before the first
 * @param from where the next stretch of that table begins; null at its beginning
 * @param nodes names of the nodes that were compared
 * @param rows how many rows were compared so far
 * @param left tables that were not audited, each with the reason
 * @param missed for each node that could not always be asked, how many stretches were compared without it
 * @param found how many rows and tables differ; {@code differences} has the first of them
 */
public record AuditState(
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

    public static AuditState begin(String started, String only) {
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

    /** The state as it is shown to people and programs. */
    public AuditAnswer.Audit answer() {
        return new AuditAnswer.Audit(
                started,
                ended,
                stopped,
                only,
                table,
                from,
                List.copyOf(nodes),
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

    @JsonIgnore
    public boolean isRunning() {
        return ended == null;
    }

    /** The result of an audit that has ended, for people. */
    String summary() {
        String differences = found == 0 ? "no difference" : found + " differences; quorate audit show";
        return (stopped ? "stopped" : "ended") + ": " + rows + " rows of " + tablesDone + " tables compared on " + nodes
                + ", " + differences;
    }

    public AuditState planned(int all, long estimatedRows) {
        return with(c -> {
            c.tables = all;
            c.rowsToDo = estimatedRows;
        });
    }

    public AuditState at(String next, int done) {
        return with(c -> {
            c.table = next;
            c.from = null;
            c.tablesDone = done;
        });
    }

    /** @param without the nodes that were asked and did not answer */
    public AuditState compared(String upTo, long more, Collection<String> with, Collection<String> without) {
        return with(c -> {
            c.from = upTo;
            c.rows += more;
            c.nodes = new TreeSet<>(nodes);
            c.nodes.addAll(with);
            c.missed = new TreeMap<>(missed);
            without.forEach(node -> c.missed.merge(node, 1L, Long::sum));
        });
    }

    public AuditState worked(long more) {
        return with(c -> c.seconds += more);
    }

    public AuditState leftOut(String which, String why) {
        return with(c -> {
            c.left = new LinkedHashMap<>(left);
            c.left.put(which, why);
        });
    }

    public AuditState with(List<Difference> more) {
        return with(c -> {
            c.found += more.size();
            c.differences = new ArrayList<>(differences);
            more.stream()
                    .limit(Math.max(0, DIFFERENCES_MAX - differences.size()))
                    .forEach(c.differences::add);
        });
    }

    AuditState repaired(List<Difference> told) {
        return with(c -> c.differences = told);
    }

    AuditState end(String when, boolean byHand) {
        return with(c -> {
            c.ended = when;
            c.stopped = byHand;
        });
    }

    private AuditState with(Consumer<Change> what) {
        Change change = new Change(this);
        what.accept(change);
        return change.made();
    }

    /** The next state, while it is made from the one before. */
    private static final class Change {
        private final AuditState before;
        private String ended;
        private boolean stopped;
        private String table;
        private String from;
        private TreeSet<String> nodes;
        private int tables;
        private int tablesDone;
        private long rows;
        private long rowsToDo;
        private long seconds;
        private Map<String, String> left;
        private Map<String, Long> missed;
        private long found;
        private List<Difference> differences;

        Change(AuditState before) {
            this.before = before;
            ended = before.ended;
            stopped = before.stopped;
            table = before.table;
            from = before.from;
            nodes = before.nodes;
            tables = before.tables;
            tablesDone = before.tablesDone;
            rows = before.rows;
            rowsToDo = before.rowsToDo;
            seconds = before.seconds;
            left = before.left;
            missed = before.missed;
            found = before.found;
            differences = before.differences;
        }

        AuditState made() {
            return new AuditState(
                    before.started,
                    ended,
                    stopped,
                    before.only,
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
}
