// SPDX-License-Identifier: Apache-2.0
package io.quorate.capture;

import io.quorate.core.ErrorCode;
import io.quorate.core.GtidSet;
import io.quorate.core.OwnedGtids;
import io.quorate.core.QuorateException;
import io.quorate.core.ServerPassword;
import io.quorate.core.SessionSettings;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Properties;
import java.util.UUID;

/** The plain connection beside the binlog's: for the checks before reading, and for definitions. */
final class ServerConnection {
    private ServerConnection() {}

    static Connection open(CaptureSettings settings) throws SQLException {
        String timeout = String.valueOf(settings.connectTimeout().toMillis());
        Properties p = new Properties();
        p.setProperty("user", settings.user());
        p.putAll(settings.tls().driverProperties());
        p.setProperty("connectTimeout", timeout);
        p.setProperty("socketTimeout", socketTimeoutMillis(settings));
        p.setProperty("tcpKeepAlive", "true");
        p.setProperty(SessionSettings.PROPERTY, SessionSettings.forCapture());
        String url = "jdbc:mysql://" + settings.host() + ":" + settings.port() + "/";
        return settings.password()
                .login(
                        password -> {
                            p.setProperty("password", password);
                            return DriverManager.getConnection(url, p);
                        },
                        ServerConnection::isDenied);
    }

    private static boolean isDenied(Exception e) {
        return e instanceof SQLException refused && refused.getErrorCode() == ServerPassword.ACCESS_DENIED;
    }

    /** How long any answer may take, for the driver. */
    static String socketTimeoutMillis(CaptureSettings settings) {
        return String.valueOf(3 * settings.connectTimeout().toMillis());
    }

    /**
     * Fails unless it is the right server, and its binlog continues where {@code resume} ends.
     *
     * @return tagged GTIDs, and those of other servers, that this one doesn't have in its binlog and won't send
     * @throws QuorateException {@link ErrorCode#WRONG_SERVER}, {@link ErrorCode#BINLOG_PURGED}, {@link
     *     ErrorCode#BINLOG_LOST}
     */
    static GtidSet check(Connection connection, UUID server, GtidSet resume) throws SQLException {
        String found = text(connection, "SELECT @@server_uuid");
        if (!server.toString().equalsIgnoreCase(found)) {
            throw new QuorateException(ErrorCode.WRONG_SERVER, "server " + found + " answers instead of " + server);
        }
        GtidSet purged = GtidSet.parse(missing(connection, "@@GLOBAL.gtid_purged", "?", resume));
        GtidSet own = purged.above(server, 0);
        if (!own.isEmpty()) {
            throw new QuorateException(ErrorCode.BINLOG_PURGED, "purged before they were captured: " + own);
        }
        // A commit that waits for its verdict was captured and isn't executed yet; it may be by the second question.
        GtidSet owned =
                OwnedGtids.parse(text(connection, "SELECT @@GLOBAL.gtid_owned")).gtids();
        GtidSet lost = GtidSet.parse(missing(connection, "?", "@@GLOBAL.gtid_executed", resume))
                .above(server, 0)
                .minus(owned);
        if (!lost.isEmpty()) {
            throw new QuorateException(
                    ErrorCode.BINLOG_LOST, "captured earlier and no longer executed at the server: " + lost);
        }
        return purged;
    }

    static boolean lowerCaseNames(Connection connection) throws SQLException {
        return !"0".equals(text(connection, "SELECT @@lower_case_table_names"));
    }

    private static String missing(Connection connection, String of, String in, GtidSet resume) throws SQLException {
        try (PreparedStatement s = connection.prepareStatement("SELECT GTID_SUBTRACT(" + of + ", " + in + ")")) {
            s.setString(1, resume.toString());
            try (ResultSet r = s.executeQuery()) {
                r.next();
                return r.getString(1);
            }
        }
    }

    private static String text(Connection connection, String sql) throws SQLException {
        try (Statement s = connection.createStatement();
                ResultSet r = s.executeQuery(sql)) {
            r.next();
            return r.getString(1);
        }
    }
}
