// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.server;

/**
 * Commits of clients that wait for their verdict.
 *
 * @param millis how long the first of them has waited
 */
public record WaitingCommits(int count, long millis) {
    /** Also in commit mode {@code async}. */
    public static final WaitingCommits NONE = new WaitingCommits(0, 0);
}
