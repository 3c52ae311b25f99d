// SPDX-License-Identifier: Apache-2.0
package io.quorate.sandbox;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;

/** Looks at the nodes of a cluster after a script: whether all are SYNCED, level and equal, and what they logged. */
final class SuiteWatch {
    private static final long POLL_MILLIS = 50;
    private static final int COMPARISONS = 3;
    private static final int LOOKS_FOR_LOST = 10;

    private final Sandbox sandbox;
    private final SandboxNode writer;
    private final Map<SandboxNode, Long> read = new LinkedHashMap<>();
    private long mark;

    SuiteWatch(Sandbox sandbox, SandboxNode writer) {
        this.sandbox = sandbox;
        this.writer = writer;
        sandbox.nodes().forEach(node -> read.put(node, size(node)));
    }

    /** Why a node is lost for good, if one is. */
    Optional<String> lost() {
        for (SandboxNode node : sandbox.nodes()) {
            if (!node.mysql().isAlive()) {
                // A full copy by clone ends the server for a moment.
                pause(2_000);
                if (!node.mysql().isAlive()) {
                    return Optional.of("LOST " + node.name() + ": its mysqld has ended");
                }
            }
            if (!node.isServiceAlive()) {
                return Optional.of("LOST " + node.name() + ": its service has ended");
            }
            Optional<NodeReport> report = node.report();
            // A node that waits for others to hold what it lacks waits for ever here, where only one is written to.
            boolean stuck = report.isPresent() && report.get().reason().contains("; waiting, because only");
            if (stuck || (report.isPresent() && report.get().isOut())) {
                return Optional.of("LOST " + node.name() + ": " + report.get().reason());
            }
        }
        return Optional.empty();
    }

    /**
     * Waits until all nodes are SYNCED and have the writer's last change.
     *
     * @return what keeps them from it when the time is over or a node is lost
     */
    Optional<String> awaitLevel(long limitSeconds) {
        long deadline = System.nanoTime() + limitSeconds * 1_000_000_000L;
        long marked = 0;
        for (int looks = 1; ; looks++) {
            // Asking a service costs more than asking its server.
            Optional<String> behind = marked == 0 ? notSynced() : notLevel(marked);
            if (behind.isEmpty() && marked == 0) {
                marked = ++mark;
                writer.mysql().execute("REPLACE INTO " + SuiteLeftovers.MARKS + ".mark VALUES (1, " + marked + ")");
                continue;
            }
            if (behind.isEmpty()) {
                behind = notSynced();
            }
            if (behind.isEmpty()) {
                return behind;
            }
            boolean closer = looks % LOOKS_FOR_LOST == 0;
            Optional<String> lost = closer ? lost() : Optional.empty();
            if (closer && notLevel(writer, marked).isPresent() && notSynced().isEmpty()) {
                // The mark was void together with a definition of the script, and won't come any more.
                marked = 0;
            }
            if (lost.isPresent() || System.nanoTime() > deadline) {
                return lost.isPresent() ? lost : Optional.of("BEHIND " + behind.get());
            }
            pause(POLL_MILLIS);
        }
    }

    private Optional<String> notSynced() {
        for (SandboxNode node : sandbox.nodes()) {
            Optional<NodeReport> report = node.report();
            if (report.isEmpty() || !report.get().isSynced()) {
                return Optional.of(node.name() + " is "
                        + report.map(r -> r.state() + ": " + r.reason()).orElse("not answering"));
            }
        }
        return Optional.empty();
    }

    private Optional<String> notLevel(long marked) {
        return sandbox.nodes().stream()
                .map(node -> notLevel(node, marked))
                .flatMap(Optional::stream)
                .findFirst();
    }

    private static Optional<String> notLevel(SandboxNode node, long marked) {
        try {
            return node.mysql().queryLong("SELECT value FROM " + SuiteLeftovers.MARKS + ".mark WHERE id = 1") == marked
                    ? Optional.empty()
                    : Optional.of(node.name() + " hasn't applied everything");
        } catch (SandboxException | NumberFormatException e) {
            return Optional.of(node.name() + " can't be read: " + e.getMessage());
        }
    }

    /** What differs between the servers, a sentence each. Looked at again before it counts. */
    List<String> differences() {
        Map<String, MySqlServer> servers = new LinkedHashMap<>();
        sandbox.nodes().forEach(node -> servers.put(node.name(), node.mysql()));
        List<String> differences = List.of();
        for (int i = 0; i < COMPARISONS; i++) {
            differences = new ArrayList<>(Checksums.compare(servers).differences());
            differences.addAll(ServerObjects.differences(servers));
            if (differences.isEmpty()) {
                break;
            }
            pause(1_000);
        }
        return differences;
    }

    /**
     * What nodes logged since the last call: that they weren't SYNCED, and errors. That a node didn't hear the others
     * for a moment is the machine's doing.
     */
    List<String> logged() {
        TreeSet<String> lines = new TreeSet<>();
        for (SandboxNode node : sandbox.nodes()) {
            for (String line : news(node).split("\n")) {
                int left = line.indexOf("SYNCED -> ");
                if (left >= 0 && !line.substring(left).matches("SYNCED -> (DONOR|NON_PRIMARY).*")) {
                    lines.add("LEFT SYNCED " + node.name() + ": " + line.substring(left + 10));
                } else if (line.contains(" ERROR ")) {
                    lines.add("ERROR " + node.name() + ": " + line.substring(line.indexOf(" : ") + 3));
                }
            }
        }
        return List.copyOf(lines);
    }

    private String news(SandboxNode node) {
        try {
            byte[] all = Files.readAllBytes(node.serviceLog());
            int from = (int) Math.min(all.length, read.get(node));
            read.put(node, (long) all.length);
            return new String(all, from, all.length - from, StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static long size(SandboxNode node) {
        try {
            return Files.exists(node.serviceLog()) ? Files.size(node.serviceLog()) : 0;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static void pause(long millis) {
        try {
            Thread.sleep(millis);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new SandboxException("interrupted", e);
        }
    }
}
