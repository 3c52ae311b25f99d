// SPDX-License-Identifier: Apache-2.0
package io.quorate.applier;

import io.quorate.core.Certified;
import io.quorate.core.OwnRegister;
import io.quorate.core.OwnWrites;
import io.quorate.core.OwnWrites.Doomed;
import io.quorate.core.OwnWrites.Losers;
import io.quorate.core.PreparedWrites;
import io.quorate.core.WriteSet;
import java.time.Duration;
import java.util.Collection;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * The monitor around the register of own transactions: the capture fills it, the order reports verdicts to it, the
 * workers ask it, and a worker that needs what isn't captured yet waits here. {@link OwnWrites} decides.
 */
public final class SharedOwnWrites implements OwnRegister, ApplyCourse.Register {
    private final OwnWrites own;
    private boolean ended;

    public SharedOwnWrites(OwnWrites own) {
        this.own = own;
    }

    /** The register of a server to which no client writes: nothing is captured, and nothing waits for it. */
    public static SharedOwnWrites none() {
        SharedOwnWrites none = new SharedOwnWrites(new OwnWrites(0, Map.of(), c -> false));
        none.covered(Long.MAX_VALUE, 0);
        return none;
    }

    // For the capture.

    @Override
    public synchronized WriteSet captured(WriteSet w) {
        return own.captured(w);
    }

    @Override
    public synchronized void covered(long number, long lastSeen) {
        own.covered(number, lastSeen);
        notifyAll();
    }

    // For the order.

    @Override
    public synchronized void ordered(Collection<Certified> certified, long last, long lastSeen) {
        own.ordered(certified, last, lastSeen);
        notifyAll();
    }

    @Override
    public synchronized void failedUnknown(long seqno) {
        own.failedUnknown(seqno);
    }

    // For the applier.

    /** The prepared transactions that wait for their verdict; thread-safe. */
    PreparedWrites prepared() {
        return own.prepared();
    }

    @Override
    public synchronized Losers toUndo(Collection<Certified> group, Collection<Doomed> chosen) {
        return own.toUndo(group, chosen);
    }

    @Override
    public synchronized void undoing(Collection<Doomed> transactions, long seqno) {
        own.undoing(transactions, seqno);
    }

    @Override
    public synchronized void notUndone(Collection<Doomed> transactions) {
        own.notUndone(transactions);
    }

    synchronized void applied(long seqno) {
        own.applied(seqno);
    }

    synchronized long settledNumber() {
        return own.settledNumber();
    }

    // For waiters and observers.

    /**
     * Waits until everything that the server committed up to {@code number} is known here; false when the time is over
     * or the session ends.
     */
    public synchronized boolean awaitCovered(long number, Duration timeout) throws InterruptedException {
        long deadline = System.nanoTime() + timeout.toNanos();
        while (!own.isCovered(number) && !ended) {
            long left = deadline - System.nanoTime();
            if (left <= 0) {
                break;
            }
            TimeUnit.NANOSECONDS.timedWait(this, left);
        }
        return own.isCovered(number);
    }

    /** The session ends: nobody waits any longer for something that may not come. */
    public synchronized void end() {
        ended = true;
        notifyAll();
    }

    /** {@link OwnWrites#lastUndecided}. */
    public synchronized long lastUndecided(long number) {
        return own.lastUndecided(number);
    }

    /** How many are open, including those that are undone and not yet passed by the order. */
    public synchronized int size() {
        return own.size();
    }
}
