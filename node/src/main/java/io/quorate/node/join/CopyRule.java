// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.join;

import io.quorate.core.ErrorCode;
import java.io.IOException;
import java.util.List;

/**
 * Decides whether a server that holds something else than the order says may get a full copy of another one now. Where
 * a row or a table differs, and the nodes haven't voted about it, it may be the others that are wrong: one server on
 * which somebody has deleted rows without the binlog would then have all others copy that. So at least half of the
 * servers must hold what this one lacks. That isn't asked of a server whose own clients have run a definition that is
 * void, or that is ordered only after what the server can't take: it is known to be the odd one, and two of three may
 * be at the same time.
 *
 * @param difference what showed that it holds something else
 * @param orderedThen last seqno that was ordered then
 * @param holders names of the nodes whose servers are SYNCED and have applied that
 * @param voters how many servers hold what the order says, as far as the order was told, this one included or not
 */
public record CopyRule(ErrorCode difference, long orderedThen, List<String> holders, int voters) {
    /** What is asked only where the answer matters. */
    public interface Server {
        /** Whether it has run a definition that is void, so that it isn't the others that are wrong. */
        boolean hasVoidDefinition() throws IOException;

        /** Whether its clients have defined anew what it can't take, and that is ordered later ({@link RanAhead}). */
        boolean hasRunAhead() throws IOException, InterruptedException;
    }

    /** Why there can't be a copy yet; null when there can. */
    public String obstacle(Server server) throws InterruptedException {
        if (holders.isEmpty()) {
            return "waiting for a node that can give a copy: none with a server is SYNCED and has applied seqno "
                    + orderedThen
                    + ". Where no server is any more, because all differ, choose the one whose tables are right:"
                    + " quorate heal --trust";
        }
        int servers = Math.max(voters, holders.size() + 1);
        try {
            if (2 * holders.size() < servers && isAboutRows() && !isTheOdd(server)) {
                return "waiting, because only " + String.join(", ", holders) + " of " + servers
                        + " servers holds what this one lacks. If that is the right one, have this node get its tables:"
                        + " quorate heal SCHEMA.TABLE; if not, have this one's be right: quorate heal --trust";
            }
        } catch (IOException e) {
            return "waiting for the server: " + e.getMessage();
        }
        return null;
    }

    /** Whether it is this server that is wrong, whatever the others hold. */
    public boolean isItsOwnFault(Server server) throws InterruptedException {
        try {
            return !isAboutRows() || isTheOdd(server);
        } catch (IOException e) {
            return false;
        }
    }

    private static boolean isTheOdd(Server server) throws IOException, InterruptedException {
        return server.hasVoidDefinition() || server.hasRunAhead();
    }

    private boolean isAboutRows() {
        return difference == ErrorCode.APPLY_MISMATCH || difference == ErrorCode.SCHEMA_MISMATCH;
    }
}
