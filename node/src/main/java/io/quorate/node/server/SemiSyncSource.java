// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.server;

import io.quorate.core.ErrorCode;
import io.quorate.core.QuorateException;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The server's part of commit mode {@code after-sync}: MySQL's plugin {@code rpl_semi_sync_source}. While it is
 * enabled, a commit waits, after it is in the binlog and before it is visible, until the capture has acknowledged it.
 *
 * <p>It must be switched on and off only while no client can commit, because switching it off gives OK to all that
 * wait, and a commit under way while it is switched on doesn't wait. What the service itself commits waits, so it is
 * enabled only while a capture is there that acknowledges.
 */
final class SemiSyncSource {
    private static final Logger log = LoggerFactory.getLogger(SemiSyncSource.class);

    private static final String PLUGIN = "rpl_semi_sync_source";
    private static final String FORMER_PLUGIN = "rpl_semi_sync_master";
    private static final String ENABLED = PLUGIN + "_enabled";
    private static final String IS_OFF = ENABLED + " was set to OFF";
    /** As long as can be: about 50 days. */
    private static final long TIMEOUT_MILLIS = 0xffff_ffffL;

    private static final String COUNT = PLUGIN + "_wait_for_replica_count";

    /** So many semi-sync connections a capture has, and so many acknowledgements every commit needs. */
    private static final int OURS = 2;

    private static final String WAITS_ALONE = PLUGIN + "_wait_no_replica";
    /** What is set so that commits wait for one capture also while none is there; the last makes them wait. */
    private static final List<Map.Entry<String, String>> SETTINGS = List.of(
            Map.entry(PLUGIN + "_timeout", Long.toString(TIMEOUT_MILLIS)),
            Map.entry(COUNT, Integer.toString(OURS)),
            Map.entry(WAITS_ALONE, "ON"),
            Map.entry(PLUGIN + "_wait_point", "AFTER_SYNC"),
            Map.entry(ENABLED, "ON"));

    private final boolean waitsWithoutService;
    private boolean isSet;
    private boolean hadTooMany;
    private long others;

    /** @param waitsWithoutService whether commits wait while no capture is there */
    SemiSyncSource(boolean waitsWithoutService) {
        this.waitsWithoutService = waitsWithoutService;
    }

    /**
     * Installs the plugin if it isn't there.
     *
     * @throws QuorateException QRT-1001 with what is wrong, and the statements that mend it
     */
    void install(Connection connection) throws SQLException {
        if (isActive(connection, FORMER_PLUGIN)) {
            throw new QuorateException(
                    ErrorCode.SERVER_SETTINGS,
                    "commit-mode after-sync needs the plugin " + PLUGIN + ", which can't be there beside "
                            + FORMER_PLUGIN + ":\n  - UNINSTALL PLUGIN " + FORMER_PLUGIN + ";\n");
        }
        if (!isActive(connection, PLUGIN)) {
            String install = "INSTALL PLUGIN " + PLUGIN + " SONAME 'semisync_source.so'";
            try (Statement statement = connection.createStatement()) {
                statement.execute(install);
                log.info("installed the plugin {} for commit-mode after-sync", PLUGIN);
            } catch (SQLException e) {
                throw new QuorateException(
                        ErrorCode.SERVER_SETTINGS,
                        "commit-mode after-sync needs the plugin " + PLUGIN + ", and this account can't install it ("
                                + e.getMessage() + "):\n  - " + install + ";\n",
                        e);
            }
        }
        if (number(connection, "SELECT @@GLOBAL.binlog_checksum = 'CRC32'") == 0) {
            throw new QuorateException(
                    ErrorCode.SERVER_SETTINGS,
                    "commit-mode after-sync needs checksums in the binlog:\n  - SET PERSIST binlog_checksum = CRC32;");
        }
    }

    /** Whether commits wait for an acknowledgement. */
    static boolean isEnabled(Connection connection) throws SQLException {
        return isActive(connection, PLUGIN) && number(connection, "SELECT @@GLOBAL." + ENABLED) == 1;
    }

    /** Whether a capture, or any other replica, is there to acknowledge commits. */
    static boolean hasReplica(Connection connection) throws SQLException {
        return status(connection, "clients") >= OURS;
    }

    /** From now on commits wait for an acknowledgement. To be called while clients can't write. */
    void enable(Connection connection) throws SQLException {
        if (isEnabled(connection)) {
            return;
        }
        try (Statement statement = connection.createStatement()) {
            if (isSet && IS_OFF.equals(violation(connection))) {
                statement.execute("SET GLOBAL " + ENABLED + " = ON");
                return;
            }
            if (!waitsWithoutService && isOurs(connection)) {
                forget(connection);
            }
            // Persisted, these also hold after a restart of mysqld, before this service has seen it.
            String set = waitsWithoutService ? "SET PERSIST " : "SET GLOBAL ";
            for (Map.Entry<String, String> setting : SETTINGS) {
                boolean off = setting.getKey().equals(WAITS_ALONE) && !waitsWithoutService;
                statement.execute(set + setting.getKey() + " = " + (off ? "OFF" : setting.getValue()));
            }
            isSet = true;
        }
    }

    /**
     * From now on commits don't wait until this service enables it again or mysqld is restarted; whoever waits gets OK.
     * To be called while no client waits.
     */
    static void disable(Connection connection) throws SQLException {
        ServerAccess.set(connection, ENABLED, "OFF");
    }

    /** Whether commits wait, or would after the next start of mysqld, because a service like this one has set it so. */
    static boolean isOurs(Connection connection) throws SQLException {
        return number(
                        connection,
                        "SELECT COUNT(*) FROM performance_schema.persisted_variables p JOIN"
                                + " performance_schema.variables_info i USING (VARIABLE_NAME) WHERE p.VARIABLE_NAME = '"
                                + ENABLED + "' AND p.VARIABLE_VALUE = 'ON'"
                                + " AND i.SET_USER = SUBSTRING_INDEX(USER(), '@', 1)")
                == 1;
    }

    /**
     * Whether a service like this one has set that commits wait, and somebody has uninstalled the plugin since: if he
     * installed it again, commits would wait at once. The server doesn't say who has persisted a setting of a plugin
     * that isn't there; all of ours with exactly these values are nobody else's.
     */
    static boolean isLeftBehind(Connection connection) throws SQLException {
        // A service before this one has set another count.
        List<Map.Entry<String, String>> fixed = SETTINGS.stream()
                .filter(setting -> !setting.getKey().equals(COUNT))
                .toList();
        String ours = fixed.stream()
                .map(setting -> "('" + setting.getKey() + "', '" + setting.getValue() + "')")
                .collect(Collectors.joining(", "));
        return !isActive(connection, PLUGIN)
                && number(
                                connection,
                                "SELECT COUNT(*) FROM performance_schema.persisted_variables WHERE"
                                        + " (VARIABLE_NAME, VARIABLE_VALUE) IN (" + ours + ")")
                        == fixed.size();
    }

    /** Takes back what was persisted. */
    static void forget(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            for (Map.Entry<String, String> setting : SETTINGS) {
                statement.execute("RESET PERSIST IF EXISTS " + setting.getKey());
            }
        }
    }

    /** What keeps the server from waiting for this capture alone; null when it does. */
    String violation(Connection connection) throws SQLException {
        int count;
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("SELECT @@GLOBAL." + ENABLED + ", @@GLOBAL." + PLUGIN
                        + "_wait_point, @@GLOBAL." + PLUGIN + "_timeout, @@GLOBAL." + PLUGIN
                        + "_wait_for_replica_count, @@GLOBAL." + PLUGIN + "_wait_no_replica")) {
            row.next();
            if (!row.getString(2).toUpperCase(Locale.ROOT).equals("AFTER_SYNC")) {
                return PLUGIN + "_wait_point was set to " + row.getString(2);
            }
            if (row.getLong(3) != TIMEOUT_MILLIS) {
                return PLUGIN + "_timeout was set to " + row.getLong(3);
            }
            if (row.getInt(4) < OURS) {
                return COUNT + " was set to " + row.getInt(4);
            }
            count = row.getInt(4);
            if ((row.getInt(5) == 1) != waitsWithoutService) {
                return PLUGIN + "_wait_no_replica was set to " + row.getInt(5);
            }
            if (row.getInt(1) != 1) {
                return IS_OFF;
            }
        }
        return tooMany(connection, count);
    }

    /**
     * One other replica can't give OK without this capture. Of more it is known only now; from now on they can't,
     * either. Former connections of this capture may be there for a moment beside its present ones.
     */
    private String tooMany(Connection connection, int count) throws SQLException {
        long now = Math.max(0, status(connection, "clients") - OURS);
        if (now > 0 && others == 0) {
            log.warn(
                    "{} other semi-sync replicas are connected. One doesn't count without this node's acknowledgement;"
                            + " with more the server is closed",
                    now);
        }
        others = now;
        long needed = Math.max(OURS, now + 1);
        if (needed != count) {
            ServerAccess.set(connection, COUNT, Long.toString(needed));
        }
        boolean twice = now >= OURS && hadTooMany;
        hadTooMany = now >= OURS;
        return twice ? tooMany(now) : null;
    }

    private static String tooMany(long others) {
        return others + " other semi-sync replicas are connected, whose acknowledgements count as well as this"
                + " node's; stop them or set rpl_semi_sync_replica_enabled=OFF there";
    }

    /**
     * What keeps the server from waiting for a capture alone that hasn't begun; null when nothing does. Only what other
     * accounts read counts: the server may not know yet that former connections of this one's are gone.
     */
    @Nullable
    String tooManyOthers(Connection connection) throws SQLException {
        long reading = number(
                connection,
                "SELECT COUNT(*) FROM performance_schema.threads WHERE PROCESSLIST_COMMAND LIKE 'Binlog Dump%'"
                        + " AND PROCESSLIST_USER <> SUBSTRING_INDEX(USER(), '@', 1)");
        long now = Math.min(reading, status(connection, "clients"));
        return now >= OURS ? tooMany(now) : null;
    }

    /** Sets everything again that somebody has changed: from now on no OK comes without this capture. */
    void restore(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            for (Map.Entry<String, String> setting : SETTINGS) {
                boolean off = setting.getKey().equals(WAITS_ALONE) && !waitsWithoutService;
                boolean counted = setting.getKey().equals(COUNT);
                statement.execute("SET GLOBAL " + setting.getKey() + " = "
                        + (off ? "OFF" : counted ? Math.max(OURS, others + 1) : setting.getValue()));
            }
        }
    }

    /** How many other replicas are connected than this capture. */
    long others() {
        return others;
    }

    /** How many commits didn't wait although they should have. */
    long passedBy(Connection connection) throws SQLException {
        return waitsWithoutService ? status(connection, "no_tx") : 0;
    }

    private static boolean isActive(Connection connection, String plugin) throws SQLException {
        return number(
                        connection,
                        "SELECT COUNT(*) FROM information_schema.PLUGINS WHERE PLUGIN_NAME = '" + plugin
                                + "' AND PLUGIN_STATUS = 'ACTIVE'")
                == 1;
    }

    private static long status(Connection connection, String name) throws SQLException {
        return number(
                connection,
                "SELECT COALESCE(MAX(VARIABLE_VALUE + 0), 0) FROM performance_schema.global_status WHERE"
                        + " VARIABLE_NAME = '" + PLUGIN + "_" + name + "'");
    }

    private static long number(Connection connection, String query) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(query)) {
            row.next();
            return row.getLong(1);
        }
    }
}
