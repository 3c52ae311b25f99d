// SPDX-License-Identifier: Apache-2.0
package io.quorate.ist;

import io.quorate.core.Certified;
import io.quorate.core.ErrorCode;
import io.quorate.core.LogPosition;
import io.quorate.core.PeerStreams;
import io.quorate.core.QuorateException;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;

/**
 * Checks that what this node and its server hold of the order is what the others hold, or the beginning of it. After a
 * cluster went on without its majority that isn't certain: the nodes left behind may have ordered something else. The
 * last record decides. It names its place in Raft's log, by term and index, and by Raft's log matching two nodes that
 * agree on it agree on everything before.
 *
 * <p>A node that has just begun to lead, or to serve, may not have been handed out everything that its log holds. So a
 * history that goes further than the others' counts as a different one only when theirs hasn't moved for a while. Time
 * comes in as an argument.
 */
public final class HistoryCheck {
    /**
     * Longer than it takes a node that begins to lead, or to serve, to be handed out what its log holds, or to report
     * progress.
     */
    private static final long PATIENCE_MILLIS = 5_000;

    private final WriteSetCache cache;
    private final DonorClient client;
    private final DonorChoice choice = new DonorChoice();
    /** How far the others were when last seen, if that was short of what this node holds. */
    private long shortAt = -1;

    private long shortSinceMillis;

    public HistoryCheck(WriteSetCache cache, PeerStreams peers, UUID incarnation) {
        this.cache = cache;
        this.client = new DonorClient(peers, incarnation, bytes -> {});
    }

    /**
     * Compares the last record of the cache with the others' and, where the server is further than the cache, the
     * server's position.
     *
     * @param offers what the others hold
     * @param applied the server holds everything up to this seqno; 0 for nothing
     * @param at the place in the log that goes with it
     * @throws QuorateException COPY_NEEDED when it is another history; ORDER_INTERRUPTED while the others may only be
     *     about to reach what this node holds; CACHE_PASSED when nobody there holds what it would be compared with
     * @throws IOException when the connection to that node breaks off; the same call may be tried again
     */
    public synchronized void require(
            List<IncrementalTransfer.Offer> offers, long applied, LogPosition at, long nowMillis) throws IOException {
        long last = cache.last();
        boolean cached = !cache.isEmpty();
        if (cached) {
            Certified ours = ours(last);
            Certified theirs = theirs(offers, last, nowMillis);
            if (!theirs.equals(ours)) {
                throw other("this node holds " + text(ours) + ", the others " + text(theirs));
            }
        }
        if (applied > 0 && (!cached || applied > last)) {
            Certified theirs = theirs(offers, applied, nowMillis);
            if (!theirs.position().equals(at)) {
                throw other(
                        "the server's seqno " + applied + " was ordered at " + at + ", the others' is " + text(theirs));
            }
        }
    }

    private static String text(Certified record) {
        return "seqno " + record.seqno() + " (" + record.writeSet().gtid() + ", ordered at " + record.position() + ")";
    }

    private static QuorateException other(String what) {
        return new QuorateException(ErrorCode.COPY_NEEDED, "this node has a history of its own: " + what);
    }

    private Certified ours(long seqno) throws IOException {
        try (CacheCursor cursor = cache.read(seqno)) {
            return cursor.next(Duration.ZERO);
        } catch (InterruptedException e) {
            throw interrupted(e);
        }
    }

    private Certified theirs(List<IncrementalTransfer.Offer> offers, long seqno, long nowMillis) throws IOException {
        requireReached(offers, seqno, nowMillis);
        IncrementalTransfer.Offer donor;
        try {
            donor = choice.donorOf(offers, seqno, seqno, nowMillis)
                    .orElseThrow(() ->
                            new IOException("the node that holds seqno " + seqno + " broke off; it is asked again"));
        } catch (QuorateException e) {
            throw new QuorateException(
                    ErrorCode.CACHE_PASSED,
                    "can't tell whether this node's history is that of the others: nobody there holds seqno " + seqno
                            + "; if nobody who does comes back, only a full copy helps: give this node an empty server"
                            + " and data directory",
                    e);
        }
        List<Certified> read = new ArrayList<>();
        try {
            client.records(donor.donor(), new RecordReader(seqno, seqno, cache.spool(), read::addAll));
            return read.get(0);
        } catch (InterruptedException e) {
            throw interrupted(e);
        } catch (IOException e) {
            choice.failed(donor.donor(), nowMillis);
            // The end of a stream says nothing of itself.
            throw new IOException(donor.donor() + " broke off: " + e, e);
        }
    }

    private void requireReached(List<IncrementalTransfer.Offer> offers, long seqno, long nowMillis) {
        long furthest =
                offers.stream().mapToLong(IncrementalTransfer.Offer::last).max().orElse(Long.MAX_VALUE);
        if (furthest >= seqno) {
            return;
        }
        if (furthest != shortAt) {
            shortAt = furthest;
            shortSinceMillis = nowMillis;
        }
        String what = "it goes to seqno " + seqno + ", that of the others to " + furthest;
        if (nowMillis - shortSinceMillis < PATIENCE_MILLIS) {
            throw new QuorateException(
                    ErrorCode.ORDER_INTERRUPTED,
                    "can't tell yet whether this node's history is that of the others: " + what);
        }
        throw other(what);
    }

    private static IOException interrupted(InterruptedException e) {
        Thread.currentThread().interrupt();
        return (InterruptedIOException) new InterruptedIOException("interrupted").initCause(e);
    }
}
