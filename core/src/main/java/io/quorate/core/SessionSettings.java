// SPDX-License-Identifier: Apache-2.0
package io.quorate.core;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * What the service's sessions with a MySQL server rely on. A new session takes the values of the server's global
 * variables, which are meant for its clients: with {@code sql_select_limit} an answer ends early without a word, with
 * {@code completion_type} a commit ends the session, and so on. So every connection of the service is made with these
 * settings, by the driver's property {@code sessionVariables}, which are set before the driver itself asks anything.
 *
 * <p>Only variables that all versions have are here. Those which say in what surroundings a client's change was made
 * (time zone, {@code sql_mode} of a definition) are set by whoever carries out the change.
 *
 * <p>One connection can't be made so: the binlog's, whose client asks two questions before it can be told anything.
 * {@link #LIMITS} are what may keep them from being answered.
 */
public final class SessionSettings {
    /** The driver's property. */
    public static final String PROPERTY = "sessionVariables";

    /** How long a statement waits for the lock of a table, unless somebody has said otherwise. MySQL's default. */
    public static final long LOCK_WAIT_SECONDS = 31_536_000;

    /** For how long the server waits while it is sent something, or its client doesn't take what it sends. */
    public static final long NET_SECONDS = 120;

    /** Variables by which the server answers less, or not at all; some of these change others. */
    public static final List<String> LIMITS =
            List.of("max_join_size", "sql_big_selects", "sql_select_limit", "max_execution_time");

    /** Any account may set these. */
    private static final Map<String, String> FOR_ALL = new LinkedHashMap<>();

    /** These take SESSION_VARIABLES_ADMIN. */
    private static final Map<String, String> FOR_WRITERS = new LinkedHashMap<>();

    /** What statements of the service's own mean, but not those that are carried out as somebody else's. */
    private static final Map<String, String> FOR_OWN_STATEMENTS = new LinkedHashMap<>();

    static {
        // How much is answered, and whether at all. The first one before anything that may be asked.
        FOR_ALL.put("sql_select_limit", "18446744073709551615");
        FOR_ALL.put("max_join_size", "18446744073709551615");
        FOR_ALL.put("sql_big_selects", "1");
        FOR_ALL.put("max_execution_time", "0");
        FOR_ALL.put("sql_safe_updates", "0");
        FOR_ALL.put("group_concat_max_len", "1048576");
        FOR_ALL.put("max_sort_length", "1024");
        FOR_ALL.put("range_optimizer_max_mem_size", "8388608");
        FOR_ALL.put("information_schema_stats_expiry", "86400");
        // Transactions.
        FOR_ALL.put("autocommit", "1");
        FOR_ALL.put("completion_type", "'NO_CHAIN'");
        FOR_ALL.put("transaction_read_only", "0");
        FOR_ALL.put("transaction_isolation", "'REPEATABLE-READ'");
        FOR_ALL.put("innodb_table_locks", "1");
        FOR_ALL.put("foreign_key_checks", "1");
        FOR_ALL.put("unique_checks", "1");
        // Waiting. A connection may have nothing to do for months.
        FOR_ALL.put("wait_timeout", "31536000");
        FOR_ALL.put("interactive_timeout", "31536000");
        FOR_ALL.put("net_read_timeout", Long.toString(NET_SECONDS));
        FOR_ALL.put("net_write_timeout", Long.toString(NET_SECONDS));
        FOR_ALL.put("lock_wait_timeout", Long.toString(LOCK_WAIT_SECONDS));
        FOR_ALL.put("innodb_lock_wait_timeout", "50");
        // What is made, where a statement doesn't say.
        FOR_ALL.put("default_storage_engine", "'InnoDB'");
        FOR_ALL.put("default_tmp_storage_engine", "'InnoDB'");
        FOR_ALL.put("explicit_defaults_for_timestamp", "1");
        FOR_ALL.put("auto_increment_increment", "1");
        FOR_ALL.put("auto_increment_offset", "1");
        FOR_ALL.put("old_alter_table", "0");
        // In what form things are said.
        FOR_ALL.put("lc_messages", "'en_US'");
        FOR_ALL.put("sql_notes", "1");
        FOR_ALL.put("sql_warnings", "0");
        FOR_ALL.put("sql_quote_show_create", "1");
        FOR_ALL.put("sql_auto_is_null", "0");
        FOR_ALL.put("show_create_table_verbosity", "0");
        FOR_ALL.put("show_gipk_in_create_table_and_information_schema", "1");
        FOR_ALL.put("print_identified_with_as_hex", "0");
        FOR_ALL.put("terminology_use_previous", "'NONE'");
        FOR_ALL.put("end_markers_in_json", "0");
        FOR_ALL.put("session_track_gtids", "'OFF'");
        FOR_ALL.put("session_track_transaction_info", "'OFF'");
        FOR_ALL.put("session_track_state_change", "0");

        FOR_WRITERS.put("binlog_format", "'ROW'");
        FOR_WRITERS.put("binlog_row_image", "'FULL'");
        FOR_WRITERS.put("binlog_row_value_options", "''");
        FOR_WRITERS.put("binlog_direct_non_transactional_updates", "0");
        FOR_WRITERS.put("max_error_count", "1024");
        FOR_WRITERS.put("sql_require_primary_key", "0");
        FOR_WRITERS.put("sql_generate_invisible_primary_key", "0");
        FOR_WRITERS.put("xa_detach_on_prepare", "1");
        FOR_WRITERS.put("low_priority_updates", "0");
        FOR_WRITERS.put("parser_max_mem_size", "18446744073709551615");

        FOR_OWN_STATEMENTS.put(
                "sql_mode",
                "'ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO,"
                        + "NO_ENGINE_SUBSTITUTION'");
    }

    private SessionSettings() {}

    /** Has a session answer as little as one that takes over the global variables. */
    public static String asLimitedAsAny() {
        return "SET SESSION "
                + LIMITS.stream().map(name -> name + " = @@GLOBAL." + name).collect(Collectors.joining(", "));
    }

    /** Takes {@link #asLimitedAsAny} back. */
    public static String limitedNoMore() {
        return "SET SESSION "
                + LIMITS.stream().map(name -> name + " = " + FOR_ALL.get(name)).collect(Collectors.joining(", "));
    }

    /** For a connection with an account that may have few rights, and for one that finds out what its account lacks. */
    public static String forAnyAccount() {
        return list(FOR_ALL, FOR_OWN_STATEMENTS);
    }

    /** For a connection with the service's account, once it is known to have its rights. */
    public static String forService() {
        return list(FOR_ALL, FOR_OWN_STATEMENTS, FOR_WRITERS);
    }

    /** For a connection that carries out what clients have done elsewhere. */
    public static String forApplying() {
        return list(FOR_ALL, FOR_WRITERS);
    }

    /** For a connection of the capture, for which whoever holds a lock may be waiting. */
    public static String forCapture() {
        return list(
                FOR_ALL,
                FOR_OWN_STATEMENTS,
                FOR_WRITERS,
                Map.of("lock_wait_timeout", "1", "innodb_lock_wait_timeout", "1"));
    }

    @SafeVarargs
    private static String list(Map<String, String>... maps) {
        Map<String, String> all = new LinkedHashMap<>();
        for (Map<String, String> map : maps) {
            all.putAll(map);
        }
        return all.entrySet().stream().map(e -> e.getKey() + "=" + e.getValue()).collect(Collectors.joining(","));
    }
}
