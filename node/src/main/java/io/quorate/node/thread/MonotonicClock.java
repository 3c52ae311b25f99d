// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.thread;

/** The time that is given to whatever decides: it says how long something takes, and never goes back. */
public final class MonotonicClock {
    private MonotonicClock() {}

    /** Milliseconds since some moment, the same one for all of this process. */
    public static long millis() {
        return System.nanoTime() / 1_000_000;
    }
}
