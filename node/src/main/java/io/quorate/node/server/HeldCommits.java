// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.server;

/**
 * Commits of clients that have won, and whose OK flow control keeps back for a moment.
 *
 * @param millis how long the first of them has waited by now; 0 when there is none
 * @param millisInAll how long all have waited together, in this session with the server
 */
public record HeldCommits(long millis, long millisInAll) {
    public static final HeldCommits NONE = new HeldCommits(0, 0);
}
