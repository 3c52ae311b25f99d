// SPDX-License-Identifier: Apache-2.0
package io.quorate.applier;

import io.quorate.core.Gtid;
import io.quorate.core.GtidSet;
import io.quorate.core.OwnedGtids;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.UUID;

/** GTIDs as the server prints them. */
public final class GtidSets {
    private GtidSets() {}

    /**
     * The GTIDs that a server has given out, as {@link OwnedGtids#givenOut}. A transaction gives up its locks before it
     * is an executed one.
     */
    public static GtidSet givenOut(Statement statement) throws SQLException {
        try (ResultSet row = statement.executeQuery("SELECT @@GLOBAL.gtid_owned, @@GLOBAL.gtid_executed")) {
            row.next();
            return OwnedGtids.givenOut(row.getString(1), row.getString(2));
        }
    }

    /** Whether a server has executed that. It doesn't send all that it has, which is long after many definitions. */
    public static boolean hasExecuted(Connection server, Gtid gtid) throws SQLException {
        try (Statement statement = server.createStatement();
                ResultSet row = statement.executeQuery("SELECT GTID_SUBSET('" + gtid + "', @@GLOBAL.gtid_executed)")) {
            row.next();
            return row.getBoolean(1);
        }
    }

    /**
     * The highest number among the untagged GTIDs of one source that a server has given out. The server sends that
     * source alone, since this is asked before each commit, and each definition that was applied is an interval of
     * another one.
     */
    static long lastGivenOut(Statement statement, UUID source) throws SQLException {
        // The last occurrence is the one that was put before all others where the server has none of that source.
        String executed = "SUBSTRING_INDEX(SUBSTRING_INDEX(CONCAT('%s:,', @@GLOBAL.gtid_executed), '%s:', -1), ',', 1)"
                .formatted(source, source);
        try (ResultSet row = statement.executeQuery("SELECT @@GLOBAL.gtid_owned, " + executed)) {
            row.next();
            String intervals = row.getString(2);
            return OwnedGtids.givenOut(row.getString(1), intervals.isEmpty() ? "" : source + ":" + intervals)
                    .last(source);
        }
    }
}
