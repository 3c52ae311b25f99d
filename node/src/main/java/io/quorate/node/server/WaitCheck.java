// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.server;

import java.sql.Connection;
import java.sql.SQLException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Looks whether clients' commits wait for their verdict, as long as a server is open in mode {@code after-sync}. */
final class WaitCheck {
    private static final Logger log = LoggerFactory.getLogger(WaitCheck.class);

    static final String TOO_EARLY = "clients may get OK before the order has decided: ";

    /** Null in mode {@code async}. */
    private final SemiSyncSource semiSync;

    /** How many commits didn't wait; -1 while it isn't known. */
    private long passedBy = -1;

    WaitCheck(SemiSyncSource semiSync) {
        this.semiSync = semiSync;
    }

    /** The server was opened for clients, or closed. */
    void changed() {
        passedBy = -1;
    }

    /** Why clients may get OK too early, while the server is open; null when they can't. */
    String violation(Connection connection) throws SQLException {
        if (semiSync == null) {
            return null;
        }
        String violation = semiSync.violation(connection);
        count(semiSync.passedBy(connection));
        return violation == null ? null : TOO_EARLY + violation;
    }

    /** As above, before the server is opened: whoever is connected then counts at once. */
    String violationNow(Connection connection) throws SQLException {
        String first = violation(connection);
        return first == null ? violation(connection) : first;
    }

    /** The first count after the server was opened has what this service itself committed meanwhile. */
    private void count(long now) {
        if (passedBy >= 0 && now > passedBy) {
            log.error(
                    "{} commits got OK before the order had decided on them: somebody has switched semi-sync"
                            + " replication off for a moment",
                    now - passedBy);
        }
        passedBy = now;
    }
}
