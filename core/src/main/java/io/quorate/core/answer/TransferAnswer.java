// SPDX-License-Identifier: Apache-2.0
package io.quorate.core.answer;

import java.util.List;

/**
 * {@code /actuator/transfer}: what a node receives from others to come back, and what it gives them.
 *
 * @param node its name
 * @param state a {@link io.quorate.core.NodeState}
 * @param reason why it is not SYNCED, empty when it is
 * @param receiving the incremental transfer under way, null without one
 * @param waitsFor what a transfer or a copy waits for, null when neither does
 * @param copying how far a full copy is; null, as are the next four, when none is wanted or under way
 * @param method {@code STREAM} or {@code CLONE}, null also while it isn't chosen
 * @param copyFrom name of the node whose server is copied, empty while there is none
 * @param paused whether the copy is paused
 * @param bytesPerSecondMax what it may take, 0 for no limit
 * @param giving the incremental transfers that it gives
 * @param bytesGiven of transfers and copies since it started, compressed
 * @param heldMillis for how long a copy that it gave was slowed down, because it had to apply what was ordered
 *     meanwhile
 */
public record TransferAnswer(
        String node,
        String state,
        String reason,
        Receiving receiving,
        String waitsFor,
        Copying copying,
        String method,
        String copyFrom,
        Boolean paused,
        Long bytesPerSecondMax,
        List<Given> giving,
        long bytesGiven,
        long heldMillis) {
    public TransferAnswer {
        node = LeftOut.orEmpty(node);
        state = LeftOut.orEmpty(state);
        reason = LeftOut.orEmpty(reason);
        giving = LeftOut.orEmpty(giving);
    }

    /**
     * An incremental transfer.
     *
     * @param phase {@code WAITING}, {@code WRITESETS}, {@code STATE} or {@code DONE}
     * @param donors names of the nodes that give
     * @param done writesets received
     * @param toDo writesets still to come, as known now
     * @param bytes received, compressed
     * @param perSecond writesets, lately
     * @param etaMillis until the writesets are here, -1 while nobody can tell
     */
    public record Receiving(
            String phase, List<String> donors, long done, long toDo, long bytes, long perSecond, long etaMillis) {
        public Receiving {
            phase = LeftOut.orEmpty(phase);
            donors = LeftOut.orEmpty(donors);
        }
    }

    /**
     * A full copy.
     *
     * @param stage of method clone in MySQL's words, such as {@code FILE COPY}; empty before the first
     * @param bytes copied
     * @param toDo bytes still to be copied, as estimated now
     * @param perSecond bytes, since the copy began
     * @param etaMillis until the bytes are here, -1 while nobody can tell
     */
    public record Copying(String stage, long bytes, long toDo, long perSecond, long etaMillis) {
        public Copying {
            stage = LeftOut.orEmpty(stage);
        }
    }

    /**
     * An incremental transfer that this node gives.
     *
     * @param from first seqno asked for
     * @param to last seqno asked for
     * @param next the seqno that is sent next
     */
    public record Given(String joiner, long from, long to, long next) {
        public Given {
            joiner = LeftOut.orEmpty(joiner);
        }
    }
}
