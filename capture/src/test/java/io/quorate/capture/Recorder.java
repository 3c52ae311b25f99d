// SPDX-License-Identifier: Apache-2.0
package io.quorate.capture;

import io.quorate.core.OriginPosition;
import io.quorate.core.QuorateException;
import io.quorate.core.WriteSet;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/** A sink that keeps what it takes, and holds the promises of {@link CaptureSink} against the caller. */
final class Recorder implements CaptureSink {
    /** One call. */
    record Entry(long number, long lastSeen, long[] undecided, WriteSet writeSet) {}

    private final List<Entry> entries = new ArrayList<>();
    private long last;
    private QuorateException failure;
    private boolean blocked;
    private boolean waiting;

    /** @param last the GTID number that is covered before the first call */
    Recorder(long last) {
        this.last = last;
    }

    @Override
    public synchronized void covered(long number, long lastSeen, long[] undecided, WriteSet writeSet)
            throws InterruptedException {
        while (blocked) {
            waiting = true;
            notifyAll();
            wait();
        }
        waiting = false;
        if (number <= last) {
            throw new IllegalStateException(number + " after " + last);
        }
        last = number;
        entries.add(new Entry(number, lastSeen, undecided.clone(), writeSet));
        notifyAll();
    }

    synchronized void failed(QuorateException e) {
        failure = e;
        notifyAll();
    }

    synchronized void block(boolean on) {
        blocked = on;
        notifyAll();
    }

    /** Waits until a call is held by {@link #block}. */
    synchronized void awaitBlocked() throws InterruptedException {
        while (!waiting) {
            wait();
        }
    }

    /** Waits until a GTID number is covered; fails when capture does. */
    synchronized List<Entry> await(long number, Duration timeout) throws InterruptedException {
        long end = System.nanoTime() + timeout.toNanos();
        while (last < number) {
            if (failure != null) {
                throw failure;
            }
            long left = (end - System.nanoTime()) / 1_000_000;
            if (left <= 0) {
                throw new AssertionError("covered " + last + " instead of " + number + " within " + timeout);
            }
            wait(left);
        }
        return List.copyOf(entries);
    }

    /** Waits until there are so many entries; fails when capture does. */
    synchronized void awaitEntries(int count, Duration timeout) throws InterruptedException {
        long end = System.nanoTime() + timeout.toNanos();
        while (entries.size() < count) {
            if (failure != null) {
                throw failure;
            }
            long left = (end - System.nanoTime()) / 1_000_000;
            if (left <= 0) {
                throw new AssertionError(entries.size() + " entries instead of " + count + " within " + timeout);
            }
            wait(left);
        }
    }

    synchronized QuorateException awaitFailure(Duration timeout) throws InterruptedException {
        long end = System.nanoTime() + timeout.toNanos();
        while (failure == null) {
            long left = (end - System.nanoTime()) / 1_000_000;
            if (left <= 0) {
                throw new AssertionError("no failure within " + timeout);
            }
            wait(left);
        }
        return failure;
    }

    synchronized List<Entry> entries() {
        return List.copyOf(entries);
    }

    List<WriteSet> writeSets() {
        return entries().stream().map(Entry::writeSet).filter(Objects::nonNull).toList();
    }

    synchronized void clear() {
        entries.clear();
    }

    /** Where the total order would be, had it taken everything. */
    synchronized OriginPosition position(OriginPosition before) {
        if (entries.isEmpty()) {
            return before;
        }
        Entry end = entries.get(entries.size() - 1);
        return new OriginPosition(end.number, end.lastSeen, end.undecided);
    }
}
