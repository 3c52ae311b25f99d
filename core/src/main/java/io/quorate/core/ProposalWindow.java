// SPDX-License-Identifier: Apache-2.0
package io.quorate.core;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.UUID;

/**
 * What an origin has captured and not yet seen ordered. Captured writesets wait here, are cut into {@link Proposal}s of
 * a sensible size as the order takes them, and stay until their own delivery proves them ordered. Whatever becomes of a
 * submission, the way on is the same: {@link #rewind}, and everything that was not delivered is proposed again, from
 * the oldest.
 *
 * <p>Bytes are counted so that the owner can hold the capture back; time comes in as an argument. Not thread-safe.
 */
public final class ProposalWindow {
    /**
     * @param proposalBytesMax a proposal takes no further writeset beyond this
     * @param inFlightMax proposals submitted and not yet delivered
     * @param bytesMax what the window holds before {@link #full} says so
     * @param intervalMillis a proposal that is not full comes no sooner than this after the one before: at high rates a
     *     round of the order then carries many writesets, at low rates nothing waits
     * @param intervalMillisMax how far that grows when rounds of the order take long, see {@link Pace}
     * @param idleMillis how long a position without writesets may wait to be proposed
     */
    public record Limits(
            int proposalBytesMax,
            int inFlightMax,
            long bytesMax,
            long intervalMillis,
            long intervalMillisMax,
            long idleMillis) {
        public static final Limits DEFAULT = new Limits(256 << 10, 4, 32 << 20, 10, 100, 500);
    }

    private static final class Proposed {
        private final Entry entry;
        private final long last;
        private long sentMillis;
        private int times;

        Proposed(Entry entry, long last) {
            this.entry = entry;
            this.last = last;
        }
    }

    private record Captured(WriteSet writeSet, long[] undecided) {}

    private final UUID origin;
    private final Limits limits;
    private final Pace pace;
    /** Proposals made and not delivered, oldest first; the first {@code sent} of them are submitted. */
    private final ArrayDeque<Proposed> proposed = new ArrayDeque<>();

    private final ArrayDeque<Captured> captured = new ArrayDeque<>();
    private int sent;
    private long sentLast;
    private long bytes;

    private long proposedLast;
    private long capturedLast;
    private long lastSeen;
    private long[] undecided;
    private long progressSinceMillis = -1;
    private boolean announcing;
    private long capturedBytes;
    private long notBeforeMillis = Long.MIN_VALUE;

    /** @param from where the order stands with this origin, and so where the capture resumes */
    public ProposalWindow(UUID origin, OriginPosition from, Limits limits) {
        this.origin = origin;
        this.limits = limits;
        this.pace = new Pace(limits.intervalMillis(), limits.intervalMillisMax());
        this.proposedLast = from.last();
        this.capturedLast = from.last();
        this.lastSeen = from.lastSeen();
        this.undecided = from.undecided();
    }

    /**
     * Proposes this origin's position although nothing was captured, so that the order knows of the origin before its
     * clients write.
     */
    public void announce() {
        announcing = true;
    }

    /** A transaction to be ordered, and the XA PREPAREs undecided right after it. */
    public void captured(WriteSet writeSet, long[] undecided, long nowMillis) {
        captured.add(new Captured(writeSet, undecided));
        long size = WriteSetCodec.encodedBytes(writeSet);
        capturedBytes += size;
        bytes += size;
        progress(writeSet.gtid().number(), writeSet.lastSeen(), undecided, nowMillis);
    }

    /** The capture has seen all of the binlog up to {@code last}. */
    public void progress(long last, long lastSeen, long[] undecided, long nowMillis) {
        if (last <= capturedLast) {
            return;
        }
        if (progressSinceMillis < 0) {
            progressSinceMillis = nowMillis;
        }
        this.capturedLast = last;
        // A prepared transaction may have begun long before.
        this.lastSeen = Math.max(this.lastSeen, lastSeen);
        this.undecided = undecided;
    }

    /** Whether the capture should wait. A single transaction of any size fits into an empty window. */
    public boolean full() {
        return bytes >= limits.bytesMax();
    }

    /** The next entry to submit, null when there is none or enough is in flight. */
    public Entry poll(long nowMillis) {
        if (sent == limits.inFlightMax()) {
            return null;
        }
        if (sent == proposed.size() && !propose(nowMillis)) {
            return null;
        }
        Iterator<Proposed> it = proposed.iterator();
        for (int i = 0; i < sent; i++) {
            it.next();
        }
        sent++;
        Proposed next = it.next();
        next.sentMillis = nowMillis;
        next.times++;
        sentLast = next.last;
        return next.entry;
    }

    /** The GTID number up to which this origin was proposed by what {@link #poll} gave last. */
    public long sentLast() {
        return sentLast;
    }

    /**
     * Milliseconds until {@link #poll} has something even if nothing happens, at most {@code otherwise}; zero when it
     * has something now.
     */
    public long waitMillis(long nowMillis, long otherwise) {
        if (sent == limits.inFlightMax()) {
            return otherwise;
        }
        long due = otherwise;
        if (sent < proposed.size() || capturedBytes >= limits.proposalBytesMax()) {
            due = 0;
        } else if (announcing || !captured.isEmpty()) {
            due = notBeforeMillis - nowMillis;
        } else if (progressSinceMillis >= 0) {
            due = progressSinceMillis + limits.idleMillis() - nowMillis;
        }
        return Math.min(otherwise, Math.max(0, due));
    }

    private boolean propose(long nowMillis) {
        if (nowMillis < notBeforeMillis && capturedBytes < limits.proposalBytesMax()) {
            return false;
        }
        boolean due = progressSinceMillis >= 0 && nowMillis - progressSinceMillis >= limits.idleMillis();
        if (captured.isEmpty() && !due && !announcing) {
            return false;
        }
        List<WriteSet> taken = new ArrayList<>();
        Captured newest = null;
        long takenBytes = 0;
        while (!captured.isEmpty()) {
            int next = WriteSetCodec.encodedBytes(captured.peek().writeSet());
            if (newest != null && takenBytes + next > limits.proposalBytesMax()) {
                break;
            }
            newest = captured.poll();
            taken.add(newest.writeSet());
            takenBytes += next;
        }
        // Within a backlog a proposal ends at its last writeset, with the XA PREPAREs that were undecided there: one
        // that was decided since must still be read again if we die before its decision is ordered.
        boolean all = captured.isEmpty();
        Proposal p = all
                ? new Proposal(origin, proposedLast, capturedLast, lastSeen, undecided, taken)
                : new Proposal(
                        origin,
                        proposedLast,
                        newest.writeSet().gtid().number(),
                        newest.writeSet().lastSeen(),
                        newest.undecided(),
                        taken);
        Entry entry = ProposalCodec.encode(p);
        proposed.add(new Proposed(entry, p.last()));
        bytes += entry.size() - takenBytes;
        capturedBytes -= takenBytes;
        notBeforeMillis = nowMillis + pace.intervalMillis();
        proposedLast = p.last();
        announcing = false;
        if (all) {
            progressSinceMillis = -1;
        }
        return true;
    }

    /** The order has taken this origin up to {@code last}. */
    public void delivered(long last, long nowMillis) {
        while (!proposed.isEmpty() && proposed.peek().last <= last) {
            Proposed done = proposed.poll();
            bytes -= done.entry.size();
            if (done.times == 1) {
                pace.round(nowMillis - done.sentMillis);
            }
            sent = Math.max(0, sent - 1);
        }
    }

    /**
     * Submits everything that was not delivered again: a submission failed, timed out, or was left out because of a
     * gap.
     */
    public void rewind() {
        sent = 0;
    }

    public boolean idle() {
        return proposed.isEmpty() && captured.isEmpty();
    }

    /** Whether something is submitted and not delivered. */
    public boolean awaiting() {
        return sent > 0;
    }

    public long bytes() {
        return bytes;
    }

    /** Bytes submitted and not delivered. */
    public long sentBytes() {
        return proposed.stream().limit(sent).mapToLong(p -> p.entry.size()).sum();
    }
}
