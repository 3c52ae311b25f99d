// SPDX-License-Identifier: Apache-2.0
package io.quorate.it;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.quorate.cli.Answers;
import io.quorate.core.answer.MembersAnswer;
import io.quorate.core.answer.NodeStatus;
import io.quorate.sandbox.Sandbox.Part;
import java.io.IOException;
import java.nio.file.Files;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Commit mode {@code after-sync}: who hears OK keeps what he committed, whatever happens. With {@code
 * -Dquorate.mode=async} these tests must fail. More with {@code
 * -Dquorate.seconds=300}, the same again with {@code -Dquorate.seed=S}.
 */
@Timeout(1800)
class AfterSyncIT {
    private static final Duration LIMIT = Duration.ofMinutes(2);
    private static final int SECONDS = Integer.getInteger("quorate.seconds", 8);
    /** Transfers that clients have heard OK of. */
    private static final int ENOUGH = 100;

    private static final int LOST_CONNECTION = 0;

    /** What mysqld itself leaves to replicas, a little less than the eight seconds that it counts. */
    private static final Duration STOP = Duration.ofSeconds(7);

    /** Whether sessions wait within a commit. */
    private static final String COMMITTING = "SELECT COUNT(*) > 0 FROM performance_schema.processlist WHERE STATE IN"
            + " ('Waiting for semi-sync ACK from replica', 'waiting for handler commit')";

    private static Cluster cluster;

    @BeforeAll
    static void start() throws Exception {
        cluster = Cluster.start(
                3,
                Map.of(
                        "quorate.commit-mode", "after-sync",
                        "quorate.commit-timeout", "5s",
                        "quorate.flow.patience", "3s"));
        Bank.open(cluster, 1);
        cluster.assertConverged();
    }

    @AfterAll
    static void end() {
        cluster.close();
    }

    @Test
    void whatWasAcknowledgedIsThereWhileNodesAreKilled() throws Exception {
        long seed = Long.getLong("quorate.seed", System.nanoTime());
        System.out.println("seed " + seed);
        Random random = new Random(seed);
        Set<Bank.Transfer> acknowledged;
        double lost = 0;
        try (Bank bank = new Bank(cluster, seed, 10, 2, 1, 2, 3)) {
            long end = System.nanoTime() + SECONDS * 1_000_000_000L;
            while (System.nanoTime() < end || bank.transfers() <= ENOUGH) {
                Thread.sleep(2000 + random.nextInt(3000));
                lost += ended("LOST");
                int leader = cluster.leader(1 + random.nextInt(3));
                int node = leader > 0 && random.nextBoolean() ? leader : 1 + random.nextInt(3);
                Part part = Part.values()[random.nextInt(Part.values().length)];
                System.out.println("kill -9 " + part + " of n" + node + (node == leader ? ", the leader" : ""));
                cluster.kill(node, part);
                Thread.sleep(500 + random.nextInt(3000));
                assertThat(cluster.restart(node)).isTrue();
            }
            acknowledged = bank.stop();
            System.out.println(bank.commitTimes());
        }
        cluster.assertConverged();
        Set<Bank.Transfer> happened = Bank.history(cluster, 1);
        Set<Bank.Transfer> undone = new TreeSet<>(acknowledged);
        undone.removeAll(happened);
        System.out.println(acknowledged.size() + " transfers acknowledged, " + happened.size() + " in the history, "
                + undone.size() + " undone; sessions ended because of a conflict: " + lost);
        assertThat(undone).as("acknowledged and undone, seed %d", seed).isEmpty();
        assertThat(acknowledged).as("seed %d", seed).hasSizeGreaterThan(ENOUGH);
        for (int node = 1; node <= 3; node++) {
            assertThat(Bank.wrongBalances(cluster, node))
                    .as("n%d, seed %d", node, seed)
                    .isEmpty();
        }
    }

    @Test
    void withoutAMajorityNobodyHearsOk() throws Exception {
        cluster.mysql(1)
                .execute(
                        "CREATE TABLE IF NOT EXISTS bank.alone (id INT PRIMARY KEY)",
                        // Whoever calls it: read_only asks for the rights of its definer, who is root.
                        "CREATE PROCEDURE bank.alone(n INT) INSERT INTO bank.alone VALUES (n)");
        cluster.assertConverged();
        cluster.pause(2);
        cluster.pause(3);
        try {
            assertEndedWithoutOk(insert(1, 1));
            cluster.awaitQuery(1, "SELECT @@GLOBAL.read_only", "1");
            cluster.awaitState(1, "NON_PRIMARY");
            assertEndedWithoutOk(execute(cluster.app(1), "CALL bank.alone(3)"));
        } finally {
            cluster.goOn(2);
            cluster.goOn(3);
        }
        cluster.assertConverged();
        // Nobody knew; by now the order has decided, and nothing stood against it.
        assertThat(cluster.mysql(3).queryOne("SELECT COUNT(*) FROM bank.alone")).isEqualTo("2");
        assertThat(insert(1, 2).get(LIMIT.toSeconds(), TimeUnit.SECONDS) == null)
                .as("OK with a majority")
                .isTrue();
    }

    /**
     * Pools on three nodes increment the same few rows and append to the same table. Nobody is killed, so everybody
     * knows what became of his statement, and the rows must say exactly that.
     */
    @Test
    void poolsSurviveLosersAndCountersAreExact() throws Exception {
        int counters = 4;
        cluster.mysql(1)
                .execute(
                        "CREATE TABLE bank.counter (id INT PRIMARY KEY, n INT NOT NULL)",
                        "CREATE TABLE bank.appended (id BIGINT AUTO_INCREMENT PRIMARY KEY, who VARCHAR(40) UNIQUE)",
                        "INSERT INTO bank.counter VALUES (0, 0), (1, 0), (2, 0), (3, 0)");
        cluster.assertConverged();
        AtomicIntegerArray acknowledged = new AtomicIntegerArray(counters);
        AtomicInteger lost = new AtomicInteger();
        AtomicInteger appended = new AtomicInteger();
        long end = System.nanoTime() + SECONDS / 2 * 1_000_000_000L;
        List<Thread> threads = new ArrayList<>();
        List<HikariDataSource> pools = new ArrayList<>();
        try {
            for (int node = 1; node <= 3; node++) {
                HikariDataSource pool = pool(node);
                pools.add(pool);
                for (int t = 0; t < 3; t++) {
                    int first = t;
                    String name = "n" + node + " " + t + " ";
                    Thread thread = new Thread(() -> {
                        for (int i = first; System.nanoTime() < end || lost.get() == 0; i++) {
                            try (Connection c = pool.getConnection();
                                    Statement s = c.createStatement()) {
                                s.execute("UPDATE bank.counter SET n = n + 1 WHERE id = " + i % counters);
                                acknowledged.incrementAndGet(i % counters);
                                s.execute("INSERT INTO bank.appended (who) VALUES ('" + name + i + "')");
                                appended.incrementAndGet();
                            } catch (SQLException e) {
                                lost.incrementAndGet();
                            }
                        }
                    });
                    threads.add(thread);
                    thread.start();
                }
            }
            for (Thread thread : threads) {
                thread.join(LIMIT.toMillis());
            }
        } finally {
            pools.forEach(HikariDataSource::close);
        }
        cluster.assertConverged();
        System.out.println(acknowledged + " increments and " + appended + " rows acknowledged, " + lost + " refused");
        for (int id = 0; id < counters; id++) {
            assertThat(cluster.mysql(2).queryOne("SELECT n FROM bank.counter WHERE id = " + id))
                    .as("counter %d", id)
                    .isEqualTo(Integer.toString(acknowledged.get(id)));
        }
        assertThat(cluster.mysql(3).queryOne("SELECT COUNT(*) FROM bank.appended"))
                .isEqualTo(Integer.toString(appended.get()));
    }

    private static HikariDataSource pool(int node) {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(cluster.mysql(node).jdbcUrl());
        config.setUsername("app");
        config.setPassword("app");
        config.setMaximumPoolSize(3);
        config.setConnectionTimeout(LIMIT.toMillis());
        return new HikariDataSource(config);
    }

    /** Orderly stops of a server among writers: without draining, mysqld would tell them OK at its end. */
    @Test
    void aDrainedServerCanBeStopped() throws Exception {
        cluster.mysql(1).execute("CREATE TABLE bank.drained (id INT PRIMARY KEY)");
        cluster.assertConverged();
        Set<Integer> acknowledged = ConcurrentHashMap.newKeySet();
        AtomicInteger next = new AtomicInteger();
        List<Thread> writers = new ArrayList<>();
        for (int t = 0; t < 8; t++) {
            Thread writer = new Thread(() -> {
                try (Connection client = cluster.app(1);
                        Statement s = client.createStatement()) {
                    while (true) {
                        int id = next.incrementAndGet();
                        s.execute("INSERT INTO bank.drained VALUES (" + id + ")");
                        acknowledged.add(id);
                    }
                } catch (SQLException e) {
                    // Its session was ended.
                }
            });
            writers.add(writer);
            writer.start();
        }
        cluster.awaitQuery(1, "SELECT COUNT(*) > 20 FROM bank.drained", "1");
        assertThat(cluster.probe(1, "/ready/write")).isEqualTo(200);
        cluster.drain(1);
        cluster.awaitAnswer(2, "/actuator/members", "n1 is drained");
        // No proxy sends clients there any more; that is no reason to start the service anew.
        assertThat(cluster.probe(1, "/ready/write")).isEqualTo(503);
        assertThat(cluster.probe(1, "/ready/read")).isEqualTo(503);
        assertThat(cluster.probe(1, "/livez")).isEqualTo(200);
        cluster.mysql(1).stop();
        for (Thread writer : writers) {
            writer.join(LIMIT.toMillis());
            assertThat(writer.isAlive()).isFalse();
        }
        assertThat(cluster.restart(1)).isTrue();
        assertThat(cluster.probe(1, "/ready/write")).isEqualTo(200);
        cluster.assertConverged();
        Set<Integer> there = new TreeSet<>();
        cluster.mysql(2).query("SELECT id FROM bank.drained").forEach(row -> there.add(Integer.parseInt(row.get(0))));
        acknowledged.removeAll(there);
        assertThat(acknowledged).as("acknowledged and not there").isEmpty();
    }

    /** Each node can say of the others how many commits wait there. */
    @Test
    void howManyCommitsWaitIsKnownAtOtherNodes() throws Exception {
        cluster.mysql(1).execute("CREATE TABLE bank.waiting (id BIGINT AUTO_INCREMENT PRIMARY KEY)");
        cluster.assertConverged();
        AtomicBoolean seen = new AtomicBoolean();
        List<CompletableFuture<Void>> writers = new ArrayList<>();
        for (int t = 0; t < 8; t++) {
            Connection client = cluster.app(1);
            writers.add(CompletableFuture.runAsync(
                    () -> {
                        try (client;
                                Statement s = client.createStatement()) {
                            while (!seen.get()) {
                                s.execute("INSERT INTO bank.waiting VALUES ()");
                            }
                        } catch (SQLException e) {
                            // Its session was ended, on a machine that is very busy.
                        }
                    },
                    task -> new Thread(task).start()));
        }
        try {
            assertThat(Cluster.within(LIMIT, () -> waitingCommits(2, "n1") > 0))
                    .as("n2 says that commits wait on n1")
                    .isTrue();
        } finally {
            seen.set(true);
        }
        for (CompletableFuture<Void> writer : writers) {
            writer.get(LIMIT.toSeconds(), TimeUnit.SECONDS);
        }
        assertThat(Cluster.within(LIMIT, () -> waitingCommits(2, "n1") == 0))
                .as("n2 says that none waits any more")
                .isTrue();
        String metrics = cluster.http(1, "/actuator/prometheus");
        for (String stage : List.of("captured", "proposed", "ordered", "acknowledged")) {
            assertThat(metrics)
                    .containsPattern("(?m)^quorate_commit_stage_seconds_count\\{.*stage=\"" + stage + "\".*} [1-9]");
        }
    }

    /** How many commits wait at a node, by what another one says. */
    private static long waitingCommits(int asked, String node) {
        return member(asked, node).map(MembersAnswer.Member::waitingCommits).orElse(-1L);
    }

    /** What a node says of a member. */
    private static Optional<MembersAnswer.Member> member(int asked, String node) {
        try {
            return Answers.read(cluster.http(asked, "/actuator/members"), MembersAnswer.class).members().stream()
                    .filter(m -> m.name().equals(node))
                    .findFirst();
        } catch (IOException e) {
            return Optional.empty();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return Optional.empty();
        }
    }

    /** As where a backup locks all tables of one server: others wait for it a little, and then no longer. */
    @Test
    @Tag("long")
    void aServerThatCanNotKeepUpSlowsClientsAndIsLeftBehindThen() throws Exception {
        cluster.mysql(1).execute("CREATE TABLE bank.flow (client INT, n INT, PRIMARY KEY (client, n))");
        cluster.assertConverged();
        AtomicBoolean stop = new AtomicBoolean();
        AtomicInteger committed = new AtomicInteger();
        List<CompletableFuture<Void>> clients = new ArrayList<>();
        try (Connection backup = cluster.mysql(3).connect();
                Statement statement = backup.createStatement()) {
            for (int client = 0; client < 4; client++) {
                int number = client;
                clients.add(CompletableFuture.runAsync(() -> insertUntil(stop, number, committed)));
            }
            statement.execute("FLUSH TABLES WITH READ LOCK");
            assertThat(Cluster.within(LIMIT, () -> slowed(1).matches(".* for n3, .* waits for the locks of session.*")))
                    .as(() -> "why clients of n1 are slowed: " + slowed(1))
                    .isTrue();
            assertThat(Cluster.within(LIMIT, () -> member(2, "n3").stream().anyMatch(MembersAnswer.Member::leftBehind)))
                    .isTrue();
            assertThat(cluster.metric(3, "quorate_flow_left_behind")).isEqualTo(1);
            int before = committed.get();
            assertThat(Cluster.within(
                            LIMIT,
                            () -> committed.get() > before + 100 && !slowed(1).contains("for n3")))
                    .as("clients go on")
                    .isTrue();
            statement.execute("UNLOCK TABLES");
        } finally {
            stop.set(true);
        }
        for (CompletableFuture<Void> client : clients) {
            client.get(LIMIT.toSeconds(), TimeUnit.SECONDS);
        }
        assertThat(Cluster.within(LIMIT, () -> member(2, "n3").stream().noneMatch(MembersAnswer.Member::leftBehind)))
                .as("it is level again")
                .isTrue();
        cluster.assertConverged();
        assertThat(cluster.mysql(3).queryLong("SELECT COUNT(*) FROM bank.flow")).isEqualTo(committed.get());
    }

    private static void insertUntil(AtomicBoolean stop, int client, AtomicInteger committed) {
        try (Connection connection = cluster.app(1);
                Statement statement = connection.createStatement()) {
            for (int n = 0; !stop.get(); n++) {
                statement.execute("INSERT INTO bank.flow VALUES (" + client + ", " + n + ")");
                committed.incrementAndGet();
            }
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Why a node's clients are slowed; empty when they aren't. */
    private static String slowed(int node) {
        try {
            return Answers.read(cluster.http(node, "/actuator/cluster/self"), NodeStatus.class)
                    .slowed();
        } catch (IOException e) {
            return "";
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return "";
        }
    }

    /**
     * Nobody has drained it, and commits wait for a majority. mysqld tells them OK as soon as the capture's connection
     * ends, which it leaves alone for eight seconds: time for the order to decide. Here it doesn't.
     */
    @Test
    @Tag("long")
    void aServerThatIsStoppedIsLeftItsTimeForVerdicts() throws Exception {
        cluster.mysql(1).execute("CREATE TABLE bank.stopped (id INT PRIMARY KEY)");
        cluster.assertConverged();
        List<Connection> clients = new ArrayList<>();
        for (int id = 0; id < 16; id++) {
            clients.add(cluster.app(1));
        }
        List<CompletableFuture<SQLException>> answers = new ArrayList<>();
        int ok = 0;
        cluster.pause(2);
        cluster.pause(3);
        try {
            for (Connection client : clients) {
                answers.add(insert(client, "bank.stopped", answers.size()));
            }
            cluster.awaitQuery(1, COMMITTING, "1");
            cluster.mysql(1).execute("SHUTDOWN");
            for (CompletableFuture<SQLException> answer : answers) {
                ok += answer.get(LIMIT.toSeconds(), TimeUnit.SECONDS) == null ? 1 : 0;
            }
            assertThat(Cluster.within(LIMIT, () -> !cluster.mysql(1).isAlive())).isTrue();
        } finally {
            cluster.goOn(2);
            cluster.goOn(3);
        }
        Duration waited = Duration.between(logged("Received SHUTDOWN"), logged("Forced shutdown"));
        System.out.println("without a verdict " + ok + " of " + clients.size() + " were told OK, " + waited
                + " after the stop began");
        assertThat(waited).as("how long mysqld waited for verdicts").isGreaterThanOrEqualTo(STOP);
        assertThat(cluster.restart(1)).isTrue();
        cluster.assertConverged();
        assertThat(cluster.mysql(2).queryLong("SELECT COUNT(*) FROM bank.stopped"))
                .isGreaterThanOrEqualTo(ok);
    }

    /** When n1's mysqld last wrote this to its log. */
    private static Instant logged(String what) throws IOException {
        try (Stream<String> lines = Files.lines(cluster.mysql(1).errorLog())) {
            return lines.filter(line -> line.contains(what))
                    .reduce((a, b) -> b)
                    .map(line -> Instant.parse(line.substring(0, line.indexOf(' '))))
                    .orElseThrow(() -> new AssertionError("not in its log: " + what));
        }
    }

    /** Definitions and XA commits wait for their verdict as rows do. */
    @Test
    void definitionsAndXaAreAcknowledged() throws Exception {
        try (Connection client = cluster.app(2);
                Statement s = client.createStatement()) {
            s.execute("CREATE TABLE bank.xa (id INT PRIMARY KEY)");
            s.execute("XA START 'a'");
            s.execute("INSERT INTO bank.xa VALUES (1)");
            s.execute("XA END 'a'");
            s.execute("XA PREPARE 'a'");
            s.execute("XA COMMIT 'a'");
            s.execute("ALTER TABLE bank.xa ADD COLUMN v INT");
            s.execute("CREATE VIEW bank.xa_view AS SELECT id FROM bank.xa");
            s.execute("DROP VIEW bank.xa_view");
        }
        cluster.assertConverged(2);
        assertThat(cluster.mysql(3).queryOne("SELECT COUNT(*) FROM bank.xa WHERE v IS NULL"))
                .isEqualTo("1");
    }

    /** The one who comes second hears what a server alone would say, and keeps his node from nothing. */
    @Test
    void whoGivesTheSameDefinitionAsAnotherNodeHearsOk() throws Exception {
        cluster.mysql(1).execute("CREATE DATABASE alike");
        int copies = cluster.steps(1, "copy_completed");
        for (String sql : List.of(
                "CREATE TABLE IF NOT EXISTS alike.t (id INT PRIMARY KEY)",
                "CREATE OR REPLACE VIEW alike.v AS SELECT 1",
                "CREATE DATABASE IF NOT EXISTS alike_too",
                "ALTER DATABASE alike CHARACTER SET latin1")) {
            CompletableFuture<SQLException> second;
            // Its server isn't closed any more for what came before.
            cluster.assertConverged();
            cluster.pause(1);
            try {
                long before = cluster.lastOrdered(2);
                second = execute(cluster.mysql(1).connect(), sql);
                cluster.awaitQuery(1, COMMITTING, "1");
                cluster.mysql(2).execute(sql);
                cluster.awaitOrdered(2, before);
            } finally {
                cluster.goOn(1);
            }
            SQLException answer = second.get(LIMIT.toSeconds(), TimeUnit.SECONDS);
            assertThat(answer == null).as("%s: %s", sql, answer).isTrue();
        }
        cluster.assertConverged();
        assertThat(cluster.steps(1, "copy_completed")).isEqualTo(copies);
        assertThat(cluster.objectsThatDiffer()).isEmpty();
    }

    /** The services have a heap of 256 MB, most of which they need for other things. */
    @Test
    @Tag("long")
    void transactionsNearlyAsLargeAsTheHeapArePassedOnBesideSmallOnes() throws Exception {
        AtomicBoolean stop = new AtomicBoolean();
        AtomicInteger committed = new AtomicInteger();
        try (Connection client = cluster.app(2);
                Statement s = client.createStatement()) {
            s.execute("CREATE TABLE bank.large (id INT AUTO_INCREMENT PRIMARY KEY, v LONGBLOB)");
            s.execute("CREATE TABLE bank.beside (id INT AUTO_INCREMENT PRIMARY KEY)");
            cluster.assertConverged(2);
            CompletableFuture<Void> others = CompletableFuture.runAsync(() -> insertBeside(stop, committed));
            for (int row = 1; row <= 4; row++) {
                Cluster.executeWhenWritable(s, "INSERT INTO bank.large (v) VALUES (REPEAT('" + row + "', 15000000))");
            }
            s.execute("SET SESSION cte_max_recursion_depth = 100000");
            Cluster.executeWhenWritable(
                    s,
                    "INSERT INTO bank.large (v) WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i"
                            + " < 17000) SELECT REPEAT(CONCAT(i, ' '), 1300) FROM n");
            stop.set(true);
            others.get(LIMIT.toSeconds(), TimeUnit.SECONDS);
        } finally {
            stop.set(true);
        }
        cluster.assertConverged(2);
        assertThat(cluster.mysql(3).queryLong("SELECT COUNT(*) FROM bank.large"))
                .isEqualTo(17_004);
        assertThat(cluster.mysql(2).queryLong("SELECT COUNT(*) FROM bank.beside"))
                .as("acknowledged beside them")
                .isGreaterThanOrEqualTo(committed.get())
                .isPositive();
        cluster.mysql(1).execute("DROP TABLE bank.large");
    }

    private static void insertBeside(AtomicBoolean stop, AtomicInteger committed) {
        try (Connection client = cluster.app(3);
                Statement s = client.createStatement()) {
            while (!stop.get()) {
                Cluster.executeWhenWritable(s, "INSERT INTO bank.beside VALUES ()");
                committed.incrementAndGet();
                Thread.sleep(20);
            }
        } catch (SQLException | InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private static CompletableFuture<SQLException> insert(int node, int id) throws SQLException {
        return insert(cluster.app(node), "bank.alone", id);
    }

    private static CompletableFuture<SQLException> insert(Connection client, String table, int id) {
        return execute(client, "INSERT INTO " + table + " VALUES (" + id + ")");
    }

    private static void assertEndedWithoutOk(CompletableFuture<SQLException> answered) throws Exception {
        SQLException answer = answered.get(LIMIT.toSeconds(), TimeUnit.SECONDS);
        assertThat(answer != null).as("no OK without a majority").isTrue();
        assertThat(answer.getErrorCode()).as("%s", answer).isEqualTo(LOST_CONNECTION);
    }

    /** The answer to a statement: null for OK. */
    private static CompletableFuture<SQLException> execute(Connection client, String sql) {
        CompletableFuture<SQLException> answer = new CompletableFuture<>();
        Thread thread = new Thread(() -> {
            try (client;
                    Statement statement = client.createStatement()) {
                statement.execute(sql);
                answer.complete(null);
            } catch (SQLException e) {
                answer.complete(e);
            }
        });
        thread.setDaemon(true);
        thread.start();
        return answer;
    }

    /** How many sessions the services have ended since they were started, for this cause. */
    private static double ended(String cause) throws Exception {
        double sum = 0;
        for (int node = 1; node <= 3; node++) {
            Matcher m = Pattern.compile("(?m)^quorate_commit_ended_total\\{.*cause=\"" + cause.toLowerCase(Locale.ROOT)
                            + "\".*} ([0-9.E]+)$")
                    .matcher(cluster.http(node, "/actuator/prometheus"));
            sum += m.find() ? Double.parseDouble(m.group(1)) : 0;
        }
        return sum;
    }
}
