// SPDX-License-Identifier: Apache-2.0
package io.quorate.applier;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;

/** Sessions of a server that are somebody else's. */
public final class Sessions {
    private static final int NO_SUCH_THREAD = 1094;

    private Sessions() {}

    /**
     * Ends a session and its connection.
     *
     * @return false when there was none
     */
    public static boolean kill(Connection connection, long session) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute("KILL CONNECTION " + session);
            return true;
        } catch (SQLException e) {
            if (e.getErrorCode() == NO_SUCH_THREAD) {
                return false;
            }
            throw e;
        }
    }
}
