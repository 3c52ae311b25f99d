// SPDX-License-Identifier: Apache-2.0
package io.quorate.sandbox;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;

/**
 * Writes on all nodes of a running cluster at once, then compares every table on every node.
 *
 * <p>The writers share tables, not rows.
 */
final class Demo {
    private static final Duration SCHEMA_LIMIT = Duration.ofMinutes(1);
    private static final Duration WARM_UP = Duration.ofSeconds(4);
    private static final Duration WRITER_LIMIT = Duration.ofMinutes(1);
    private static final long POLL_MILLIS = 20;

    private final Sandbox sandbox;
    private final int writersPerNode;
    private final long seed;
    private final Consumer<String> out;
    private final AtomicBoolean stop = new AtomicBoolean();
    private final AtomicBoolean ended = new AtomicBoolean();
    private final Map<String, LongAdder> committed = new LinkedHashMap<>();
    private final LongAdder beats = new LongAdder();
    private final LongAdder retries = new LongAdder();
    private final Heartbeats heartbeats = new Heartbeats(stop, beats);
    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final List<Future<?>> running = new ArrayList<>();

    Demo(Sandbox sandbox, int writersPerNode, long seed, Consumer<String> out) {
        this.sandbox = sandbox;
        this.writersPerNode = writersPerNode;
        this.seed = seed;
        this.out = out;
        sandbox.nodes().forEach(node -> committed.put(node.name(), new LongAdder()));
    }

    /** Runs all of it. If the nodes haven't converged, {@code out} has said why. */
    DemoResult run(int seconds) {
        try {
            createSchema();
            warmUp();
            long orderedBefore = ordered();
            long began = System.nanoTime();
            startWriters();
            watchFor(seconds, new DemoProgress(sandbox.nodes(), committed, heartbeats, orderedBefore));
            stop.set(true);
            awaitWriters();
            double wrote = (System.nanoTime() - began) / 1e9;
            long catchUp = awaitConvergence(Duration.ofSeconds(60L + 2L * seconds));
            ended.set(true);
            return compared(orderedBefore, wrote, catchUp);
        } catch (SandboxException e) {
            sandbox.nodes().forEach(node -> out.accept(node.name() + ": " + DemoProgress.state(node)));
            throw e;
        } finally {
            stop.set(true);
            ended.set(true);
            threads.shutdownNow();
        }
    }

    private void createSchema() {
        SandboxNode first = sandbox.nodes().get(0);
        out.accept("creating the schema on " + first.name());
        try (Connection connection = first.mysql().connect(Accounts.APP_USER, Accounts.APP_PASSWORD, "");
                Statement statement = connection.createStatement()) {
            for (String sql : DemoSchema.STATEMENTS) {
                WhenWritable.execute(statement, sql, SCHEMA_LIMIT);
            }
            WhenWritable.execute(statement, Heartbeats.rows(sandbox.nodes()), SCHEMA_LIMIT);
        } catch (SQLException e) {
            throw new SandboxException("creating the schema on " + first.name() + ": " + e.getMessage(), e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new SandboxException("interrupted while creating the schema on " + first.name(), e);
        }
        awaitFreshHeartbeats("the schema made on " + first.name());
    }

    /** The heartbeats' rows were made last; a node that has them has everything. */
    private void awaitFreshHeartbeats(String what) {
        long deadline = System.nanoTime() + SCHEMA_LIMIT.toNanos();
        for (SandboxNode node : sandbox.nodes()) {
            while (!hasFreshHeartbeats(node)) {
                requireTime(deadline, SCHEMA_LIMIT, what + " did not reach " + node.name());
            }
        }
    }

    private boolean hasFreshHeartbeats(SandboxNode node) {
        return node.mysql()
                                .queryLong("SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = 'demo'"
                                        + " AND table_name = 'heartbeat'")
                        == 1
                && node.mysql().queryLong("SELECT COUNT(*) FROM demo.heartbeat WHERE beat = 0")
                        == sandbox.nodes().size();
    }

    /** One writer on each node for a short time, not counted: in its first seconds a JVM interprets everything. */
    private void warmUp() {
        out.accept("warming up for " + WARM_UP.toSeconds() + " s");
        AtomicBoolean over = new AtomicBoolean();
        List<Future<?>> warming = new ArrayList<>();
        for (SandboxNode node : sandbox.nodes()) {
            String name = node.name() + "w0";
            warming.add(threads.submit(new DemoWriter(
                    node.mysql(), name, seed + name.hashCode(), over, new LongAdder(), new LongAdder())));
        }
        try {
            sleep(WARM_UP.toMillis());
        } finally {
            over.set(true);
        }
        warming.forEach(Demo::await);
        awaitLastBeats(SCHEMA_LIMIT);
        Heartbeats.reset(sandbox.nodes().get(0));
        awaitFreshHeartbeats("what was written to warm up");
    }

    private void startWriters() {
        for (SandboxNode node : sandbox.nodes()) {
            LongAdder count = committed.get(node.name());
            for (int i = 1; i <= writersPerNode; i++) {
                String name = node.name() + "w" + i;
                running.add(threads.submit(
                        new DemoWriter(node.mysql(), name, seed + name.hashCode(), stop, count, retries)));
            }
            running.add(threads.submit(() -> heartbeats.beat(node)));
            running.add(threads.submit(() -> heartbeats.watch(node, ended)));
        }
    }

    private void watchFor(int seconds, DemoProgress progress) {
        out.accept("writing on " + sandbox.nodes().size() + " nodes for " + seconds + " s, seed " + seed);
        long began = System.nanoTime();
        for (int second = 1; second <= seconds; second++) {
            long next = began + second * 1_000_000_000L;
            while (System.nanoTime() < next) {
                requireNoFailure();
                sleep(POLL_MILLIS);
            }
            out.accept(progress.line(second));
        }
    }

    private void requireNoFailure() {
        for (Future<?> future : running) {
            if (future.isDone() && !stop.get()) {
                await(future);
                throw new SandboxException("a writer ended early");
            }
        }
    }

    private static void await(Future<?> future) {
        try {
            future.get(WRITER_LIMIT.toMillis(), TimeUnit.MILLISECONDS);
        } catch (TimeoutException e) {
            throw new SandboxException(
                    "a writer's statement did not return within " + WRITER_LIMIT.toSeconds() + " s", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new SandboxException("interrupted", e);
        } catch (ExecutionException e) {
            throw e.getCause() instanceof SandboxException known
                    ? known
                    : new SandboxException("a writer failed: " + e.getCause(), e.getCause());
        }
    }

    /** The watchers go on until everything has arrived. */
    private void awaitWriters() {
        int perNode = writersPerNode + 2;
        for (int i = 0; i < running.size(); i++) {
            if (i % perNode != perNode - 1) {
                await(running.get(i));
            }
        }
    }

    /** Each node's last beat comes after everything it committed, and is applied elsewhere after all of that. */
    private long awaitConvergence(Duration limit) {
        long began = System.nanoTime();
        awaitLastBeats(limit);
        sandbox.nodes().forEach(node -> beats.increment());
        long millis = (System.nanoTime() - began) / 1_000_000;
        out.accept("all nodes have everything " + millis + " ms after the last write");
        return millis;
    }

    private void awaitLastBeats(Duration limit) {
        long deadline = System.nanoTime() + limit.toNanos();
        sandbox.nodes().forEach(Heartbeats::last);
        for (SandboxNode node : sandbox.nodes()) {
            List<String> missing = Heartbeats.missingOn(node);
            while (!missing.isEmpty()) {
                requireTime(
                        deadline,
                        limit,
                        node.name() + " still lacks transactions of " + String.join(", ", missing) + " ("
                                + DemoProgress.state(node) + ")");
                missing = Heartbeats.missingOn(node);
            }
        }
    }

    private DemoResult compared(long orderedBefore, double wrote, long catchUp) {
        Map<String, MySqlServer> servers = new LinkedHashMap<>();
        sandbox.nodes().forEach(node -> servers.put(node.name(), node.mysql()));
        Checksums.Comparison comparison = Checksums.compare(servers);
        comparison.differences().forEach(out);
        long transactions =
                committed.values().stream().mapToLong(LongAdder::sum).sum() + beats.sum();
        return new DemoResult(
                sandbox.nodes().size(),
                transactions,
                ordered() - orderedBefore,
                comparison.equal(),
                rounded(wrote),
                rounded(transactions / wrote),
                heartbeats.lags().at(50),
                heartbeats.lags().at(95),
                catchUp,
                comparison.tables(),
                comparison.rows(),
                retries.sum(),
                seed);
    }

    /** The highest seqno that any node knows to be ordered. */
    private long ordered() {
        return sandbox.nodes().stream()
                .flatMap(node -> node.report().stream())
                .mapToLong(NodeReport::lastOrdered)
                .max()
                .orElse(0);
    }

    private static double rounded(double value) {
        return Math.round(value * 10) / 10.0;
    }

    private static void requireTime(long deadline, Duration limit, String otherwise) {
        if (System.nanoTime() > deadline) {
            throw new SandboxException(otherwise + " within " + limit.toSeconds() + " s");
        }
        sleep(POLL_MILLIS);
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
