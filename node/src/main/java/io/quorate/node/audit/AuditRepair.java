// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.audit;

import io.quorate.core.QuorateException;
import io.quorate.core.answer.Difference;
import java.io.IOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** Asks the nodes whose rows are odd to repair them, or to tell what they would do, as a {@link RepairPlan} says. */
final class AuditRepair {
    private final AuditedNodes nodes;
    private final String trusted;
    private final boolean apply;

    /**
     * @param trusted the node whose rows are right; null for the rows of the majority
     * @param apply whether to repair rows, or only to say what would be done
     */
    AuditRepair(AuditedNodes nodes, String trusted, boolean apply) {
        this.nodes = nodes;
        this.trusted = trusted;
        this.apply = apply;
    }

    /** A plan with the nodes that can be asked now. */
    private RepairPlan plan() {
        return new RepairPlan(trusted, apply, nodes.servers());
    }

    /** @return the same differences, each with what became of it */
    List<Difference> of(List<Difference> differences) {
        Map<Difference, Difference> done = new HashMap<>();
        for (Difference d : plan().inOrder(differences)) {
            RepairPlan.Choice choice = plan().about(d);
            done.put(d, d.outcome(choice.outcome() != null ? choice.outcome() : carryOut(choice)));
        }
        return differences.stream().map(done::get).toList();
    }

    private String carryOut(RepairPlan.Choice choice) {
        return choice.repairs().stream()
                .map(step -> step.node() + " " + carryOut(step))
                .collect(Collectors.joining("; "));
    }

    private String carryOut(RepairPlan.Step step) {
        try {
            return nodes.ask(step.node(), step.repair()).outcome();
        } catch (IOException | QuorateException e) {
            return "left alone: " + e.getMessage();
        }
    }
}
