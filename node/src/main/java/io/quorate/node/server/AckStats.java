// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.server;

import io.quorate.core.AckCourse.Cause;
import java.util.concurrent.atomic.LongAdder;

/** How often sessions had to be ended in commit mode {@code after-sync}, since the service was started. Any thread. */
public final class AckStats {
    private final LongAdder lost = new LongAdder();
    private final LongAdder undecided = new LongAdder();

    void ended(Cause cause) {
        (cause == Cause.LOST ? lost : undecided).increment();
    }

    /** Sessions whose transaction lost. */
    public long lost() {
        return lost.sum();
    }

    /** Sessions of whose transaction the order said nothing in time. */
    public long undecided() {
        return undecided.sum();
    }
}
