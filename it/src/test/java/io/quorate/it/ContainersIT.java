// SPDX-License-Identifier: Apache-2.0
package io.quorate.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.quorate.cli.AskedNode;
import io.quorate.cli.CertificateAuthority;
import io.quorate.sandbox.NodeReport;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The Compose file and the node's image, on a Docker engine: each server and each node at an address of its own, each
 * node in one network with its server and in another one with the other nodes. Skipped where there is no engine.
 */
@Timeout(900)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class ContainersIT {
    private static final long SEED = System.nanoTime();
    private static final Duration LIMIT = Duration.ofMinutes(4);
    private static final String CLUSTER = "cluster";
    /** Of all nodes: from outside of its container, nobody asks one without it. */
    private static final String TOKEN = "the-token-of-these-tests";

    @TempDir
    static Path certificates;

    private static Compose compose;
    private static boolean started;
    private static int nodes = 3;

    @BeforeEach
    void start() throws Exception {
        Assumptions.assumeTrue(Compose.hasEngine(), "no Docker engine");
        if (compose == null) {
            compose = new Compose(Path.of("../node/docker/compose.yaml"));
            compose.directory("./certs", certificates("n1", "n2", "n3", "n4"));
            for (int n = 1; n <= 4; n++) {
                compose.environment("n" + n, "QUORATE_TOKEN", TOKEN);
            }
            CompletableFuture<Void> node = CompletableFuture.runAsync(() -> Compose.buildNodeImage(Compose.NODE_IMAGE));
            Compose.provideMySqlImage("mysql:8.0.33");
            compose.up("mysql1", "mysql2", "mysql3");
            node.join();
            compose.up("n1", "n2", "n3");
            awaitSynced(1, 2, 3);
            try (Connection connection = app(1);
                    Statement statement = connection.createStatement()) {
                statement.execute("CREATE DATABASE load_test");
                statement.execute(Load.TABLE);
            }
            started = true;
        }
        // Not once more for each test.
        assertThat(started).as("the cluster has started").isTrue();
        awaitEqual();
        try (Connection connection = app(1);
                Statement statement = connection.createStatement()) {
            // What the test before did may have caused an election.
            Cluster.executeWhenWritable(statement, "DELETE FROM load_test.ledger");
        }
        awaitEqual();
    }

    @AfterAll
    static void stop() {
        if (compose != null) {
            compose.close();
            compose = null;
        }
    }

    @Test
    @Order(1)
    void theImageRunsAsAnOrdinaryUserKnowsItsHealthAndReplicates() throws Exception {
        for (String node : List.of("n1", "n2", "n3")) {
            assertThat(compose.user(node)).isEqualTo("quorate");
            await(() -> node + " is " + compose.health(node), () -> compose.health(node)
                    .equals("healthy"));
        }
        try (Load load = new Load(ContainersIT::app, SEED, 1, 2, 3)) {
            goesOn(load, 1, 2, 3);
            assertNothingLost(load.stop());
        }
    }

    @Test
    @Tag("long")
    @Order(2)
    void aNodeThatIsCutOffRefusesWritesAndComesBack() throws Exception {
        try (Load load = new Load(ContainersIT::app, SEED, 1, 2, 3)) {
            goesOn(load, 1, 2, 3);
            Compose.Cut cut = compose.cut("n3", CLUSTER);
            try (cut) {
                await(() -> "n3 is " + report(3), () -> report(3).state().equals("NON_PRIMARY"));
                awaitReadOnly(3);
                goesOn(load, 1, 2);
            }
            awaitSynced(3);
            goesOn(load, 1, 2, 3);
            assertNothingLost(load.stop());
        }
    }

    @Test
    @Tag("long")
    @Order(3)
    void withoutAMajorityNobodyWritesAndAllComeBackByThemselves() throws Exception {
        try (Load load = new Load(ContainersIT::app, SEED, 1, 2, 3)) {
            goesOn(load, 1, 2, 3);
            Compose.Cut second = compose.cut("n2", CLUSTER);
            Compose.Cut third = compose.cut("n3", CLUSTER);
            try (second;
                    third) {
                for (int node = 1; node <= 3; node++) {
                    int each = node;
                    await(() -> "n" + each + " is " + report(each), () -> !report(each)
                            .primaryComponent());
                    awaitReadOnly(each);
                }
                Map<Integer, Integer> before = load.acknowledged();
                Thread.sleep(1000);
                assertThat(load.acknowledged()).isEqualTo(before);
            }
            awaitSynced(1, 2, 3);
            goesOn(load, 1, 2, 3);
            assertNothingLost(load.stop());
        }
    }

    @Test
    @Tag("long")
    @Order(4)
    void aNodeThatStoodStillGoesOn() throws Exception {
        try (Load load = new Load(ContainersIT::app, SEED, 1, 2)) {
            goesOn(load, 1, 2);
            compose.pause("n3");
            long applied = applied(3);
            goesOn(load, 1, 2);
            Thread.sleep(3000);
            assertThat(applied(3))
                    .as("rows that arrive at a node that stands still")
                    .isEqualTo(applied);
            compose.unpause("n3");
            awaitSynced(3);
            assertNothingLost(load.stop());
        }
    }

    @Test
    @Tag("long")
    @Order(5)
    void aHostThatDiedComesBack() throws Exception {
        try (Load load = new Load(ContainersIT::app, SEED, 1, 2)) {
            goesOn(load, 1, 2);
            compose.kill("mysql3", "n3");
            goesOn(load, 1, 2);
            compose.start("mysql3", "n3");
            awaitSynced(3);
            goesOn(load, 1, 2);
            assertNothingLost(load.stop());
        }
    }

    @Test
    @Tag("long")
    @Order(6)
    void nodesGetAnotherImageInTurnWhileTheOthersWrite() throws Exception {
        Compose.tag(Compose.NODE_IMAGE, "quorate-node", "next");
        try (Load load = new Load(ContainersIT::app, SEED, 1, 2, 3)) {
            for (int node = 1; node <= 3; node++) {
                compose.replace("n" + node, "quorate-node:next");
                awaitSynced(node);
                goesOn(load, 1, 2, 3);
                assertThat(compose.imageOf("n" + node)).isEqualTo("quorate-node:next");
            }
            assertNothingLost(load.stop());
        }
    }

    /** By what the caches hold, and by a copy of a server. */
    @ParameterizedTest
    @Tag("long")
    @Order(7)
    @ValueSource(strings = {"auto", "clone"})
    void aFourthJoinsAndReceivesEverything(String method) throws Exception {
        if (nodes == 4) {
            takeOutTheFourth();
        }
        compose.environment("n4", "QUORATE_SST_METHOD", method);
        try (Load load = new Load(ContainersIT::app, SEED, 1, 2)) {
            goesOn(load, 1, 2);
            fourth("admit");
            compose.up("mysql4", "n4");
            nodes = 4;
            awaitSynced(4);
            URI metrics = URI.create("http://" + compose.address("n4", "host4") + ":8080/actuator/prometheus");
            String measured = HttpClient.newHttpClient()
                    .send(
                            HttpRequest.newBuilder(metrics)
                                    .header("Authorization", "Bearer " + TOKEN)
                                    .build(),
                            HttpResponse.BodyHandlers.ofString())
                    .body();
            assertThat(Cluster.steps(measured, "copy_completed")).isEqualTo(method.equals("clone") ? 1 : 0);
            goesOn(load, 1, 2);
            assertNothingLost(load.stop());
        }
    }

    private static Path certificates(String... names) throws IOException {
        Path directory = Files.createDirectories(certificates.resolve("certs"));
        CertificateAuthority authority = CertificateAuthority.create(directory, "compose", InstantSource.system());
        for (String name : names) {
            authority.issue(name, Duration.ofDays(1));
        }
        return directory;
    }

    /** Has the first node do something with the fourth. */
    private static void fourth(String action) throws Exception {
        HttpRequest asked = HttpRequest.newBuilder(
                        URI.create("http://" + compose.address("n1", "host1") + ":8080/actuator/members"))
                .header("Authorization", "Bearer " + TOKEN)
                .header("Content-Type", "application/json")
                .POST(HttpRequest.BodyPublishers.ofString("{\"action\": \"" + action + "\", \"member\": \"n4\"}"))
                .build();
        HttpResponse<String> done = HttpClient.newHttpClient().send(asked, HttpResponse.BodyHandlers.ofString());
        assertThat(done.statusCode()).as(done.body()).isEqualTo(200);
    }

    private static void takeOutTheFourth() throws Exception {
        fourth("leave");
        compose.delete("n4", "mysql4");
        nodes = 3;
    }

    private static Connection app(int node) throws SQLException {
        return connect(node, "app", "app");
    }

    private static Connection connect(int node, String user, String password) throws SQLException {
        String address = compose.address("mysql" + node, "host" + node);
        return DriverManager.getConnection(
                "jdbc:mysql://" + address + "/?sslMode=DISABLED&allowPublicKeyRetrieval=true&connectTimeout=5000"
                        + "&socketTimeout=60000",
                user,
                password);
    }

    /** Asked in the network of its host, which reaches it also when the others don't. */
    private static NodeReport report(int node) {
        String address = compose.address("n" + node, "host" + node);
        return NodeReport.ask(AskedNode.of(address + ":8080", TOKEN))
                .orElse(new NodeReport("UNREACHABLE", false, "", "", 0, 0, null));
    }

    private static String value(int node, String sql) {
        try (Connection connection = connect(node, "root", "quorate");
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(sql)) {
            row.next();
            return row.getString(1);
        } catch (SQLException e) {
            return e.getMessage();
        }
    }

    private static long applied(int node) {
        return Long.parseLong(value(node, "SELECT COUNT(*) FROM load_test.ledger"));
    }

    /** A moment after the node has said that it has no majority, its server is told. */
    private static void awaitReadOnly(int node) throws InterruptedException {
        await(() -> "n" + node + " writable", () -> value(node, "SELECT @@read_only")
                .equals("1"));
    }

    private static void awaitSynced(int... some) throws InterruptedException {
        for (int node : some) {
            await(() -> "n" + node + " is " + report(node), () -> report(node).isSynced());
        }
    }

    /** Each of them acknowledges more, and the others receive it. */
    private static void goesOn(Load load, int... writers) throws InterruptedException {
        Map<Integer, Integer> before = load.acknowledged();
        for (int writer : writers) {
            await(
                    () -> "writer " + writer + " at " + load.acknowledged(),
                    () -> load.acknowledged().get(writer) > before.get(writer) + 20);
        }
    }

    private static void assertNothingLost(Map<Integer, Integer> acknowledged) throws InterruptedException {
        awaitEqual();
        List<String> faults = new ArrayList<>();
        for (int i = 1; i <= nodes; i++) {
            int node = i;
            faults.addAll(Load.faults(sql -> value(node, sql), "n" + node, acknowledged));
        }
        assertThat(faults).as("seed %d", SEED).isEmpty();
    }

    private static void awaitEqual() throws InterruptedException {
        await(
                () -> "ledgers differ: " + ledgers(),
                () -> ledgers().stream().distinct().count() == 1);
    }

    private static List<String> ledgers() {
        List<String> ledgers = new ArrayList<>();
        for (int node = 1; node <= nodes; node++) {
            ledgers.add(value(
                    node,
                    "SELECT CONCAT(COUNT(*), ' rows, ', COALESCE(SUM(CRC32(CONCAT_WS(',', writer, n, touched,"
                            + " note))), 0))"
                            + " FROM load_test.ledger"));
        }
        return ledgers;
    }

    private static void await(Supplier<String> otherwise, BooleanSupplier condition) throws InterruptedException {
        if (!Cluster.within(LIMIT, condition)) {
            StringBuilder logs = new StringBuilder();
            for (int node = 1; node <= nodes; node++) {
                logs.append('\n').append(compose.logTail("n" + node));
            }
            throw new AssertionError(otherwise.get() + " after " + LIMIT + logs);
        }
    }
}
