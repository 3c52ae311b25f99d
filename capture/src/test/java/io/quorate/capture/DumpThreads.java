// SPDX-License-Identifier: Apache-2.0
package io.quorate.capture;

import io.quorate.sandbox.MySqlServer;
import io.quorate.sandbox.SandboxException;
import java.util.List;

/** The server's ends of binlog connections. */
final class DumpThreads {
    private DumpThreads() {}

    /** Kills those there are now; returns how many. */
    static int kill(MySqlServer server) {
        int killed = 0;
        for (List<String> row :
                server.query("SELECT ID FROM information_schema.PROCESSLIST WHERE COMMAND LIKE 'Binlog Dump%'")) {
            try {
                server.execute("KILL " + row.get(0));
                killed++;
            } catch (SandboxException e) {
                // It ended by itself meanwhile.
            }
        }
        return killed;
    }
}
