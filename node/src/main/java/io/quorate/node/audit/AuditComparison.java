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
 * Compares nodes in two steps. First all are asked at once, at whatever moment each answers: equal answers settle it.
 * Where they aren't equal the same nodes are asked what they have one by one, as often as {@link LastingDifferences}
 * needs, each time of servers that hold all that any of them had before. A node that doesn't answer the first step is
 * left out of it; when one goes away after it, all is done anew with those that are there, so that a difference which
 * only that one had is not taken for settled.
 */
final class AuditComparison {
    private final String self;
    private final AuditedNodes nodes;
    private final AuditHost host;

    /**
     * What came of it.
     *
     * @param answers to the first step
     * @param lasting what differs: its versions by what they are of, and there by node
     */
    record Compared<T>(Answers<T> answers, Map<String, Map<String, String>> lasting) {}

    /** @param self this node's name, which is always compared */
    AuditComparison(String self, AuditedNodes nodes, AuditHost host) {
        this.self = self;
        this.nodes = nodes;
        this.host = host;
    }

    /**
     * @param what it is, for people
     * @param first is answered alike where there is no difference
     * @param looks asks servers that hold everything up to a seqno for the versions of what is compared
     * @param attempts with nodes that come and go
     * @return null when they did at every attempt
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

    /** Asks two nodes at least, this one among them, for as long as it takes until they answer. */
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

    /** @return null when a node could not answer all the time */
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
