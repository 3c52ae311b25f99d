// SPDX-License-Identifier: Apache-2.0
package io.quorate.applier;

import io.quorate.core.ErrorCode;
import io.quorate.core.QuorateException;
import io.quorate.core.ServerPassword;
import io.quorate.core.SessionSettings;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import javax.sql.DataSource;

/**
 * Connections as the applier needs them. The text of statements is passed on as bytes: one Java char is one byte, which
 * keeps DDL in any character set exact and makes a BINLOG statement cheap.
 */
public final class ApplierDataSource {
    /** All byte values from 0x80 on, which a converting driver would change. */
    private static final String PROBE = new String(highBytes(), StandardCharsets.ISO_8859_1);

    private ApplierDataSource() {}

    /** With a password that never changes. */
    public static DataSource of(String jdbcUrl, String user, String password) {
        return of(jdbcUrl, user, ServerPassword.fixed(password));
    }

    /**
     * @param jdbcUrl of Connector/J, without a schema; parameters for TLS and timeouts are kept
     */
    public static DataSource of(String jdbcUrl, String user, ServerPassword password) {
        try {
            ServerDataSource source = new ServerDataSource(jdbcUrl, user, password, SessionSettings.forApplying());
            source.setCharacterEncoding("ISO-8859-1");
            source.setConnectionCollation("latin1_swedish_ci");
            source.setTcpKeepAlive(true);
            source.setTcpNoDelay(true);
            source.setUseLocalSessionState(true);
            source.setConnectionAttributes(StaleSessions.ATTRIBUTE + ":" + StaleSessions.ROLE);
            return source;
        } catch (SQLException e) {
            // The parameters may have passwords.
            throw new QuorateException(
                    ErrorCode.CONFIGURATION, "not a JDBC URL for the applier: " + jdbcUrl.replaceFirst("\\?.*", ""), e);
        }
    }

    /** Fails when the connection changes the bytes of a statement. */
    static void requireBytesKept(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.setEscapeProcessing(false);
            try (ResultSet row = statement.executeQuery("SELECT HEX(CAST('" + PROBE + "' AS BINARY))")) {
                row.next();
                StringBuilder expected = new StringBuilder();
                for (byte b : highBytes()) {
                    expected.append(String.format("%02X", b));
                }
                if (!expected.toString().equals(row.getString(1))) {
                    throw new QuorateException(
                            ErrorCode.CONFIGURATION,
                            "the applier's connections change the bytes of statements; make them with"
                                    + " ApplierDataSource");
                }
            }
        }
    }

    private static byte[] highBytes() {
        byte[] bytes = new byte[128];
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] = (byte) (0x80 + i);
        }
        return bytes;
    }
}
