// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.server;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Empties a server of clients, so that nobody is told OK by its end whom the order hasn't told so. */
final class Drain {
    private static final Logger log = LoggerFactory.getLogger(Drain.class);

    private static final Duration LOOK = Duration.ofMillis(100);

    private Drain() {}

    /** @return what is still open when {@code limit} is over; null when nothing is */
    static String begin(Connection connection, ServerSession session, Duration limit)
            throws SQLException, InterruptedException {
        long deadline = System.nanoTime() + limit.toNanos();
        ServerAccess.set(connection, "offline_mode", "ON");
        log.info("draining: clients are disconnected and can't connect until mysqld has been restarted");
        long open = 1;
        while (open != 0 && System.nanoTime() < deadline) {
            long last = session.ownExecuted(connection);
            open = session.waitingCommits().count() > 0 ? 1 : session.undecided(last, LOOK);
            if (open != 0) {
                Thread.sleep(LOOK.toMillis());
            }
        }
        if (open != 0) {
            return "clients are disconnected, but the order hasn't decided on everything that they committed; it will"
                    + " be decided when a majority is there and the server is up";
        }
        log.info("drained: everything that clients have committed is decided, mysqld may be stopped");
        return null;
    }

    static void end(Connection connection) throws SQLException {
        ServerAccess.set(connection, "offline_mode", "OFF");
        log.info("clients can connect again");
    }
}
