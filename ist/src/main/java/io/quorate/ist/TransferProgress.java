// SPDX-License-Identifier: Apache-2.0
package io.quorate.ist;

import java.util.ArrayDeque;
import java.util.Set;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.function.LongSupplier;

/** How far an incremental transfer is. Written by the transfer, read by any thread. */
public final class TransferProgress {
    /** The rate is that of the last few seconds, so that the ETA follows what happens. */
    private static final long WINDOW_MILLIS = 5_000;

    /** What is being done. */
    public enum Phase {
        /** No node with the missing writesets was found. */
        WAITING,
        /** Receiving the writesets that were missed. */
        WRITESETS,
        /** Receiving the state of certification. */
        STATE,
        /** Both are here. */
        DONE
    }

    /**
     * A snapshot of the progress.
     *
     * @param donors names of the nodes that give
     * @param done writesets received
     * @param toDo writesets still to come, as known now
     * @param bytes received, compressed
     * @param perSecond writesets a second lately
     * @param etaMillis until the writesets are here, -1 while nobody can tell
     */
    public record Look(
            Phase phase, Set<String> donors, long done, long toDo, long bytes, long perSecond, long etaMillis) {}

    private record Mark(long millis, long done) {}

    private final LongSupplier clockMillis;
    private final Set<String> donors = new ConcurrentSkipListSet<>();
    private final ArrayDeque<Mark> marks = new ArrayDeque<>();
    private Phase phase = Phase.WAITING;
    private long first;
    private long last;
    private long received;
    private long bytes;

    /** @param clockMillis any clock that does not go back */
    public TransferProgress(LongSupplier clockMillis) {
        this.clockMillis = clockMillis;
    }

    /** What the time is by the clock that it was given. */
    long millis() {
        return clockMillis.getAsLong();
    }

    synchronized void phase(Phase next) {
        phase = next;
    }

    /** Sets the goal: seqnos up to {@code to} have to be here; those up to {@code have} are already. */
    synchronized void target(long have, long to) {
        if (first == 0) {
            first = have + 1;
            received = have;
        }
        last = Math.max(last, to);
    }

    synchronized void received(long seqno) {
        received = seqno;
        long now = clockMillis.getAsLong();
        if (marks.isEmpty() || now - marks.peekLast().millis >= 100) {
            marks.add(new Mark(now, seqno));
        }
        while (marks.size() > 2 && now - marks.peekFirst().millis > WINDOW_MILLIS) {
            marks.remove();
        }
    }

    synchronized void receivedBytes(int count) {
        bytes += count;
    }

    void gives(String donor) {
        donors.add(donor);
    }

    void givesNoMore(String donor) {
        donors.remove(donor);
    }

    public synchronized Look look() {
        Mark before = marks.peekFirst();
        long millis = before == null ? 0 : clockMillis.getAsLong() - before.millis;
        long rate = millis <= 0 ? 0 : (received - before.done) * 1000 / millis;
        long toDo = Math.max(0, last - received);
        long eta = toDo == 0 ? 0 : rate <= 0 ? -1 : toDo * 1000 / rate;
        return new Look(phase, Set.copyOf(donors), first == 0 ? 0 : received - first + 1, toDo, bytes, rate, eta);
    }
}
