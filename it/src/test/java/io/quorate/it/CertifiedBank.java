// SPDX-License-Identifier: Apache-2.0
package io.quorate.it;

import io.quorate.core.CertifiedXid;
import io.quorate.sandbox.NodeReport;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The {@link Bank} with clients that are certified before they commit, as a gateway would drive them: note what is
 * applied, XA START, read, write what follows from what was read, XA PREPARE, and wait. Readers beside them add up all
 * balances.
 */
final class CertifiedBank implements AutoCloseable {
    private final Cluster cluster;
    private final AtomicBoolean stop = new AtomicBoolean();
    private final List<Thread> threads = new ArrayList<>();
    private final Set<Bank.Transfer> acknowledged = ConcurrentHashMap.newKeySet();
    private final Set<String> wrongTotals = ConcurrentHashMap.newKeySet();
    final AtomicLong prepared = new AtomicLong();
    final AtomicLong readings = new AtomicLong();

    CertifiedBank(Cluster cluster, long seed, int accounts, int writersPerNode, int... nodes) {
        this.cluster = cluster;
        for (int node : nodes) {
            for (int thread = 0; thread < writersPerNode; thread++) {
                int writer = 100 * node + thread;
                Random random = new Random(seed + writer);
                start("bank-" + writer, () -> write(node, writer, accounts, random));
            }
            start("reader-" + node, () -> read(node));
        }
    }

    private void start(String name, Runnable body) {
        Thread thread = new Thread(body, name);
        threads.add(thread);
        thread.start();
    }

    private void write(int node, int writer, int accounts, Random random) {
        int n = 0;
        while (!stop.get()) {
            try (Connection connection = cluster.mysql(node).connect();
                    Statement statement = connection.createStatement()) {
                while (!stop.get()) {
                    transfer(node, statement, writer, ++n, accounts, random);
                }
            } catch (SQLException | IllegalStateException e) {
                pause(100);
            }
        }
    }

    private void transfer(int node, Statement statement, int writer, int n, int accounts, Random random)
            throws SQLException {
        NodeReport report = cluster.node(node).report().orElse(null);
        if (report == null || !report.state().equals("SYNCED")) {
            pause(50);
            return;
        }
        int source = random.nextInt(accounts);
        int target = (source + 1 + random.nextInt(accounts - 1)) % accounts;
        int amount = 1 + random.nextInt(50);
        CertifiedXid xid = new CertifiedXid(writer, n, Integer.toHexString(random.nextInt()), report.lastApplied());
        statement.execute("XA START " + xid.sql());
        try {
            long first = balance(statement, source);
            long second = balance(statement, target);
            statement.execute(xid.mark());
            int token = 2 * (writer * 100_000 + n);
            set(statement, Math.min(source, target), source < target ? first - amount : second + amount, token);
            set(statement, Math.max(source, target), source < target ? second + amount : first - amount, token + 1);
            statement.execute("INSERT INTO bank.history VALUES (" + writer + ", " + n + ", " + source + ", " + target
                    + ", " + amount + ")");
            statement.execute("XA END " + xid.sql());
            statement.execute("XA PREPARE " + xid.sql());
        } catch (SQLException e) {
            if (e.getErrorCode() != 1213 && e.getErrorCode() != 1205 && e.getErrorCode() != 1614) {
                throw e;
            }
            end(statement, xid);
            return;
        }
        prepared.incrementAndGet();
        await(statement, xid, writer, n);
    }

    private static void end(Statement statement, CertifiedXid xid) throws SQLException {
        try {
            statement.execute("XA END " + xid.sql());
        } catch (SQLException e) {
            // A deadlock has ended it already.
        }
        statement.execute("XA ROLLBACK " + xid.sql());
    }

    private static long balance(Statement statement, int account) throws SQLException {
        try (ResultSet row = statement.executeQuery("SELECT balance FROM bank.account WHERE id = " + account)) {
            row.next();
            return row.getLong(1);
        }
    }

    /** With a new token, so that it is a change in any case: one that leaves the row as it is isn't in the binlog. */
    private static void set(Statement statement, int account, long balance, int token) throws SQLException {
        statement.execute(
                "UPDATE bank.account SET balance = " + balance + ", token = " + token + " WHERE id = " + account);
    }

    /** Who sees its own entry has it acknowledged; whose transaction is decided, and who doesn't see it, has lost. */
    private void await(Statement statement, CertifiedXid xid, int writer, int n) throws SQLException {
        boolean decided = false;
        while (!decided && !stop.get()) {
            pause(5);
            decided = isDecided(statement, xid);
            try (ResultSet row = statement.executeQuery(
                    "SELECT COUNT(*) FROM bank.history WHERE writer = " + writer + " AND n = " + n)) {
                row.next();
                if (row.getInt(1) == 1) {
                    acknowledged.add(new Bank.Transfer(writer, n));
                    return;
                }
            }
        }
    }

    private static boolean isDecided(Statement statement, CertifiedXid xid) throws SQLException {
        try (ResultSet prepared = statement.executeQuery("XA RECOVER")) {
            while (prepared.next()) {
                if (prepared.getString("data").startsWith(xid.slot() + "." + xid.count() + "." + xid.secret())) {
                    return false;
                }
            }
            return true;
        }
    }

    /** Whether enough has happened for what the test claims of it. */
    boolean hasSeenEnough() {
        return acknowledged.size() > 50 && readings.get() > 100 && prepared.get() > acknowledged.size() + 10;
    }

    private void read(int node) {
        while (!stop.get()) {
            try (Connection connection = cluster.mysql(node).connect();
                    Statement statement = connection.createStatement()) {
                while (!stop.get()) {
                    try (ResultSet row = statement.executeQuery("SELECT SUM(balance) FROM bank.account")) {
                        row.next();
                        readings.incrementAndGet();
                        if (row.getLong(1) != (long) Bank.ACCOUNTS * Bank.OPENING) {
                            wrongTotals.add("n" + node + " reads " + row.getLong(1));
                        }
                    }
                    pause(5);
                }
            } catch (SQLException | IllegalStateException e) {
                pause(100);
            }
        }
    }

    private static void pause(long millis) {
        try {
            Thread.sleep(millis);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Ends all clients; the transfers that were acknowledged. */
    Set<Bank.Transfer> stop() throws InterruptedException {
        stop.set(true);
        for (Thread thread : threads) {
            thread.join(60_000);
        }
        return new TreeSet<>(acknowledged);
    }

    Set<String> wrongTotals() {
        return wrongTotals;
    }

    @Override
    public void close() {
        stop.set(true);
        threads.forEach(Thread::interrupt);
    }
}
