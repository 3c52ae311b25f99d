// SPDX-License-Identifier: Apache-2.0
package io.quorate.core;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Decides when an origin's proposals are submitted, and when they are submitted again. The answer to a submission
 * proves nothing; only the delivery to this node does. So whatever goes wrong is handled in one way: the {@link
 * ProposalWindow} goes back to its oldest proposal, and the order drops what it turns out to have already. That is done
 *
 * <ul>
 *   <li>when a submission fails, unless it was made before the window last went back, because then it says nothing
 *       about the window;
 *   <li>when the order left a proposal out because an earlier one is missing;
 *   <li>when something is in flight and nothing was delivered for a while;
 *   <li>when the quorum changes, because what the last leader had may be lost with it.
 * </ul>
 *
 * After the first two, nothing is submitted for a moment, in order not to keep an order that is in trouble there.
 * Without a majority nothing is submitted at all. This class only decides; time comes in as an argument, from any clock
 * that never goes back. Not thread-safe.
 */
public final class ProposalCourse {
    private static final Logger log = LoggerFactory.getLogger(ProposalCourse.class);

    /**
     * @param resendMillis how long something may be in flight without a delivery before it is submitted again
     * @param retryMillis how long nothing is submitted after a submission failed or a proposal was left out
     */
    public record Timing(long resendMillis, long retryMillis) {
        /** The longest that {@link #waitMillis} answers. */
        private long waitMillisMax() {
            return 5 * retryMillis;
        }
    }

    /**
     * What to submit next.
     *
     * @param last GTID number up to which the origin is proposed with it
     * @param epoch what {@link #failed} has to be called with if the submission fails
     */
    public record Submission(Entry entry, long last, long epoch) {}

    private final ProposalWindow window;
    private final Timing timing;
    private boolean primary;
    /** How often the window has gone back. */
    private long epoch;

    private long notBeforeMillis = Long.MIN_VALUE;
    private long deliveredMillis;
    private long resends;

    /** @param primary whether there is a majority */
    public ProposalCourse(ProposalWindow window, Timing timing, boolean primary, long nowMillis) {
        this.window = window;
        this.timing = timing;
        this.primary = primary;
        this.deliveredMillis = nowMillis;
    }

    // For the capture.

    /** Whether the capture should wait before it hands in more. */
    public boolean isFull() {
        return window.full();
    }

    /** A transaction to be ordered, and the XA PREPAREs undecided right after it. */
    public void captured(WriteSet writeSet, long[] undecided, long nowMillis) {
        window.captured(writeSet, undecided, nowMillis);
    }

    /** The binlog has been read up to {@code last}. */
    public void progress(long last, long lastSeen, long[] undecided, long nowMillis) {
        window.progress(last, lastSeen, undecided, nowMillis);
    }

    // For the order.

    /** The order has taken this origin that far. */
    public void delivered(OriginPosition position, long nowMillis) {
        deliveredMillis = nowMillis;
        window.delivered(position.last(), nowMillis);
    }

    /** A proposal was left out because an earlier one is missing. */
    public void gap(long nowMillis) {
        retry("an earlier proposal is missing in the order", nowMillis);
    }

    /** The quorum has changed. */
    public void quorumChanged(boolean isPrimary, long nowMillis) {
        primary = isPrimary;
        rewind(nowMillis);
    }

    /** A submission failed. */
    public void failed(Submission submission, String why, long nowMillis) {
        if (submission.epoch() == epoch) {
            retry(why, nowMillis);
        }
    }

    private void retry(String why, long nowMillis) {
        log.debug("proposing again from the oldest not delivered: {}", why);
        notBeforeMillis = nowMillis + timing.retryMillis();
        rewind(nowMillis);
    }

    private void rewind(long nowMillis) {
        if (window.awaiting()) {
            resends++;
        }
        epoch++;
        window.rewind();
        deliveredMillis = nowMillis;
    }

    // For whoever submits.

    /** The next entry to submit, null when there is nothing to submit now. */
    public Submission next(long nowMillis) {
        boolean awaiting = window.awaiting();
        long limitMillis = timing.resendMillis() + TotalOrder.millisFor(window.sentBytes());
        if (awaiting && nowMillis - deliveredMillis > limitMillis) {
            log.warn("no proposal of this node was delivered for {} ms; sending them again", limitMillis);
            rewind(nowMillis);
            awaiting = false;
        }
        Entry entry = primary && nowMillis >= notBeforeMillis ? window.poll(nowMillis) : null;
        if (entry == null) {
            return null;
        }
        if (!awaiting) {
            deliveredMillis = nowMillis;
        }
        return new Submission(entry, window.sentLast(), epoch);
    }

    /** Milliseconds until {@link #next} may have something even if nothing happens; zero when it has something now. */
    public long waitMillis(long nowMillis) {
        if (!primary) {
            return timing.waitMillisMax();
        }
        return nowMillis < notBeforeMillis
                ? notBeforeMillis - nowMillis
                : window.waitMillis(nowMillis, timing.waitMillisMax());
    }

    // For observers.

    /** Whether everything captured is ordered. */
    public boolean isIdle() {
        return window.idle();
    }

    /** Bytes captured and not yet known to be ordered. */
    public long bytes() {
        return window.bytes();
    }

    /** How often proposals in flight had to be sent again. */
    public long resends() {
        return resends;
    }
}
