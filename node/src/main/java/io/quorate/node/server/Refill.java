// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.server;

import java.io.IOException;
import java.sql.SQLException;

/** What the link does instead of having a session while the server is to be filled with the data of another one. */
public interface Refill {
    /** Whether filling the server has to be begun or finished. */
    boolean isPending();

    /** Goes on filling the server until that is done or the link has something else to do. */
    void run() throws SQLException, IOException, InterruptedException;
}
