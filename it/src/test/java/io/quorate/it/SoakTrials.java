// SPDX-License-Identifier: Apache-2.0
package io.quorate.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.quorate.sandbox.NodeReport;
import io.quorate.sandbox.Sandbox.Part;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.LocalTime;
import java.time.ZoneId;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * The bank, with random definitions of all classes on all nodes, while services and servers are killed; a command of
 * its own, see it/README.md. {@code -Dquorate.seconds=3600} is for how long, {@code -Dquorate.seed=S} chooses the same
 * statements and kills again, though not at the same moments. After a failure the cluster's directory is kept.
 */
@Timeout(7200)
class SoakTrials {
    private static final int SECONDS = Integer.getInteger("quorate.seconds", 600);
    private static final int REPORT_SECONDS = 60;
    /** Part of the definitions that {@code quorate ddl} gets, of those it takes. */
    private static final double ORDERED_FIRST = 0.15;

    private static final Duration COPY_LIMIT = Duration.ofSeconds(20);

    private final long seed = Long.getLong("quorate.seed", System.nanoTime());
    private final AtomicBoolean stop = new AtomicBoolean();
    /** Kind of statement -> how it ended -> how often. */
    private final Map<String, Map<String, Integer>> ended = new ConcurrentHashMap<>();

    private Cluster cluster;
    private int kills;

    @Test
    void allNodesEndEqualWhateverIsDefinedAndKilled() throws Exception {
        // Where tables without a primary key are written to, nodes get copies of everything instead of single tables.
        boolean keyless = seed % 2 == 0;
        System.out.println(
                "seed " + seed + ", " + SECONDS + " s, " + (keyless ? "some" : "no") + " tables without keys");
        cluster = Cluster.start(
                3,
                Map.of(
                        "quorate.sst.method", "stream",
                        "quorate.order.checkpoint-entries", "50",
                        "quorate.order.log-bytes-max", "4MB",
                        "quorate.conflicts.bytes-max", "2GB",
                        "quorate.jvm", "-Xmx384m"));
        boolean passed = false;
        try {
            run(keyless);
            passed = true;
        } finally {
            cluster.close(passed);
        }
    }

    private void run(boolean keyless) throws Exception {
        Bank.open(cluster, 1);
        cluster.mysql(1).execute(SoakStatements.accountSetUp(cluster));
        cluster.mysql(1).execute(SoakStatements.SET_UP.toArray(new String[0]));
        if (!keyless) {
            cluster.mysql(1).execute(SoakStatements.KEYS);
        }
        cluster.assertConverged();
        Set<Bank.Transfer> transfers;
        Set<String> tags;
        try (SoakWatch watch = new SoakWatch(cluster);
                Bank bank = new Bank(cluster, seed, 100, 2, 1, 2, 3);
                SoakWriters writers = new SoakWriters(cluster, seed)) {
            List<Thread> definers = new ArrayList<>();
            for (int node : cluster.servers()) {
                Thread thread = new Thread(() -> define(node), "soak-definitions-" + node);
                definers.add(thread);
                thread.start();
            }
            try {
                killAndRestart(watch, bank, writers);
            } finally {
                stop.set(true);
                for (Thread thread : definers) {
                    thread.join(120_000);
                }
            }
            transfers = bank.stop();
            tags = writers.stop();
            settle(watch, transfers, tags);
        }
    }

    private void killAndRestart(SoakWatch watch, Bank bank, SoakWriters writers) throws InterruptedException {
        Random random = new Random(seed);
        long end = System.nanoTime() + SECONDS * 1_000_000_000L;
        long report = System.nanoTime();
        Thread.sleep(3000);
        while (System.nanoTime() < end) {
            int node = 1 + random.nextInt(3);
            Part part = Part.values()[random.nextInt(Part.values().length)];
            // Now and then two at a time: no majority for a while.
            int second = random.nextInt(6) == 0 ? 1 + node % 3 : node;
            kill(node, part);
            if (second != node) {
                kill(second, Part.SERVICE);
            }
            Thread.sleep(500 + random.nextInt(5000));
            if (second == node) {
                assertThat(cluster.restart(node)).isTrue();
            } else {
                cluster.startAgain();
            }
            Thread.sleep(2000 + random.nextInt(15_000));
            assertThat(watch.fault()).as("seed %d", seed).isEmpty();
            if (System.nanoTime() - report > REPORT_SECONDS * 1_000_000_000L) {
                report = System.nanoTime();
                say(bank.transfers() + " transfers, " + writers.rows() + " rows, " + definitions() + " definitions, "
                        + kills + " kills, copies " + watch.copies() + ", refused to writers " + writers.refused());
            }
        }
    }

    private void kill(int node, Part part) {
        kills++;
        say("kill -9 " + part + " of n" + node);
        cluster.kill(node, part);
    }

    private static void say(String what) {
        System.out.println(LocalTime.now(ZoneId.systemDefault()).truncatedTo(ChronoUnit.SECONDS) + " " + what);
    }

    /** One definition after the other on one node. */
    private void define(int node) {
        Random random = new Random(seed + 2000 + node);
        SoakStatements statements = new SoakStatements(random, node);
        while (!stop.get()) {
            if (random.nextInt(5) != 0) {
                awaitSynced();
                // Not all three at the moment in which the last of them is SYNCED again.
                rest(random.nextInt(3000));
            }
            SoakStatements.Definition definition = statements.next();
            boolean first = definition.first() && random.nextDouble() < ORDERED_FIRST;
            String outcome = first ? orderedFirst(node, definition) : byClient(node, definition);
            ended.computeIfAbsent((first ? "quorate ddl: " : "") + definition.kind(), kind -> new TreeMap<>())
                    .merge(outcome, 1, Integer::sum);
            rest(100 + random.nextInt(1000));
        }
    }

    private static void rest(int millis) {
        try {
            Thread.sleep(millis);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Each definition has a copy by stream begin anew, so most of them leave it the time. */
    private void awaitSynced() {
        try {
            Cluster.within(
                    COPY_LIMIT,
                    () -> stop.get()
                            || cluster.servers().stream().allMatch(node -> cluster.node(node)
                                    .report()
                                    .filter(NodeReport::isSynced)
                                    .isPresent()));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private String byClient(int node, SoakStatements.Definition definition) {
        String url = cluster.mysql(node).jdbcUrl("soak") + "&socketTimeout=120000";
        try (Connection client = DriverManager.getConnection(url, "soak", "soak");
                Statement statement = client.createStatement()) {
            statement.execute("SET SESSION lock_wait_timeout = 20");
            for (String sql : definition.statements()) {
                statement.execute(sql);
            }
            return "done";
        } catch (SQLException e) {
            return e.getErrorCode() == 0 ? "connection lost" : Integer.toString(e.getErrorCode());
        }
    }

    private String orderedFirst(int node, SoakStatements.Definition definition) {
        OrderedFirst.Said said = OrderedFirst.ddl(cluster, node, "soak", definition.last());
        return said.code() == 0 ? "done" : "exit " + said.code();
    }

    private int definitions() {
        return ended.values().stream()
                .mapToInt(each -> each.getOrDefault("done", 0))
                .sum();
    }

    private void settle(SoakWatch watch, Set<Bank.Transfer> transfers, Set<String> tags) throws Exception {
        long stopped = System.nanoTime();
        for (int node : cluster.servers()) {
            cluster.mysql(node).execute("SET GLOBAL event_scheduler = OFF");
        }
        cluster.assertConverged();
        say("settled after " + (System.nanoTime() - stopped) / 1_000_000 + " ms");
        new TreeMap<>(ended).forEach((kind, outcomes) -> System.out.printf("  %-40s %s%n", kind, outcomes));
        assertThat(cluster.objectsThatDiffer()).as("seed %d", seed).isEmpty();
        restoreNames();
        cluster.assertConverged();
        assertThat(watch.fault()).as("seed %d", seed).isEmpty();
        assertThat(watch.departure()).as("seed %d", seed).isEmpty();
        for (int node : cluster.servers()) {
            assertThat(Bank.wrongBalances(cluster, node))
                    .as("n%d, seed %d", node, seed)
                    .isEmpty();
        }
        watch.readJournals();
        account("transfers", transfers, Bank.history(cluster, 1), watch.lostTransfers());
        account("rows", tags, SoakWriters.tags(cluster, 1), watch.lostTags());
        say(definitions() + " definitions, " + kills + " kills, copies " + watch.copies());
    }

    /** Tables that were on their way to another name and back. */
    private void restoreNames() {
        for (String table : SoakStatements.STEADY) {
            String away = table + SoakStatements.AWAY;
            String schema = table.substring(0, table.indexOf('.'));
            if (!cluster.mysql(1)
                    .query("SHOW TABLES FROM " + schema + " LIKE '" + away.substring(schema.length() + 1) + "'")
                    .isEmpty()) {
                cluster.mysql(1).execute("RENAME TABLE " + away + " TO " + table);
            }
        }
    }

    /** Whatever was acknowledged is there, or a journal says that it was lost; and not both. */
    private <T> void account(String what, Set<T> acknowledged, Set<T> there, Set<T> journaled) {
        Set<T> gone = new TreeSet<>(acknowledged);
        gone.removeAll(there);
        say(acknowledged.size() + " " + what + " acknowledged, " + there.size() + " there, " + gone.size() + " lost");
        Set<T> both = new TreeSet<>(there);
        both.retainAll(journaled);
        gone.removeAll(journaled);
        assertThat(gone)
                .as("%s that are gone and in no journal, seed %d", what, seed)
                .isEmpty();
        assertThat(both)
                .as("%s that are there and in a journal, seed %d", what, seed)
                .isEmpty();
    }
}
