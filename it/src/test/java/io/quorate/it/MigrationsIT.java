// SPDX-License-Identifier: Apache-2.0
package io.quorate.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.quorate.sandbox.MySqlServer;
import java.io.File;
import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.flywaydb.core.Flyway;
import org.flywaydb.core.api.output.MigrateResult;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Instances of an application boot, each beside a node of its own, and each migrates the schema. By Liquibase three do
 * so at once, and end as with one server alone; as a supervisor does, the test starts again who fails. Meanwhile a
 * client of each node writes rows of its own, which nobody may refuse.
 */
@Timeout(900)
class MigrationsIT {
    private static final int NODES = 3;
    private static final int STARTS_MAX = 10;
    /** As Keycloak's manual wants it: rows would be too long otherwise. */
    private static final String CHARSET = " CHARACTER SET utf8mb3";
    /** Keycloak's change logs, which the build puts here. */
    private static final Path KEYCLOAK = Path.of("target/keycloak");
    /** Changes by programs of Keycloak's own, which move rows that a new schema doesn't have. */
    private static final Pattern PROGRAMS =
            Pattern.compile("<customChange[^>]*(/>|>.*?</customChange>)", Pattern.DOTALL);

    private static Cluster cluster;

    @TempDir
    private Path directory;

    @BeforeAll
    static void start() throws Exception {
        cluster = Cluster.start(NODES, Map.of("quorate.commit-mode", "after-sync"));
        cluster.mysql(1).execute("CREATE DATABASE beside", "CREATE TABLE beside.t (id INT PRIMARY KEY, n INT)");
        cluster.assertConverged();
    }

    @AfterAll
    static void stop() {
        if (cluster != null) {
            cluster.close();
        }
    }

    /** One after the other: its lock is GET_LOCK, of which each server has its own. */
    @Test
    void flyway() throws Exception {
        cluster.mysql(1).execute("CREATE DATABASE flyway");
        for (int node : cluster.servers()) {
            cluster.assertConverged();
            MigrateResult result = Flyway.configure()
                    .dataSource(cluster.mysql(node).jdbcUrl("flyway"), "app", "app")
                    .locations("classpath:migrations")
                    .load()
                    .migrate();
            assertThat(result.migrationsExecuted).isEqualTo(node == 1 ? 3 : 0);
        }
        assertThat(cluster.mysql(3).queryOne("SELECT status FROM flyway.purchase"))
                .isEqualTo("paid");
    }

    @Test
    void liquibase() throws Exception {
        boot("liquibase", "META-INF/jpa-changelog-1.0.0.Final.xml");
    }

    @Test
    @Tag("long")
    void keycloak() throws Exception {
        boot("keycloak", "META-INF/jpa-changelog-master.xml");
    }

    @BeforeEach
    void copyChangeLogs() throws IOException {
        Path logs = Files.createDirectory(directory.resolve("META-INF"));
        try (Stream<Path> files = Files.list(KEYCLOAK.resolve("META-INF"))) {
            for (Path file : files.filter(f -> f.toString().endsWith(".xml")).toList()) {
                String text = Files.readString(file);
                Files.writeString(
                        logs.resolve(file.getFileName()), PROGRAMS.matcher(text).replaceAll(""));
            }
        }
    }

    /**
     * One start of an instance.
     *
     * @param log a change log of Keycloak's
     */
    private void migrate(MySqlServer server, String schema, String log) throws Exception {
        // Liquibase keeps in statics what it knows of locks.
        try (URLClassLoader own = new URLClassLoader(classPath(), ClassLoader.getPlatformClassLoader())) {
            Class<?> change = own.loadClass(LiquibaseInstance.class.getName());
            Thread.currentThread().setContextClassLoader(own);
            ((Callable<?>) change.getDeclaredConstructor(String.class, Path.class, String.class)
                            .newInstance(server.jdbcUrl(schema), directory, log))
                    .call();
        }
    }

    private static URL[] classPath() throws IOException {
        List<URL> all = new ArrayList<>();
        for (String each : System.getProperty("java.class.path").split(File.pathSeparator)) {
            all.add(Path.of(each).toUri().toURL());
        }
        return all.toArray(URL[]::new);
    }

    /** Boots three instances on one server alone, then on three nodes, and compares what they end with. */
    private void boot(String schema, String log) throws Exception {
        String expected;
        try (MySqlServer alone = MySqlServer.builder().start()) {
            alone.execute("CREATE DATABASE " + schema + CHARSET, "CREATE USER app IDENTIFIED BY 'app'");
            alone.execute("GRANT ALL ON *.* TO app");
            System.out.println(schema + ", alone: " + boot(List.of(alone, alone, alone), schema, log));
            expected = columns(alone, schema);
        }
        List<MySqlServer> nodes = cluster.servers().stream().map(cluster::mysql).toList();
        nodes.get(0).execute("CREATE DATABASE " + schema + CHARSET);
        cluster.assertConverged();
        List<Future<Integer>> clients = new ArrayList<>();
        AtomicBoolean done = new AtomicBoolean();
        ExecutorService threads = Executors.newFixedThreadPool(NODES);
        try {
            for (int node : cluster.servers()) {
                clients.add(threads.submit(() -> write(node, schema.hashCode() & 0xFFFF, done)));
            }
            System.out.println(schema + ", on three nodes: " + boot(nodes, schema, log));
            done.set(true);
            for (Future<Integer> client : clients) {
                assertThat(client.get()).isPositive();
            }
        } finally {
            done.set(true);
            threads.shutdown();
        }
        cluster.assertConverged();
        for (int node : cluster.servers()) {
            assertThat(columns(cluster.mysql(node), schema)).isEqualTo(expected);
            assertThat(cluster.logged(node, "SYNCED -> JOINER")).isEmpty();
        }
    }

    /** How each instance failed before it was up, and the seconds that all took. */
    private Map<String, Object> boot(List<MySqlServer> servers, String schema, String log) throws Exception {
        long start = System.nanoTime();
        Map<String, Object> ends = new TreeMap<>();
        ExecutorService threads = Executors.newFixedThreadPool(servers.size());
        try {
            List<Future<List<String>>> instances = new ArrayList<>();
            for (MySqlServer server : servers) {
                instances.add(threads.submit(() -> bootOne(server, schema, log)));
            }
            for (int i = 0; i < instances.size(); i++) {
                ends.put("instance " + (i + 1), instances.get(i).get());
            }
        } finally {
            threads.shutdown();
        }
        ends.put("seconds", (System.nanoTime() - start) / 100_000_000 / 10.0);
        return ends;
    }

    private List<String> bootOne(MySqlServer server, String schema, String log) throws Exception {
        List<String> failures = new ArrayList<>();
        while (true) {
            try {
                migrate(server, schema, log);
                return failures;
            } catch (Exception e) {
                Throwable cause = e;
                while (cause != null && !(cause instanceof SQLException)) {
                    cause = cause.getCause();
                }
                if (cause == null || failures.size() == STARTS_MAX) {
                    throw e;
                }
                failures.add(((SQLException) cause).getErrorCode() + " " + cause.getMessage());
            }
        }
    }

    private static int write(int node, int from, AtomicBoolean done) throws Exception {
        int written = 0;
        try (Connection connection = cluster.app(node);
                Statement statement = connection.createStatement()) {
            while (!done.get()) {
                statement.execute("INSERT INTO beside.t VALUES (" + (from * 10_000L + written * 3L + node) + ", 1)");
                written++;
                Thread.sleep(50);
            }
        }
        return written;
    }

    private static String columns(MySqlServer server, String schema) {
        return server
                .query("SELECT CONCAT_WS(' ', TABLE_NAME, COLUMN_NAME, ORDINAL_POSITION, COLUMN_TYPE, COLUMN_KEY)"
                        + " FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = '" + schema
                        + "' ORDER BY TABLE_NAME, ORDINAL_POSITION")
                .stream()
                .map(row -> row.get(0))
                .collect(Collectors.joining("\n"));
    }
}
