// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.server;

import java.io.IOException;
import java.sql.SQLException;

/** What the link does instead of a session while the server is to be filled with another one's data. */
public interface Refill {
    /** Whether that is to be begun, or to be finished. */
    boolean isPending();

    /** Goes on with it until it is over, or the link has something else to do. */
    void run() throws SQLException, IOException, InterruptedException;
}
