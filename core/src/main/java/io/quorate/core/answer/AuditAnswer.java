// SPDX-License-Identifier: Apache-2.0
package io.quorate.core.answer;

import java.util.List;
import java.util.Map;

/**
 * {@code /actuator/audit}: the audit that the node asked is doing, or did last.
 *
 * @param node its name
 * @param waitsFor what a running audit waits for, empty when it works
 * @param audit null when this node has done none
 */
public record AuditAnswer(String node, String waitsFor, Audit audit) {
    public AuditAnswer {
        node = LeftOut.orEmpty(node);
        waitsFor = LeftOut.orEmpty(waitsFor);
    }

    /**
     * How far an audit is and what it has found.
     *
     * @param started by the node's clock
     * @param ended likewise, null while it runs
     * @param stopped whether it was ended by hand
     * @param only {@code schema.table} of the one table to be audited, null for all
     * @param table {@code schema.table} that is next or under way, null before the first and after the last
     * @param from where the next stretch of it begins, null at its beginning
     * @param nodes names of those that were compared
     * @param tables how many there are to be compared
     * @param tablesDone how many of them have been compared
     * @param rows how many have been compared so far
     * @param rowsToDo rows that all tables had when it began, as their servers estimate
     * @param seconds how long it has worked
     * @param left {@code schema.table} of tables that were not audited, with the reason
     * @param missed by node that could not be asked all the time: how many stretches were compared without it
     * @param found how many rows and tables differ; the first of them are in {@code differences}
     */
    public record Audit(
            String started,
            String ended,
            boolean stopped,
            String only,
            String table,
            String from,
            List<String> nodes,
            int tables,
            int tablesDone,
            long rows,
            long rowsToDo,
            long seconds,
            Map<String, String> left,
            Map<String, Long> missed,
            long found,
            List<Difference> differences) {
        public Audit {
            started = LeftOut.orEmpty(started);
            nodes = LeftOut.orEmpty(nodes);
            left = LeftOut.orEmpty(left);
            missed = LeftOut.orEmpty(missed);
            differences = LeftOut.orEmpty(differences);
        }
    }
}
