// SPDX-License-Identifier: Apache-2.0
package io.quorate.transport;

import io.quorate.core.ErrorCode;
import io.quorate.core.QuorateException;

/**
 * What became of a frame handed to the leader.
 *
 * @param detail for NOT_LEADER the leader's name as far as it is known, for FAILED the reason; never null
 */
record Answer(Status status, String detail) {
    enum Status {
        ACCEPTED,
        NOT_LEADER,
        FAILED
    }

    static final Answer ACCEPTED = new Answer(Status.ACCEPTED, "");

    static Answer notLeader(String hint) {
        return new Answer(Status.NOT_LEADER, hint == null ? "" : hint);
    }

    static Answer failed(String reason) {
        return new Answer(Status.FAILED, String.valueOf(reason));
    }

    QuorateException failure() {
        return switch (status) {
            case ACCEPTED -> throw new IllegalStateException("accepted");
            case NOT_LEADER ->
                new QuorateException(
                        ErrorCode.ORDER_INTERRUPTED,
                        "the node asked is not the leader" + (detail.isEmpty() ? "" : ", it names " + detail));
            case FAILED -> new QuorateException(ErrorCode.ORDER_INTERRUPTED, "the leader did not take it: " + detail);
        };
    }
}
