// SPDX-License-Identifier: Apache-2.0
package io.quorate.applier;

import static org.assertj.core.api.Assertions.assertThat;

import io.quorate.core.SessionSettings;
import io.quorate.sandbox.MySqlServer;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What one definition had set, or held, is nothing to the next one that is run on the same connection. */
@Timeout(120)
class DdlConnectionsIT {
    private static final Duration LOCK_WAIT = Duration.ofSeconds(3);
    private static final long BYTES = 64 << 10;
    /** Of one session alone. */
    private static final Set<String> ITS_OWN = Set.of("pseudo_thread_id", "timestamp", "statement_id");

    /** One of them is another value than any variable has. */
    private static final List<String> VALUES =
            List.of("1", "0", "'OFF'", "17", "'latin1'", "'latin1_german1_ci'", "'MyISAM'", "'+03:00'", "'de_DE'", "3");

    private static MySqlServer server;
    private static DataSource source;

    @BeforeAll
    static void start() {
        server = MySqlServer.builder().relaxed().start();
        server.execute("CREATE DATABASE s", "CREATE TABLE s.t (id INT PRIMARY KEY)");
        source = ApplierDataSource.of(server.jdbcUrl(), "root", "");
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    private static DdlConnections connections() {
        return new DdlConnections(source, LOCK_WAIT, Duration.ofHours(1));
    }

    private static Map<String, String> variables(Session session) throws SQLException {
        Map<String, String> variables = new TreeMap<>();
        try (Statement statement = session.connection().createStatement();
                ResultSet row = statement.executeQuery(
                        "SELECT VARIABLE_NAME, VARIABLE_VALUE FROM performance_schema.session_variables")) {
            while (row.next()) {
                variables.put(row.getString(1), row.getString(2));
            }
        }
        variables.keySet().removeAll(ITS_OWN);
        return variables;
    }

    /** Sets what a session can set, as far as the server takes one of the values. */
    private static void setAll(Statement session, Set<String> names) throws SQLException {
        for (String name : names) {
            for (String value : VALUES) {
                try {
                    session.execute("SET SESSION " + name + " = " + value);
                } catch (SQLException e) {
                    assertThat(e.getSQLState()).as(name).doesNotStartWith("08");
                }
            }
        }
    }

    @Test
    void aKeptOneIsAsNew() throws SQLException {
        try (DdlConnections connections = connections();
                DdlConnections others = connections()) {
            Session first = connections.take(BYTES, null);
            long id = first.id();
            first.execute("CREATE TEMPORARY TABLE s.mine (id INT)");
            first.execute("SET @mine = 1");
            first.execute("PREPARE mine FROM 'SELECT 1'");
            Map<String, String> before = variables(first);
            Set<String> names = new HashSet<>(before.keySet());
            names.removeAll(SessionSettings.LIMITS);
            try (Statement statement = first.connection().createStatement()) {
                setAll(statement, names);
            }
            assertThat(variables(first).entrySet())
                    .filteredOn(each -> !each.getValue().equals(before.get(each.getKey())))
                    .hasSizeGreaterThan(60);
            first.execute("SET SESSION sql_select_limit = 1, max_join_size = 1, max_execution_time = 1");
            connections.giveBack(first);

            Session again = connections.take(BYTES, null);
            Session other = others.take(BYTES, null);
            assertThat(again.id()).isEqualTo(id);
            assertThat(variables(again)).isEqualTo(variables(other));
            try (Statement statement = again.connection().createStatement();
                    ResultSet row = statement.executeQuery("SELECT @mine")) {
                row.next();
                assertThat(row.getString(1)).isNull();
            }
            for (String gone : List.of("SELECT * FROM s.mine", "EXECUTE mine")) {
                assertThat(fails(again, gone)).as(gone).isTrue();
            }
            again.close();
            other.close();
        }
    }

    private static boolean fails(Session session, String statement) {
        try {
            session.execute(statement);
            return false;
        } catch (SQLException e) {
            return true;
        }
    }

    /** Resetting a connection leaves its default schema, and no statement takes it away. */
    @Test
    void theSchemaIsTheOneThatIsWantedOrNone() throws SQLException {
        server.execute("CREATE DATABASE other");
        try (DdlConnections connections = connections()) {
            long id = use(connections, "`s`", "s");
            assertThat(use(connections, "`s`", "s")).isEqualTo(id);
            assertThat(use(connections, "`other`", "other")).isEqualTo(id);
            long second = use(connections, "`missing`", null);
            assertThat(second).isNotEqualTo(id);
            assertThat(use(connections, "`s`", "s")).isEqualTo(second);
            assertThat(use(connections, null, null)).isNotEqualTo(second);
        }
    }

    /** @return the number of the connection that was used */
    private static long use(DdlConnections connections, String quoted, String inUse) throws SQLException {
        Session session = connections.take(BYTES, quoted);
        if (quoted != null) {
            assertThat(session.use(quoted)).isEqualTo(inUse != null);
        }
        try (Statement statement = session.connection().createStatement();
                ResultSet row = statement.executeQuery("SELECT DATABASE()")) {
            row.next();
            assertThat(row.getString(1)).isEqualTo(inUse);
        }
        connections.giveBack(session);
        return session.id();
    }

    @Test
    void locksAndGtidsEndWhenItIsGivenBack() throws SQLException {
        try (DdlConnections connections = connections()) {
            Session session = connections.take(BYTES, null);
            session.execute("LOCK TABLES s.t WRITE");
            session.execute("COMMIT");
            session.execute("SET gtid_next = '11111111-1111-1111-1111-111111111111:1'");
            connections.giveBack(session);
            server.execute(
                    "INSERT INTO s.t VALUES (1)",
                    "SET gtid_next = '11111111-1111-1111-1111-111111111111:1'",
                    "INSERT INTO s.t VALUES (2)",
                    "SET gtid_next = 'AUTOMATIC'");
            assertThat(server.queryLong("SELECT COUNT(*) FROM s.t")).isEqualTo(2);
        }
    }

    @Test
    void oneThatTheServerHasEndedIsNotKept() throws SQLException {
        try (DdlConnections connections = connections()) {
            Session session = connections.take(BYTES, null);
            server.execute("KILL " + session.id());
            connections.giveBack(session);
            Session next = connections.take(BYTES, null);
            assertThat(next.id()).isNotEqualTo(session.id());
            next.close();
        }
    }

    @Test
    void anOldOneIsNotUsedAgain() throws SQLException {
        try (DdlConnections connections = new DdlConnections(source, LOCK_WAIT, Duration.ZERO)) {
            Session session = connections.take(BYTES, null);
            connections.giveBack(session);
            Session next = connections.take(BYTES, null);
            assertThat(next.id()).isNotEqualTo(session.id());
            assertThat(session.connection().isClosed()).isTrue();
            next.close();
        }
    }

    /** Perhaps because its account lacked a privilege, which doesn't count for whoever is connected. */
    @Test
    void oneInWhichSomethingHasFailedIsNotKept() throws SQLException {
        try (DdlConnections connections = connections()) {
            Session session = connections.take(BYTES, null);
            assertThat(fails(session, "DROP TABLE s.missing")).isTrue();
            connections.giveBack(session);
            assertThat(session.connection().isClosed()).isTrue();
        }
    }

    @Test
    void nothingIsOpenOnceTheyAreClosed() throws SQLException {
        DdlConnections connections = connections();
        Session late = connections.take(BYTES, null);
        connections.giveBack(connections.take(BYTES, null));
        connections.close();
        connections.giveBack(late);
        assertThat(late.connection().isClosed()).isTrue();
    }

    @Test
    void aLargerStatementGetsAnotherOne() throws SQLException {
        try (DdlConnections connections = connections()) {
            connections.giveBack(connections.take(BYTES, null));
            Session session = connections.take(LargePackets.BYTES_MAX, null);
            assertThat(LargePackets.takes(session.connection(), LargePackets.BYTES_MAX))
                    .isTrue();
            session.close();
        }
    }
}
