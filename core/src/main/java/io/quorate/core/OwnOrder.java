// SPDX-License-Identifier: Apache-2.0
package io.quorate.core;

import java.io.IOException;

/** What the order knows of this node's own origin, the server beside it. */
public interface OwnOrder {
    /**
     * Whether the order has handed out everything that this node ever acted upon: what its record held when it started,
     * and what is applied, which is more when a power failure took the end of the record. Only then is our place in the
     * order known.
     */
    boolean isCurrent(long applied);

    /** Whether the order has heard of our own origin. */
    boolean isKnown();

    /**
     * Up to where the order has taken our own origin's binlog; {@link OriginPosition#NONE} while it hasn't heard of the
     * origin.
     */
    OriginPosition own();

    /**
     * Hands the deliveries of our own origin to {@code next}, and answers up to where the order had taken its binlog at
     * that moment.
     */
    OriginPosition attach(ProposalListener next);

    /**
     * Tells {@code register} from now on what becomes of this server's transactions; and at once, which of those have
     * failed that transactions captured again may have been built on, and which definitions passed under which
     * transactions captured again may have been written.
     */
    void attach(OwnRegister register) throws IOException, InterruptedException;
}
