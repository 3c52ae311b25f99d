// SPDX-License-Identifier: Apache-2.0
package io.quorate.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.quorate.core.answer.ConflictsAnswer;
import io.quorate.sandbox.MySqlSeries;
import java.io.IOException;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.json.JsonMapper;

/**
 * Every class of definitions beside everything that it may meet, unseen or live; a command of its own, see
 * it/README.md. Whatever becomes of a definition, all nodes end SYNCED and equal, in rows, tables and all else, and
 * nobody has left. A client of another table is refused nothing. How many transactions of clients were acknowledged
 * meanwhile, and how many of them were undone, is printed as a table at the end. {@code -Dquorate.kinds=REGEX} takes
 * some of the classes, and {@code -Dquorate.besides=REGEX} some of the columns. With {@code -Dquorate.newer=N} nN is of
 * 9.7, the others of 8.0.
 */
@Timeout(7200)
class MatrixTrials {
    private static final Pattern KINDS = Pattern.compile(System.getProperty("quorate.kinds", ".*"));
    private static final Pattern BESIDES = Pattern.compile(System.getProperty("quorate.besides", ".*"));
    /** The number of the node whose server is of 9.7 beside others of 8.0; 0: all are alike. */
    private static final int NEWER = Integer.getInteger("quorate.newer", 0);

    /** What servers of two versions don't have alike from their beginning on. */
    private static final Pattern OF_THE_VERSION = Pattern.compile(
            "spatial reference systems|(account|rights of|proxies of) '?(root|app|quorate|mysql\\.\\w+)'?@");

    /** What costs its node a copy, see docs/changing-schemas.md: other clients of that node are refused. */
    private static final Pattern COPIED = Pattern.compile("AUTO_INCREMENT that numbers rows|(CREATE|ALTER) TABLESPACE");
    /** What does so where two nodes give it, because they don't get the same by it. */
    private static final Pattern COPIED_TWICE =
            Pattern.compile(COPIED + "|column with the time|CREATE TABLE SELECT|(CREATE|ALTER) EVENT|CREATE USER");

    private static final String ACCOUNT = "soak";
    /** A definition that its own server refuses, or that changes nothing, may never be ordered. */
    private static final Duration ORDERED_LIMIT = Duration.ofSeconds(10);

    private static final int LIVE_ROUNDS = 30;
    private static final int ATTEMPTS = 6;
    private static final int REST_MILLIS = 10;

    /** What a definition of n1 meets. In the first five, one node's service is paused, so that it sees nothing. */
    private enum Beside {
        ROWS_BEFORE("rows before, unseen"),
        ROWS_AFTER("rows after, unseen"),
        SAME("the same elsewhere, unseen"),
        OTHER("another elsewhere, unseen"),
        LOSER("an own loser before, unseen"),
        LIVE_ROWS("rows, live"),
        LIVE_SAME("the same elsewhere, live"),
        LIVE_OTHER("another elsewhere, live"),
        LIVE_LOSERS("losers, live"),
        BYSTANDERS("clients of another table"),
        BYSTANDERS_SAME("the same elsewhere, clients of another table");

        private final String heading;

        Beside(String heading) {
            this.heading = heading;
        }
    }

    record Cell(DefinitionKind kind, Beside beside) {
        @Override
        public String toString() {
            return kind.name() + ": " + beside.heading;
        }
    }

    private static final Map<String, Map<Beside, String>> RESULTS = new LinkedHashMap<>();

    private static Cluster cluster;
    private static SoakWatch watch;

    private final AtomicInteger acknowledged = new AtomicInteger();
    private final Queue<String> refused = new ConcurrentLinkedQueue<>();

    static Stream<Cell> cells() {
        return DefinitionKind.all().stream()
                .filter(kind -> KINDS.matcher(kind.name()).matches())
                .flatMap(kind -> Stream.of(Beside.values())
                        .filter(beside -> BESIDES.matcher(beside.name()).matches())
                        .map(beside -> new Cell(kind, beside)));
    }

    @AfterAll
    static void end() {
        if (cluster != null) {
            close();
        }
        StringBuilder table = new StringBuilder("\n| |");
        Stream.of(Beside.values())
                .forEach(beside -> table.append(' ').append(beside.heading).append(" |"));
        table.append("\n|---|").append("---|".repeat(Beside.values().length)).append('\n');
        RESULTS.forEach((kind, cells) -> {
            table.append("| ").append(kind).append(" |");
            Stream.of(Beside.values()).forEach(beside -> table.append(' ')
                    .append(cells.getOrDefault(beside, ""))
                    .append(" |"));
            table.append('\n');
        });
        System.out.println(table);
    }

    private static void open() throws Exception {
        Map<String, String> set = Map.of("quorate.sst.method", "stream", "quorate.ddl.fence-max", "8s");
        if (NEWER == 0) {
            cluster = Cluster.start(3, set);
            ServiceRights.asThePageSays(cluster);
        } else {
            cluster = Cluster.create(3, set, new MySqlSeries("8.0", Map.of(NEWER, "9.7")));
            cluster.start();
        }
        watch = new SoakWatch(cluster);
        cluster.mysql(1).execute(SoakStatements.accountSetUp(cluster));
        cluster.mysql(1)
                .execute(
                        "CREATE DATABASE beside",
                        "CREATE TABLE beside.t (id BIGINT AUTO_INCREMENT PRIMARY KEY, node INT)");
    }

    private static void close() {
        watch.close();
        cluster.close();
        cluster = null;
    }

    @ParameterizedTest
    @MethodSource("cells")
    void allEndEqual(Cell cell) throws Exception {
        if (cluster == null) {
            open();
        }
        boolean passed = false;
        try {
            prepare(cell.kind);
            long before = cluster.lastOrdered(1);
            meet(cell);
            cluster.assertConverged(first(cell));
            assertThat(cluster.objectsThatDiffer().stream()
                            .filter(difference -> NEWER == 0
                                    || !OF_THE_VERSION.matcher(difference).lookingAt()))
                    .isEmpty();
            assertThat(watch.fault()).isEmpty();
            assertThat(watch.departure()).isEmpty();
            boolean oneLoses = cell.beside == Beside.LOSER && acknowledged.get() > 1;
            long undone = undone(before);
            for (long end = System.nanoTime() + ORDERED_LIMIT.toNanos();
                    oneLoses && undone == 0 && System.nanoTime() < end; ) {
                // The journal is written a moment later.
                undone = undone(before);
            }
            note(cell, undone + "/" + acknowledged);
            assertThat(undone > 0 || !oneLoses)
                    .as("one of two that changed one row loses")
                    .isTrue();
            passed = true;
        } finally {
            if (!passed) {
                note(cell, "**red**");
                cluster.numbers().forEach(node -> System.out.println("n" + node + ":\n" + cluster.story(node)));
                close();
            }
        }
    }

    private static int first(Cell cell) {
        return cell.beside == Beside.ROWS_AFTER ? 2 : 1;
    }

    private static void note(Cell cell, String result) {
        RESULTS.computeIfAbsent(cell.kind.name(), kind -> new LinkedHashMap<>()).put(cell.beside, result);
        System.out.println(cell + ": " + result);
    }

    private static void prepare(DefinitionKind kind) throws Exception {
        cluster.assertConverged();
        cluster.mysql(1)
                .execute(
                        "DROP DATABASE IF EXISTS m",
                        "DROP DATABASE IF EXISTS m2",
                        "DROP USER IF EXISTS m_u@localhost, m_v@localhost, m_r@'%'");
        for (List<String> space : cluster.mysql(1)
                .query("SELECT NAME FROM information_schema.INNODB_TABLESPACES WHERE NAME LIKE 'm\\_s%'")) {
            cluster.mysql(1).execute("DROP TABLESPACE " + space.get(0));
        }
        List<String> setUp = new ArrayList<>(List.of("CREATE DATABASE m", DefinitionKind.TABLE, DefinitionKind.ROWS));
        setUp.add("CREATE TABLE m.still (id INT PRIMARY KEY, a INT)");
        setUp.addAll(kind.setUp());
        try (Connection client = client(1);
                Statement statement = client.createStatement()) {
            for (String sql : setUp) {
                statement.execute(sql);
            }
        }
        cluster.assertConverged();
    }

    private static Connection client(int node) throws SQLException {
        return DriverManager.getConnection(cluster.mysql(node).jdbcUrl() + "&socketTimeout=120000", ACCOUNT, ACCOUNT);
    }

    /** How many transactions of clients, definitions aside, a node's journal has from after a place in the order. */
    private static long undone(long after) throws IOException, InterruptedException {
        return JsonMapper.builder()
                .disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
                .build()
                .readValue(cluster.http(1, "/actuator/conflicts?limit=5000"), ConflictsAnswer.Brief.class)
                .conflicts()
                .stream()
                .filter(line -> line.seqno() > after && line.rows() > 0)
                .count();
    }

    private void meet(Cell cell) throws Exception {
        DefinitionKind kind = cell.kind;
        switch (cell.beside) {
            case ROWS_BEFORE -> unseen(1, () -> rows(2, kind), () -> define(1, kind.definition()));
            case ROWS_AFTER -> unseen(2, () -> define(1, kind.definition()), () -> rows(2, kind));
            case SAME -> unseen(1, () -> define(2, kind.definition()), () -> define(1, kind.definition()));
            case OTHER -> unseen(1, () -> define(2, kind.other()), () -> define(1, kind.definition()));
            case LOSER ->
                unseen(1, () -> write(2, change(1, "n2")), () -> {
                    write(1, change(1, "n1"));
                    define(1, kind.definition());
                });
            case LIVE_ROWS -> liveRows(() -> insist(1, kind.definition()), kind, 2, 3);
            case LIVE_SAME -> liveRows(both(kind.definition(), kind.definition()), kind, 3);
            case LIVE_OTHER -> liveRows(both(kind.definition(), kind.other()), kind, 3);
            case LIVE_LOSERS -> liveRows(() -> insist(1, kind.definition()), null, 1, 2, 3);
            case BYSTANDERS -> beside(() -> define(1, kind.definition()), kind, COPIED);
            case BYSTANDERS_SAME -> beside(both(kind.definition(), kind.definition()), kind, COPIED_TWICE);
        }
    }

    /** Something that one node does while the other one sees nothing of it, which then does the second. */
    private static void unseen(int paused, Runnable first, Runnable second) throws Exception {
        cluster.pause(paused);
        try {
            int other = 3 - paused;
            long before = cluster.lastOrdered(other);
            first.run();
            Cluster.within(ORDERED_LIMIT, () -> cluster.lastOrdered(other) > before);
            second.run();
        } finally {
            cluster.goOn(paused);
        }
    }

    private static Runnable both(String of1, String of2) {
        return () -> {
            Thread other = new Thread(() -> insist(2, of2), "matrix-other");
            other.start();
            insist(1, of1);
            join(other);
        };
    }

    /** Writers on some nodes, and what happens in their midst. */
    private void liveRows(Runnable definitions, DefinitionKind kind, int... writers) {
        live(definitions, (stop, rounds, node) -> writeUntil(stop, rounds, node, kind), writers);
    }

    /** Writers of all nodes who have nothing to do with it. */
    private void beside(Runnable definitions, DefinitionKind kind, Pattern copies) {
        Runnable untilApplied = () -> {
            definitions.run();
            awaitApplied();
        };
        live(untilApplied, this::insertUntil, 1, 2, 3);
        assertThat(copies.matcher(kind.name()).matches() || refused.isEmpty())
                .as("%s", refused)
                .isTrue();
    }

    private interface Writer {
        void write(AtomicBoolean stop, AtomicInteger rounds, int node);
    }

    private static void live(Runnable definitions, Writer writer, int... writers) {
        AtomicBoolean stop = new AtomicBoolean();
        AtomicInteger rounds = new AtomicInteger();
        List<Thread> threads = new ArrayList<>();
        for (int node : writers) {
            Thread thread = new Thread(() -> writer.write(stop, rounds, node), "matrix-writer-" + node);
            threads.add(thread);
            thread.start();
        }
        try {
            awaitRounds(rounds, LIVE_ROUNDS);
            definitions.run();
            awaitRounds(rounds, rounds.get() + LIVE_ROUNDS);
        } finally {
            stop.set(true);
            threads.forEach(MatrixTrials::join);
        }
    }

    private static void awaitApplied() {
        long ordered =
                cluster.numbers().stream().mapToLong(cluster::lastOrdered).max().orElseThrow();
        await(Cluster.LIMIT, () -> cluster.numbers().stream().allMatch(node -> cluster.lastApplied(node) >= ordered));
    }

    private static void awaitRounds(AtomicInteger rounds, int count) {
        await(ORDERED_LIMIT, () -> rounds.get() >= count);
    }

    private static void await(Duration limit, BooleanSupplier condition) {
        try {
            Cluster.within(limit, condition);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** @param kind whose rows are written; null: all write the same rows */
    private void writeUntil(AtomicBoolean stop, AtomicInteger rounds, int node, DefinitionKind kind) {
        for (int i = 0; !stop.get(); i++) {
            int id = node * 1_000_000 + i;
            if (kind == null) {
                write(node, change(1 + i % 3, "n" + node));
            } else if (write(node, String.format(kind.row(), id))) {
                // So that what the definition doesn't allow is on its way now and then, and not always in its way.
                write(node, "DELETE FROM m.t WHERE id = " + id);
            }
            write(node, change(10 + node, "n" + node + "-" + i));
            rounds.incrementAndGet();
            try {
                Thread.sleep(REST_MILLIS);
            } catch (InterruptedException e) {
                return;
            }
        }
    }

    private void insertUntil(AtomicBoolean stop, AtomicInteger rounds, int node) {
        try (Connection client = client(node);
                Statement statement = client.createStatement()) {
            while (!stop.get()) {
                statement.execute("INSERT INTO beside.t (node) VALUES (" + node + ")");
                acknowledged.incrementAndGet();
                rounds.incrementAndGet();
            }
        } catch (SQLException e) {
            refused.add("n" + node + ": " + e.getErrorCode() + " " + e.getMessage());
        }
    }

    private static String change(int id, String by) {
        return "UPDATE m.t SET a = a + 20, s = '" + by + "' WHERE id = " + id;
    }

    private void rows(int node, DefinitionKind kind) {
        write(node, String.format(kind.row(), 200));
        write(node, change(10 + node, "n" + node));
        write(node, "DELETE FROM m.t WHERE id = 19");
    }

    /** Whether a client heard OK. What it is refused, because the table isn't as it was, is nobody's loss. */
    private boolean write(int node, String sql) {
        try (Connection client = client(node);
                Statement statement = client.createStatement()) {
            if (statement.executeUpdate(sql) > 0) {
                acknowledged.incrementAndGet();
            }
            return true;
        } catch (SQLException e) {
            return false;
        }
    }

    /** Refused by its own server, it is as if it had not been. */
    private static boolean define(int node, String sql) {
        try (Connection client = client(node);
                Statement statement = client.createStatement()) {
            statement.execute("SET SESSION lock_wait_timeout = 20");
            statement.execute(sql);
            return true;
        } catch (SQLException e) {
            System.out.println("n" + node + " refuses \"" + sql + "\": " + e.getMessage());
            return false;
        }
    }

    /** Where rows that it doesn't allow come and go, it may find a moment without them. */
    private static void insist(int node, String sql) {
        for (int i = 0; i < ATTEMPTS && !define(node, sql); i++) {
            Thread.onSpinWait();
        }
    }

    private static void join(Thread thread) {
        try {
            thread.join(120_000);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
