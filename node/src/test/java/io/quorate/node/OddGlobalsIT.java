// SPDX-License-Identifier: Apache-2.0
package io.quorate.node;

import static java.util.stream.Collectors.toMap;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.quorate.core.NodeState;
import io.quorate.core.ServerTls;
import io.quorate.core.SessionSettings;
import io.quorate.node.config.NodeProperties;
import io.quorate.node.server.ServerAccess;
import io.quorate.sandbox.MySqlServer;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.source.MapConfigurationPropertySource;

/** The service's sessions don't take over what the server's global variables say. */
@Timeout(180)
class OddGlobalsIT {
    private static final String ACCOUNT = "quorate";
    private static final Pattern ASSIGNMENT = Pattern.compile("(\\w+)=('[^']*'|[^,]*)(?:,|$)");

    /** Session variables that the service doesn't set for itself, and why it needn't. Of whichever version. */
    private static final Map<String, String> LEFT = new HashMap<>();

    static {
        left(
                "said by the event of what is carried out, or by the statement",
                "sql_mode time_zone lc_time_names default_week_format div_precision_increment block_encryption_mode"
                        + " default_table_encryption default_collation_for_utf8mb4 character_set_server"
                        + " collation_server character_set_database collation_database"
                        + " character_set_filesystem innodb_strict_mode"
                        + " restrict_fk_on_non_standard_key enable_cascade_triggers external_table_storage_engine"
                        + " external_table_secondary_storage_engine");
        left(
                "the driver's",
                "character_set_client character_set_connection character_set_results collation_connection"
                        + " session_track_schema session_track_system_variables");
        left("not global, whatever the server lists", "rbr_exec_mode");
        left("can't be set by a session; LargePackets", "max_allowed_packet net_buffer_length max_user_connections");
        left(
                "memory, speed and files only",
                "big_tables bulk_insert_buffer_size connection_memory_chunk_size connection_memory_limit"
                        + " eq_range_index_dive_limit global_connection_memory_tracking"
                        + " histogram_generation_max_mem_size innodb_ddl_buffer_size innodb_ddl_threads"
                        + " innodb_parallel_read_threads innodb_tmpdir internal_tmp_mem_storage_engine"
                        + " join_buffer_size max_heap_table_size max_length_for_sort_data max_seeks_for_key"
                        + " myisam_sort_buffer_size net_retry_count optimizer_max_subgraph_pairs"
                        + " optimizer_prune_level optimizer_search_depth optimizer_switch"
                        + " preload_buffer_size query_alloc_block_size query_prealloc_size range_alloc_block_size"
                        + " read_buffer_size read_rnd_buffer_size secondary_engine_cost_threshold"
                        + " select_into_buffer_size select_into_disk_sync select_into_disk_sync_delay"
                        + " set_operations_buffer_size sort_buffer_size sql_buffer_result tmp_table_size"
                        + " transaction_alloc_block_size transaction_prealloc_size enable_secondary_engine_statistics"
                        + " myisam_stats_method keep_files_on_create");
        left(
                "what is measured and logged",
                "long_query_time min_examined_row_limit optimizer_trace optimizer_trace_features optimizer_trace_limit"
                        + " optimizer_trace_max_mem_size optimizer_trace_offset profiling profiling_history_size"
                        + " sql_log_off binlog_rows_query_log_events explain_format explain_json_format_version");
        left(
                "read in any form",
                "binlog_transaction_compression binlog_transaction_compression_level_zstd"
                        + " transaction_write_set_extraction");
        left(
                "the service uses nothing that it is about",
                "cte_max_recursion_depth generated_random_password_length group_replication_consistency"
                        + " innodb_ft_enable_stopword innodb_ft_user_stopword_table max_delayed_threads"
                        + " max_insert_delayed_threads max_points_in_geometry max_sp_recursion_depth new"
                        + " show_old_temporals updatable_views_with_limit windowing_use_high_precision");
    }

    /** What {@code quorate check} wants, so that a node with anything else stops with what it wants. */
    private static final Set<String> REQUIRED = Set.of("binlog_format", "binlog_row_image");

    /** Where neither a number nor the place in an enumeration will do. */
    private static final Map<String, String> ODD = Map.of(
            "max_execution_time", "1",
            "sql_mode", "'ANSI_QUOTES,NO_BACKSLASH_ESCAPES,PAD_CHAR_TO_FULL_LENGTH,PIPES_AS_CONCAT,IGNORE_SPACE'",
            "binlog_row_value_options", "'PARTIAL_JSON'",
            "lc_messages", "'de_DE'",
            "lc_time_names", "'de_DE'",
            "time_zone", "'+05:45'",
            "default_storage_engine", "'MEMORY'",
            "default_tmp_storage_engine", "'MEMORY'",
            "collation_server", "'utf32_bin'",
            "block_encryption_mode", "'aes-256-cbc'");

    /** Those whose odd values would be names of something that isn't there, or leave no room for a question. */
    private static final Set<String> SPECIAL = Set.of(
            "default_collation_for_utf8mb4",
            "innodb_ft_user_stopword_table",
            "innodb_tmpdir",
            "external_table_storage_engine",
            "external_table_secondary_storage_engine",
            "session_track_system_variables",
            "rbr_exec_mode",
            "sql_big_selects",
            "max_join_size",
            "max_allowed_packet");

    /** What sessions of all kinds have from their beginning to their end. */
    private static final Set<String> SEEN = Set.of(
            "sql_select_limit", "max_join_size", "max_execution_time", "completion_type", "transaction_read_only");

    private static MySqlServer mysql;

    @TempDir
    private Path directory;

    private Connection connection;
    private final Map<String, String> before = new LinkedHashMap<>();

    private static void left(String why, String variables) {
        for (String variable : variables.split(" ")) {
            LEFT.put(variable, why);
        }
    }

    @BeforeAll
    static void startServer() {
        mysql = MySqlServer.builder().relaxed().start();
        mysql.execute(
                "CREATE USER " + ACCOUNT + "@localhost IDENTIFIED BY 'secret'",
                "GRANT ALL ON *.* TO " + ACCOUNT + "@localhost WITH GRANT OPTION",
                "CREATE DATABASE a",
                "CREATE TABLE a.t (id VARCHAR(20) PRIMARY KEY, v TEXT)");
    }

    @AfterAll
    static void stopServer() {
        mysql.close();
    }

    @AfterEach
    void putBack() throws SQLException {
        if (connection != null) {
            for (Map.Entry<String, String> value : before.entrySet()) {
                set(value.getKey(), "'" + value.getValue() + "'", value.getValue());
            }
            connection.close();
        }
    }

    private void set(String variable, String... candidates) throws SQLException {
        SQLException last = null;
        for (String value : candidates) {
            try (Statement statement = connection.createStatement()) {
                statement.execute("SET GLOBAL " + variable + " = " + value);
                return;
            } catch (SQLException e) {
                last = e;
            }
        }
        throw new SQLException(variable, last);
    }

    private static Map<String, String> settings(String list) {
        Map<String, String> settings = new LinkedHashMap<>();
        Matcher matcher = ASSIGNMENT.matcher(list);
        while (matcher.find()) {
            settings.put(matcher.group(1), matcher.group(2));
        }
        return settings;
    }

    private static Map<String, String> rows(Connection of, String query) throws SQLException {
        Map<String, String> rows = new TreeMap<>();
        try (Statement statement = of.createStatement();
                ResultSet row = statement.executeQuery(query)) {
            while (row.next()) {
                rows.put(row.getString(1), row.getString(2));
            }
        }
        return rows;
    }

    private static Map<String, String> session(Connection of) throws SQLException {
        return rows(of, "SELECT VARIABLE_NAME, VARIABLE_VALUE FROM performance_schema.session_variables");
    }

    /** Those that a session has, and takes from a global variable that can be changed. */
    private Set<String> inherited() throws SQLException {
        Set<String> inherited = new TreeSet<>();
        try (Statement statement = connection.createStatement()) {
            for (String variable : rows(connection, """
                    SELECT VARIABLE_NAME, s.VARIABLE_VALUE FROM performance_schema.session_variables s
                    JOIN performance_schema.global_variables g USING (VARIABLE_NAME)""").keySet()) {
                try {
                    statement.execute("SET SESSION " + variable + " = @@SESSION." + variable);
                    inherited.add(variable);
                } catch (SQLException e) {
                    // ER_VARIABLE_IS_READONLY: only connecting gives it to a session.
                    if (e.getErrorCode() == 1621) {
                        inherited.add(variable);
                    }
                }
            }
        }
        return inherited;
    }

    /** Gives a global variable another value than {@code normal}, the smallest that it can have. */
    private void makeOdd(String variable, String normal) throws SQLException {
        String was = global(variable);
        before.put(variable, was);
        List<String> candidates = new ArrayList<>();
        if (ODD.containsKey(variable)) {
            candidates.add(ODD.get(variable));
        } else {
            Map<String, String> limits = rows(
                    connection,
                    "SELECT MIN_VALUE, MAX_VALUE FROM performance_schema.variables_info WHERE VARIABLE_NAME = '"
                            + variable + "'");
            limits.forEach((min, max) -> {
                if (!min.equals(max)) {
                    candidates.addAll(List.of(min, max));
                }
            });
            candidates.addAll(List.of("0", "1", "2", "3"));
        }
        for (String value : candidates) {
            try (Statement statement = connection.createStatement()) {
                statement.execute("SET GLOBAL " + variable + " = " + value);
            } catch (SQLException e) {
                continue;
            }
            if (!global(variable).equalsIgnoreCase(normal)) {
                return;
            }
        }
        throw new AssertionError("no odd value for " + variable + " among " + candidates);
    }

    private String global(String variable) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("SELECT @@GLOBAL." + variable)) {
            row.next();
            return row.getString(1);
        }
    }

    private void connect() throws SQLException {
        connection = mysql.connect();
    }

    private static Map<String, String> keys() {
        Map<String, String> keys = new HashMap<>(LocalNode.beside(mysql));
        keys.put("quorate.mysql.user", ACCOUNT);
        keys.put("quorate.mysql.password", "secret");
        return keys;
    }

    private ServerAccess access() {
        Map<String, String> keys = keys();
        keys.putAll(Map.of(
                "quorate.cluster",
                "odd",
                "quorate.node",
                "n1",
                "quorate.data-dir",
                directory.toString(),
                "quorate.peers[0].name",
                "n1",
                "quorate.peers[0].host",
                "127.0.0.1"));
        return new ServerAccess(
                new Binder(new MapConfigurationPropertySource(keys))
                        .bind("quorate", NodeProperties.class)
                        .get(),
                ServerTls.LOOPBACK);
    }

    /** One that a later version adds is to be looked at before the service runs there. */
    @Test
    void everySessionVariableIsSetOrLeftForAReason() throws Exception {
        connect();
        Set<String> known = new TreeSet<>(LEFT.keySet());
        known.addAll(settings(SessionSettings.forService()).keySet());
        assertThat(inherited()).isSubsetOf(known);
    }

    @Test
    void connectionsHaveWhatTheyRelyOn() throws Exception {
        connect();
        Map<String, String> normal = new HashMap<>();
        try (Connection as = mysql.connect();
                Statement statement = as.createStatement()) {
            statement.execute("SET SESSION " + SessionSettings.forService());
            normal.putAll(session(as));
        }
        for (String variable : settings(SessionSettings.forService()).keySet()) {
            makeOdd(variable, normal.get(variable));
        }
        try (ServerAccess access = access();
                Connection pooled = access.connect();
                Connection alone = access.connectAlone();
                Connection loading = access.connectToLoad();
                Connection applying = access.workers().getConnection();
                Connection client = access.connectAs(ACCOUNT, "secret", Duration.ofSeconds(10))) {
            requireAsIn(normal, SessionSettings.forAnyAccount(), pooled, client);
            requireAsIn(normal, SessionSettings.forService(), alone, loading);
            requireAsIn(normal, SessionSettings.forApplying(), applying);
        }
    }

    private static void requireAsIn(Map<String, String> normal, String list, Connection... connections)
            throws SQLException {
        Set<String> variables = settings(list).keySet();
        for (Connection one : connections) {
            assertThat(only(session(one), variables)).isEqualTo(only(normal, variables));
        }
    }

    private static Map<String, String> only(Map<String, String> all, Set<String> keys) {
        return all.entrySet().stream()
                .filter(e -> keys.contains(e.getKey()))
                .collect(toMap(Map.Entry::getKey, Map.Entry::getValue, (a, b) -> a, TreeMap::new));
    }

    /** A session of each kind begins twice, and what a client writes is captured and ordered. */
    @Test
    void aServiceWorksWhateverTheGlobalVariablesSay() throws Exception {
        connect();
        Map<String, String> normal = session(connection);
        Set<String> odd = inherited();
        odd.removeAll(REQUIRED);
        odd.removeAll(SPECIAL);
        for (String variable : odd) {
            makeOdd(variable, normal.get(variable));
        }
        set("sql_select_limit", "1");
        Node node = LocalNode.start("odd", directory.resolve("data"), keys());
        try {
            LocalNode.awaitState(node, NodeState.SYNCED);
            requireOrdered(node, 1);
            for (String thread : threads().keySet()) {
                kill(thread);
            }
            requireOrdered(node, 2);
            requireThreads(normal);
        } finally {
            node.stop();
        }
    }

    private void requireOrdered(Node node, int row) throws Exception {
        // The server is closed for a moment after its service was.
        execute("INSERT INTO a.t VALUES ('\u00e4" + row + "  ', NULL)");
        while (node.status().lastOrdered() < row) {
            assertThat(node.state()).as(node.status().reason()).isNotEqualTo(NodeState.INCONSISTENT);
            Thread.sleep(20);
        }
        LocalNode.awaitState(node, NodeState.SYNCED);
    }

    private void execute(String sql) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    /** The sessions of the service, by the server's number. */
    private Map<String, String> threads() throws SQLException {
        return rows(
                connection,
                "SELECT PROCESSLIST_ID, THREAD_ID FROM performance_schema.threads" + " WHERE PROCESSLIST_USER = '"
                        + ACCOUNT + "' AND PROCESSLIST_COMMAND NOT LIKE 'Binlog Dump%'");
    }

    /** Also those that were made within the capture's libraries. */
    private void requireThreads(Map<String, String> normal) throws Exception {
        Map<String, String> threads = threads();
        while (threads.size() < 6) {
            Thread.sleep(20);
            threads = threads();
        }
        for (String thread : threads.values()) {
            Map<String, String> has = rows(
                    connection,
                    "SELECT VARIABLE_NAME, VARIABLE_VALUE"
                            + " FROM performance_schema.variables_by_thread WHERE THREAD_ID = " + thread);
            if (!has.isEmpty()) { // It has ended meanwhile.
                assertThat(only(has, SEEN)).isEqualTo(only(normal, SEEN));
            }
        }
    }

    /**
     * Somebody's super_read_only leaves read_only behind, and so does a fence whose connection breaks: both are taken
     * back. Somebody's read_only is not, and the node says so.
     */
    @Test
    void theServerIsOpenUnlessSomebodyHasClosedIt() throws Exception {
        connect();
        before.put("super_read_only", "OFF");
        before.put("read_only", "OFF");
        Node node = LocalNode.start("odd", directory.resolve("data"), keys());
        try {
            LocalNode.awaitState(node, NodeState.SYNCED);
            awaitOpen();
            execute("SET GLOBAL super_read_only = ON");
            while (!String.valueOf(node.status().reason()).contains("super_read_only is ON")) {
                Thread.sleep(20);
            }
            assertThat(node.state()).isNotEqualTo(NodeState.SYNCED);
            execute("SET GLOBAL super_read_only = OFF");
            LocalNode.awaitState(node, NodeState.SYNCED);
            awaitOpen();
            try (Connection ours = mysql.connect(ACCOUNT, "secret", "");
                    Statement statement = ours.createStatement()) {
                statement.execute("SET GLOBAL read_only = ON");
            }
            awaitOpen();
            execute("SET GLOBAL read_only = ON");
            while (!node.status().reason().contains("root@localhost has set read_only=ON")) {
                assertThat(node.state()).isEqualTo(NodeState.SYNCED);
                Thread.sleep(20);
            }
            assertThat(global("read_only")).isEqualTo("1");
            execute("SET GLOBAL read_only = OFF, GLOBAL offline_mode = ON");
            while (!node.status().reason().contains("root@localhost has set offline_mode=ON")) {
                Thread.sleep(20);
            }
            execute("SET GLOBAL offline_mode = OFF");
            while (!node.status().reason().isEmpty()) {
                Thread.sleep(20);
            }
        } finally {
            node.stop();
        }
    }

    private void awaitOpen() throws Exception {
        while (!global("read_only").equals("0")) {
            Thread.sleep(20);
        }
    }

    /** The session of the binlog's client can't be told anything before it asks. */
    @ParameterizedTest
    @ValueSource(strings = {"sql_select_limit = 0", "max_join_size = 3, GLOBAL sql_big_selects = OFF"})
    void whatTheReaderOfTheBinlogCantBearIsNamed(String settings) throws Exception {
        connect();
        String variable = settings.split(" ")[0];
        before.put(variable, global(variable));
        execute("SET GLOBAL " + settings);
        try (ServerAccess access = access();
                Connection pooled = access.connect()) {
            assertThatThrownBy(() -> ServerAccess.requireSettings(pooled))
                    .hasMessageContaining("QRT-1001")
                    .hasMessageContaining(variable + " is " + settings.split("[ ,]")[2]);
            assertThat(only(session(pooled), SEEN)).containsEntry("max_execution_time", "0");
            execute("SET GLOBAL " + variable + " = DEFAULT");
            ServerAccess.requireSettings(pooled);
        }
    }

    private void kill(String thread) {
        try {
            execute("KILL " + thread);
        } catch (SQLException e) {
            return; // It has ended by itself.
        }
    }
}
