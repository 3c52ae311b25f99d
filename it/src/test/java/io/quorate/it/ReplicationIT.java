// SPDX-License-Identifier: Apache-2.0
package io.quorate.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.quorate.core.Gtid;
import io.quorate.core.GtidSet;
import io.quorate.sandbox.Sandbox.Part;
import io.quorate.sandbox.TraceCollector;
import io.quorate.sandbox.TraceCollector.Span;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** What clients write on any node arrives on every other, exactly. */
@Timeout(900)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class ReplicationIT {
    private static final int ATTEMPTS = 10;
    private static final String CONFLICTS = "/actuator/conflicts";

    private static TraceCollector collector;
    private static Cluster cluster;

    @BeforeAll
    static void start() throws Exception {
        collector = TraceCollector.start();
        cluster = Cluster.start(
                3,
                Map.of(
                        "quorate.jvm", "-Xmx160m",
                        "quorate.tracing.endpoint", collector.endpoint(),
                        "quorate.tracing.sample", "1"));
        ServiceRights.asThePageSays(cluster);
    }

    @AfterAll
    static void end() {
        collector.close();
        cluster.close();
    }

    @Test
    @Order(1)
    void everyTypeArrivesByteByByte() throws Exception {
        Path file =
                Path.of(ReplicationIT.class.getResource("/awkward-types.sql").toURI());
        List<String> statements = Files.readAllLines(file, StandardCharsets.UTF_8).stream()
                .filter(s -> !s.startsWith("--") && !s.isBlank())
                .toList();
        cluster.mysql(2).execute("CREATE DATABASE awkward");
        cluster.mysql(2)
                .execute(Stream.concat(Stream.of("USE awkward"), statements.stream())
                        .toArray(String[]::new));
        cluster.assertConverged(2);
        for (List<String> table : cluster.mysql(2)
                .query("SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA = 'awkward'"
                        + " AND TABLE_TYPE = 'BASE TABLE'")) {
            String hex = hexOf(table.get(0));
            List<String> origin = rows(2, hex);
            assertThat(rows(1, hex)).as("%s on n1", table).isEqualTo(origin);
            assertThat(rows(3, hex)).as("%s on n3", table).isEqualTo(origin);
        }
    }

    @Test
    @Order(2)
    void theCacheIsReadBesideARunningNode(@TempDir Path scratch) throws Exception {
        cluster.mysql(3).execute("CREATE DATABASE logged", "CREATE TABLE logged.t (id INT PRIMARY KEY, v VARCHAR(20))");
        cluster.assertConverged(3);
        cluster.mysql(1).execute("INSERT INTO logged.t VALUES (17, 'to be found')");
        cluster.assertConverged();
        String data = cluster.node(2).serviceLog().resolveSibling("quorate").toString();
        assertThat(NodeProgram.run(scratch, 0, List.of("log", "verify", data))).contains(": whole");
        String elsewhere = Path.of(data).resolveSibling("data").toString();
        assertThat(NodeProgram.run(scratch, 1, List.of("log", "describe", elsewhere)))
                .contains("neither a node's data directory nor the cache in one");
        JsonNode described =
                JsonMapper.shared().readTree(NodeProgram.run(scratch, 0, List.of("log", "describe", data, "json")));
        long last = described.get("last").asLong();
        assertThat(described.get("origins").size()).isEqualTo(3);
        assertThat(described.get("verdicts").get("PASSED").asLong()).isPositive();
        assertThat(NodeProgram.run(scratch, 0, List.of("log", "dump", data)))
                .contains("CREATE TABLE logged.t")
                .contains("logged.t  null -> {id=17, v=to be found}");
        List<String> few = NodeProgram.run(
                        scratch,
                        0,
                        List.of("log", "dump", data, String.valueOf(last - 2), String.valueOf(last), "json"))
                .lines()
                .toList();
        assertThat(few).hasSize(3);
        assertThat(JsonMapper.shared().readTree(few.get(2)).get("seqno").asLong())
                .isEqualTo(last);
        assertThat(NodeProgram.run(scratch, 1, List.of("log", "verify", scratch + "/nothing")))
                .contains("is no directory");
    }

    @Test
    @Order(2)
    void aCommitIsOneTraceOfAllNodes() throws Exception {
        cluster.mysql(1).execute("CREATE DATABASE traced", "CREATE TABLE traced.t (id INT PRIMARY KEY)");
        cluster.assertConverged();
        String before = cluster.mysql(1).queryOne("SELECT @@gtid_executed");
        cluster.mysql(1).execute("INSERT INTO traced.t VALUES (1)");
        // What the applier commits there meanwhile has such a GTID, too, and no trace.
        GtidSet one =
                GtidSet.parse(cluster.mysql(1).queryOne("SELECT GTID_SUBTRACT(@@gtid_executed, '" + before + "')"));
        List<Span> roots = collector.await(
                span -> span.name().equals("transaction")
                        && one.contains(gtid(span.attributes().get("quorate.gtid"))),
                1,
                Cluster.LIMIT);
        assertThat(roots).hasSize(1);
        Span root = roots.get(0);
        Predicate<Span> isPart = span -> span.traceId().equals(root.traceId()) && !span.equals(root);
        List<Span> applied = collector.await(isPart.and(span -> span.name().equals("apply")), 2, Cluster.LIMIT);
        assertThat(applied)
                .extracting(span -> span.attributes().get("quorate.node"))
                .containsExactlyInAnyOrder("n2", "n3");
        List<Span> stages = collector.await(isPart.and(span -> !span.name().equals("apply")), 3, Cluster.LIMIT);
        assertThat(stages).extracting(Span::name).contains("captured", "proposed", "ordered");
        assertThat(root.parentId()).isEmpty();
        assertThat(Stream.concat(applied.stream(), stages.stream()))
                .allMatch(span -> span.parentId().equals(root.id()))
                .allMatch(span -> span.attributes()
                        .get("quorate.gtid")
                        .equals(root.attributes().get("quorate.gtid")))
                .allMatch(span -> span.attributes()
                        .get("quorate.seqno")
                        .equals(root.attributes().get("quorate.seqno")))
                .allMatch(span -> span.attributes().get("quorate.verdict").equals("passed"));
    }

    private static Gtid gtid(String text) {
        int colon = text.indexOf(':');
        return new Gtid(UUID.fromString(text.substring(0, colon)), Long.parseLong(text.substring(colon + 1)));
    }

    private static List<String> rows(int node, String sql) {
        return cluster.mysql(node).query(sql).stream()
                .map(List::toString)
                .sorted()
                .toList();
    }

    /** Every column of every row as the hexadecimal of its bytes; long ones by their digest. */
    private static String hexOf(String table) {
        StringBuilder columns = new StringBuilder();
        for (List<String> column : cluster.mysql(2)
                .query("SELECT COLUMN_NAME FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = 'awkward' AND"
                        + " TABLE_NAME = '"
                        + table + "' ORDER BY ORDINAL_POSITION")) {
            String bytes = "CAST(`" + column.get(0).replace("`", "``") + "` AS BINARY)";
            columns.append(columns.isEmpty() ? "" : ", ")
                    .append("IF(LENGTH(" + bytes + ") > 1000, SHA2(" + bytes + ", 256), HEX(" + bytes + "))");
        }
        return "SELECT " + columns + " FROM awkward.`" + table.replace("`", "``") + "`";
    }

    @Test
    @Order(2)
    void transactionsOfSeveralTablesStayWhole() throws Exception {
        cluster.mysql(1)
                .execute(
                        "CREATE DATABASE bank",
                        "CREATE TABLE bank.a (id INT PRIMARY KEY, v INT)",
                        "CREATE TABLE bank.b LIKE bank.a",
                        "INSERT INTO bank.a VALUES (1, 500)",
                        "INSERT INTO bank.b VALUES (1, 500)");
        cluster.assertConverged();
        try (Connection writer = cluster.app(3);
                Statement statement = writer.createStatement();
                Connection reader = cluster.app(1);
                Statement query = reader.createStatement()) {
            writer.setAutoCommit(false);
            reader.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
            for (int i = 0; i < 200; i++) {
                statement.execute("UPDATE bank.a SET v = v - 1");
                statement.execute("UPDATE bank.b SET v = v + 1");
                writer.commit();
                try (var row = query.executeQuery("SELECT a.v + b.v FROM bank.a a, bank.b b")) {
                    row.next();
                    assertThat(row.getInt(1))
                            .as("a reader elsewhere sees whole transactions")
                            .isEqualTo(1000);
                }
            }
        }
        cluster.awaitQuery(2, "SELECT v FROM bank.b", "700");
    }

    private static final String RIGHTS =
            "SELECT proc_priv FROM mysql.procs_priv WHERE db = 'ddl' AND routine_name = 'made' AND user = 'maker'";

    @Test
    @Order(3)
    void ddlArrivesWithItsSessionContext() throws Exception {
        try (Connection connection = cluster.mysql(3).connect();
                Statement statement = connection.createStatement()) {
            statement.execute("CREATE DATABASE ddl CHARACTER SET latin1");
            statement.execute("USE ddl");
            statement.execute("SET sql_mode = 'ANSI_QUOTES,NO_ZERO_DATE', time_zone = '+05:45'");
            statement.execute("CREATE TABLE \"t 1\" (id INT AUTO_INCREMENT PRIMARY KEY, d TIMESTAMP DEFAULT"
                    + " '2020-01-01 00:00:00', s VARCHAR(20) DEFAULT 'ä')");
            statement.execute("INSERT INTO \"t 1\" (s) VALUES ('x')");
            statement.execute("CREATE TABLE copied AS SELECT * FROM \"t 1\"");
            statement.execute("ALTER TABLE \"t 1\" ADD COLUMN e ENUM('b','a'), ADD UNIQUE KEY (s)");
            statement.execute("UPDATE \"t 1\" SET e = 'a'");
            statement.execute("RENAME TABLE copied TO moved");
            statement.execute("CREATE VIEW v AS SELECT s FROM moved");
            statement.execute("CREATE TRIGGER tr BEFORE INSERT ON moved FOR EACH ROW SET NEW.s = CONCAT(NEW.s, '!')");
            statement.execute("INSERT INTO moved (id, s) VALUES (7, 'y')");
            statement.execute(
                    "CREATE USER visitor@'10.%' " + cluster.mysql(3).dialect().identifiedBy() + " 'pw'");
        }
        createRoutineAsAnOrdinaryAccount();
        cluster.assertConverged(3);
        for (String show : List.of("TABLE ddl.`t 1`", "TABLE ddl.moved", "VIEW ddl.v", "USER visitor@'10.%'")) {
            String origin = definition(3, show);
            assertThat(definition(1, show)).isEqualTo(origin);
            assertThat(definition(2, show)).isEqualTo(origin);
        }
    }

    /** Its server grants it the right to the routine; the others have to, and their clients' changes go on. */
    private static void createRoutineAsAnOrdinaryAccount() throws Exception {
        cluster.mysql(3)
                .execute(
                        "CREATE USER maker@localhost IDENTIFIED BY ''",
                        "GRANT CREATE ROUTINE ON ddl.* TO maker@localhost");
        try (Connection connection = cluster.mysql(3).connect("maker", "", "ddl");
                Statement statement = connection.createStatement()) {
            statement.execute("CREATE PROCEDURE made() SELECT 1");
        }
        cluster.awaitQuery(1, RIGHTS, "Execute,Alter Routine");
        cluster.awaitQuery(2, RIGHTS, "Execute,Alter Routine");
        cluster.mysql(2).execute("INSERT INTO ddl.moved (id, s) VALUES (8, 'z')");
        cluster.awaitQuery(1, "SELECT COUNT(*) FROM ddl.moved WHERE id = 8", "1");
    }

    /** Without the next AUTO_INCREMENT value, which each node counts for itself. */
    private static String definition(int node, String show) {
        return cluster.mysql(node).query("SHOW CREATE " + show).toString().replaceAll(" AUTO_INCREMENT=\\d+", "");
    }

    @Test
    @Order(4)
    void showsItselfThroughHttp() throws Exception {
        assertThat(cluster.http(2, "/actuator/cluster"))
                .contains("\"cluster\"", "\"primaryComponent\":true", "\"n1\"", "\"n3\"", "\"lastApplied\"");
        assertThat(cluster.http(2, "/actuator/health")).contains("\"status\":\"UP\"", "\"state\":\"SYNCED\"");
        assertThat(cluster.http(2, "/actuator/health/readiness")).contains("UP");
        assertThat(cluster.http(2, "/actuator/info")).contains("{");
        assertThat(cluster.http(2, "/actuator/prometheus"))
                .contains("quorate_ordered_seqno", "quorate_apply_lag_seconds", "quorate_state{state=\"SYNCED\"} 1.0");
    }

    /**
     * A backlog of 100 MB for a heap of 160, half of which has other uses; one that grew with it would end the process.
     */
    /** In a real Chromium, as wide as a phone is. */
    @Test
    @Order(4)
    void showsItselfInABrowser(@TempDir Path profile) throws Exception {
        String chromium = Browser.program();
        Assumptions.assumeTrue(chromium != null, "no Chromium; -Dquorate.chromium=PROGRAM names one");
        try (Browser browser = Browser.start(chromium, profile)) {
            browser.look(390, 844, false);
            browser.open("http://" + cluster.httpAddress(1) + "/");
            browser.await(PagePictures.SENTENCE, said -> said.startsWith("All 3 members are up"));
            browser.await(PagePictures.MEMBERS, "3"::equals);
            browser.await(PagePictures.CURVES, count -> !count.equals("0"));
            assertThat(browser.evaluate(PagePictures.WIDTH))
                    .as("a phone needn't be moved sideways")
                    .isEqualTo("390");
            assertThat(browser.complaints()).isEmpty();
            cluster.pause(1);
            try {
                browser.await(PagePictures.SENTENCE, said -> said.startsWith("This node doesn't answer"));
            } finally {
                cluster.goOn(1);
            }
            browser.await(PagePictures.SENTENCE, said -> said.startsWith("All 3 members are up"));
            // Enter means "do it", which a wrong token refuses.
            browser.evaluate("document.querySelector('#audit-buttons button').click()");
            browser.evaluate("document.getElementById('token').value = 'wrong'");
            browser.evaluate("document.getElementById('token').focus()");
            browser.pressEnter();
            browser.await("document.getElementById('answer').textContent", "That isn't the node's token."::equals);
        }
    }

    @Test
    @Tag("long")
    @Order(5)
    void keepsTheBacklogOfAnAbsentServerOnDisk() throws Exception {
        cluster.mysql(1).execute("CREATE DATABASE heap", "CREATE TABLE heap.big (id INT PRIMARY KEY, b LONGBLOB)");
        cluster.assertConverged();
        cluster.kill(3, Part.MYSQLD);
        cluster.awaitState(3, "CONNECTED");
        long before = cluster.lastOrdered(3);
        for (int i = 0; i < 100; i++) {
            cluster.mysql(1 + i % 2)
                    .execute(
                            "INSERT INTO heap.big VALUES (" + i + ", RANDOM_BYTES(1024))",
                            "UPDATE heap.big SET b = REPEAT(b, 1000) WHERE id = " + i);
        }
        assertThat(Cluster.within(Duration.ofMinutes(4), () -> cluster.lastOrdered(3) >= before + 200))
                .as("without its server the node goes on ordering")
                .isTrue();
        cluster.restart(3);
        cluster.assertConverged();
    }

    @Test
    @Order(6)
    void keepsClientsFromWritingToANodeThatIsNotInStep() throws Exception {
        cluster.mysql(2).execute("CREATE TABLE bank.c (id INT PRIMARY KEY)");
        cluster.assertConverged(2);
        try (Connection app = cluster.app(2);
                Statement statement = app.createStatement()) {
            statement.execute("INSERT INTO bank.c VALUES (1)");
            assertThatThrownBy(() -> statement.execute("SET GLOBAL read_only = OFF"))
                    .hasMessageContaining("denied");
            assertThatThrownBy(() -> statement.execute("SET sql_log_bin = 0")).hasMessageContaining("denied");
        }
    }

    @Test
    @Order(7)
    void nothingIsLostWhereAnotherNodeAddsColumnsAndIndexes() throws Exception {
        cluster.mysql(1).execute("CREATE DATABASE grown", "CREATE TABLE grown.t (id INT PRIMARY KEY, v INT)");
        cluster.assertConverged();
        AtomicBoolean stop = new AtomicBoolean();
        AtomicLong acknowledged = new AtomicLong();
        List<Thread> clients = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            int client = i;
            clients.add(new Thread(() -> insertAndUpdate(client, stop, acknowledged)));
        }
        clients.forEach(Thread::start);
        try {
            for (String statement : List.of(
                    "ALTER TABLE grown.t ADD COLUMN z INT NULL",
                    "ALTER TABLE grown.t ADD COLUMN y VARCHAR(20) DEFAULT 'x', ADD KEY (y)",
                    "CREATE INDEX by_v ON grown.t (v)")) {
                cluster.awaitOrdered(1, cluster.lastOrdered(1) + 40);
                cluster.mysql(1).execute(statement);
            }
            cluster.awaitOrdered(1, cluster.lastOrdered(1) + 200);
        } finally {
            stop.set(true);
            for (Thread client : clients) {
                client.join(30_000);
            }
        }
        cluster.assertConverged();
        assertThat(cluster.mysql(1).queryLong("SELECT SUM(v) FROM grown.t"))
                .as("at least one for each that was acknowledged")
                .isGreaterThanOrEqualTo(acknowledged.get());
    }

    /** Each statement that it has acknowledged leaves the table with one more. */
    private static void insertAndUpdate(int client, AtomicBoolean stop, AtomicLong acknowledged) {
        for (int id = client; !stop.get(); id += 4) {
            try (Connection connection = cluster.app(2 + client % 2);
                    Statement statement = connection.createStatement()) {
                for (; !stop.get(); id += 4) {
                    statement.execute("INSERT INTO grown.t (id, v) VALUES (" + id + ", 1)");
                    acknowledged.incrementAndGet();
                    acknowledged.addAndGet(
                            statement.executeUpdate("UPDATE grown.t SET v = v + 1 WHERE id = " + (id - 4)));
                }
            } catch (SQLException e) {
                // Ended because it held a lock that the definition needs: again.
            }
        }
    }

    /** What they commit meanwhile is lost, so the statement must not wait until they pause by themselves. */
    @Test
    @Order(7)
    void ddlOfAnotherNodeGetsPastClientsThatWriteAllTheTime() throws Exception {
        cluster.mysql(1).execute("CREATE DATABASE rep", "CREATE TABLE rep.busy (id INT PRIMARY KEY, v INT)");
        for (int id = 0; id < 100; id++) {
            cluster.mysql(1).execute("INSERT INTO rep.busy VALUES (" + id + ", 0)");
        }
        cluster.assertConverged();
        AtomicBoolean stop = new AtomicBoolean();
        List<Thread> clients = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            int client = i;
            clients.add(new Thread(() -> writeAllTheTime(client, stop)));
        }
        clients.forEach(Thread::start);
        try {
            cluster.awaitOrdered(3, cluster.lastOrdered(3) + 200);
            // These meet no rows, so they lose against none.
            for (String statement : List.of(
                    "CREATE DATABASE rep_more",
                    "CREATE USER rep_reader",
                    "GRANT SELECT ON rep.* TO rep_reader",
                    "CREATE VIEW rep.total AS SELECT SUM(v) FROM rep.busy",
                    "ANALYZE TABLE rep.busy",
                    "FLUSH PRIVILEGES")) {
                cluster.mysql(1).execute(statement);
                // Clients write meanwhile.
                cluster.awaitOrdered(3, cluster.lastOrdered(3) + 40);
            }
            // With FORCE it counts as one that rows may not fit.
            cluster.mysql(1).execute("ALTER TABLE rep.busy ADD x INT, FORCE");
            cluster.awaitQuery(
                    3,
                    "SELECT COUNT(*) FROM information_schema.columns WHERE table_schema = 'rep' AND table_name"
                            + " = 'busy'",
                    "3");
            cluster.awaitQuery(3, "SELECT @@read_only", "0");
            // Clients write on.
            cluster.awaitOrdered(3, cluster.lastOrdered(3) + 100);
        } finally {
            stop.set(true);
            for (Thread client : clients) {
                client.join(30_000);
            }
        }
        cluster.assertConverged();
    }

    @Test
    @Tag("long")
    @Order(8)
    void aServerThatWasChangedWithoutTheBinlogGetsACopy() throws Exception {
        cluster.mysql(1)
                .execute("CREATE TABLE rep.kept (id INT PRIMARY KEY, v INT)", "INSERT INTO rep.kept VALUES (1, 1)");
        cluster.awaitQuery(3, "SELECT COUNT(*) FROM rep.kept", "1");
        cluster.mysql(3).execute("SET SESSION sql_log_bin = 0", "DELETE FROM rep.kept");
        cluster.mysql(1).execute("UPDATE rep.kept SET v = 2");
        cluster.awaitQuery(3, "SELECT v FROM rep.kept", "2");
        cluster.awaitState(3, "SYNCED");
        assertThat(differed(3, "QRT-5001")).isTrue();
        // What it writes now was written after what the copy holds.
        cluster.awaitQuery(3, "SELECT @@read_only", "0");
        cluster.mysql(3).execute("UPDATE rep.kept SET v = 3");
        cluster.awaitQuery(1, "SELECT v FROM rep.kept", "3");
        cluster.assertConverged();
    }

    /** A dump that is loaded into one server may do that. */
    @Test
    @Order(8)
    void aTableThatOneServerAloneHasIsCopiedToTheOthersOnceItIsWrittenTo() throws Exception {
        cluster.mysql(1)
                .execute(
                        "SET SESSION sql_log_bin = 0",
                        "CREATE TABLE rep.hidden (id INT PRIMARY KEY)",
                        "INSERT INTO rep.hidden VALUES (1)",
                        "SET SESSION sql_log_bin = 1",
                        "INSERT INTO rep.hidden VALUES (2)");
        for (int n = 1; n <= 3; n++) {
            cluster.awaitQuery(n, "SELECT GROUP_CONCAT(id ORDER BY id) FROM rep.hidden", "1,2");
            cluster.awaitState(n, "SYNCED");
        }
        cluster.assertConverged();
    }

    /** On one or two cores the JDK would start one for every entry that is appended. */
    @Test
    @Order(8)
    void commitsStartNoThreads() throws Exception {
        int commits = 200;
        cluster.mysql(1).execute("CREATE DATABASE steady", "CREATE TABLE steady.t (id INT PRIMARY KEY)");
        cluster.assertConverged();
        Map<Integer, Double> before = startedThreads();
        for (int i = 0; i < commits; i++) {
            cluster.mysql(1).execute("INSERT INTO steady.t VALUES (" + i + ")");
        }
        cluster.assertConverged();
        Map<Integer, Double> after = startedThreads();
        for (int node = 1; node <= 3; node++) {
            assertThat(after.get(node) - before.get(node))
                    .as("threads that n%d started", node)
                    .isLessThan(commits / 2.0);
        }
    }

    private static Map<Integer, Double> startedThreads() throws Exception {
        Map<Integer, Double> started = new TreeMap<>();
        for (int node = 1; node <= 3; node++) {
            double count = cluster.metric(node, "jvm_threads_started_threads_total");
            assertThat(count).isPositive();
            started.put(node, count);
        }
        return started;
    }

    /** Last, because the node is out of the cluster afterwards. */
    @Test
    @Order(9)
    void whatACopyMendsIsMendedAndTheOthersAreLeftInPeace() throws Exception {
        String byStatement = "SET SESSION binlog_format = STATEMENT";
        cluster.mysql(3).execute(byStatement, "INSERT INTO bank.c VALUES (2)");
        cluster.awaitQuery(3, "SELECT COUNT(*) FROM bank.c WHERE id = 2", "0");
        cluster.awaitState(3, "SYNCED");
        cluster.mysql(3).execute(cluster.mysql(3).dialect().resetBinlogs(), "INSERT INTO bank.c VALUES (2)");
        cluster.awaitQuery(3, "SELECT COUNT(*) FROM bank.c WHERE id = 2", "0");
        cluster.awaitState(3, "SYNCED");
        assertThat(cluster.logged(3, "QRT-2010")).isNotEmpty();
        // Once it has applied something, what clients write there is known to have seen the copy.
        cluster.mysql(1).execute("INSERT INTO bank.c VALUES (6)");
        cluster.awaitQuery(3, "SELECT COUNT(*) FROM bank.c WHERE id = 6", "1");
        cluster.mysql(3).execute("INSERT INTO bank.c VALUES (4)");
        cluster.awaitQuery(2, "SELECT COUNT(*) FROM bank.c WHERE id = 4", "1");
        cluster.awaitQuery(1, "SELECT COUNT(*) FROM bank.c WHERE id = 4", "1");
        cluster.mysql(1).execute("DELETE FROM bank.c WHERE id IN (4, 6)");
        // What is in no binlog any more can't be ordered, and a copy would throw it away.
        cluster.kill(3, Part.SERVICE);
        cluster.mysql(3)
                .execute(
                        "INSERT INTO bank.c VALUES (5)",
                        "FLUSH BINARY LOGS",
                        "PURGE BINARY LOGS BEFORE NOW() + INTERVAL 1 DAY");
        assertThatThrownBy(() -> cluster.restart(3)).hasMessageContainingAll("INCONSISTENT", "QRT-2003", "rebuild");
        cluster.awaitQuery(3, "SELECT @@super_read_only", "1");
        cluster.mysql(1).execute("INSERT INTO bank.c VALUES (3)");
        cluster.awaitQuery(2, "SELECT GROUP_CONCAT(id) FROM bank.c", "1,3");
        assertThat(cluster.http(3, "/actuator/health")).contains("DOWN");
    }

    /** Here it ran before rows that are ordered before it: rows would be left that no other node has. */
    @Test
    @Tag("long")
    @Order(10)
    void aTruncateThatRowsOfAnotherNodeComeBeforeHasItsNodeCopyThoseRows() throws Exception {
        cluster.mysql(1)
                .execute(
                        "CREATE TABLE rep.lock_me (id INT PRIMARY KEY, v INT)",
                        "INSERT INTO rep.lock_me VALUES (1, 0)",
                        "CREATE TABLE rep.cut (id INT PRIMARY KEY)");
        cluster.awaitQuery(2, "SELECT COUNT(*) FROM rep.cut", "0");
        // On a slow machine the holder is killed before, and the TRUNCATE has seen the rows: then it is tried again.
        for (int attempt = 1; attempt <= ATTEMPTS && !truncatedBeforeRows(attempt); attempt++) {
            cluster.awaitQuery(2, "SELECT COUNT(*) FROM rep.cut", "0");
            cluster.awaitQuery(1, "SELECT COUNT(*) FROM rep.cut", "0");
        }
        assertThat(differed(1, "QRT-4003")).isTrue();
        cluster.awaitState(1, "SYNCED");
        assertThat(cluster.mysql(1).queryLong("SELECT COUNT(*) FROM rep.cut")).isOne();
        assertThat(cluster.mysql(2).queryLong("SELECT COUNT(*) FROM rep.cut")).isOne();
    }

    /** Holds a lock that apply waits for, so that what comes after it is ordered and not begun. */
    private static boolean truncatedBeforeRows(int attempt) throws Exception {
        Connection holder = cluster.mysql(1).connect("root", "", "");
        holder.setAutoCommit(false);
        holder.createStatement().execute("SELECT * FROM rep.lock_me FOR UPDATE");
        for (String rows : List.of("", "INSERT INTO rep.cut VALUES (" + attempt + ")")) {
            long before = cluster.lastOrdered(1);
            cluster.mysql(2)
                    .execute(
                            "START TRANSACTION",
                            "UPDATE rep.lock_me SET v = v + 1",
                            rows.isEmpty() ? "DO 0" : rows,
                            "COMMIT");
            cluster.awaitOrdered(1, before);
        }
        cluster.mysql(1).execute("TRUNCATE rep.cut");
        holder.abort(Runnable::run);
        long ordered = cluster.lastOrdered(1);
        boolean[] differs = {false};
        assertThat(Cluster.within(Cluster.LIMIT, () -> {
                    differs[0] = differed(1, "QRT-4003");
                    return differs[0] || cluster.lastApplied(1) >= ordered;
                }))
                .as("what was ordered is applied, or its node differs: %s", cluster.reason(1))
                .isTrue();
        return differs[0];
    }

    /** Whether a server held something else than the order said, shown by this code. */
    private static boolean differed(int node, String code) {
        try {
            return cluster.http(node, CONFLICTS).contains(code);
        } catch (IOException e) {
            return false;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    private static void writeAllTheTime(int client, AtomicBoolean stop) {
        while (!stop.get()) {
            try (Connection connection = cluster.app(3);
                    PreparedStatement update =
                            connection.prepareStatement("UPDATE rep.busy SET v = v + 1 WHERE id = ?")) {
                for (int n = client; !stop.get(); n += 4) {
                    update.setInt(1, n % 100);
                    update.executeUpdate();
                }
            } catch (SQLException e) {
                // Not let write for a moment: again.
            }
        }
    }
}
