// SPDX-License-Identifier: Apache-2.0
package io.quorate.sandbox;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;

/** Waits for services to reach a state, and reports what keeps them from it. */
final class Readiness {
    private static final long POLL_MILLIS = 150;
    private static final long TELL_NANOS = 1_000_000_000;

    private final List<SandboxNode> all;
    private final Consumer<String> progress;
    /** What was last reported about each node. */
    private final Map<SandboxNode, String> told = new HashMap<>();

    private long toldNanos = System.nanoTime();

    Readiness(List<SandboxNode> all, Consumer<String> progress) {
        this.all = all;
        this.progress = progress;
    }

    /** Whether enough services run to elect a leader. */
    boolean majorityRuns() {
        return 2 * all.stream().filter(SandboxNode::isServiceAlive).count() > all.size();
    }

    void awaitSynced(List<SandboxNode> nodes, Duration limit) {
        long deadline = System.nanoTime() + limit.toNanos();
        List<SandboxNode> waiting = new ArrayList<>(nodes);
        while (true) {
            List<SandboxNode> still = new ArrayList<>();
            for (SandboxNode node : waiting) {
                Optional<NodeReport> report = node.report();
                if (report.isPresent() && report.get().isSynced()) {
                    progress.accept(node.name() + " is " + report.get().state());
                } else {
                    requireHopeful(node, report);
                    still.add(node);
                    report.ifPresent(r -> tell(node, r));
                }
            }
            if (still.isEmpty()) {
                return;
            }
            waiting = still;
            if (System.nanoTime() > deadline) {
                throw new SandboxException("not SYNCED within " + limit.toSeconds() + " s: " + describe(waiting));
            }
            pause();
        }
    }

    /** Reports how far a node is, now and then. */
    private void tell(SandboxNode node, NodeReport report) {
        String text = node.name() + " is " + report.state() + (report.reason().isEmpty() ? "" : ": " + report.reason());
        boolean waiting = report.state().equals("JOINER") || report.state().equals("JOINED");
        if (waiting && System.nanoTime() - toldNanos > TELL_NANOS && !text.equals(told.put(node, text))) {
            toldNanos = System.nanoTime();
            progress.accept(text);
        }
    }

    void awaitAnswer(SandboxNode node, Duration limit) {
        long deadline = System.nanoTime() + limit.toNanos();
        Optional<NodeReport> report = node.report();
        while (report.isEmpty()) {
            requireHopeful(node, report);
            if (System.nanoTime() > deadline) {
                throw new SandboxException("no answer within " + limit.toSeconds() + " s: " + describe(List.of(node)));
            }
            pause();
            report = node.report();
        }
    }

    private static void requireHopeful(SandboxNode node, Optional<NodeReport> report) {
        if (!node.isServiceAlive()) {
            throw new SandboxException("the service of " + node.name() + " ended; "
                    + node.service().logTail());
        }
        if (report.isPresent() && report.get().isOut()) {
            throw new SandboxException(node.name() + " is " + report.get().state() + ": "
                    + report.get().reason() + "\n" + node.service().logTail());
        }
    }

    private static String describe(List<SandboxNode> nodes) {
        StringBuilder text = new StringBuilder();
        for (SandboxNode node : nodes) {
            String state = node.report()
                    .map(r -> r.state() + (r.reason().isEmpty() ? "" : ", " + r.reason()))
                    .orElse("its service doesn't answer");
            text.append("\n").append(node.name()).append(": ").append(state);
            text.append("\n").append(node.service().logTail());
        }
        return text.toString();
    }

    private static void pause() {
        try {
            Thread.sleep(POLL_MILLIS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new SandboxException("interrupted while waiting", e);
        }
    }
}
