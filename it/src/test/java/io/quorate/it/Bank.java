// SPDX-License-Identifier: Apache-2.0
package io.quorate.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Writers on all nodes that move money between the same few accounts. Each transfer enters itself in the history, in
 * its own transaction, so the history says of every transfer whether it happened, and every balance can be computed
 * from it: a lost update, half an undo, an undo too many shows in the balances. Beside it they churn a unique key,
 * reference the accounts, and write a table without any key.
 */
final class Bank implements AutoCloseable {
    static final int ACCOUNTS = 600;
    static final int OPENING = 1000;

    static final String[] TABLES = {
        "CREATE DATABASE bank",
        "CREATE TABLE bank.account (id INT PRIMARY KEY, balance BIGINT NOT NULL, token INT, UNIQUE KEY (token))",
        "CREATE TABLE bank.history (writer INT, n INT, source INT NOT NULL, target INT NOT NULL, amount INT NOT NULL,"
                + " PRIMARY KEY (writer, n), FOREIGN KEY (source) REFERENCES bank.account (id))",
        "CREATE TABLE bank.scrap (account INT, note VARCHAR(20))",
    };

    /** Of a writer: node * 100 + thread. */
    record Transfer(int writer, int n) implements Comparable<Transfer> {
        @Override
        public int compareTo(Transfer that) {
            return writer == that.writer ? Integer.compare(n, that.n) : Integer.compare(writer, that.writer);
        }
    }

    private final Cluster cluster;
    private final int pauseMillis;
    private final AtomicBoolean stop = new AtomicBoolean();
    private final List<Thread> threads = new ArrayList<>();
    private final Set<Transfer> acknowledged = ConcurrentHashMap.newKeySet();
    private final AtomicInteger refused = new AtomicInteger();
    private final Queue<Long> commitNanos = new ConcurrentLinkedQueue<>();

    static void open(Cluster cluster, int node) {
        cluster.mysql(node).execute(TABLES);
        StringBuilder accounts = new StringBuilder("INSERT INTO bank.account (id, balance) VALUES ");
        for (int id = 0; id < ACCOUNTS; id++) {
            accounts.append(id == 0 ? "" : ", ").append('(').append(id).append(", " + OPENING + ")");
        }
        cluster.mysql(node).execute(accounts.toString());
    }

    Bank(Cluster cluster, long seed, int pauseMillis, int writersPerNode, int... nodes) {
        this.cluster = cluster;
        this.pauseMillis = pauseMillis;
        for (int node : nodes) {
            for (int thread = 0; thread < writersPerNode; thread++) {
                int writer = 100 * node + thread;
                Random random = new Random(seed + writer);
                Thread t = new Thread(() -> write(node, writer, random), "bank-" + writer);
                threads.add(t);
                t.start();
            }
        }
    }

    private void write(int node, int writer, Random random) {
        int n = 0;
        while (!stop.get()) {
            try (Connection connection = cluster.app(node)) {
                connection.setAutoCommit(false);
                while (!stop.get()) {
                    n++;
                    long start = System.nanoTime();
                    transfer(connection, writer, n, random);
                    Load.rest(start, pauseMillis);
                }
            } catch (SQLException e) {
                refused.incrementAndGet();
                pause();
            } catch (InterruptedException e) {
                return;
            }
        }
    }

    /** A duplicate token or a deadlock ends the transfer only. */
    private void transfer(Connection connection, int writer, int n, Random random) throws SQLException {
        int source = random.nextInt(ACCOUNTS);
        int target = (source + 1 + random.nextInt(ACCOUNTS - 1)) % ACCOUNTS;
        int amount = 1 + random.nextInt(50);
        try {
            if (source < target) {
                change(connection, source, -amount, random);
                change(connection, target, amount, random);
            } else {
                change(connection, target, amount, random);
                change(connection, source, -amount, random);
            }
            update(
                    connection,
                    "INSERT INTO bank.history (writer, n, source, target, amount) VALUES (?, ?, ?, ?, ?)",
                    writer,
                    n,
                    source,
                    target,
                    amount);
            if (random.nextInt(3) == 0) {
                update(connection, "INSERT INTO bank.scrap (account, note) VALUES (?, ?)", source, random.nextInt(3));
            } else if (random.nextInt(3) == 0) {
                update(connection, "DELETE FROM bank.scrap WHERE account = ? LIMIT 1", source);
            }
            long start = System.nanoTime();
            connection.commit();
            commitNanos.add(System.nanoTime() - start);
            acknowledged.add(new Transfer(writer, n));
        } catch (SQLException e) {
            if (e.getErrorCode() != 1062 && e.getErrorCode() != 1213 && e.getErrorCode() != 1205) {
                throw e;
            }
            connection.rollback();
        }
    }

    private static void change(Connection connection, int account, int by, Random random) throws SQLException {
        if (random.nextInt(4) == 0) {
            update(
                    connection,
                    "UPDATE bank.account SET balance = balance + ?, token = ? WHERE id = ?",
                    by,
                    random.nextInt(4 * ACCOUNTS),
                    account);
        } else {
            update(connection, "UPDATE bank.account SET balance = balance + ? WHERE id = ?", by, account);
        }
    }

    private static void update(Connection connection, String sql, int... values) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            for (int i = 0; i < values.length; i++) {
                statement.setInt(i + 1, values[i]);
            }
            statement.executeUpdate();
        }
    }

    private static void pause() {
        try {
            Thread.sleep(50);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Ends the writers; every transfer that a server acknowledged. */
    Set<Transfer> stop() throws InterruptedException {
        stop.set(true);
        for (Thread thread : threads) {
            thread.join(60_000);
        }
        return new TreeSet<>(acknowledged);
    }

    /** How long commits took until OK, for people. */
    String commitTimes() {
        long[] sorted = commitNanos.stream().mapToLong(Long::longValue).sorted().toArray();
        return sorted.length == 0
                ? "no commits"
                : "commits took %.1f ms (median), %.1f ms (99%%), %.1f ms at most"
                        .formatted(
                                sorted[sorted.length / 2] / 1e6,
                                sorted[(int) (sorted.length * 0.99)] / 1e6,
                                sorted[sorted.length - 1] / 1e6);
    }

    /** How many transfers a server has acknowledged by now. */
    int transfers() {
        return acknowledged.size();
    }

    /** Those that are in the history of a node. */
    static Set<Transfer> history(Cluster cluster, int node) {
        Set<Transfer> found = new TreeSet<>();
        for (List<String> row : cluster.mysql(node).query("SELECT writer, n FROM bank.history")) {
            found.add(new Transfer(Integer.parseInt(row.get(0)), Integer.parseInt(row.get(1))));
        }
        return found;
    }

    /** Accounts whose balance is not what the history says; empty when all is well. */
    static List<List<String>> wrongBalances(Cluster cluster, int node) {
        return cluster.mysql(node).query("""
                        SELECT a.id, a.balance, %d + COALESCE(SUM(h.m), 0) AS expected FROM bank.account a
                        LEFT JOIN (SELECT source AS id, -amount AS m FROM bank.history
                          UNION ALL SELECT target, amount FROM bank.history) h ON h.id = a.id
                        GROUP BY a.id, a.balance HAVING a.balance <> expected""".formatted(OPENING));
    }

    /** Every server has all transfers that were acknowledged, and balances that fit its history. */
    static void assertKept(Cluster cluster, Set<Transfer> acknowledged, long seed) {
        for (int node : cluster.servers()) {
            assertThat(history(cluster, node)).as("n%d, seed %d", node, seed).containsAll(acknowledged);
            assertThat(wrongBalances(cluster, node))
                    .as("n%d, seed %d", node, seed)
                    .isEmpty();
        }
    }

    @Override
    public void close() {
        stop.set(true);
        threads.forEach(Thread::interrupt);
    }
}
