// SPDX-License-Identifier: Apache-2.0
package io.quorate.core;

import java.io.IOException;

/** What the order has made of this node's own origin, the server beside it. */
public interface OwnOrder {
    /**
     * Whether the order has handed out all that this node ever acted upon: what its record held when it started, and
     * what is applied, which is more when a power failure took the end of the record. Only then is our place in it known.
     */
    boolean isCurrent(long applied);

    /** Whether the order has heard of our own origin. */
    boolean isKnown();

    /** Where the order stands with it; {@link OriginPosition#NONE} while it hasn't heard of it. */
    OriginPosition own();

    /** Hands the deliveries of our own origin to {@code next}, and says where the order stands with it at that moment. */
    OriginPosition attach(ProposalListener next);

    /**
     * Tells {@code register} from now on what becomes of this server's transactions; at once, which of them have failed
     * so that some that are captured again may have been built on them.
     */
    void attach(OwnRegister register) throws IOException, InterruptedException;
}
