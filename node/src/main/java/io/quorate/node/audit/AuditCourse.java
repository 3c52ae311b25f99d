// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.audit;

import io.quorate.core.ColumnMask;
import io.quorate.core.QuorateException;
import io.quorate.core.answer.Difference;
import io.quorate.node.audit.AuditComparison.Compared;
import io.quorate.node.audit.AuditHost.Stopped;
import io.quorate.node.audit.AuditQuestion.End;
import io.quorate.node.audit.AuditQuestion.Next;
import io.quorate.node.audit.AuditQuestion.Rows;
import io.quorate.node.audit.AuditQuestion.SumOf;
import io.quorate.node.audit.AuditQuestion.TableName;
import io.quorate.node.audit.AuditQuestion.Tables;
import io.quorate.node.audit.AuditQuestion.Versions;
import io.quorate.node.audit.AuditedNodes.Answers;
import io.quorate.sst.audit.AuditedTable.Stretch;
import io.quorate.sst.audit.AuditedTable.Sum;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The course of one audit, from where its state says that it is, to the end.
 *
 * <ol>
 *   <li>The tables' definitions are compared. Each table whose definitions differ counts as one difference, and its
 *       rows are not compared.
 *   <li>Table by table, stretch by stretch, each node says the sum of its rows. If the sums are equal, the stretch has
 *       no difference.
 *   <li>If they aren't, rows are compared one by one until the remaining differences can't be due to a writeset that is
 *       on its way. (Only a row that went to another value and back between all the looks would wrongly be taken for a
 *       difference.)
 * </ol>
 *
 * {@link AuditComparison} compares the nodes' answers while clients write. No lock is taken.
 */
final class AuditCourse {
    private static final Logger log = LoggerFactory.getLogger(AuditCourse.class);
    /** How often a stretch is tried when nodes come and go; the tables' definitions are tried as often as necessary. */
    static final int ATTEMPTS = 5;

    private final String self;
    private final AuditedNodes nodes;
    private final AuditComparison comparison;
    private final DifferenceText text;
    private final AuditHost host;

    /** @param self this node's name, which is always compared */
    AuditCourse(String self, AuditedNodes nodes, ColumnMask mask, AuditHost host) {
        this.self = self;
        this.nodes = nodes;
        this.comparison = new AuditComparison(self, nodes, host);
        this.text = new DifferenceText(nodes, mask);
        this.host = host;
    }

    void run() throws InterruptedException, Stopped {
        List<String> tables = plan();
        String resumed = host.state().table();
        int done = 0;
        for (String table : tables) {
            if (resumed == null || table.compareTo(resumed) >= 0) {
                if (!table.equals(host.state().table())) {
                    host.change(host.state().at(table, done));
                    host.save();
                }
                table(table);
            }
            done++;
        }
        host.change(host.state().at(null, done));
    }

    /**
     * Compares the tables' definitions. Returns the tables whose rows can be compared, in the order in which they will
     * be.
     */
    private List<String> plan() throws InterruptedException, Stopped {
        Compared<Versions> definitions =
                comparison.compare("definitions", new Tables(0), Tables::new, Integer.MAX_VALUE);
        Set<String> all = new TreeSet<>();
        definitions
                .answers()
                .given()
                .values()
                .forEach(each -> all.addAll(each.versions().keySet()));
        String only = host.state().only();
        all.removeIf(table -> only != null && !only.equals(table));
        if (only != null && all.isEmpty()) {
            host.change(host.state().leftOut(only, "no node has it"));
        }
        if (host.state().table() == null) {
            tell(all, definitions.lasting());
        }
        all.removeAll(definitions.lasting().keySet());
        long rows = 0;
        for (String table : all) {
            rows += next(table, null).rows();
        }
        host.change(host.state().planned(all.size(), rows));
        return List.copyOf(all);
    }

    private void tell(Set<String> tables, Map<String, Map<String, String>> differing) {
        List<Difference> found = new ArrayList<>();
        differing.forEach((table, versions) -> {
            if (tables.contains(table)) {
                found.add(LastingDifferences.ofDefinitions(table, versions));
                host.change(host.state().leftOut(table, "its definition isn't the same on all nodes"));
            }
        });
        host.change(host.state().with(found));
    }

    private void table(String table) throws InterruptedException, Stopped {
        String from = host.state().from();
        do {
            long began = System.nanoTime();
            End end = next(table, from);
            if (end.unreadable() != null) {
                host.change(host.state().leftOut(table, end.unreadable()));
                return;
            }
            stretch(table, new Stretch(from, end.to()));
            from = end.to();
            host.rest(System.nanoTime() - began);
        } while (from != null);
    }

    private void stretch(String table, Stretch stretch) throws InterruptedException, Stopped {
        TableName name = TableName.of(table);
        Compared<Sum> compared = comparison.compare(
                "a stretch of " + table, new SumOf(name, stretch), after -> new Rows(name, stretch, after), ATTEMPTS);
        if (compared == null) {
            String why = "a stretch after " + stretch.from() + " could not be compared row by row";
            host.change(host.state().leftOut(table, why).compared(stretch.to(), 0, Set.of(), Set.of()));
            return;
        }
        Answers<Sum> sums = compared.answers();
        Map<String, Map<String, String>> differing = compared.lasting();
        List<Difference> found = List.of();
        if (!differing.isEmpty()) {
            Set<String> servers = sums.given().keySet();
            found = text.describe(servers, table, differing);
            log.error(
                    "audit: {} rows of {} are not the same on {}, the first {}",
                    differing.size(),
                    table,
                    servers,
                    differing.entrySet().iterator().next());
        }
        // Both in one change, so that what was found is not found again after a crash.
        host.change(host.state()
                .with(found)
                .compared(
                        stretch.to(),
                        sums.given().get(self).rows(),
                        sums.given().keySet(),
                        sums.without()));
        if (!found.isEmpty()) {
            host.save();
        }
    }

    private End next(String table, String from) throws InterruptedException, Stopped {
        while (true) {
            host.check();
            try {
                End end = nodes.ask(self, new Next(TableName.of(table), from));
                host.waits("");
                return end;
            } catch (QuorateException e) {
                host.pause(e.getMessage());
            } catch (IOException e) {
                throw new IllegalStateException("this node asks itself without a network", e);
            }
        }
    }
}
