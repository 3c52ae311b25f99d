// SPDX-License-Identifier: Apache-2.0
package io.quorate.ist;

/**
 * What a node's cache has to keep, whatever its size, for the node itself and for those to which it gives.
 *
 * @param applied the node's server holds everything up to this seqno
 * @param forgettable and so does the older one of its checkpoints, which serves when the newer one is damaged
 * @param oldestOwnTold seqno of the first own transaction of which a new session has to know, that is, one that failed
 *     and on which others may have been built, or a definition under which rows may still be written; the next seqno
 *     without one
 * @param oldestGiven seqno that a transfer from here sends next, {@link Long#MAX_VALUE} without one
 */
public record Retention(long applied, long forgettable, long oldestOwnTold, long oldestGiven) {
    /** Seqno of the first record that is still needed. */
    public long first() {
        return Math.min(Math.min(applied, forgettable) + 1, Math.min(oldestOwnTold, oldestGiven));
    }
}
