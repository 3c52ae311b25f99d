// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.audit;

/**
 * The audit as its course sees it: the state that the course works on, and the signals to wait or to stop that it
 * obeys.
 */
interface AuditHost {
    AuditState state();

    void change(AuditState next);

    /** Keeps the state on disk. */
    void save();

    /** Notes what the audit waits for; empty when it works. */
    void waits(String why);

    /** Waits before something is tried again. */
    void pause() throws InterruptedException, Stopped;

    /** Rests after so much work, so that the servers have time for their clients. */
    void rest(long workedNanos) throws InterruptedException, Stopped;

    /** Called now and then; ends the work by throwing {@link Stopped} when it is to end. */
    void check() throws Stopped;

    default void pause(String why) throws InterruptedException, Stopped {
        waits(why);
        pause();
    }

    /** Thrown when the work is to end. */
    final class Stopped extends Exception {
        private static final long serialVersionUID = 1;
    }
}
