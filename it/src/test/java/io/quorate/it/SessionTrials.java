// SPDX-License-Identifier: Apache-2.0
package io.quorate.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The matrix' other dimension: every class of definitions in every kind of session. A command of its own, see
 * it/README.md. All servers end equal, and nobody has left or needed a copy. {@code -Dquorate.sessions=REGEX} takes
 * some of the sessions.
 */
@Timeout(3600)
class SessionTrials {
    private static final Pattern SESSIONS = Pattern.compile(System.getProperty("quorate.sessions", ".*"));
    /** Names in the statements of {@link DefinitionKind}: m.t, m2.t, m_u and so on. */
    private static final Pattern M = Pattern.compile("\\bm(?=[._ ]|2\\b)");

    /** No session makes it repeatable: its server gets a copy, and its clients are disconnected meanwhile. */
    private static final String TAKEN_BACK = "AUTO_INCREMENT that numbers rows";

    private static Cluster cluster;
    private static SoakWatch watch;

    static Stream<SessionKind> sessions() {
        return SessionKind.all().stream()
                .filter(kind -> SESSIONS.matcher(kind.name()).find());
    }

    @BeforeAll
    static void open() throws Exception {
        cluster = Cluster.start(3, Map.of("quorate.sst.method", "stream", "quorate.commit-mode", "after-sync"));
        watch = new SoakWatch(cluster);
    }

    @AfterAll
    static void close() {
        watch.close();
        cluster.close();
    }

    @ParameterizedTest
    @MethodSource("sessions")
    void allServersMakeTheSameOfIt(SessionKind session) throws Exception {
        List<String> refused = new ArrayList<>();
        int number = 0;
        for (DefinitionKind kind : DefinitionKind.all()) {
            if (kind.name().equals(TAKEN_BACK)) {
                continue;
            }
            String m = "m" + ++number + "x";
            run(session, List.of(), "CREATE DATABASE " + m, refused);
            List<String> setUp = new ArrayList<>(List.of(DefinitionKind.TABLE, DefinitionKind.ROWS));
            setUp.add("CREATE TABLE m.still (id INT PRIMARY KEY, a INT)");
            setUp.addAll(kind.setUp());
            run(session, setUp.stream().map(sql -> named(sql, m)).toList(), named(kind.definition(), m), refused);
        }
        run(session, List.of(), "CREATE DATABASE sx", refused);
        for (String sql : SessionKind.definitions()) {
            // Each in a session of its own, so that what one uses up is there for the next.
            run(
                    session,
                    sql.startsWith("CREATE EVENT") ? List.of("SET @days = 3") : List.of(),
                    sql.formatted("sx"),
                    refused);
        }
        System.out.println(session.name() + ": " + refused.size() + " refused: " + refused);
        cluster.assertConverged();
        assertThat(cluster.objectsThatDiffer()).isEmpty();
        assertThat(watch.fault()).isEmpty();
        assertThat(watch.departure()).isEmpty();
        for (int node : cluster.numbers()) {
            assertThat(cluster.http(node, "/actuator/conflicts"))
                    .as("n%d", node)
                    .contains("\"conflicts\":[]");
        }
        clean();
    }

    private static String named(String sql, String m) {
        return M.matcher(sql).replaceAll(m);
    }

    private static void run(SessionKind session, List<String> before, String sql, List<String> refused)
            throws SQLException {
        try (Connection client = cluster.mysql(1).connect();
                Statement statement = client.createStatement()) {
            for (String each : before) {
                statement.execute(each);
            }
            for (String set : session.set()) {
                statement.execute("SET " + set);
            }
            try {
                statement.execute(sql);
                statement.execute("COMMIT");
            } catch (SQLException e) {
                refused.add(sql.substring(0, Math.min(50, sql.length())) + ": " + e.getMessage());
            }
        }
    }

    private static void clean() throws Exception {
        List<String> drops = new ArrayList<>();
        for (List<String> schema : cluster.mysql(1)
                .query("SELECT SCHEMA_NAME FROM information_schema.SCHEMATA"
                        + " WHERE SCHEMA_NAME REGEXP '^(m[0-9]+x2?|sx(_2)?)$'")) {
            drops.add("DROP DATABASE " + schema.get(0));
        }
        for (List<String> account : cluster.mysql(1)
                .query("SELECT CONCAT(QUOTE(User), '@', QUOTE(Host)) FROM mysql.user WHERE User REGEXP '^m[0-9]+x_'")) {
            drops.add("DROP USER " + account.get(0));
        }
        for (List<String> space : cluster.mysql(1)
                .query("SELECT NAME FROM information_schema.INNODB_TABLESPACES WHERE NAME REGEXP '^m[0-9]+x_s'")) {
            drops.add("DROP TABLESPACE " + space.get(0));
        }
        cluster.mysql(1).execute(drops.toArray(String[]::new));
        cluster.assertConverged();
    }
}
