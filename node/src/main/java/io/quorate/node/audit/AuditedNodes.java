// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.audit;

import io.quorate.node.audit.AuditQuestion.Settle;
import io.quorate.node.audit.AuditQuestion.Settled;
import io.quorate.node.member.MemberReport;
import io.quorate.node.question.Questions;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Supplier;

/** The nodes that an audit compares, this one among them. Asks them their questions. */
final class AuditedNodes implements AutoCloseable {
    private final String name;
    private final Questions questions;
    private final Supplier<List<MemberReport>> present;
    private final ExecutorService asking = Executors.newCachedThreadPool(task -> {
        Thread thread = new Thread(task, "quorate-audit-ask");
        thread.setDaemon(true);
        return thread;
    });

    /** The answers by node, and the nodes that could not answer, with the reasons. */
    record Answers<T>(Map<String, T> given, Set<String> without, String why) {}

    /** @param name this node's name */
    AuditedNodes(String name, Questions questions, Supplier<List<MemberReport>> present) {
        this.name = name;
        this.questions = questions;
        this.present = present;
    }

    /** The nodes whose servers hold what the order says, and this node. */
    Set<String> servers() {
        Set<String> servers = new TreeSet<>();
        servers.add(name);
        for (MemberReport member : present.get()) {
            if (member.hasSyncedServer()) {
                servers.add(member.node());
            }
        }
        return servers;
    }

    <T> T ask(String node, AuditQuestion<T> question) throws IOException {
        return questions.ask(node, question);
    }

    /** Asks several nodes at once. */
    <T> Answers<T> ask(Set<String> nodes, AuditQuestion<T> question) throws InterruptedException {
        Map<String, T> given = new ConcurrentHashMap<>();
        Map<String, String> failed = new ConcurrentHashMap<>();
        CountDownLatch all = new CountDownLatch(nodes.size());
        for (String node : nodes) {
            asking.execute(() -> {
                try {
                    given.put(node, ask(node, question));
                } catch (IOException | RuntimeException | Error e) {
                    failed.put(node, Objects.requireNonNullElse(e.getMessage(), e.toString()));
                } finally {
                    all.countDown();
                }
            });
        }
        all.await();
        return new Answers<>(new TreeMap<>(given), new TreeSet<>(failed.keySet()), String.join("; ", failed.values()));
    }

    /**
     * @return the seqno by which the order has everything that clients of these nodes have committed; -1 when one of
     *     the nodes can't say
     */
    long settle(Set<String> nodes) throws InterruptedException {
        Answers<Settled> settled = ask(nodes, new Settle());
        return settled.without.isEmpty()
                ? settled.given.values().stream()
                        .mapToLong(Settled::seqno)
                        .max()
                        .orElse(-1)
                : -1;
    }

    /** Gives up questions that aren't answered yet. */
    @Override
    public void close() {
        asking.shutdownNow();
    }
}
