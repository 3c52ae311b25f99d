// SPDX-License-Identifier: Apache-2.0
package io.quorate.sandbox;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * What a server has besides tables: schemas, views, routines, triggers, events, accounts and their rights. Compared as
 * the server describes them, without times and without whether an event is switched on, which differs by node.
 */
public final class ServerObjects {
    private static final String OTHERS =
            " NOT IN ('mysql', 'sys', 'performance_schema', 'information_schema', 'quorate')";

    /** The sandbox makes these on each server; where a hash has a salt, each has another one. */
    private static final String SALTED = "user IN ('" + Accounts.APP_USER + "', '" + Accounts.SERVICE_USER
            + "') AND plugin = 'caching_sha2_password'";

    /** A kind of object, and a query whose first column is its name and whose other columns are what it is. */
    private static final Map<String, String> QUERIES = queries();

    private ServerObjects() {}

    private static Map<String, String> queries() {
        Map<String, String> queries = new LinkedHashMap<>();
        queries.put(
                "schema",
                "SELECT schema_name, default_character_set_name, default_collation_name"
                        + " FROM information_schema.schemata WHERE schema_name" + OTHERS);
        queries.put(
                "view",
                "SELECT CONCAT(table_schema, '.', table_name), view_definition, check_option, definer, security_type,"
                        + " character_set_client, collation_connection FROM information_schema.views"
                        + " WHERE table_schema" + OTHERS);
        queries.put(
                "routine",
                "SELECT CONCAT(r.routine_type, ' ', r.routine_schema, '.', r.routine_name), r.routine_definition,"
                        + " r.sql_data_access, r.security_type, r.sql_mode, r.definer, r.is_deterministic,"
                        + " r.routine_comment, r.character_set_client, r.collation_connection, r.database_collation,"
                        + " (SELECT GROUP_CONCAT(CONCAT_WS(' ', p.parameter_mode, p.parameter_name, p.dtd_identifier)"
                        + " ORDER BY p.ordinal_position) FROM information_schema.parameters p"
                        + " WHERE p.specific_schema = r.routine_schema AND p.specific_name = r.specific_name"
                        + " AND p.routine_type = r.routine_type)"
                        + " FROM information_schema.routines r WHERE r.routine_schema" + OTHERS);
        // From 9.2 on; an older server doesn't read what is in the comment.
        queries.put(
                "library",
                "SELECT CONCAT(s, '.', n), d, l, m, c FROM (SELECT '' AS s, '' AS n, '' AS d, '' AS l, '' AS m, '' AS c"
                        + " FROM DUAL WHERE FALSE /*!90200 UNION ALL SELECT LIBRARY_SCHEMA, LIBRARY_NAME,"
                        + " LIBRARY_DEFINITION, LANGUAGE, SQL_MODE, LIBRARY_COMMENT FROM information_schema.LIBRARIES"
                        + " */) all_libraries");
        queries.put(
                "trigger",
                "SELECT CONCAT(trigger_schema, '.', trigger_name), event_object_table, event_manipulation,"
                        + " action_timing, action_order, action_statement, sql_mode, definer, character_set_client,"
                        + " collation_connection, database_collation FROM information_schema.triggers"
                        + " WHERE trigger_schema" + OTHERS);
        queries.put(
                "event",
                "SELECT CONCAT(event_schema, '.', event_name), event_definition, event_type, execute_at,"
                        + " interval_value, interval_field, sql_mode, starts, ends, on_completion, definer, time_zone,"
                        + " event_comment FROM information_schema.events WHERE event_schema" + OTHERS);
        queries.put(
                "account",
                "SELECT CONCAT(user, '@', host), plugin, IF(" + SALTED + ", '', authentication_string),"
                        + " account_locked, ssl_type, ssl_cipher,"
                        + " x509_issuer, x509_subject, max_questions, max_updates, max_connections,"
                        + " max_user_connections, password_expired, password_lifetime, password_reuse_history,"
                        + " password_reuse_time, password_require_current, user_attributes FROM mysql.user");
        queries.put(
                "roles of",
                "SELECT CONCAT(to_user, '@', to_host, ': ', from_user, '@', from_host), with_admin_option,"
                        + " (SELECT COUNT(*) FROM mysql.default_roles d WHERE d.user = to_user AND d.host = to_host"
                        + " AND d.default_role_user = from_user AND d.default_role_host = from_host)"
                        + " FROM mysql.role_edges");
        queries.put(
                "proxies of",
                "SELECT CONCAT(user, '@', host, ': ', proxied_user, '@', proxied_host), with_grant"
                        + " FROM mysql.proxies_priv");
        queries.put(
                "server", "SELECT server_name, host, db, username, port, socket, wrapper, owner FROM mysql.servers");
        queries.put(
                "spatial reference systems",
                "SELECT '', COUNT(*), SUM(CRC32(CONCAT_WS('|', srs_id, srs_name, organization, definition,"
                        + " description))) FROM information_schema.st_spatial_reference_systems");
        queries.put(
                "rights of",
                "SELECT grantee, GROUP_CONCAT(what ORDER BY what SEPARATOR ';') FROM ("
                        + "SELECT grantee, CONCAT(privilege_type, is_grantable) AS what"
                        + " FROM information_schema.user_privileges UNION ALL"
                        + " SELECT grantee, CONCAT_WS(' ', table_schema, privilege_type, is_grantable)"
                        + " FROM information_schema.schema_privileges UNION ALL"
                        + " SELECT grantee, CONCAT_WS(' ', table_schema, table_name, privilege_type, is_grantable)"
                        + " FROM information_schema.table_privileges UNION ALL"
                        + " SELECT grantee, CONCAT_WS(' ', table_schema, table_name, column_name, privilege_type)"
                        + " FROM information_schema.column_privileges) AS rights GROUP BY grantee");
        queries.put(
                "rights on a routine of",
                "SELECT CONCAT(user, '@', host, ' on ', routine_type, ' ', db, '.', routine_name), proc_priv"
                        + " FROM mysql.procs_priv");
        return queries;
    }

    /** What differs, a sentence each; empty when the servers agree. */
    public static List<String> differences(Map<String, MySqlServer> servers) {
        Map<String, Map<String, String>> contents = new LinkedHashMap<>();
        servers.forEach((name, server) -> contents.put(name, contents(server)));
        TreeSet<String> names = new TreeSet<>();
        contents.values().forEach(each -> names.addAll(each.keySet()));
        List<String> differences = new ArrayList<>();
        String first = contents.keySet().iterator().next();
        for (String name : names) {
            String expected = contents.get(first).get(name);
            contents.forEach((node, each) -> {
                if (!Objects.equals(expected, each.get(name))) {
                    differences.add(name + " differs: " + first + " has " + shown(expected) + "; " + node + " has "
                            + shown(each.get(name)));
                }
            });
        }
        return differences;
    }

    private static String shown(String content) {
        return content == null ? "none" : content.substring(0, Math.min(content.length(), 300));
    }

    private static Map<String, String> contents(MySqlServer server) {
        Map<String, String> contents = new TreeMap<>();
        try (Connection connection = server.connect();
                Statement statement = connection.createStatement()) {
            statement.execute("SET SESSION group_concat_max_len = 1000000, information_schema_stats_expiry = 0");
            for (Map.Entry<String, String> kind : QUERIES.entrySet()) {
                try (ResultSet rows = statement.executeQuery(kind.getValue())) {
                    while (rows.next()) {
                        contents.put(kind.getKey() + " " + rows.getString(1), rest(rows));
                    }
                }
            }
        } catch (SQLException e) {
            throw new SandboxException("mysqld on port " + server.port() + ": " + e.getMessage(), e);
        }
        return contents;
    }

    private static String rest(ResultSet row) throws SQLException {
        List<String> values = new ArrayList<>();
        for (int i = 2; i <= row.getMetaData().getColumnCount(); i++) {
            values.add(row.getString(i));
        }
        return values.toString();
    }
}
