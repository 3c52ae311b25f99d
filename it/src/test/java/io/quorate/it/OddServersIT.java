// SPDX-License-Identifier: Apache-2.0
package io.quorate.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * A cluster writes, copies and begins its sessions anew whatever the servers' global variables say: all of them that
 * can be set, each with its smallest value, its largest, and the other one of two. What can't be borne is named in the
 * node's reason. If a round fails, its halves are tried, so that a variable is left.
 */
@Tag("long")
@Timeout(3600)
class OddServersIT {
    private static final Duration LIMIT = Duration.ofSeconds(90);

    /** Not tried: each changes what a server is, or is checked beside the others. */
    private static final Pattern LEFT = Pattern.compile(
            // Named: the next test.
            "(super_)?read_only|offline_mode|gtid_.*|enforce_gtid_consistency|server_id|binlog_format|binlog_row_image"
                    + "|binlog_order_commits|binlog_row_metadata|binlog_checksum"
                    + "|max_connections|max_user_connections|mysqlx_max_connections"
                    + "|require_secure_transport|sql_select_limit|max_join_size|sql_big_selects|max_binlog_cache_size"
                    // The numbers that each node gives out, and whether events run.
                    + "|auto_increment_.*|event_scheduler"
                    // What the service itself sets, and sets right again.
                    + "|rpl_semi_sync_.*|max_allowed_packet"
                    // A copy's tables have the server's, and fit no other; MySQL's message names what doesn't.
                    + "|innodb_default_row_format"
                    // Without the Performance Schema's or the server's memory there is nothing to try.
                    + "|innodb_buffer_pool_size|performance_schema.*|.*_connection_memory_.*"
                    // What a statement of the trial itself would meet, not the service.
                    + "|default_table_encryption|default_storage_engine|default_tmp_storage_engine"
                    // Nobody would get anything done: spinning, and a second for each commit.
                    + "|innodb_(sync_spin_loops|spin_wait_.*|thread_sleep_delay|log_.*spin.*)"
                    + "|innodb_max_purge_lag.*|binlog_group_commit_sync_delay");

    /** Of memory and disk, the most that can be set is more than there is. */
    private static final long MAX = 1 << 20;

    private static Cluster cluster;
    private static final Map<Integer, Connection> control = new TreeMap<>();
    private static final Map<Integer, Connection> clients = new TreeMap<>();
    private static final Map<Integer, Map<String, String>> before = new TreeMap<>();
    private static int row;

    @BeforeAll
    static void start() throws Exception {
        cluster = Cluster.start(3, Map.of("quorate.commit-mode", "after-sync", "quorate.sst.method", "stream"));
        cluster.mysql(1)
                .execute(
                        "CREATE DATABASE d",
                        "CREATE TABLE d.t (id INT PRIMARY KEY, v VARCHAR(255) UNIQUE, j JSON, at TIMESTAMP,"
                                + " h INT AS (id * 2) STORED, p POINT)",
                        "INSERT INTO d.t (id, v, j, at) WITH RECURSIVE n(i) AS (SELECT 1000 UNION ALL SELECT i + 1"
                                + " FROM n WHERE i < 1900) SELECT i, REPEAT(i, 20), JSON_OBJECT('a', i), NOW() FROM n");
        cluster.assertConverged();
        for (int node : cluster.servers()) {
            control.put(node, cluster.mysql(node).connect());
            client(node);
            before.put(
                    node, rows(node, "SELECT VARIABLE_NAME, VARIABLE_VALUE FROM performance_schema.global_variables"));
        }
    }

    @AfterAll
    static void end() throws Exception {
        for (Connection each : control.values()) {
            each.close();
        }
        for (Connection each : clients.values()) {
            each.close();
        }
        cluster.close();
    }

    private static void execute(int node, String sql) throws SQLException {
        try (Statement statement = control.get(node).createStatement()) {
            statement.execute(sql);
        }
    }

    private static Map<String, String> rows(int node, String sql) throws SQLException {
        Map<String, String> rows = new LinkedHashMap<>();
        try (Statement statement = control.get(node).createStatement();
                ResultSet row = statement.executeQuery(sql)) {
            while (row.next()) {
                rows.put(row.getString(1), row.getString(2));
            }
        }
        return rows;
    }

    private static boolean isSet(int node, String variable, String value) {
        try {
            execute(node, "SET GLOBAL " + variable + " = " + value);
            return true;
        } catch (SQLException e) {
            return false;
        }
    }

    /** By variable the values that it takes here, the smallest first and the largest last. */
    private static Map<String, List<String>> odd() throws SQLException {
        Map<String, List<String>> odd = new TreeMap<>();
        Map<String, String> limits = rows(
                1, "SELECT VARIABLE_NAME, CONCAT(MIN_VALUE, ' ', MAX_VALUE) FROM performance_schema.variables_info");
        for (Map.Entry<String, String> each : before.get(1).entrySet()) {
            String variable = each.getKey();
            String was = each.getValue();
            // Some have a value that they don't take.
            if (LEFT.matcher(variable).matches() || !isPutBack(1, variable)) {
                continue;
            }
            List<String> candidates = new ArrayList<>();
            String[] range = limits.get(variable).split(" ");
            if (was.equals("ON") || was.equals("OFF")) {
                candidates.add(was.equals("ON") ? "OFF" : "ON");
            } else if (was.matches("-?[\\d.]+")) {
                candidates.add(range[0]);
                candidates.add(Double.parseDouble(range[1]) > MAX ? Long.toString(MAX) : range[1]);
            } else {
                candidates.addAll(List.of("0", "1", "2")); // The places of an enumeration.
            }
            candidates.removeIf(value -> value.equals(was) || !isSet(1, variable, value));
            putBack(1, variable);
            if (!candidates.isEmpty()) {
                odd.put(variable, candidates);
            }
        }
        return odd;
    }

    private static void putBack(int node, String variable) {
        assertThat(isPutBack(node, variable)).as("%s is put back", variable).isTrue();
    }

    private static boolean isPutBack(int node, String variable) {
        String was = before.get(node).get(variable);
        return isSet(node, variable, "'" + was.replace("'", "''") + "'") || isSet(node, variable, was);
    }

    @Test
    void aClusterWorksWhateverTheGlobalVariablesSay() throws Exception {
        Map<String, List<String>> odd = odd();
        assertThat(odd).hasSizeGreaterThan(300);
        List<String> unborne = new ArrayList<>();
        for (int round = 0; round < 3; round++) {
            Map<String, String> values = new LinkedHashMap<>();
            for (Map.Entry<String, List<String>> each : odd.entrySet()) {
                if (each.getValue().size() > round) {
                    values.put(each.getKey(), each.getValue().get(round));
                }
            }
            unborne.addAll(unborne(List.copyOf(values.entrySet())));
        }
        assertThat(unborne).isEmpty();
    }

    private static List<String> unborne(List<Map.Entry<String, String>> values) throws Exception {
        System.out.println(
                values.size() + " variables are odd: " + values.get(0).getKey() + " ...");
        String wrong;
        try {
            for (int node : cluster.servers()) {
                for (Map.Entry<String, String> each : values) {
                    isSet(node, each.getKey(), each.getValue());
                }
            }
            wrong = wrong();
        } finally {
            for (int node : cluster.servers()) {
                values.forEach(each -> putBack(node, each.getKey()));
            }
        }
        if (wrong == null) {
            return List.of();
        }
        System.out.println(wrong);
        for (int node : cluster.servers()) {
            cluster.awaitState(node, "SYNCED");
        }
        if (values.size() == 1) {
            return List.of(values.get(0) + ": " + wrong);
        }
        List<String> found = new ArrayList<>(unborne(values.subList(0, values.size() / 2)));
        found.addAll(unborne(values.subList(values.size() / 2, values.size())));
        return found;
    }

    /** What doesn't work; null when everything does: commits, sessions that begin anew, a copy, commits. */
    private static String wrong() throws Exception {
        String written = written();
        if (written != null) {
            return written;
        }
        int copies = cluster.steps(1, "copy_completed");
        for (int node : cluster.servers()) {
            endSessions(node);
        }
        if (!Cluster.within(LIMIT, OddServersIT::areSynced)) {
            return "after sessions were ended: " + reasons();
        }
        String[] answer = {""};
        boolean copied = Cluster.within(LIMIT, () -> {
            try {
                answer[0] = cluster.post(1, "/actuator/heal", "{\"tables\": \"d.t\"}");
                return answer[0].contains("true");
            } catch (IOException | InterruptedException e) {
                answer[0] = e.toString();
                return false;
            }
        });
        if (!copied || !Cluster.within(LIMIT, () -> cluster.steps(1, "copy_completed") > copies)) {
            return "no copy, " + answer[0] + ": " + reasons();
        }
        return Cluster.within(LIMIT, OddServersIT::areSynced) ? written() : "after the copy: " + reasons();
    }

    private static String written() throws Exception {
        for (int node : cluster.servers()) {
            row++;
            String why = null;
            for (long end = System.nanoTime() + LIMIT.toNanos(); System.nanoTime() < end; Thread.sleep(200)) {
                try (Statement statement = client(node).createStatement()) {
                    statement.execute("REPLACE INTO d.t (id, v, j, at) VALUES (" + row + ", 'v" + row
                            + "', '{\"b\": [1, 2]}', '2026-01-01 00:00:00')");
                    why = null;
                    break;
                } catch (SQLException e) {
                    why = e.getMessage();
                }
            }
            if (why != null) {
                return "n" + node + " takes no row, " + why + ": " + reasons();
            }
        }
        String query = "SELECT COUNT(*), SUM(id) + SUM(CRC32(CONCAT(v, j, h))) FROM d.t";
        boolean equal = Cluster.within(LIMIT, () -> {
            try {
                return rows(1, query).equals(rows(2, query))
                        && rows(1, query).equals(rows(3, query))
                        && rows(2, "SELECT 1, MAX(id) FROM d.t WHERE id < 1000").containsValue(Integer.toString(row));
            } catch (SQLException e) {
                return false;
            }
        });
        return equal ? null : "rows differ: " + rows(1, query) + rows(2, query) + rows(3, query) + reasons();
    }

    /** One that read_only keeps from writing, with the session that it had before variables were odd. */
    private static Connection client(int node) throws SQLException {
        Connection before = clients.get(node);
        if (before == null || before.isClosed()) {
            Connection client = cluster.app(node);
            client.setNetworkTimeout(Runnable::run, (int) LIMIT.toMillis());
            clients.put(node, client);
        }
        return clients.get(node);
    }

    private static void endSessions(int node) throws SQLException {
        for (String session : rows(
                        node,
                        "SELECT PROCESSLIST_ID, 1 FROM performance_schema.threads WHERE PROCESSLIST_USER = 'quorate'")
                .keySet()) {
            try {
                execute(node, "KILL " + session);
            } catch (SQLException e) {
                assertThat(e.getErrorCode()).as(e.getMessage()).isEqualTo(1094); // It has ended by itself.
            }
        }
    }

    private static boolean areSynced() {
        return cluster.servers().stream().allMatch(node -> cluster.state(node).equals("SYNCED"));
    }

    private static String reasons() {
        StringBuilder reasons = new StringBuilder();
        cluster.servers().forEach(node -> reasons.append(cluster.state(node))
                .append(' ')
                .append(cluster.reason(node))
                .append("; "));
        return reasons.toString();
    }

    /** Set at one node, whose sessions then begin anew. Once it is taken back, all is well by itself. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            require_secure_transport        | ON      | insecure transport
            max_connections                 | 1       | Too many connections
            max_user_connections            | 1       | max_user_connections
            protocol_compression_algorithms | 'zlib'  | ompression
            offline_mode                    | ON      | offline_mode
            read_only                       | ON      | read_only
            super_read_only                 | ON      | super_read_only
            binlog_format                   | MIXED   | binlog_format
            binlog_row_image                | MINIMAL | binlog_row_image
            binlog_row_metadata             | MINIMAL | binlog_row_metadata
            binlog_checksum                 | NONE    | binlog_checksum
            sql_select_limit                | 0       | sql_select_limit
            max_join_size                   | 3       | max_join_size
            """)
    void whatCantBeBorneIsNamed(String variable, String value, String named) throws Exception {
        if (variable.equals("binlog_format") && !isSet(2, variable, "ROW")) {
            return; // A later version has only one.
        }
        assertThat(isSet(2, variable, value)).isTrue();
        try {
            endSessions(2);
            assertThat(Cluster.within(LIMIT, () -> cluster.reason(2).contains(named)))
                    .as(cluster.state(2) + " " + cluster.reason(2))
                    .isTrue();
        } finally {
            putBack(2, variable);
            isSet(2, "read_only", "OFF");
            isSet(2, "sql_big_selects", "ON");
        }
        assertThat(Cluster.within(LIMIT, () -> areSynced() && cluster.reason(2).isEmpty()))
                .as(reasons())
                .isTrue();
        assertThat(written()).isNull();
    }

    /** The server refuses to commit what another one has committed. */
    @Test
    void aTransactionThatAServersBinlogCantTakeIsNamed() throws Exception {
        assertThat(isSet(2, "max_binlog_cache_size", "4096")).isTrue();
        try {
            endSessions(2);
            cluster.mysql(1).execute("UPDATE d.t SET j = JSON_OBJECT('z', REPEAT('z', 200)) WHERE id >= 1000");
            assertThat(Cluster.within(LIMIT, () -> cluster.reason(2).contains("max_binlog_cache_size")))
                    .as(cluster.state(2) + " " + cluster.reason(2))
                    .isTrue();
        } finally {
            putBack(2, "max_binlog_cache_size");
        }
        assertThat(written()).isNull();
    }
}
