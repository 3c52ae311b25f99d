// SPDX-License-Identifier: Apache-2.0
package io.quorate.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.quorate.it.FieldCase.Step;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * What applications, migrations and operators do, from public reports about other clusters: the cases of it/field.md,
 * one after the other, on three nodes in mode {@code after-sync}. After each one all nodes are SYNCED and hold the same
 * tables, views, programs and accounts, and nobody needed a copy unless the case says so. {@code -Dquorate.cases=REGEX}
 * runs some of them.
 */
@Timeout(1800)
class FieldIT {
    private static final boolean ALL = Boolean.getBoolean("quorate.long");
    private static final String CHOICE = System.getProperty("quorate.cases", "");

    private static Cluster cluster;

    static Stream<FieldCase> cases() throws Exception {
        return FieldCase.read(Files.readAllLines(Path.of("field.md"))).stream()
                .filter(each ->
                        CHOICE.isEmpty() ? ALL || !each.isLong() : each.name().matches(CHOICE));
    }

    /** A case that fails may leave nodes that no other case can be run on. */
    @BeforeEach
    void start() throws Exception {
        if (cluster == null) {
            cluster = Cluster.start(3, Map.of("quorate.commit-mode", "after-sync", "quorate.sst.method", "stream"));
        }
    }

    @AfterAll
    static void end() {
        if (cluster != null) {
            cluster.close();
        }
    }

    @ParameterizedTest
    @MethodSource("cases")
    void endsWithEqualNodes(FieldCase each) throws Exception {
        boolean passed = false;
        try {
            check(each);
            passed = true;
        } finally {
            if (!passed) {
                cluster.close();
                cluster = null;
            }
        }
    }

    private static void check(FieldCase each) throws Exception {
        cluster.mysql(1).execute("DROP DATABASE IF EXISTS f", "CREATE DATABASE f");
        cluster.assertConverged();
        List<Integer> copies = copies();
        Map<String, Connection> sessions = new LinkedHashMap<>();
        try {
            for (Step step : each.steps()) {
                if (step.session() == null) {
                    cluster.assertConverged();
                } else if (step.everywhere() != null) {
                    cluster.assertConverged();
                    for (int node = 1; node <= 3; node++) {
                        assertThat(answer(node, step.sql()))
                                .as("n%d: %s", node, step.sql())
                                .isEqualTo(step.everywhere());
                    }
                } else {
                    run(sessions.computeIfAbsent(step.session(), any -> connect(step)), step);
                }
            }
        } finally {
            for (Connection session : sessions.values()) {
                session.close();
            }
        }
        cluster.assertConverged();
        assertThat(cluster.objectsThatDiffer()).isEmpty();
        if (!each.heals()) {
            assertThat(copies()).as("copies that each node has had").isEqualTo(copies);
        }
    }

    private static List<Integer> copies() {
        return Stream.of(1, 2, 3)
                .map(node -> cluster.steps(node, "copy_completed"))
                .toList();
    }

    private static Connection connect(Step step) {
        try {
            Connection session = step.asRoot() ? cluster.mysql(step.node()).connect() : cluster.app(step.node());
            try (Statement statement = session.createStatement()) {
                statement.execute("USE f");
            }
            return session;
        } catch (SQLException e) {
            throw new AssertionError(step.session(), e);
        }
    }

    private static void run(Connection session, Step step) {
        try (Statement statement = session.createStatement()) {
            // From 8.2 on it has another name.
            boolean resets = step.sql().equals("RESET MASTER");
            statement.execute(resets ? cluster.mysql(step.node()).dialect().resetBinlogs() : step.sql());
            assertThat(0).as("n%s: %s", step.session(), step.sql()).isEqualTo(step.error());
        } catch (SQLException e) {
            assertThat("08S01".equals(e.getSQLState()) ? FieldCase.CUT : e.getErrorCode())
                    .as("n%s: %s: %s", step.session(), step.sql(), e.getMessage())
                    .isEqualTo(step.error());
        }
    }

    /** What a query gives: columns with commas, rows with spaces between them. */
    private static String answer(int node, String sql) throws SQLException {
        List<String> rows = new ArrayList<>();
        try (Connection connection = cluster.mysql(node).connect();
                Statement statement = connection.createStatement()) {
            statement.execute("USE f");
            try (ResultSet result = statement.executeQuery(sql)) {
                while (result.next()) {
                    List<String> columns = new ArrayList<>();
                    for (int i = 1; i <= result.getMetaData().getColumnCount(); i++) {
                        columns.add(String.valueOf(result.getString(i)));
                    }
                    rows.add(String.join(",", columns));
                }
            }
        }
        return String.join(" ", rows);
    }
}
