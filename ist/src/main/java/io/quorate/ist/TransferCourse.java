// SPDX-License-Identifier: Apache-2.0
package io.quorate.ist;

import io.quorate.core.Certified;
import io.quorate.ist.IncrementalTransfer.Offer;
import java.io.IOException;
import java.util.List;

/**
 * The course of a transfer. A transfer of records and state fetches the writesets up to a checkpoint that some donor
 * has, then that donor's newest checkpoint, then the writesets up to this one. It decides what comes
 * next; {@link Work} does it.
 */
public final class TransferCourse {
    /**
     * If the newest checkpoint has moved further ahead than this, the writesets up to it are fetched first, rather than
     * the state.
     */
    private static final long FAR_SEQNOS = 20_000;

    /** What a transfer brings. */
    public enum Kind {
        /** Writesets, for a node whose certification can continue: only its cache is gone. */
        RECORDS,
        /** Writesets, and the state of certification at the end of them. */
        RECORDS_AND_STATE,
        /**
         * The state of certification and nothing else, for a node that applies nothing, or gets a copy of a server:
         * however long it was away, nobody needs to have kept what it missed.
         */
        STATE
    }

    /**
     * What a transfer has to reach.
     *
     * @param until for {@link Kind#RECORDS} the last seqno; for the others the place in the log that the checkpoint
     *     must not precede
     */
    public record Goal(Kind kind, long until) {
        public static Goal records(long to) {
            return new Goal(Kind.RECORDS, to);
        }

        public static Goal recordsAndState(long indexMin) {
            return new Goal(Kind.RECORDS_AND_STATE, indexMin);
        }

        public static Goal state(long indexMin) {
            return new Goal(Kind.STATE, indexMin);
        }
    }

    /** What is done at a time. */
    private enum Next {
        /** Have a cache that continues after a seqno begin with that one. */
        LAST_RECORD,
        /** Append the writesets up to {@link #to}. */
        RECORDS,
        /** Ask a donor for its newest checkpoint. */
        STATE,
        /** Empty the cache, to continue after the checkpoint received. */
        BEGIN_AFTER_STATE,
        /** Force the cache; then the checkpoint received, if any, is this node's. */
        DONE
    }

    /** What a transfer works on: this node's cache, and the donors. */
    public interface Work {
        /** Whether the cache holds nothing. */
        boolean isEmpty();

        /** Last seqno that the cache holds, or would if it weren't empty. */
        long held();

        /** The record at that seqno; empty when nobody gives it. Fails only where this node's disk does. */
        List<Certified> record(long seqno) throws IOException, InterruptedException;

        /** Appends these to the cache. */
        void append(List<Certified> records) throws IOException;

        /** Appends writesets up to that one, or as many of them as come at a time. */
        void records(long to) throws IOException, InterruptedException;

        /** Asks a donor for its newest checkpoint. */
        CheckpointStore.Checkpoint state(String donor) throws IOException;

        /** Empties the cache, to continue at a seqno. */
        void reset(long next) throws IOException;

        /** Makes durable what the cache holds. */
        void force() throws IOException;
    }

    private final Goal goal;
    private final DonorChoice choice;
    private Offer source;
    private boolean fetched;
    private boolean lastRecordAsked;
    private CheckpointStore.Checkpoint received;

    public TransferCourse(Goal goal, DonorChoice choice) {
        this.goal = goal;
        this.choice = choice;
    }

    /**
     * Does what comes next.
     *
     * @return whether that was the last: the cache holds everything up to {@link #checkpoint}, or begins after it
     * @throws io.quorate.core.QuorateException ORDER_INTERRUPTED when nobody offers a checkpoint that would do
     */
    public boolean step(Work work, List<Offer> offers, long nowMillis) throws IOException, InterruptedException {
        Next next = next(work, offers, nowMillis);
        switch (next) {
            case LAST_RECORD -> {
                lastRecordAsked = true;
                beginWith(work, work.held());
            }
            case RECORDS -> work.records(to());
            case STATE -> received = work.state(source.donor());
            case BEGIN_AFTER_STATE -> work.reset(received.seqno() + 1);
            case DONE -> work.force();
        }
        return next == Next.DONE;
    }

    private static void beginWith(Work work, long seqno) throws IOException, InterruptedException {
        List<Certified> given = work.record(seqno);
        if (!given.isEmpty()) {
            work.reset(seqno);
            work.append(given);
        }
    }

    private Next next(Work work, List<Offer> offers, long nowMillis) {
        long held = work.held();
        if (lacksLastRecord(work.isEmpty(), held, offers)) {
            return Next.LAST_RECORD;
        }
        return switch (goal.kind) {
            case RECORDS -> held < goal.until ? Next.RECORDS : Next.DONE;
            case STATE -> stateAlone(held, offers, nowMillis);
            case RECORDS_AND_STATE -> recordsAndState(held, offers, nowMillis);
        };
    }

    /**
     * Whoever holds nothing can't be compared with. If this node is the only one left after that, the others can't tell
     * whether what they hold is the beginning of what it holds, and stay out. So its cache begins with what its state,
     * or its server, ends with.
     */
    private boolean lacksLastRecord(boolean empty, long held, List<Offer> offers) {
        boolean continues = goal.kind != Kind.STATE || (received != null && held == received.seqno());
        return continues
                && !lastRecordAsked
                && held > 0
                && empty
                && offers.stream().anyMatch(offer -> offer.holds(held, held));
    }

    private Next stateAlone(long held, List<Offer> offers, long nowMillis) {
        if (received != null) {
            return held != received.seqno() ? Next.BEGIN_AFTER_STATE : Next.DONE;
        }
        source = choice.checkpointFrom(offers, goal.until, nowMillis);
        return Next.STATE;
    }

    private Next recordsAndState(long held, List<Offer> offers, long nowMillis) {
        if (received != null) {
            return held < received.seqno() ? Next.RECORDS : Next.DONE;
        }
        if (source == null) {
            source = choice.checkpointFrom(offers, goal.until, nowMillis);
        } else if (fetched && held >= source.checkpoint()) {
            Offer newer = choice.checkpointFrom(offers, goal.until, nowMillis);
            source = newer.checkpoint() - source.checkpoint() < FAR_SEQNOS ? source : newer;
        }
        if (held >= source.checkpoint()) {
            return Next.STATE;
        }
        fetched = true;
        return Next.RECORDS;
    }

    /**
     * The first record to ask for: the last one held, so that it can be compared with the donor's, if both have it.
     *
     * @param first first seqno that the cache may hold
     * @param held last seqno that it holds
     */
    public static long from(long first, long held, List<Offer> offers) {
        boolean comparable = held >= first && offers.stream().anyMatch(offer -> offer.first() <= held);
        return comparable ? held : held + 1;
    }

    private long to() {
        return goal.kind == Kind.RECORDS ? goal.until : received != null ? received.seqno() : source.checkpoint();
    }

    /** The checkpoint received; null before, and when records alone are transferred. */
    public CheckpointStore.Checkpoint checkpoint() {
        return received;
    }
}
