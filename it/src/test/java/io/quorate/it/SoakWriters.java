// SPDX-License-Identifier: Apache-2.0
package io.quorate.it;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * A writer on each node for the tables of {@link SoakStatements}. Each row of the steady ones has a tag that no other
 * row has, and the tags that a server acknowledged are remembered. Values of {@code b} are few, so that rows stand
 * against unique keys, checks and foreign keys.
 */
final class SoakWriters implements AutoCloseable {
    private static final long PAUSE_MILLIS = 60;

    private final Cluster cluster;
    private final AtomicBoolean stop = new AtomicBoolean();
    private final List<Thread> threads = new ArrayList<>();
    private final Set<String> acknowledged = ConcurrentHashMap.newKeySet();
    private final Map<Integer, Integer> refused = new ConcurrentHashMap<>();

    SoakWriters(Cluster cluster, long seed) {
        this.cluster = cluster;
        for (int node : cluster.servers()) {
            Random random = new Random(seed + 1000 + node);
            Thread thread = new Thread(() -> write(node, random), "soak-writer-" + node);
            threads.add(thread);
            thread.start();
        }
    }

    private void write(int node, Random random) {
        int n = 0;
        while (!stop.get()) {
            try (Connection client = cluster.app(node);
                    Statement statement = client.createStatement()) {
                while (!stop.get()) {
                    long start = System.nanoTime();
                    n++;
                    attempt(client, statement, node, n, random);
                    Load.rest(start, PAUSE_MILLIS);
                }
            } catch (SQLException e) {
                refused.merge(e.getErrorCode(), 1, Integer::sum);
                sleep();
            } catch (InterruptedException e) {
                return;
            }
        }
    }

    /** What a constraint or a lock stands against ends the transaction only. */
    private void attempt(Connection client, Statement statement, int node, int n, Random random) throws SQLException {
        try {
            client.setAutoCommit(true);
            if (random.nextInt(6) == 0) {
                statement.execute(loose(random));
                return;
            }
            if (random.nextInt(6) == 0) {
                statement.execute(session(random));
                statement.execute("INSERT INTO soak.zoned (id, ts, c) VALUES (" + (10L * n + node)
                        + ", NOW() - INTERVAL " + random.nextInt(9999) + " HOUR, 'c" + random.nextInt(999) + "')");
                return;
            }
            String tag = "w" + node + "-" + n;
            String kept = "INSERT INTO soak.kept (id, tag, a, b) VALUES (" + (10L * n + node) + ", '" + tag + "', "
                    + random.nextInt(1000) + ", " + b(random) + ")";
            if (random.nextInt(3) == 0) {
                client.setAutoCommit(false);
                statement.execute(kept);
                statement.execute("UPDATE soak.kept SET a = a + 1 WHERE id = " + earlier(n, random));
                client.commit();
            } else if (random.nextInt(2) == 0) {
                statement.execute("INSERT INTO soak.plain (b, tag, a) VALUES (" + b(random) + ", '" + tag + "', "
                        + random.nextInt(1000) + ")");
            } else {
                statement.execute(kept);
            }
            acknowledged.add(tag);
        } catch (SQLException e) {
            refused.merge(e.getErrorCode(), 1, Integer::sum);
            if (!client.isValid(5)) {
                throw e;
            }
            if (!client.getAutoCommit()) {
                client.rollback();
            }
        }
    }

    /** A session of its own, for this statement and all that come after it. */
    private static String session(Random random) {
        return "SET SESSION "
                + switch (random.nextInt(3)) {
                    case 0 -> "time_zone = '+05:00', lc_time_names = 'ja_JP', sql_mode = 'STRICT_TRANS_TABLES'";
                    case 1 -> "time_zone = '-08:00', lc_time_names = 'en_US', sql_mode = 'PAD_CHAR_TO_FULL_LENGTH'";
                    default -> "time_zone = 'SYSTEM', lc_time_names = 'en_US', sql_mode = 'ANSI'";
                };
    }

    private static String b(Random random) {
        return random.nextInt(3) == 0 ? Integer.toString(1 + random.nextInt(200)) : "NULL";
    }

    /** A row of any node, one of the latest. */
    private static long earlier(int n, Random random) {
        return 10L * Math.max(1, n - random.nextInt(20)) + 1 + random.nextInt(3);
    }

    private static String loose(Random random) {
        int id = random.nextInt(2500);
        int parent = random.nextInt(40);
        String table = "soak.loose" + random.nextInt(3);
        return switch (random.nextInt(7)) {
            case 0, 1 -> "REPLACE INTO " + table + " (id, a, b) VALUES (" + id + ", 1, " + random.nextInt(100) + ")";
            case 2 -> "UPDATE " + table + " SET b = b + 1 WHERE id BETWEEN " + id + " AND " + (id + 20);
            case 3 -> "DELETE FROM " + table + " WHERE id = " + id;
            case 4 -> "INSERT IGNORE INTO soak.parent (id, a) VALUES (" + parent + ", 1)";
            case 5 -> "INSERT INTO soak.child (id, parent) VALUES (" + id + ", " + parent + ")";
            default ->
                random.nextInt(10) == 0
                        ? "DELETE FROM soak.parent WHERE id = " + parent
                        : "UPDATE soak.child SET parent = " + parent + " WHERE id = " + id;
        };
    }

    private static void sleep() {
        try {
            Thread.sleep(100);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    int rows() {
        return acknowledged.size();
    }

    /** How often servers refused something, by error. */
    Map<Integer, Integer> refused() {
        return Map.copyOf(refused);
    }

    /** Ends the writers; the tags that a server acknowledged. */
    Set<String> stop() throws InterruptedException {
        stop.set(true);
        for (Thread thread : threads) {
            thread.join(60_000);
        }
        return new TreeSet<>(acknowledged);
    }

    /** Those that are on a node. */
    static Set<String> tags(Cluster cluster, int node) {
        Set<String> tags = new TreeSet<>();
        cluster.mysql(node)
                .query("SELECT tag FROM soak.kept UNION ALL SELECT tag FROM soak.plain")
                .forEach(row -> tags.add(row.get(0)));
        return tags;
    }

    @Override
    public void close() {
        stop.set(true);
        threads.forEach(Thread::interrupt);
    }
}
