// SPDX-License-Identifier: Apache-2.0
package io.quorate.it;

import io.quorate.sandbox.NodeReport;
import java.io.IOException;
import java.nio.file.Files;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Looks at all nodes of a cluster all the time: whether one has left it or doesn't go on, and which inserted rows the
 * journals say were lost. The journals are read as they grow.
 */
final class SoakWatch implements AutoCloseable {
    private static final long POLL_MILLIS = 250;
    private static final int JOURNAL_EVERY = 60;
    private static final int JOURNAL_LIMIT = 5000;
    /** For a node that has something to apply: definitions that rebuild a table, and copies, take some of it. */
    private static final long STANDSTILL_NANOS = 180_000_000_000L;

    private static final Pattern CHANGE = Pattern.compile("(SYNCED|DONOR|JOINED|CONNECTED) -> JOINER: (QRT-\\d+)");

    private final Cluster cluster;
    private final Thread thread;
    private volatile boolean stopped;
    private volatile String fault = "";
    private final Map<Integer, Long> applied = new TreeMap<>();
    private final Map<Integer, Long> since = new TreeMap<>();
    private final Set<String> lostTags = ConcurrentHashMap.newKeySet();
    private final Set<Bank.Transfer> lostTransfers = ConcurrentHashMap.newKeySet();

    SoakWatch(Cluster cluster) {
        this.cluster = cluster;
        thread = new Thread(this::watch, "soak-watch");
        thread.start();
    }

    private void watch() {
        for (int i = 0; !stopped; i++) {
            for (int node : cluster.servers()) {
                cluster.node(node).report().ifPresent(report -> look(node, report));
            }
            if (i % JOURNAL_EVERY == 0) {
                readJournals();
            }
            try {
                Thread.sleep(POLL_MILLIS);
            } catch (InterruptedException e) {
                return;
            }
        }
    }

    private void look(int node, NodeReport report) {
        long now = System.nanoTime();
        // A service that has just begun knows nothing yet, and its number changes.
        boolean goesOn = !Long.valueOf(report.lastApplied()).equals(applied.put(node, report.lastApplied()));
        if (goesOn || report.lastApplied() >= report.lastOrdered() || since.get(node) == null) {
            since.put(node, now);
        }
        if (report.state().equals("INCONSISTENT") || report.state().equals("LEFT")) {
            fault("n" + node + " is " + report);
        } else if (now - since.get(node) > STANDSTILL_NANOS) {
            fault("n" + node + " doesn't go on: " + report);
        }
    }

    private void fault(String what) {
        if (fault.isEmpty()) {
            fault = what;
        }
    }

    /** That a node has left the cluster, or stands still; empty while none has. */
    String fault() {
        return fault;
    }

    /** Reads what the journals of all nodes that answer have got lately. */
    synchronized void readJournals() {
        for (int node : cluster.servers()) {
            try {
                String path = "/actuator/conflicts?limit=" + JOURNAL_LIMIT + "&full=true";
                JsonNode conflicts =
                        JsonMapper.shared().readTree(cluster.http(node, path)).path("conflicts");
                conflicts.forEach(
                        conflict -> conflict.path("loser").path("rows").forEach(row -> addLost(row)));
            } catch (IOException serviceIsDown) {
                // The others have the same journal.
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return;
            }
        }
    }

    /** Inserted rows only: a row that is still there may have been in an update that lost. */
    private void addLost(JsonNode row) {
        String table = row.path("table").asString().replace(SoakStatements.AWAY, "");
        JsonNode after = row.path("after");
        if (!row.path("before").isEmpty() || after.isEmpty()) {
            return;
        }
        if (table.equals("soak.kept") || table.equals("soak.plain")) {
            lostTags.add(after.path("tag").asString());
        } else if (table.equals("bank.history")) {
            lostTransfers.add(new Bank.Transfer(
                    Integer.parseInt(after.path("writer").asString()),
                    Integer.parseInt(after.path("n").asString())));
        }
    }

    Set<String> lostTags() {
        return new TreeSet<>(lostTags);
    }

    Set<Bank.Transfer> lostTransfers() {
        return new TreeSet<>(lostTransfers);
    }

    /** How often nodes got a copy, by the code of its reason, as their logs have it. */
    Map<String, Integer> copies() {
        Map<String, Integer> copies = new TreeMap<>();
        for (int node : cluster.servers()) {
            lines(node)
                    .map(CHANGE::matcher)
                    .filter(Matcher::find)
                    .forEach(found -> copies.merge(found.group(2), 1, Integer::sum));
        }
        return copies;
    }

    /** What a node's log says of its having left the cluster; a state may have passed unseen. */
    Optional<String> departure() {
        return cluster.servers().stream()
                .flatMap(node -> lines(node)
                        .filter(line -> line.contains("-> INCONSISTENT") || line.contains("-> LEFT"))
                        .map(line -> "n" + node + ": " + line))
                .findFirst();
    }

    private Stream<String> lines(int node) {
        try {
            return Files.readAllLines(cluster.node(node).serviceLog()).stream();
        } catch (IOException e) {
            return Stream.empty();
        }
    }

    @Override
    public void close() {
        stopped = true;
        thread.interrupt();
    }
}
