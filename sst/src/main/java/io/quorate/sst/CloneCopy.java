// SPDX-License-Identifier: Apache-2.0
package io.quorate.sst;

import io.quorate.core.ErrorCode;
import io.quorate.core.QuorateException;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;

/**
 * A copy by MySQL's CLONE plugin: the recipient's server fetches the files of the donor's, and when it comes up again,
 * it has the donor's content as of the end of the copy. InnoDB tables, schemas, accounts and the executed GTIDs are
 * copied; the UUID stays, and so do settings. The donor goes on serving, DDL included.
 *
 * <p>What was observed on 8.0.33. The recipient's own data is dropped first, and that waits without limit for a
 * prepared transaction which holds a table. GTIDs that the recipient had executed itself are forgotten, and would be
 * given out again. A mysqld that no supervisor watches (environment MYSQLD_PARENT_PID) ends with error 3707 when the
 * copy has arrived, and completes it when it is started. A recipient whose donor's server has died tries to reach it
 * for minutes, whatever {@code clone_donor_timeout_after_network_failure} says.
 */
public final class CloneCopy {
    /** ER_RESTART_SERVER_FAILED: the copy has arrived, the server ends, and somebody has to start it. */
    private static final int RESTART_FAILED = 3707;
    /** A schema that is deleted with the recipient's data: as long as it exists, nothing was received. */
    private static final String AWAITS = "quorate_awaits_copy";

    /** Errors of an account that lacks a privilege. */
    private static final List<Integer> ACCESS_DENIED = List.of(1044, 1045, 1142, 1227);

    /**
     * Files on the recipient's host with which its server checks the donor's certificate and shows its own; each empty
     * for what mysqld has been told otherwise.
     */
    public record Certificates(String ca, String cert, String key) {}

    /** The result of a copy. */
    public enum Outcome {
        /** The files are here; the server is restarting, or ends and has to be started. */
        COMPLETE,
        /** The connection broke: whether the copy is complete is known when the server is up again. */
        UNKNOWN
    }

    private CloneCopy() {}

    /** As {@link #prepare}, for a donor: the service also has to make the account with which it is copied. */
    public static void prepareDonor(Connection server, String what) throws SQLException {
        prepare(server, what, "BACKUP_ADMIN");
        try (Statement statement = server.createStatement()) {
            CloneAccount.requireGrants(grants(statement), one(statement, "SELECT CURRENT_USER()"), what);
        }
    }

    /**
     * Makes sure that a server can give or take a copy, and loads the plugin if it isn't loaded.
     *
     * @param what how a refusal names the server
     * @throws QuorateException COPY_REFUSED with what is missing
     */
    public static void prepare(Connection server, String what, String privilege) throws SQLException {
        try (Statement statement = server.createStatement()) {
            if (!one(
                            statement,
                            "SELECT COUNT(*) FROM information_schema.PLUGINS WHERE PLUGIN_NAME = 'clone'"
                                    + " AND PLUGIN_STATUS = 'ACTIVE'")
                    .equals("1")) {
                install(statement, what);
            }
            String grantee = one(statement, "SELECT CURRENT_USER()");
            if (grants(statement).stream().noneMatch(grant -> grant.contains(privilege))) {
                throw refused(grantee + " may not do it at " + what + ": GRANT " + privilege + " ON *.* TO " + grantee);
            }
        }
    }

    private static List<String> grants(Statement statement) throws SQLException {
        List<String> has = new ArrayList<>();
        try (ResultSet row = statement.executeQuery("SHOW GRANTS")) {
            while (row.next()) {
                has.add(row.getString(1));
            }
        }
        return has;
    }

    private static void install(Statement statement, String what) throws SQLException {
        try {
            statement.execute("INSTALL PLUGIN clone SONAME 'mysql_clone.so'");
        } catch (SQLException e) {
            throw refused(what + " doesn't have the plugin, and it can't be loaded ("
                    + e.getMessage() + "): add plugin-load-add=mysql_clone.so to its my.cnf and restart it"
                    + (ACCESS_DENIED.contains(e.getErrorCode())
                            ? ", or GRANT INSERT ON mysql.plugin to the service's account"
                            : ""));
        }
    }

    /**
     * Clears the recipient's server: nobody is connected to it any more except those who may pass offline_mode, and no
     * prepared transaction holds a table. All of it is gone with the copy.
     *
     * @param bytesPerSecondMax what the copy may take, 0 for no limit; MySQL counts whole mebibytes
     */
    public static void clear(Connection recipient, long bytesPerSecondMax, Certificates certificates)
            throws SQLException {
        try (Statement statement = recipient.createStatement()) {
            if (one(statement, "SELECT @@GLOBAL.offline_mode").equals("0")) { // Or it would seem to be this service's.
                statement.execute("SET GLOBAL offline_mode = ON");
            }
            long mebibytes = bytesPerSecondMax == 0 ? 0 : Math.max(1, bytesPerSecondMax >> 20);
            statement.execute("SET GLOBAL clone_max_data_bandwidth = " + mebibytes);
            // In minutes. There may be another donor.
            statement.execute("SET GLOBAL clone_donor_timeout_after_network_failure = 1");
            setIfGiven(statement, "clone_ssl_ca", certificates.ca());
            setIfGiven(statement, "clone_ssl_cert", certificates.cert());
            setIfGiven(statement, "clone_ssl_key", certificates.key());
        }
        expect(recipient);
        rollBackPrepared(recipient);
    }

    private static void setIfGiven(Statement statement, String variable, String value) throws SQLException {
        if (!value.isEmpty()) {
            statement.execute("SET GLOBAL " + variable + " = " + quoted(value));
        }
    }

    /**
     * Marks the server as awaiting a copy: from here on {@link #isComplete} doesn't count a copy that it received
     * before.
     */
    public static void expect(Connection recipient) throws SQLException {
        try (Statement statement = recipient.createStatement()) {
            statement.execute("SET SESSION sql_log_bin = 0");
            statement.execute("CREATE DATABASE IF NOT EXISTS " + AWAITS);
            statement.execute("SET SESSION sql_log_bin = 1");
        }
    }

    /** The prepared transactions of a server, each in the form that {@code XA COMMIT} takes. */
    public static List<String> prepared(Connection server) throws SQLException {
        List<String> xids = new ArrayList<>();
        try (Statement statement = server.createStatement();
                ResultSet row = statement.executeQuery("XA RECOVER CONVERT XID")) {
            while (row.next()) {
                xids.add(xid(row.getLong(1), row.getInt(2), row.getString(4)));
            }
        }
        return xids;
    }

    /**
     * Rolls back every transaction that is prepared on a server.
     *
     * @return how many there were
     */
    public static int rollBackPrepared(Connection server) throws SQLException {
        List<String> xids = prepared(server);
        try (Statement statement = server.createStatement()) {
            for (String xid : xids) {
                statement.execute("XA ROLLBACK " + xid);
            }
        }
        return xids.size();
    }

    /** @param data both parts as {@code 0x} and hexadecimal digits */
    private static String xid(long format, int globalBytes, String data) {
        String digits = data.substring(2);
        return "X'" + digits.substring(0, 2 * globalBytes) + "',X'" + digits.substring(2 * globalBytes) + "'," + format;
    }

    /**
     * Makes the recipient's server fetch the donor's data. Returns when that is done, or when nobody can tell.
     *
     * @param host of the donor's server, as the recipient's server reaches it
     * @param account of the donor's server
     * @throws QuorateException COPY_REFUSED when MySQL refuses or breaks it off, with its reason. The recipient may
     *     have lost what it had
     */
    public static Outcome run(Connection recipient, String host, int port, CloneAccount account) throws SQLException {
        try (Statement statement = recipient.createStatement()) {
            statement.execute("SET GLOBAL clone_valid_donor_list = " + quoted(host + ":" + port));
            statement.execute("CLONE INSTANCE FROM " + quoted(account.user()) + "@" + quoted(host) + ":" + port
                    + " IDENTIFIED BY " + quoted(account.password())
                    + (account.tls() ? " REQUIRE SSL" : " REQUIRE NO SSL"));
            return Outcome.COMPLETE;
        } catch (SQLException e) {
            if (e.getErrorCode() == RESTART_FAILED) {
                return Outcome.COMPLETE;
            }
            if (e.getSQLState() != null && e.getSQLState().startsWith("08")) {
                return Outcome.UNKNOWN;
            }
            throw refused("MySQL says " + e.getErrorCode() + ", " + e.getMessage());
        }
    }

    /**
     * The server's connection that is fetching a copy right now, -1 without one. The status table alone isn't enough:
     * after a server was killed during a copy, it says for ever that the copy is in progress.
     */
    public static long running(Connection recipient) throws SQLException {
        try (Statement statement = recipient.createStatement()) {
            if (!hasStatus(statement)) {
                return -1;
            }
            try (ResultSet row = statement.executeQuery("SELECT c.PID FROM performance_schema.clone_status c"
                    + " JOIN performance_schema.threads t ON t.PROCESSLIST_ID = c.PID"
                    + " JOIN performance_schema.global_status s ON s.VARIABLE_NAME = 'Uptime'"
                    + " WHERE c.STATE = 'In Progress' AND c.BEGIN_TIME > NOW(3) - INTERVAL s.VARIABLE_VALUE SECOND")) {
                return row.next() ? row.getLong(1) : -1;
            }
        }
    }

    /** Breaks off the copy that a connection of the server is fetching. That connection gets an error. */
    public static void breakOff(Connection recipient, long running) throws SQLException {
        try (Statement statement = recipient.createStatement()) {
            statement.execute("KILL QUERY " + running);
        }
    }

    /** Whether the server has received a copy, and begun to run with it, since {@link #expect}. */
    public static boolean isComplete(Connection recipient) throws SQLException {
        try (Statement statement = recipient.createStatement()) {
            if (!one(statement, "SELECT COUNT(*) FROM information_schema.SCHEMATA WHERE SCHEMA_NAME = '" + AWAITS + "'")
                            .equals("0")
                    || !hasStatus(statement)) {
                return false;
            }
            return one(statement, "SELECT COUNT(*) FROM performance_schema.clone_status WHERE STATE = 'Completed'")
                    .equals("1");
        }
    }

    /** The table exists only with the plugin. */
    private static boolean hasStatus(Statement statement) throws SQLException {
        return !one(
                        statement,
                        "SELECT COUNT(*) FROM information_schema.TABLES"
                                + " WHERE TABLE_SCHEMA = 'performance_schema' AND TABLE_NAME = 'clone_status'")
                .equals("0");
    }

    /** The progress of the server's latest copy. */
    public static CopyProgress progress(Connection recipient) throws SQLException {
        try (Statement statement = recipient.createStatement();
                ResultSet row = statement.executeQuery(
                        "SELECT STAGE, STATE, DATA, ESTIMATE, TIMESTAMPDIFF(MICROSECOND, MIN(BEGIN_TIME) OVER"
                                + " (), NOW(6))"
                                + " FROM performance_schema.clone_progress ORDER BY ID, BEGIN_TIME")) {
            String stage = "";
            long bytes = 0;
            long estimate = 0;
            long micros = 0;
            while (row.next()) {
                if (!row.getString(2).equals("Not Started")) {
                    stage = row.getString(1);
                }
                bytes += row.getLong(3);
                estimate += row.getLong(4);
                micros = row.getLong(5);
            }
            return CopyProgress.of(stage, bytes, estimate, micros / 1000);
        }
    }

    private static String one(Statement statement, String query) throws SQLException {
        try (ResultSet row = statement.executeQuery(query)) {
            row.next();
            return row.getString(1);
        }
    }

    private static String quoted(String text) {
        return "'" + text.replace("\\", "\\\\").replace("'", "''") + "'";
    }

    private static QuorateException refused(String why) {
        return new QuorateException(ErrorCode.COPY_REFUSED, why);
    }
}
