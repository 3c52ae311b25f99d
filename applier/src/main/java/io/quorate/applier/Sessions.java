// SPDX-License-Identifier: Apache-2.0
package io.quorate.applier;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Set;

/** Sessions of a server that are somebody else's. */
public final class Sessions {
    /** The states of sessions that wait within a commit for semi-sync: the first one of a group, and the others. */
    public static final Set<String> COMMITTING =
            Set.of("Waiting for semi-sync ACK from replica", "waiting for handler commit");

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
