// SPDX-License-Identifier: Apache-2.0
package io.quorate.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.quorate.sandbox.Sandbox.Part;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;

/** What {@link DefinitionsIT} asks of {@code quorate ddl}, on the same cluster. */
final class OrderedFirstCases {

    private final Cluster cluster;

    OrderedFirstCases(Cluster cluster) {
        this.cluster = cluster;
    }

    private OrderedFirst.Said ddl(int node, String statement) {
        return OrderedFirst.ddl(cluster, node, "d", statement);
    }

    private void run(int node, String statement) {
        OrderedFirst.Said said = ddl(node, statement);
        assertThat(said.code()).as(said.text()).isZero();
        assertThat(said.text()).contains("ordered at seqno");
    }

    /** A client of each node that inserts rows one after the other, and knows which were acknowledged. */
    private final class Writers implements AutoCloseable {
        private final Set<Long> acknowledged = ConcurrentHashMap.newKeySet();
        private final Set<Integer> errors = ConcurrentHashMap.newKeySet();
        private final AtomicLong next = new AtomicLong(1000);
        private final List<Thread> threads = new ArrayList<>();
        private volatile boolean stopped;

        Writers() {
            for (int node = 1; node <= 3; node++) {
                int at = node;
                Thread thread = new Thread(() -> write(at), "writer-n" + node);
                thread.start();
                threads.add(thread);
            }
        }

        private void write(int node) {
            while (!stopped) {
                try (Connection client = cluster.app(node);
                        Statement statement = client.createStatement()) {
                    while (!stopped) {
                        insert(statement, node);
                    }
                } catch (SQLException e) {
                    errors.add(e.getErrorCode());
                }
            }
        }

        private void insert(Statement statement, int node) throws SQLException {
            long begun = System.nanoTime();
            long id = next.getAndIncrement();
            try {
                statement.execute("INSERT INTO d.t (id, a) VALUES (" + id + ", " + node + ")");
                acknowledged.add(id);
            } catch (SQLException e) {
                errors.add(e.getErrorCode());
                if (e.getErrorCode() == 0) {
                    throw e;
                }
            }
            try {
                Thread.sleep(Math.max(5, 2 * (System.nanoTime() - begun) / 1_000_000));
            } catch (InterruptedException e) {
                stopped = true;
            }
        }

        void awaitMore(int rows) throws InterruptedException {
            int before = acknowledged.size();
            assertThat(Cluster.within(Cluster.LIMIT, () -> acknowledged.size() >= before + rows))
                    .as("writers go on, errors %s", errors)
                    .isTrue();
        }

        @Override
        public void close() {
            stop();
        }

        void stop() {
            stopped = true;
            try {
                for (Thread thread : threads) {
                    thread.join();
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private Set<Long> rows(int node) {
        return cluster.mysql(node).query("SELECT id FROM d.t WHERE id >= 1000").stream()
                .map(row -> Long.valueOf(row.get(0)))
                .collect(Collectors.toSet());
    }

    /** No row that was acknowledged on any node is undone, whatever the definition. */
    void besideWritersOfAllNodes() throws Exception {
        Set<Long> beforeTruncate = new HashSet<>();
        Set<Long> untilAfter;
        Set<Long> all;
        try (Writers writers = new Writers()) {
            writers.awaitMore(20);
            for (String statement : List.of(
                    "ALTER TABLE t ADD b INT NULL",
                    "ALTER TABLE t ADD UNIQUE u (id, a)",
                    "ALTER TABLE t ADD c INT NOT NULL DEFAULT 3 FIRST, MODIFY a BIGINT NOT NULL",
                    "ALTER TABLE t DROP COLUMN b",
                    "RENAME TABLE t TO moved",
                    "RENAME TABLE moved TO t",
                    "CREATE TABLE other (id INT PRIMARY KEY, p INT, FOREIGN KEY (p) REFERENCES other (id))",
                    "CREATE VIEW v AS SELECT id FROM t")) {
                run(2, statement);
                if (!statement.endsWith("moved")) {
                    writers.awaitMore(10);
                }
            }
            assertThat(writers.errors).contains(Cluster.READ_ONLY);
            all = Set.copyOf(writers.acknowledged);
            assertThat(Cluster.within(Cluster.LIMIT, () -> rows(3).containsAll(all)))
                    .as("rows that are undone")
                    .isTrue();
            beforeTruncate.addAll(writers.acknowledged);
            run(3, "TRUNCATE t");
            untilAfter = Set.copyOf(writers.acknowledged);
            writers.awaitMore(10);
            writers.stop();
            beforeTruncate.addAll(writers.acknowledged);
        }
        cluster.assertConverged();
        Set<Long> after = new HashSet<>(beforeTruncate);
        after.removeAll(untilAfter);
        for (int n = 1; n <= 3; n++) {
            assertThat(rows(n)).containsAll(after);
            assertThat(rows(n)).hasSizeLessThan(beforeTruncate.size());
        }
        assertThat(cluster.http(1, "/actuator/conflicts")).doesNotContain("\"INSERT");
    }

    /** All servers refuse it: nothing has happened, and nobody differs. */
    void aDuplicateKeepsAUniqueKeyFromEverybody() throws Exception {
        int copies = copies();
        OrderedFirst.Said said = ddl(3, "ALTER TABLE t ADD UNIQUE u (a)");
        assertThat(said.code()).as(said.text()).isEqualTo(1);
        assertThat(said.text()).contains("1062", "nothing has happened on any node");
        OrderedFirst.Said parsed = ddl(1, "ALTER TABLE t ADD ADD");
        assertThat(parsed.code()).as(parsed.text()).isEqualTo(1);
        assertThat(parsed.text()).contains("QRT-3013", "syntax");
        OrderedFirst.Said unknown = ddl(1, "ALTER TABLE nowhere.t ADD i INT");
        assertThat(unknown.code()).as(unknown.text()).isEqualTo(1);
        OrderedFirst.Said invalid = ddl(2, "CREATE TABLE bad (i INT DEFAULT 'x')");
        assertThat(invalid.text()).contains("1067");
        cluster.assertConverged();
        assertThat(copies()).isEqualTo(copies);
    }

    private int copies() {
        return cluster.steps(1, "copy") + cluster.steps(2, "copy") + cluster.steps(3, "copy");
    }

    void ofTwoNodesThatCreateOneTableOneIsRefusedByTheServers() throws Exception {
        String statement = "CREATE TABLE twins (id INT PRIMARY KEY)";
        CompletableFuture<OrderedFirst.Said> other = CompletableFuture.supplyAsync(() -> ddl(2, statement));
        List<OrderedFirst.Said> said = List.of(ddl(1, statement), other.get());
        assertThat(said).extracting(OrderedFirst.Said::code).as("%s", said).containsExactlyInAnyOrder(0, 1);
        assertThat(said).anyMatch(one -> one.code() == 1 && one.text().contains("1050"));
        cluster.assertConverged();
    }

    void whoIsAwayIsNamedAndNothingHappens() throws Exception {
        cluster.pause(3);
        try {
            OrderedFirst.Said said = ddl(1, "ALTER TABLE t DROP a");
            assertThat(said.code()).as(said.text()).isEqualTo(1);
            assertThat(said.text()).contains("n3", "nothing has happened");
            cluster.awaitQuery(1, "SELECT @@read_only", "0");
            cluster.awaitQuery(2, "SELECT @@read_only", "0");
        } finally {
            cluster.goOn(3);
        }
        cluster.assertConverged();
        assertThat(definition(1)).contains("`a`");
    }

    /** n3 doesn't answer, so n1 still waits when it is killed; n2 is fenced by then. */
    void fencesOfANodeThatIsGoneAreLifted() throws Exception {
        cluster.pause(3);
        CompletableFuture<OrderedFirst.Said> asked;
        try {
            asked = CompletableFuture.supplyAsync(() -> ddl(1, "ALTER TABLE t DROP a"));
            Cluster.within(
                    Duration.ofSeconds(4), () -> "1".equals(cluster.mysql(2).queryOne("SELECT @@read_only")));
            cluster.kill(1, Part.SERVICE);
        } finally {
            cluster.goOn(3);
        }
        cluster.awaitState(2, "SYNCED");
        cluster.awaitQuery(2, "SELECT @@read_only", "0");
        cluster.startAgain();
        cluster.awaitQuery(3, "SELECT @@read_only", "0");
        cluster.assertConverged();
        for (int n = 1; n <= 3; n++) {
            assertThat(definition(n)).as("n%d", n).isEqualTo(definition(1));
        }
        assertThat(asked.get().code()).isNotZero();
    }

    void onlyWhoMayDoEverythingMayAsk() throws Exception {
        String answer = cluster.post(
                1, "/actuator/definition", "{\"statement\":\"DROP TABLE d.t\",\"user\":\"app\",\"password\":\"app\"}");
        assertThat(answer).contains("QRT-3013", "lacks");
        assertThat(cluster.post(
                        1,
                        "/actuator/definition",
                        "{\"statement\":\"DROP TABLE d.t\",\"user\":\"root\",\"password\":\"wrong\"}"))
                .contains("QRT-3013", "Access denied");
    }

    private String definition(int node) {
        return cluster.mysql(node).query("SHOW CREATE TABLE d.t").get(0).get(1);
    }
}
