// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.audit;

import io.quorate.core.answer.Difference;
import io.quorate.node.audit.AuditQuestion.Repair;
import io.quorate.node.audit.AuditQuestion.TableName;
import io.quorate.node.audit.AuditQuestion.Wrong;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;

/**
 * Decides what is to be done about the differences that an audit has found. It doesn't ask any node.
 *
 * @param trusted the node whose rows are right; null for the rows of the majority
 * @param apply whether rows are to be repaired, or nodes only say what they would do
 * @param servers the nodes that can be asked now
 */
record RepairPlan(String trusted, boolean apply, Set<String> servers) {
    /**
     * What is to be done about one difference.
     *
     * @param outcome what became of it, if that is known already; null when nodes have to be asked
     * @param repairs what is asked of which nodes
     */
    record Choice(String outcome, List<Step> repairs) {
        private static Choice told(String outcome) {
            return new Choice(outcome, List.of());
        }
    }

    /** @param node the node whose row is odd */
    record Step(String node, Repair repair) {}

    /** Puts rows that have to be deleted first, because rows that are missing may need their place in a unique key. */
    List<Difference> inOrder(List<Difference> differences) {
        return Stream.of(true, false)
                .flatMap(gone -> differences.stream().filter(d -> gone == Difference.ABSENT.equals(right(d))))
                .toList();
    }

    private String right(Difference d) {
        return trusted == null ? d.right() : d.versions().get(trusted);
    }

    Choice about(Difference d) {
        if (d.identity() == null) {
            return Choice.told("left alone: the table's definition differs; change it by hand");
        }
        if (d.outcome() != null
                && d.outcome().contains("repaired")
                && !d.outcome().contains("left alone")) {
            return Choice.told(d.outcome());
        }
        String right = right(d);
        if (right == null) {
            return Choice.told(
                    trusted == null
                            ? "left alone: no majority of the nodes has the same row; name a node to be trusted"
                            : "left alone: " + trusted + " was not compared");
        }
        String whose = trusted != null ? trusted : nodeWith(right, d);
        return new Choice(
                null,
                d.odd(right).stream()
                        .map(odd -> new Step(odd, repair(d, odd, right, whose)))
                        .toList());
    }

    private Repair repair(Difference d, String odd, String right, String whose) {
        Wrong wrong = new Wrong(d.identity(), present(d.versions().get(odd)), present(right));
        return new Repair(TableName.of(d.table()), wrong, whose, apply);
    }

    private static String present(String version) {
        return version.equals(Difference.ABSENT) ? null : version;
    }

    /** A node that has this version, if possible one that can be asked now. */
    private String nodeWith(String version, Difference d) {
        return d.versions().entrySet().stream()
                .filter(e -> e.getValue().equals(version))
                .map(Map.Entry::getKey)
                .min((a, b) -> Boolean.compare(servers.contains(b), servers.contains(a)))
                .orElseThrow();
    }
}
