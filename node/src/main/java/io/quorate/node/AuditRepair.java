// SPDX-License-Identifier: Apache-2.0
package io.quorate.node;

import io.quorate.core.QuorateException;
import io.quorate.core.answer.Difference;
import io.quorate.node.AuditQuestion.Repair;
import io.quorate.node.AuditQuestion.TableName;
import io.quorate.node.AuditQuestion.Wrong;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Has the nodes whose rows are odd put them right, or tell what they would do. */
final class AuditRepair {
    private final AuditedNodes nodes;
    private final String trusted;
    private final boolean apply;

    /**
     * @param trusted whose rows are right, null for those of the majority
     * @param apply whether to do it, or only to say what would be done
     */
    AuditRepair(AuditedNodes nodes, String trusted, boolean apply) {
        this.nodes = nodes;
        this.trusted = trusted;
        this.apply = apply;
    }

    /** @return the same, each with what became of it */
    List<Difference> of(List<Difference> differences) {
        // Rows that are too many go first, for those that are missing may need their place in a unique key.
        Map<Difference, Difference> done = new HashMap<>();
        for (boolean gone : new boolean[] {true, false}) {
            for (Difference d : differences) {
                if (gone == Difference.ABSENT.equals(right(d))) {
                    done.put(d, d.outcome(outcome(d)));
                }
            }
        }
        return differences.stream().map(done::get).toList();
    }

    private String right(Difference d) {
        return trusted == null ? d.right() : d.versions().get(trusted);
    }

    private String outcome(Difference d) {
        if (d.identity() == null) {
            return "left alone: the table's definition differs; change it by hand";
        }
        if (d.outcome() != null
                && d.outcome().contains("repaired")
                && !d.outcome().contains("left alone")) {
            return d.outcome();
        }
        String right = right(d);
        if (right == null) {
            return trusted == null
                    ? "left alone: no majority of the nodes has the same row; name a node to be trusted"
                    : "left alone: " + trusted + " was not compared";
        }
        String whose = trusted != null ? trusted : rightNode(d, right);
        List<String> outcomes = new ArrayList<>();
        for (String odd : d.odd(right)) {
            String found = d.versions().get(odd);
            Wrong wrong = new Wrong(
                    d.identity(),
                    found.equals(Difference.ABSENT) ? null : found,
                    right.equals(Difference.ABSENT) ? null : right);
            Repair question = new Repair(TableName.of(d.table()), wrong, whose, apply);
            String outcome;
            try {
                outcome = nodes.ask(odd, question).outcome();
            } catch (IOException | QuorateException e) {
                outcome = "left alone: " + e.getMessage();
            }
            outcomes.add(odd + " " + outcome);
        }
        return String.join("; ", outcomes);
    }

    /** The first that can be asked. */
    private String rightNode(Difference d, String right) {
        Set<String> servers = nodes.servers();
        return d.versions().entrySet().stream()
                .filter(e -> e.getValue().equals(right))
                .map(Map.Entry::getKey)
                .min((a, b) -> Boolean.compare(servers.contains(b), servers.contains(a)))
                .orElseThrow();
    }
}
