// SPDX-License-Identifier: Apache-2.0
package io.quorate.core;

/**
 * What a node says of itself for flow control ({@link FlowCourse}).
 *
 * @param lagMillis age of the first writeset that its server doesn't hold yet; 0 when it holds everything
 * @param queue how many writesets are ordered that its server doesn't hold yet
 * @param appliedPerSecond writesets that its server has come to hold a second, lately
 * @param ownPerSecond transactions of its own clients a second, lately
 * @param slowedFor the node for which its own clients are slowed; null when they aren't
 * @param leftBehind whether nobody waits for it, because it was too far behind for too long
 */
public record FlowReport(
        long lagMillis, long queue, long appliedPerSecond, long ownPerSecond, String slowedFor, boolean leftBehind) {
    public boolean isSlowed() {
        return slowedFor != null;
    }
}
