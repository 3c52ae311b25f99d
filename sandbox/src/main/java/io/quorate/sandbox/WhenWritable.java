// SPDX-License-Identifier: Apache-2.0
package io.quorate.sandbox;

import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;

/**
 * Tries again while a node takes no writes, as clients do: on a busy machine a node can be without a majority for a
 * moment, for example because its leader is elected away, and its server is closed as long.
 */
public final class WhenWritable {
    /** What a closed server answers: ER_OPTION_PREVENTS_STATEMENT. */
    public static final int READ_ONLY = 1290;

    private static final long POLL_MILLIS = 100;

    private WhenWritable() {}

    /** @param limit after which the server's own answer is thrown */
    public static void execute(Statement client, String sql, Duration limit) throws SQLException, InterruptedException {
        long end = System.nanoTime() + limit.toNanos();
        while (true) {
            try {
                client.execute(sql);
                return;
            } catch (SQLException e) {
                if (e.getErrorCode() != READ_ONLY || System.nanoTime() > end) {
                    throw e;
                }
                Thread.sleep(POLL_MILLIS);
            }
        }
    }
}
