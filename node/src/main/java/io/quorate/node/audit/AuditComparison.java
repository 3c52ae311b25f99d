// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.audit;

import io.quorate.node.audit.AuditHost.Stopped;
import io.quorate.node.audit.AuditQuestion.Versions;
import io.quorate.node.audit.AuditedNodes.Answers;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.LongFunction;

/**
 * Compares nodes in two steps. First all nodes are asked the same question at once, and each answers at a moment of its
 * own: if the answers are equal, there is no difference. If they aren't, the same nodes are asked for the versions of
 * every single thing, as often as {@link LastingDifferences} needs; each time their servers have to hold everything
 * that any of them had before. A node that doesn't answer in the first step is left out. If a node goes away later,
 * everything is done anew with the nodes that are there then, so that a difference that only the lost node had is not
 * taken for settled.
 */
final class AuditComparison {
    private final String self;
    private final AuditedNodes nodes;
    private final AuditHost host;

    /**
     * The result of a comparison.
     *
     * @param answers the answers in the first step
     * @param lasting for each thing that differs, its version by node
     */
    record Compared<T>(Answers<T> answers, Map<String, Map<String, String>> lasting) {}

    /** @param self this node's name, which is always compared */
    AuditComparison(String self, AuditedNodes nodes, AuditHost host) {
        this.self = self;
        this.nodes = nodes;
        this.host = host;
    }

    /**
     * @param what the name of what is compared, for people
     * @param first the question of the first step; nodes that don't differ answer it alike
     * @param looks makes the question for the versions of what is compared, to servers that hold everything up to a
     *     seqno
     * @param attempts how often to try when nodes come and go
     * @return null when nodes came or went in every attempt
     */
    <T> Compared<T> compare(
            String what, AuditQuestion<T> first, LongFunction<AuditQuestion<Versions>> looks, int attempts)
            throws InterruptedException, Stopped {
        for (int attempt = 0; attempt < attempts; attempt++) {
            Answers<T> answers = ask(first);
            if (new HashSet<>(answers.given().values()).size() == 1) {
                return new Compared<>(answers, Map.of());
            }
            Map<String, Map<String, String>> lasting = lasting(answers.given().keySet(), looks);
            if (lasting != null) {
                return new Compared<>(answers, lasting);
            }
            host.pause("nodes come and go; comparing " + what + " again");
        }
        return null;
    }

    /** Asks at least two nodes, this one among them, again and again until they answer. */
    private <T> Answers<T> ask(AuditQuestion<T> question) throws InterruptedException, Stopped {
        while (true) {
            host.check();
            Set<String> servers = nodes.servers();
            if (servers.size() < 2) {
                host.pause("no other node with a server is SYNCED");
                continue;
            }
            Answers<T> answers = nodes.ask(servers, question);
            if (answers.given().size() >= 2 && answers.given().containsKey(self)) {
                host.waits("");
                return answers;
            }
            host.pause(answers.why());
        }
    }

    /** @return null when one of the nodes has failed to answer */
    private Map<String, Map<String, String>> lasting(Set<String> servers, LongFunction<AuditQuestion<Versions>> looks)
            throws InterruptedException, Stopped {
        LastingDifferences differences = new LastingDifferences();
        while (!differences.isCertain()) {
            host.check();
            long after = nodes.settle(servers);
            if (after < 0) {
                return null;
            }
            Answers<Versions> answers = nodes.ask(servers, looks.apply(after));
            if (!answers.without().isEmpty()) {
                return null;
            }
            Map<String, Map<String, String>> versions = new TreeMap<>();
            answers.given().forEach((node, each) -> versions.put(node, each.versions()));
            differences.look(versions);
        }
        return differences.get();
    }
}
