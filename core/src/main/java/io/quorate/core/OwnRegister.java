// SPDX-License-Identifier: Apache-2.0
package io.quorate.core;

import java.util.Collection;

/**
 * What the capture and the order tell a register of this server's own transactions: {@link OwnWrites}, or what shares it
 * between threads.
 */
public interface OwnRegister {
    /**
     * A client's transaction was read from the binlog. Calls come in the binlog's order; one that was read before may come
     * again.
     *
     * @return the same with what it was built on
     */
    WriteSet captured(WriteSet w);

    /** The capture has read the binlog up to {@code number}, where {@code lastSeen} was applied. */
    void covered(long number, long lastSeen);

    /**
     * The order has taken this server's binlog up to {@code last}; what is open up to there and not among the failed
     * has passed.
     *
     * @param certified writesets of this server that came with it, of either verdict
     * @param lastSeen what this server has reported as seen by then
     */
    void ordered(Collection<Certified> certified, long last, long lastSeen);

    /**
     * A transaction failed as {@code seqno}, and it is not known any more what it wrote. Whatever had not seen its undo may
     * have been built on it.
     */
    void failedUnknown(long seqno);
}
