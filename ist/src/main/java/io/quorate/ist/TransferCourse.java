// SPDX-License-Identifier: Apache-2.0
package io.quorate.ist;

import io.quorate.ist.IncrementalTransfer.Offer;
import java.util.List;

/**
 * The course of a transfer: writesets up to where somebody has a checkpoint, then that donor's newest checkpoint, then the
 * writesets up to this one. Decides only; what it decides upon is done elsewhere.
 */
public final class TransferCourse {
    /** How far the newest checkpoint may have run away before the writesets up to it are fetched, rather than the state. */
    private static final long FAR_SEQNOS = 20_000;

    /** What is to be done next. */
    public enum Next {
        /** Append the writesets up to {@link #to}. */
        RECORDS,
        /** Ask {@link #donor} for its newest checkpoint, and tell {@link #received} of it. */
        STATE,
        /** Force the cache; then the checkpoint received is this node's. */
        DONE
    }

    private final long indexMin;
    private final DonorChoice choice;
    private Offer source;
    private boolean fetched;
    private CheckpointStore.Checkpoint received;

    /** @param indexMin the checkpoint must not lie before this place in the log */
    public TransferCourse(long indexMin, DonorChoice choice) {
        this.indexMin = indexMin;
        this.choice = choice;
    }

    /**
     * @param held last seqno that the cache holds
     * @throws io.quorate.core.QuorateException ORDER_INTERRUPTED when nobody offers a checkpoint that would do
     */
    public Next next(long held, List<Offer> offers, long nowMillis) {
        if (received != null) {
            return held < received.seqno() ? Next.RECORDS : Next.DONE;
        }
        if (source == null) {
            source = choice.checkpointFrom(offers, indexMin, nowMillis);
        } else if (fetched && held >= source.checkpoint()) {
            Offer newer = choice.checkpointFrom(offers, indexMin, nowMillis);
            source = newer.checkpoint() - source.checkpoint() < FAR_SEQNOS ? source : newer;
        }
        if (held >= source.checkpoint()) {
            return Next.STATE;
        }
        fetched = true;
        return Next.RECORDS;
    }

    /**
     * The first record to ask for: the last one held, to be compared with the donor's, where there are both.
     *
     * @param first first seqno that the cache may hold
     * @param held last seqno that it holds
     */
    public static long from(long first, long held, List<Offer> offers) {
        boolean comparable = held >= first && offers.stream().anyMatch(offer -> offer.first() <= held);
        return comparable ? held : held + 1;
    }

    public long to() {
        return received != null ? received.seqno() : source.checkpoint();
    }

    public String donor() {
        return source.donor();
    }

    public void received(CheckpointStore.Checkpoint checkpoint) {
        received = checkpoint;
    }

    public CheckpointStore.Checkpoint checkpoint() {
        return received;
    }
}
