// SPDX-License-Identifier: Apache-2.0
package io.quorate.applier;

import io.quorate.core.GtidSet;
import io.quorate.core.OwnedGtids;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;

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
}
