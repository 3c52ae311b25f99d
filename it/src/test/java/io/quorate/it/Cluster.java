// SPDX-License-Identifier: Apache-2.0
package io.quorate.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.quorate.cli.AskedNode;
import io.quorate.cli.Draining;
import io.quorate.sandbox.Checksums;
import io.quorate.sandbox.MySqlSeries;
import io.quorate.sandbox.MySqlServer;
import io.quorate.sandbox.NodePorts;
import io.quorate.sandbox.NodeReport;
import io.quorate.sandbox.Place;
import io.quorate.sandbox.Ports;
import io.quorate.sandbox.Sandbox;
import io.quorate.sandbox.SandboxException;
import io.quorate.sandbox.SandboxNode;
import io.quorate.sandbox.ServerObjects;
import io.quorate.sandbox.WhenWritable;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.BooleanSupplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** A sandbox of real servers and services for one test class, with what tests ask of it. Ends all its processes. */
final class Cluster implements AutoCloseable {
    static final Duration LIMIT = Duration.ofMinutes(5);
    /** Error of a client whose node takes no writes. */
    static final int READ_ONLY = WhenWritable.READ_ONLY;

    /** How long a row of our own may take to be everywhere before it is written again. */
    private static final Duration MARK_AGAIN = Duration.ofSeconds(20);

    private static final Duration DRAIN_LIMIT = Duration.ofMinutes(1);
    private static final String PREFIX = "quorate-it-";
    /** Threads that write InnoDB's log spin, which many servers on a small machine can't afford. */
    private static final Map<String, String> SERVERS =
            Map.of("mysql.innodb_buffer_pool_size", "64M", "mysql.innodb_log_writer_threads", "OFF");
    /** For a service that runs to answer: many share a small machine. */
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private static final HttpClient HTTP = HttpClient.newHttpClient();
    /** For clusters whose nodes prove to one another who they are. */
    static final Map<String, String> TLS = Map.of("quorate.tls.bundle", "nodes");
    /**
     * Whether all do. TLS is below everything else that these tests are about, and it makes those with many connections
     * half as long again: C1 makes it slow, and every service that starts begins with handshakes.
     */
    private static final boolean ALL_TLS = Boolean.getBoolean("quorate.tls");

    /** Any test can be run in another commit mode than it chooses, with {@code -Dquorate.mode=after-sync}. */
    private static final String MODE = System.getProperty("quorate.mode", "");

    private static final int ATTEMPTS = 3;
    private static final Pattern LEADER = Pattern.compile("\"leader\" *: *\"n(\\d)\"");

    private Sandbox sandbox;
    private int mark;

    private Cluster(Sandbox sandbox) {
        this.sandbox = sandbox;
        sandbox.endWithThisProgram();
        Stories.begin(this, this::story);
    }

    static Cluster start(int nodes, Map<String, String> set) throws IOException {
        return startWithArbitrators(nodes, Set.of(), set);
    }

    /** @param arbitrators numbers of the nodes that have no server */
    static Cluster startWithArbitrators(int nodes, Set<Integer> arbitrators, Map<String, String> set)
            throws IOException {
        for (int attempt = 1; ; attempt++) {
            Cluster cluster = create(nodes, arbitrators, set, List.of(), MySqlSeries.any());
            try {
                cluster.start();
                return cluster;
            } catch (RuntimeException | AssertionError | InterruptedException e) {
                cluster.close();
                if (attempt == ATTEMPTS || !cluster.hasLostPorts()) {
                    throw new AssertionError(e);
                }
            }
        }
    }

    /** Whether another program has taken a port of it, which was free when it was chosen. Nothing of this one runs. */
    private boolean hasLostPorts() {
        return sandbox.nodes().stream()
                .map(SandboxNode::ports)
                .flatMapToInt(p -> IntStream.of(p.mysql(), p.http(), p.probe(), p.raft(), p.channel()))
                .anyMatch(port -> !Ports.isFree(port));
    }

    /** One that doesn't run yet: there is time to prepare its directory for {@link #start()}. */
    static Cluster create(int nodes, Map<String, String> set) throws IOException {
        return create(nodes, Set.of(), set, List.of(), MySqlSeries.any());
    }

    /**
     * One that doesn't run yet.
     *
     * @param places of its nodes; none: on loopback
     */
    static Cluster create(int nodes, Map<String, String> set, List<Place> places) throws IOException {
        return create(nodes, Set.of(), set, places, MySqlSeries.any());
    }

    /** One that doesn't run yet, with servers of these series. */
    static Cluster create(int nodes, Map<String, String> set, MySqlSeries mysql) throws IOException {
        return create(nodes, Set.of(), set, List.of(), mysql);
    }

    private static Cluster create(
            int nodes, Set<Integer> arbitrators, Map<String, String> set, List<Place> places, MySqlSeries mysql)
            throws IOException {
        Path directory = Files.createTempDirectory(PREFIX);
        Sandbox.endOrphans(directory.getParent(), System.err::println);
        Map<String, String> all = new LinkedHashMap<>(SERVERS);
        all.putAll(set);
        if (!ALL_TLS && places.isEmpty()) {
            all.putIfAbsent("quorate.tls.bundle", "");
        }
        if (!MODE.isEmpty()) {
            all.put("quorate.commit-mode", MODE);
        }
        return new Cluster(Sandbox.create(
                directory, nodes, arbitrators, NodePorts.freeBase(nodes + 1), all, places, mysql, line -> {}));
    }

    void start() throws InterruptedException {
        sandbox.start(LIMIT);
        mysql(1).execute("CREATE DATABASE it_mark", "CREATE TABLE it_mark.m (node INT PRIMARY KEY, n INT)");
        for (int node : servers()) {
            awaitQuery(node, "SELECT COUNT(*) FROM information_schema.TABLES WHERE TABLE_SCHEMA = 'it_mark'", "1");
        }
    }

    /** Starts again what is down, and waits until all are SYNCED. */
    void startAgain() {
        sandbox.start(LIMIT);
    }

    Path directory(int node) {
        return sandbox.directory().resolve(node(node).name());
    }

    /** A node's service and server, as far as they run. */
    Stream<ProcessHandle> processes(int node) {
        return LongStream.concat(
                        node(node).servicePid().stream(),
                        LongStream.of(mysql(node).pid()))
                .mapToObj(ProcessHandle::of)
                .flatMap(Optional::stream);
    }

    void killAll() {
        sandbox.killAll();
    }

    MySqlServer mysql(int node) {
        return node(node).mysql();
    }

    SandboxNode node(int node) {
        return sandbox.node("n" + node);
    }

    /** The nodes there are. */
    List<Integer> numbers() {
        return sandbox.nodes().stream().map(SandboxNode::number).toList();
    }

    /** Those that have a server. */
    List<Integer> servers() {
        return sandbox.nodes().stream()
                .filter(SandboxNode::hasServer)
                .map(SandboxNode::number)
                .toList();
    }

    /** Adds a node with an empty server, and waits until it is SYNCED. */
    void add() {
        add(false);
    }

    private void add(boolean arbitrator) {
        try {
            sandbox = sandbox.add(arbitrator, LIMIT);
            sandbox.endWithThisProgram();
        } catch (RuntimeException e) {
            // It runs, and is to end with the others.
            sandbox = Sandbox.open(sandbox.directory(), line -> {});
            sandbox.endWithThisProgram();
            throw e;
        }
    }

    /** Adds a node without a server. */
    void addArbitrator() {
        add(true);
    }

    /** Puts a newer MySQL under a node. */
    void upgrade(int node, String series) {
        upgrade(node, series, LIMIT);
    }

    void upgrade(int node, String series, Duration limit) {
        try {
            sandbox = sandbox.upgrade(node(node), series, limit);
        } finally {
            sandbox = Sandbox.open(sandbox.directory(), line -> {});
            sandbox.endWithThisProgram();
        }
    }

    void remove(String name) {
        sandbox = sandbox.remove(sandbox.node(name));
    }

    /** Empties a node's server of clients, as an operator does before it is stopped. */
    void drain(int node) {
        Draining.drain(node(node).asked(), DRAIN_LIMIT, false);
    }

    void stopService(int node) {
        sandbox.stopService(node(node));
    }

    /** A client's connection as an application makes it. */
    Connection app(int node) throws SQLException {
        return mysql(node).connect("app", "app", "");
    }

    /** As {@link WhenWritable#execute}, as long as anything may take here. */
    static void executeWhenWritable(Statement client, String sql) throws SQLException, InterruptedException {
        WhenWritable.execute(client, sql, LIMIT);
    }

    /** Has a node's service do nothing for a while, as a machine does that is busy. */
    void pause(int node) throws IOException, InterruptedException {
        signal(List.of(node), "STOP");
    }

    /** Has it go on. */
    void goOn(int node) throws IOException, InterruptedException {
        signal(List.of(node), "CONT");
    }

    /** Has all go on at the same moment. */
    void goOn(Collection<Integer> nodes) throws IOException, InterruptedException {
        signal(nodes, "CONT");
    }

    private void signal(Collection<Integer> nodes, String name) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of("kill", "-" + name));
        nodes.forEach(node -> command.add(Long.toString(node(node).servicePid().orElseThrow())));
        assertThat(new ProcessBuilder(command).inheritIO().start().waitFor()).isZero();
    }

    void kill(int node, Sandbox.Part part) {
        sandbox.kill(node(node), part);
    }

    /** Brings back what is down of a node; whether it is SYNCED then. */
    boolean restart(int node) {
        return sandbox.restart(node(node), LIMIT);
    }

    /** Starts what is down of a node, and waits for nothing. */
    void bringUp(int node) {
        try {
            sandbox.restart(node(node), Duration.ZERO);
        } catch (SandboxException notSyncedYet) {
            // What becomes of it is looked at later.
        }
    }

    String state(int node) {
        return report(node).map(NodeReport::state).orElse("UNREACHABLE");
    }

    /** The seqno up to which a node knows the order, -1 when its service doesn't run. */
    long lastOrdered(int node) {
        return report(node).map(NodeReport::lastOrdered).orElse(-1L);
    }

    /** The seqno up to which its server has everything, -1 when its service doesn't run. */
    long lastApplied(int node) {
        return report(node).map(NodeReport::lastApplied).orElse(-1L);
    }

    /** Waits until a node has ordered more than up to {@code seqno}. */
    void awaitOrdered(int node, long seqno) throws InterruptedException {
        assertThat(within(LIMIT, () -> lastOrdered(node) > seqno))
                .as("n%d orders more than %d: %s", node, seqno, node(node).report())
                .isTrue();
    }

    /** What a node says of itself. One that is late isn't one that is away: whose service runs is asked again. */
    private Optional<NodeReport> report(int node) {
        long end = System.nanoTime() + PATIENCE.toNanos();
        Optional<NodeReport> report = node(node).report();
        while (report.isEmpty() && node(node).isServiceAlive() && System.nanoTime() < end) {
            report = node(node).report();
        }
        return report;
    }

    /**
     * A last row from every node, waited for on every other: all that was committed before is there then. The node that
     * may have run DDL comes first, for DDL conflicts with what others write meanwhile.
     */
    private void passMarks(int first) throws InterruptedException {
        mark++;
        List<Integer> order = new ArrayList<>(servers());
        Collections.rotate(order, -order.indexOf(first));
        for (int node : order) {
            long end = System.nanoTime() + LIMIT.toNanos();
            boolean everywhere = false;
            while (!everywhere) {
                assertThat(System.nanoTime())
                        .as("mark %d of n%d isn't everywhere: %s", mark, node, reports())
                        .isLessThan(end);
                // Again: it may have lost to a definition that conflicts with everything.
                mark(node);
                everywhere = within(MARK_AGAIN, () -> servers().stream().allMatch(each -> hasMark(each, node)));
            }
        }
    }

    private boolean hasMark(int node, int of) {
        try {
            return mysql(node).queryLong("SELECT COUNT(*) FROM it_mark.m WHERE n = " + mark + " AND node = " + of) == 1;
        } catch (RuntimeException e) {
            return false;
        }
    }

    /** As a client does: a node whose server gets a copy takes no writes. */
    private void mark(int node) throws InterruptedException {
        String[] refusal = {""};
        assertThat(within(LIMIT, () -> {
                    try (Connection client = app(node);
                            Statement statement = client.createStatement()) {
                        statement.execute("REPLACE INTO it_mark.m VALUES (" + node + ", " + mark + ")");
                        return true;
                    } catch (SQLException e) {
                        refusal[0] = e.getMessage();
                        return false;
                    }
                }))
                .as("n%d takes no writes: %s", node, refusal[0])
                .isTrue();
    }

    /** Waits until all nodes have ordered and applied the same, then compares every table of every server. */
    void assertConverged() throws InterruptedException {
        assertConverged(servers().get(0));
    }

    /** As {@link #assertConverged()}, after DDL on node {@code first}. */
    void assertConverged(int first) throws InterruptedException {
        passMarks(first);
        String[] last = {"nothing compared"};
        boolean same = within(LIMIT, () -> {
            if (!allApplied()) {
                last[0] = "reports: " + reports();
                return false;
            }
            Checksums.Comparison comparison = compare();
            last[0] = comparison.differences().toString();
            return comparison.equal() && comparison.tables() > 0;
        });
        assertThat(same).as(last[0]).isTrue();
    }

    private Checksums.Comparison compare() {
        return Checksums.compare(byName());
    }

    /** What servers have besides tables, as far as one has it and another doesn't; empty when they agree. */
    List<String> objectsThatDiffer() {
        return ServerObjects.differences(byName());
    }

    private Map<String, MySqlServer> byName() {
        Map<String, MySqlServer> servers = new LinkedHashMap<>();
        servers().forEach(node -> servers.put("n" + node, mysql(node)));
        return servers;
    }

    private boolean allApplied() {
        List<Optional<NodeReport>> reports = reports();
        if (reports.stream().anyMatch(Optional::isEmpty)) {
            return false;
        }
        long ordered = reports.get(0).orElseThrow().lastOrdered();
        return reports.stream()
                .map(Optional::orElseThrow)
                .allMatch(r -> r.lastOrdered() == ordered
                        && r.lastApplied() == ordered
                        && (r.state().equals("SYNCED") || r.state().equals("ARBITRATOR")));
    }

    private List<Optional<NodeReport>> reports() {
        return sandbox.nodes().stream().map(SandboxNode::report).toList();
    }

    /** Waits for one query to give one answer on one node. */
    void awaitQuery(int node, String sql, String expected) throws InterruptedException {
        String[] last = {null};
        boolean there = within(LIMIT, () -> {
            try {
                last[0] = mysql(node).queryOne(sql);
            } catch (RuntimeException e) {
                last[0] = e.getMessage();
            }
            return expected.equals(last[0]);
        });
        assertThat(there)
                .as("%s on n%d gives %s instead of %s", sql, node, last[0], expected)
                .isTrue();
    }

    void awaitState(int node, String expected) throws InterruptedException {
        assertThat(within(LIMIT, () -> state(node).equals(expected)))
                .as("n%d is %s instead of %s", node, node(node).report(), expected)
                .isTrue();
    }

    /** The number of the order's leader as a node knows it; 0 when it knows none. */
    int leader(int node) {
        try {
            Matcher leader = LEADER.matcher(http(node, "/actuator/cluster/self"));
            return leader.find() ? Integer.parseInt(leader.group(1)) : 0;
        } catch (IOException e) {
            return 0;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return 0;
        }
    }

    String reason(int node) {
        return report(node).map(NodeReport::reason).orElse("");
    }

    /** What a node says of what it receives and gives; nothing while it doesn't answer. */
    JsonNode transfer(int node) {
        try {
            return JsonMapper.shared().readTree(http(node, "/actuator/transfer"));
        } catch (IOException e) {
            return JsonMapper.shared().createObjectNode();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    /**
     * How often a node has taken a step to receive what it missed, since its service began; 0 while that doesn't
     * answer.
     *
     * @param step as the metric {@code quorate.join.steps} names it
     */
    int steps(int node, String step) {
        return steps(metrics(node), step);
    }

    /** @param metrics as {@code /actuator/prometheus} gives them */
    static int steps(String metrics, String step) {
        return (int) metric(metrics, "quorate_join_steps_total\\{.*step=\"" + step + "\".*}");
    }

    /** A node's metric that has no labels, as {@code /actuator/prometheus} names it; 0 while that doesn't answer. */
    double metric(int node, String name) {
        return metric(metrics(node), name);
    }

    private static double metric(String metrics, String pattern) {
        Matcher value = Pattern.compile("(?m)^" + pattern + " ([0-9.E]+)$").matcher(metrics);
        return value.find() ? Double.parseDouble(value.group(1)) : 0;
    }

    private String metrics(int node) {
        try {
            return http(node, "/actuator/prometheus");
        } catch (IOException e) {
            return "";
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    /** The lines of a node's log that have this text. */
    List<String> logged(int node, String text) {
        try (Stream<String> lines = Files.lines(node(node).serviceLog())) {
            return lines.filter(line -> line.contains(text)).toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The end of what a node has said, for a person to read where a test fails. */
    String story(int node) {
        try (Stream<String> lines = Files.lines(node(node).serviceLog())) {
            return Stories.told(lines);
        } catch (IOException e) {
            return e.toString();
        }
    }

    private String story() {
        return sandbox.nodes().stream()
                .map(node -> node.name() + ":\n" + story(node.number()))
                .collect(Collectors.joining("\n"));
    }

    /** Where a node answers over HTTP. */
    String httpAddress(int node) {
        return node(node).host() + ":" + node(node).ports().http();
    }

    /** What an endpoint of a node answers. */
    String http(int node, String path) throws IOException, InterruptedException {
        return send(HTTP, node, path, HttpRequest.newBuilder().GET());
    }

    /** Waits until what a GET of a node answers has this in it. */
    void awaitAnswer(int node, String path, String part) throws InterruptedException {
        String[] last = {""};
        boolean there = within(LIMIT, () -> {
            try {
                last[0] = http(node, path);
            } catch (IOException e) {
                last[0] = e.toString();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
            return last[0].contains(part);
        });
        assertThat(there).as("%s of n%d answers %s", path, node, last[0]).isTrue();
    }

    /** What an endpoint of a node answers to JSON. */
    String post(int node, String path, String json) throws IOException, InterruptedException {
        // It would not be sent again by itself where a connection that was kept has ended with the service.
        return send(
                HttpClient.newHttpClient(),
                node,
                path,
                HttpRequest.newBuilder()
                        .header("Content-Type", "application/json")
                        .POST(HttpRequest.BodyPublishers.ofString(json)));
    }

    /** The status with which a probe of a node is answered. */
    int probe(int node, String path) throws IOException, InterruptedException {
        HttpRequest request = HttpRequest.newBuilder(URI.create(
                        "http://" + node(node).host() + ":" + node(node).ports().probe() + path))
                .timeout(PATIENCE)
                .build();
        return HTTP.send(request, HttpResponse.BodyHandlers.ofString()).statusCode();
    }

    private String send(HttpClient client, int node, String path, HttpRequest.Builder request)
            throws IOException, InterruptedException {
        AskedNode asked = node(node).asked();
        URI uri = URI.create("http://" + asked.address() + path);
        if (asked.authorization() != null) {
            request.header("Authorization", asked.authorization());
        }
        return client.send(
                        request.uri(uri)
                                .timeout(Duration.ofSeconds(30))
                                .header("Accept", "application/json, text/plain")
                                .build(),
                        HttpResponse.BodyHandlers.ofString())
                .body();
    }

    /** The cluster's. */
    String name() {
        return sandbox.settings().cluster();
    }

    static boolean within(Duration limit, BooleanSupplier condition) throws InterruptedException {
        long end = System.nanoTime() + limit.toNanos();
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() > end) {
                return false;
            }
            Thread.sleep(100);
        }
        return true;
    }

    /** @param passed otherwise its directory is kept */
    void close(boolean passed) {
        if (passed) {
            close();
        } else {
            killAll();
            System.out.println("kept: " + sandbox.directory());
        }
    }

    @Override
    public void close() {
        Stories.end(this);
        sandbox.destroy();
    }
}
