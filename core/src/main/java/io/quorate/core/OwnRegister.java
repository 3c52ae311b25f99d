// SPDX-License-Identifier: Apache-2.0
package io.quorate.core;

import java.util.Collection;
import java.util.function.Predicate;

/**
 * What the capture and the order tell a register of this server's own transactions. {@link OwnWrites} is one; so is the
 * object that shares it between threads.
 */
public interface OwnRegister {
    /** Hears which of a server's own transactions are captured, and what the order decides about them. */
    interface Listener {
        /** A client's transaction, before it is proposed, and so before the order can say what has become of it. */
        void captured(WriteSet w);

        /**
         * Everything up to {@code last} is decided.
         *
         * @param lost the GTID numbers of those that have failed
         */
        void decided(Collection<Long> lost, long last);
    }

    /**
     * This register, and {@code listener}, which hears of decisions after it.
     *
     * @param stands whether what a transaction was to do is done, although it failed: the listener doesn't hear of it
     */
    default OwnRegister and(Listener listener, Predicate<Certified> stands) {
        OwnRegister first = this;
        return new OwnRegister() {
            @Override
            public WriteSet captured(WriteSet w) {
                listener.captured(w);
                return first.captured(w);
            }

            @Override
            public void covered(long number, long lastSeen) {
                first.covered(number, lastSeen);
            }

            @Override
            public void ordered(Collection<Certified> certified, long last, long lastSeen) {
                first.ordered(certified, last, lastSeen);
                listener.decided(
                        certified.stream()
                                .filter(c -> !c.passed() && !stands.test(c))
                                .map(c -> c.writeSet().gtid().number())
                                .toList(),
                        last);
            }

            @Override
            public void failedUnknown(long seqno) {
                first.failedUnknown(seqno);
            }
        };
    }

    /**
     * A client's transaction was read from the binlog. Calls come in the binlog's order; one that was read before may
     * come again.
     *
     * @return the same writeset, with what it was built on
     */
    WriteSet captured(WriteSet w);

    /** The capture has read the binlog up to {@code number}; by then {@code lastSeen} was applied. */
    void covered(long number, long lastSeen);

    /**
     * The order has taken this server's binlog up to {@code last}; open transactions up to there that are not among the
     * failed ones have passed.
     *
     * @param certified writesets of this server that came with it, of either verdict
     * @param lastSeen what this server has reported as seen by then
     */
    void ordered(Collection<Certified> certified, long last, long lastSeen);

    /**
     * A transaction failed at {@code seqno}, and what it wrote is no longer known. Any transaction that had not seen
     * its undo may have been built on it.
     */
    void failedUnknown(long seqno);
}
