// SPDX-License-Identifier: Apache-2.0
package io.quorate.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.UnaryOperator;

/**
 * Writers on several nodes that keep book: each inserts rows of its own, numbered without gaps, changes and deletes
 * some of them, in transactions of several rows, and remembers what the server acknowledged. Nothing acknowledged may
 * be missing later, and nothing may be there twice. A lost connection or a read-only server is tried again with the
 * same numbers.
 */
final class Load implements AutoCloseable {
    static final String TABLE =
            "CREATE TABLE load_test.ledger (writer INT, n INT, touched INT NOT NULL, note VARCHAR(100),"
                    + " PRIMARY KEY (writer, n), UNIQUE KEY note (note), KEY touched (touched))";

    private static final int PAUSE_MILLIS = 100;
    /** Where something else is what is tried: each transaction is work for all nodes, and their services are cold. */
    private static final int BACKGROUND_PAUSE_MILLIS = 200;

    /** A connection of an ordinary account to the server of a node. */
    interface Servers {
        Connection app(int node) throws SQLException;
    }

    private final Servers servers;
    private final int pauseMillis;
    private final AtomicBoolean stop = new AtomicBoolean();
    private final List<Thread> threads = new ArrayList<>();
    /** Writer -> last number whose transaction was acknowledged; the one after it may or may not be there. */
    private final Map<Integer, Integer> acknowledged = new ConcurrentHashMap<>();

    Load(Cluster cluster, long seed, int... nodes) {
        this(cluster::app, seed, nodes);
    }

    Load(Servers servers, long seed, int... nodes) {
        this(servers, seed, PAUSE_MILLIS, nodes);
    }

    private Load(Servers servers, long seed, int pauseMillis, int[] nodes) {
        this.servers = servers;
        this.pauseMillis = pauseMillis;
        for (int node : nodes) {
            acknowledged.put(node, 0);
            Random random = new Random(seed + node);
            Thread thread = new Thread(() -> write(node, node, random), "load-" + node);
            threads.add(thread);
            thread.start();
        }
    }

    static Load inBackground(Cluster cluster, long seed, int... nodes) {
        return new Load(cluster::app, seed, BACKGROUND_PAUSE_MILLIS, nodes);
    }

    private void write(int node, int writer, Random random) {
        while (!stop.get()) {
            try (Connection connection = servers.app(node)) {
                connection.setAutoCommit(false);
                connection.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
                while (!stop.get()) {
                    long start = System.nanoTime();
                    transaction(connection, writer, random);
                    rest(start, pauseMillis);
                }
            } catch (SQLException e) {
                pause();
            } catch (InterruptedException e) {
                return;
            }
        }
    }

    /**
     * Steady rather than all the machine has, and the less the slower it is: services that start and nodes that catch
     * up meanwhile need some of it too.
     *
     * @param startNanos when the transaction began that has just ended
     */
    static void rest(long startNanos, long leastMillis) throws InterruptedException {
        long took = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - startNanos);
        Thread.sleep(Math.max(leastMillis, 4 * took));
    }

    private void transaction(Connection connection, int writer, Random random) throws SQLException {
        int n = acknowledged.get(writer) + 1;
        try (PreparedStatement insert = connection.prepareStatement(
                        "INSERT INTO load_test.ledger VALUES (?, ?, 0, ?) ON DUPLICATE KEY UPDATE touched = touched");
                PreparedStatement touch = connection.prepareStatement(
                        "UPDATE load_test.ledger SET touched = touched + 1, note = ? WHERE writer = ? AND n = ?")) {
            // The number before may have been committed although its acknowledgement was lost: then this changes
            // nothing.
            insert.setInt(1, writer);
            insert.setInt(2, n);
            insert.setString(3, writer + "/" + n);
            insert.executeUpdate();
            if (n > 1) {
                int some = 1 + random.nextInt(n - 1);
                touch.setString(1, writer + "/" + some + "/" + n + "/" + random.nextInt());
                touch.setInt(2, writer);
                touch.setInt(3, some);
                touch.executeUpdate();
            }
            connection.commit();
        }
        acknowledged.put(writer, n);
    }

    /**
     * Rows of 400 KB that don't compress, each a transaction, for a table {@code load_test.fat}. A node whose leader
     * has just been killed takes no writes until there is another.
     */
    static void fat(Cluster cluster, int node, int from, int rows) throws SQLException {
        Random random = new Random(from);
        byte[] bytes = new byte[400_000];
        long end = System.nanoTime() + TimeUnit.MINUTES.toNanos(1);
        int id = from;
        while (id < from + rows) {
            try (Connection connection = cluster.app(node);
                    PreparedStatement insert = connection.prepareStatement(
                            "INSERT INTO load_test.fat VALUES (?, ?) ON DUPLICATE KEY UPDATE id = id")) {
                for (; id < from + rows; id++) {
                    random.nextBytes(bytes);
                    insert.setInt(1, id);
                    insert.setBytes(2, bytes);
                    insert.executeUpdate();
                }
            } catch (SQLException e) {
                if (System.nanoTime() > end) {
                    throw e;
                }
                pause();
            }
        }
    }

    private static void pause() {
        try {
            Thread.sleep(50);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Waits until each of these has had so many more transactions acknowledged. */
    void goesOn(int more, int... writers) throws InterruptedException {
        Map<Integer, Integer> before = acknowledged();
        for (int writer : writers) {
            assertThat(Cluster.within(Cluster.LIMIT, () -> acknowledged.get(writer) >= before.get(writer) + more))
                    .as("writer %d goes on: %s, before %s", writer, acknowledged, before)
                    .isTrue();
        }
    }

    /** What was acknowledged to each by now. */
    Map<Integer, Integer> acknowledged() {
        return new TreeMap<>(acknowledged);
    }

    /** Ends the writers and says what was acknowledged to each. */
    Map<Integer, Integer> stop() throws InterruptedException {
        stop.set(true);
        for (Thread thread : threads) {
            thread.join(60_000);
        }
        return new TreeMap<>(acknowledged);
    }

    /** Waits until all nodes hold the same, and requires that what was acknowledged is there. */
    static void assertNothingLost(Cluster cluster, Map<Integer, Integer> acknowledged, long seed)
            throws InterruptedException {
        cluster.assertConverged();
        for (int n : cluster.servers()) {
            assertThat(faults(cluster, n, acknowledged)).as("seed %d", seed).isEmpty();
        }
    }

    /** What is wrong with the ledger on a node: numbers missing, or beyond what can have been written. */
    static List<String> faults(Cluster cluster, int node, Map<Integer, Integer> acknowledged) {
        return faults(sql -> cluster.mysql(node).query(sql).get(0).get(0), "n" + node, acknowledged);
    }

    /** @param value the first value that a query gives there */
    static List<String> faults(UnaryOperator<String> value, String node, Map<Integer, Integer> acknowledged) {
        List<String> faults = new ArrayList<>();
        acknowledged.forEach((writer, last) -> {
            String from = " FROM load_test.ledger WHERE writer = " + writer;
            int count = Integer.parseInt(value.apply("SELECT COUNT(*)" + from));
            int max = Integer.parseInt(value.apply("SELECT COALESCE(MAX(n), 0)" + from));
            if (count != max || max < last || max > last + 1) {
                faults.add("writer " + writer + " on " + node + ": " + count + " rows up to " + max
                        + ", acknowledged up to " + last);
            }
        });
        return faults;
    }

    @Override
    public void close() {
        stop.set(true);
        threads.forEach(Thread::interrupt);
    }
}
