// SPDX-License-Identifier: Apache-2.0
package io.quorate.sandbox;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.Collectors;

/**
 * Measures apply lag as a client sees it: every node's row in {@code demo.heartbeat} is updated ten times a second by
 * an ordinary transaction, and read on all other nodes every ten milliseconds. The lag is the time from the commit's OK
 * until the value is seen elsewhere, by one clock, because all nodes are on this machine.
 */
final class Heartbeats {
    private static final long BEAT_MILLIS = 100;
    private static final long LOOK_MILLIS = 10;
    /** Ten minutes of three nodes' beats; later ones are not sampled any more. */
    private static final int SAMPLES_MAX = 40_000;

    private final AtomicBoolean stop;
    private final LongAdder committed;
    /** By node: when each of its beats was committed, in nanoseconds. */
    private final Map<String, Map<Long, Long>> sent = new ConcurrentHashMap<>();
    /** By observing node: the lag it saw last. */
    private final Map<String, Long> lastMillis = new ConcurrentHashMap<>();
    /** By observing node and origin: the newest beat seen. */
    private final Map<String, Map<String, Long>> seen = new ConcurrentHashMap<>();

    private final Percentiles lags = new Percentiles(SAMPLES_MAX);

    Heartbeats(AtomicBoolean stop, LongAdder committed) {
        this.stop = stop;
        this.committed = committed;
    }

    /** Sets all rows to the state that {@link #rows} gives them, on one node. */
    static void reset(SandboxNode on) {
        try (Connection connection = connect(on);
                Statement statement = connection.createStatement()) {
            statement.executeUpdate("UPDATE heartbeat SET beat = 0");
        } catch (SQLException e) {
            throw new SandboxException("heartbeats on " + on.name() + ": " + e.getMessage(), e);
        }
    }

    /** The statement that makes a row for every node. */
    static String rows(List<SandboxNode> nodes) {
        return nodes.stream()
                .map(node -> "('" + node.name() + "', 0)")
                .collect(Collectors.joining(", ", "INSERT INTO " + DemoSchema.NAME + ".heartbeat VALUES ", ""));
    }

    private static Connection connect(SandboxNode node) throws SQLException {
        return node.mysql().connect(Accounts.APP_USER, Accounts.APP_PASSWORD, DemoSchema.NAME);
    }

    /** Beats on a node until told to stop. */
    void beat(SandboxNode node) {
        try (Connection connection = connect(node);
                PreparedStatement update =
                        connection.prepareStatement("UPDATE heartbeat SET beat = ? WHERE node = ?")) {
            Map<Long, Long> own = sent.computeIfAbsent(node.name(), name -> new ConcurrentHashMap<>());
            update.setString(2, node.name());
            for (long beat = 1; !stop.get(); beat++) {
                update.setLong(1, beat);
                update.executeUpdate();
                own.put(beat, System.nanoTime());
                committed.increment();
                sleep(BEAT_MILLIS);
            }
        } catch (SQLException e) {
            throw new SandboxException("heartbeat of " + node.name() + ": " + e.getMessage(), e);
        }
    }

    /** Reads the other nodes' beats on a node until {@code ended}. */
    void watch(SandboxNode node, AtomicBoolean ended) {
        Map<String, Long> own = seen.computeIfAbsent(node.name(), name -> new ConcurrentHashMap<>());
        try (Connection connection = connect(node);
                PreparedStatement select = connection.prepareStatement("SELECT node, beat FROM heartbeat")) {
            while (!ended.get()) {
                look(node, own, select);
                sleep(LOOK_MILLIS);
            }
        } catch (SQLException e) {
            throw new SandboxException("looking at heartbeats on " + node.name() + ": " + e.getMessage(), e);
        }
    }

    private void look(SandboxNode node, Map<String, Long> own, PreparedStatement select) throws SQLException {
        Map<String, Long> found = new HashMap<>();
        try (ResultSet rows = select.executeQuery()) {
            while (rows.next()) {
                found.put(rows.getString(1), rows.getLong(2));
            }
        }
        long now = System.nanoTime();
        found.remove(node.name());
        found.forEach((origin, beat) -> {
            for (long each = own.getOrDefault(origin, 0L) + 1; each <= beat; each++) {
                Long at = sent.getOrDefault(origin, Map.of()).get(each);
                // Not there yet: another node saw the beat before its own client had the OK.
                long millis = at == null ? 0 : Math.max(0, (now - at) / 1_000_000);
                lags.add(millis);
                lastMillis.put(node.name(), millis);
            }
            own.put(origin, beat);
        });
    }

    /** Writes a last beat on a node; another node that has it has everything that this one committed before. */
    static void last(SandboxNode node) {
        try (Connection connection = connect(node);
                Statement statement = connection.createStatement()) {
            statement.executeUpdate("UPDATE heartbeat SET beat = -1 WHERE node = '" + node.name() + "'");
        } catch (SQLException e) {
            throw new SandboxException("last heartbeat of " + node.name() + ": " + e.getMessage(), e);
        }
    }

    /** The nodes whose last beat hasn't arrived on that node. */
    static List<String> missingOn(SandboxNode node) {
        return node.mysql().query("SELECT node FROM demo.heartbeat WHERE beat >= 0 ORDER BY node").stream()
                .map(row -> row.get(0))
                .toList();
    }

    /** The lag that node saw last, in milliseconds. */
    long lastMillis(String node) {
        return lastMillis.getOrDefault(node, 0L);
    }

    Percentiles lags() {
        return lags;
    }

    private static void sleep(long millis) {
        try {
            Thread.sleep(millis);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new SandboxException("interrupted", e);
        }
    }
}
