// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.audit;

/** Who has an audit done: what its course works on, and whom it obeys. */
interface AuditHost {
    AuditState state();

    void change(AuditState next);

    /** Keeps the state on disk. */
    void save();

    /** What stands in the way, empty for nothing. */
    void waits(String why);

    /** Before something is tried again. */
    void pause() throws InterruptedException, Stopped;

    /** After it has worked for so long, so that the servers have time for others. */
    void rest(long workedNanos) throws InterruptedException, Stopped;

    /** Called now and then, to end the work. */
    void check() throws Stopped;

    default void pause(String why) throws InterruptedException, Stopped {
        waits(why);
        pause();
    }

    /** Thrown through the work when it is to end. */
    final class Stopped extends Exception {
        private static final long serialVersionUID = 1;
    }
}
