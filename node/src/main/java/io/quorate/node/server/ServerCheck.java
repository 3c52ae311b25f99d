// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.server;

import io.quorate.core.ErrorCode;
import io.quorate.core.GtidSet;
import io.quorate.core.QuorateException;
import io.quorate.core.SessionSettings;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * Checks a MySQL server's version, settings and grants before anything relies on them. Finds everything that is wrong
 * at once, each with the statement that mends it.
 */
final class ServerCheck {
    /**
     * @param what what is wrong
     * @param fix a statement that mends it, or what to put into my.cnf where only a restart helps
     */
    record Finding(String what, String fix) {
        @Override
        public String toString() {
            return what + "\n      " + fix;
        }
    }

    private record Wanted(String variable, String value, String fix) {
        static Wanted persisted(String variable, String value) {
            return new Wanted(variable, value, "SET PERSIST " + variable + " = " + value + ";");
        }

        static Wanted restart(String variable, String value) {
            return new Wanted(
                    variable, value, "my.cnf: [mysqld] " + variable + " = " + value + ", then restart mysqld");
        }
    }

    private static final List<Wanted> SETTINGS = List.of(
            Wanted.restart("log_bin", "ON"),
            Wanted.persisted("binlog_format", "ROW"),
            Wanted.persisted("binlog_row_image", "FULL"),
            Wanted.persisted("binlog_row_metadata", "FULL"),
            Wanted.persisted("binlog_order_commits", "ON"),
            Wanted.persisted("enforce_gtid_consistency", "ON"),
            new Wanted(
                    "gtid_mode",
                    "ON",
                    "SET PERSIST gtid_mode = OFF_PERMISSIVE; SET PERSIST gtid_mode = ON_PERMISSIVE;"
                            + " SET PERSIST gtid_mode = ON;"));

    /** What the service's account needs on {@code *.*}; why each is in docs/accounts.md. */
    static final List<String> GRANTS = List.of(
            "SELECT",
            "INSERT",
            "UPDATE",
            "DELETE",
            "CREATE",
            "DROP",
            "ALTER",
            "INDEX",
            "REFERENCES",
            "REPLICATION SLAVE",
            "REPLICATION CLIENT",
            "PROCESS",
            "XA_RECOVER_ADMIN",
            "REPLICATION_APPLIER",
            "SESSION_VARIABLES_ADMIN",
            "SYSTEM_VARIABLES_ADMIN",
            "CONNECTION_ADMIN");

    /** Of a server whose {@code auto_increment_increment} is 1. */
    static final Finding SAME_NUMBERS = new Finding(
            "auto_increment_increment is 1: where clients of several nodes insert into one table, their servers give"
                    + " out the same AUTO_INCREMENT numbers, and one of two transactions loses",
            "SET PERSIST auto_increment_increment = 9; SET PERSIST auto_increment_offset = 1; -- another offset on each"
                    + " server, up to 9");

    private static final Pattern GLOBAL_GRANT = Pattern.compile("GRANT (.+?) ON \\*\\.\\* TO .*");
    private static final Pattern VERSION = Pattern.compile("(\\d+)\\.(\\d+)\\.(\\d+).*");
    private static final long VERSION_MIN = version(8, 0, 30);

    private ServerCheck() {}

    /** Fails with QRT-1001 and the whole list when anything is wrong. */
    static void require(Connection connection) throws SQLException {
        require(findings(connection));
    }

    /**
     * What a server has recorded and how it records, which may change while it runs.
     *
     * @param isWhole whether it records what clients commit in the form in which it is read, and takes what is applied;
     *     what is committed otherwise is on this server only
     * @param started as {@link ServerAccess#started}
     * @param autoIncrement which numbers it gives out, as {@link io.quorate.core.answer.SameNumbers} has it
     */
    record Recording(boolean isWhole, long started, String autoIncrement) {}

    /** Asked each second, so it is one question. */
    static Recording recording(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("SELECT @@GLOBAL.gtid_mode = 'ON'"
                        + " AND @@GLOBAL.binlog_format = 'ROW' AND @@GLOBAL.binlog_row_image = 'FULL'"
                        + " AND @@GLOBAL.binlog_row_metadata = 'FULL' AND NOT @@GLOBAL.super_read_only, ("
                        + ServerAccess.STARTED
                        + "), CONCAT(@@GLOBAL.auto_increment_increment, '/', @@GLOBAL.auto_increment_offset)")) {
            row.next();
            return new Recording(row.getBoolean(1), row.getLong(2), row.getString(3));
        }
    }

    /** Fails like {@link #require} for what a server also needs that has not been a node's so far, and nothing else. */
    static void requireNew(Connection connection) throws SQLException {
        List<Finding> findings = new ArrayList<>();
        checkNumbers(connection, findings);
        require(findings);
    }

    /** What to know of a server that gives out every number, as the others may, too. */
    static List<Finding> adviceOnNumbers(Connection connection) throws SQLException {
        return !recording(connection).autoIncrement().startsWith("1/") ? List.of() : List.of(SAME_NUMBERS);
    }

    private static void require(List<Finding> findings) {
        if (findings.isEmpty()) {
            return;
        }
        StringBuilder list = new StringBuilder(findings.size() + " things are wrong with this MySQL server:");
        for (Finding f : findings) {
            list.append("\n  - ").append(f);
        }
        throw new QuorateException(ErrorCode.SERVER_SETTINGS, list.append("\n").toString());
    }

    /** What is wrong with a server that has not been a node's so far. */
    static List<Finding> findingsOfNew(Connection connection) throws SQLException {
        List<Finding> findings = findings(connection);
        checkNumbers(connection, findings);
        return findings;
    }

    static List<Finding> findings(Connection connection) throws SQLException {
        List<Finding> findings = new ArrayList<>();
        try (Statement statement = connection.createStatement()) {
            Map<String, String> variables = variables(statement);
            checkVersion(variables.get("version"), findings);
            for (Wanted wanted : SETTINGS) {
                String is = variables.get(wanted.variable());
                if (!wanted.value().equalsIgnoreCase(is)) {
                    findings.add(
                            new Finding(wanted.variable() + " is " + is + ", must be " + wanted.value(), wanted.fix()));
                }
            }
            if ("0".equals(variables.get("server_id"))) {
                findings.add(
                        new Finding("server_id is 0", "SET PERSIST server_id = 1; -- any other number per server"));
            }
            if ("ON".equals(variables.get("super_read_only"))) {
                findings.add(new Finding(
                        "super_read_only is ON, so nothing can be applied", "SET PERSIST super_read_only = OFF;"));
            }
            checkLimits(statement, variables, findings);
            checkFilters(statement, variables.get("version"), findings);
            checkGrants(statement, findings);
        }
        return findings;
    }

    private static Map<String, String> variables(Statement statement) throws SQLException {
        Map<String, String> variables = new HashMap<>();
        try (ResultSet rows = statement.executeQuery("SHOW GLOBAL VARIABLES")) {
            while (rows.next()) {
                variables.put(rows.getString(1), rows.getString(2));
            }
        }
        return variables;
    }

    private static void checkVersion(String version, List<Finding> findings) {
        Matcher m = VERSION.matcher(version);
        boolean known = m.matches() && !version.toLowerCase(Locale.ROOT).contains("mariadb");
        if (!known || number(m) < VERSION_MIN) {
            findings.add(new Finding(
                    "version is " + version + ", must be MySQL 8.0.30 or later",
                    "upgrade mysqld (crash-safe XA came with 8.0.30)"));
        }
    }

    private static long number(Matcher version) {
        return version(
                Integer.parseInt(version.group(1)),
                Integer.parseInt(version.group(2)),
                Integer.parseInt(version.group(3)));
    }

    private static long version(int major, int minor, int patch) {
        return major * 1_000_000L + minor * 1000L + patch;
    }

    /** Asks as the binlog's client does, whose session is as the global variables say. */
    private static void checkLimits(Statement statement, Map<String, String> variables, List<Finding> findings)
            throws SQLException {
        statement.execute(SessionSettings.asLimitedAsAny());
        boolean answered;
        try (ResultSet row = statement.executeQuery("SHOW GLOBAL VARIABLES LIKE 'binlog_checksum'")) {
            answered = row.next();
        } catch (SQLException e) {
            answered = false;
        } finally {
            statement.execute(SessionSettings.limitedNoMore());
        }
        if (!answered) {
            findings.add(new Finding(
                    "the server doesn't answer whoever asks to read the binlog: "
                            + SessionSettings.LIMITS.stream()
                                    .map(name -> name + " is " + variables.get(name))
                                    .collect(Collectors.joining(", ")),
                    SessionSettings.LIMITS.stream()
                            .map(name -> "SET PERSIST " + name + " = DEFAULT;")
                            .collect(Collectors.joining(" "))));
        }
    }

    private static void checkFilters(Statement statement, String version, List<Finding> findings) {
        try (ResultSet row = statement.executeQuery(binlogStatus(version))) {
            if (row.next() && !(row.getString(3) + row.getString(4)).isEmpty()) {
                findings.add(new Finding(
                        "binlog_do_db or binlog_ignore_db keeps changes out of the binlog",
                        "my.cnf: remove binlog-do-db and binlog-ignore-db, then restart mysqld"));
            }
        } catch (SQLException e) {
            // Without REPLICATION CLIENT this fails too, but then the check of the grants reports that.
            return;
        }
    }

    private static void checkNumbers(Connection connection, List<Finding> findings) throws SQLException {
        GtidSet unused = OwnNumbers.unused(connection, ServerAccess.uuid(connection));
        if (!unused.isEmpty()) {
            findings.add(new Finding(
                    "gtid_executed lacks " + unused + ", which this server's next transactions would get; it would"
                            + " number them lower than those before",
                    "SET GLOBAL gtid_purged = '+" + unused + "';"));
        }
    }

    /** The same answer under two names: 8.2 has a new one, and 8.4 no longer knows the old one. */
    static String binlogStatus(String version) {
        Matcher m = VERSION.matcher(version);
        boolean renamed = m.matches() && number(m) >= version(8, 2, 0);
        return renamed ? "SHOW BINARY LOG STATUS" : "SHOW MASTER STATUS";
    }

    private static void checkGrants(Statement statement, List<Finding> findings) throws SQLException {
        TreeSet<String> held = new TreeSet<>();
        String user;
        try (ResultSet row = statement.executeQuery("SELECT CURRENT_USER()")) {
            row.next();
            user = row.getString(1);
        }
        try (ResultSet rows = statement.executeQuery("SHOW GRANTS")) {
            while (rows.next()) {
                Matcher m = GLOBAL_GRANT.matcher(rows.getString(1));
                if (m.matches()) {
                    for (String grant : m.group(1).split(",")) {
                        held.add(grant.trim().toUpperCase(Locale.ROOT));
                    }
                }
            }
        }
        List<String> missing = new ArrayList<>(GRANTS);
        missing.removeAll(held);
        if (held.contains("ALL PRIVILEGES")) {
            missing.removeIf(grant -> !grant.contains("_"));
        }
        if (!missing.isEmpty()) {
            String account = "'" + user.replace("@", "'@'") + "'";
            findings.add(new Finding(
                    account + " lacks " + String.join(", ", missing),
                    "GRANT " + String.join(", ", missing) + " ON *.* TO " + account + ";"));
        }
    }
}
