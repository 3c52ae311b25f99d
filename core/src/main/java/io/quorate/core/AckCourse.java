// SPDX-License-Identifier: Apache-2.0
package io.quorate.core;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;

/**
 * Decides what may be acknowledged to a server that waits with its clients' OK until a semi-sync replica has
 * acknowledged their commits. The capture is that replica. An acknowledgement is a position of the binlog; it gives
 * everybody OK whose commit ends there or before it. So it may only be given when each client's transaction up to there
 * is settled, which it is when
 *
 * <ul>
 *   <li>the order has it, and it passed; or
 *   <li>the session of its client has been ended, so that nobody is left who could hear OK. This is done at once when
 *       the transaction has lost, and when the order has said nothing of it for a time limit. Nobody knows what becomes
 *       of the latter, and their clients, whose connections were cut, don't either.
 * </ul>
 *
 * What the applier commits is in the same binlog, and needs nothing: it is acknowledged with whatever comes before it.
 *
 * <p>Flow control may slow the OK of those that are settled ({@link #slow}); the applier's commits in between wait with
 * them. That makes this server later, for which all would be slowed, and nobody would ever be let go again. So none of
 * the applier's commits is held for longer than a quarter of what a client is: then everybody gets OK who may. All of
 * them, since the server commits what was logged meanwhile as one group, which waits for the last one in it.
 *
 * <p>The acknowledgement also makes transactions visible to others, the lost ones among them, which are undone next. A
 * session may be ended before its transaction is acknowledged, never afterwards: it may have begun another one by then.
 * So a transaction isn't settled while its session is being ended, whatever the order says meanwhile. And where nobody
 * waits, since the server had committed before it waited for this course, no session is ended: after a restart the
 * server gives the same numbers to other sessions.
 *
 * <p>This class only decides; time comes in as an argument, from any clock that never goes back. Not thread-safe.
 */
public final class AckCourse {
    /** Why a session is to be ended. */
    public enum Cause {
        /** Its transaction lost against another one. */
        LOST,
        /** The order has said nothing of its transaction for too long. */
        UNDECIDED
    }

    /**
     * A session to end.
     *
     * @param number GTID number of the transaction whose client waits for OK
     * @param session the server's number of the connection
     */
    public record Ending(long number, long session, Cause cause) {}

    private static final class Waiting {
        private final long session;
        private final long sinceMillis;
        private final long untilMillis;
        private boolean lost;
        private boolean asked;
        private boolean ended;

        Waiting(long session, long sinceMillis, long untilMillis) {
            this.session = session;
            this.sinceMillis = sinceMillis;
            this.untilMillis = untilMillis;
        }
    }

    /**
     * What may be acknowledged.
     *
     * @param end the position up to which everything is settled
     * @param number GTID number up to which the server's clients have been answered with it
     */
    public record Ack(BinlogPosition end, long number) {}

    /**
     * A place up to which the binlog has been read.
     *
     * @param millis when the client's transaction was read that ends there, or before commits of the applier's
     * @param appliedMillis when the first of these was read; {@link #NONE} without any
     */
    private record Read(Ack ack, long millis, long appliedMillis) {
        private static final long NONE = Long.MAX_VALUE;
    }

    private final long limitMillis;
    private final long holdAppliedMillis;
    private final AckPace pace;
    /** Captured transactions that aren't settled, or are settled by the end of their session and not ordered yet. */
    private final NavigableMap<Long, Waiting> waiting = new TreeMap<>();

    private final ArrayDeque<Read> read = new ArrayDeque<>();
    private long answered;
    private long captured;
    private long decided;
    private Ack settled;
    /** Since when somebody has been kept from OK only by its pace; the maximum when nobody is. */
    private long heldSinceMillis = Long.MAX_VALUE;

    private long heldMillis;

    /**
     * @param limitMillis how long a client waits for the order before its session is ended, beside what a large
     *     transaction takes
     * @param holdMaxMillis how long a client whose transaction is settled waits for OK at most, where OK is slowed
     */
    public AckCourse(long limitMillis, long holdMaxMillis) {
        this.limitMillis = limitMillis;
        this.pace = new AckPace(holdMaxMillis);
        this.holdAppliedMillis = holdMaxMillis / 4;
    }

    /**
     * The server has committed everything up to {@code number}, and nobody waits for these any more: their clients have
     * been answered, or their connections are gone.
     */
    public void answered(long number) {
        answered = Math.max(answered, number);
        waiting.headMap(answered, true).clear();
    }

    /**
     * A client's transaction, about to be proposed. One that was captured before may come again.
     *
     * @param bytes its size: the order is given the more time for it, and for those that are proposed after it
     */
    public void captured(long number, long session, long bytes, long nowMillis) {
        captured = Math.max(captured, number);
        if (number > decided && number > answered) {
            long until = nowMillis + limitMillis + TotalOrder.millisFor(bytes);
            Map.Entry<Long, Waiting> before = waiting.lowerEntry(number);
            if (before != null) {
                until = Math.max(until, before.getValue().untilMillis);
            }
            waiting.putIfAbsent(number, new Waiting(session, nowMillis, until));
        }
    }

    /**
     * Whether that transaction's client has been answered, or is ended if the order says nothing. Of others that still
     * wait nothing is captured, or not what the server commits in one group with it.
     */
    public boolean isInHand(long number) {
        return number <= answered || waiting.containsKey(number);
    }

    /** The binlog has been read up to {@code end}, which is the end of a transaction; all up to there are captured. */
    public void read(BinlogPosition end, long nowMillis) {
        Ack ack = new Ack(end, captured);
        Read last = read.peekLast();
        if (last != null && last.ack.number == captured) {
            read.removeLast();
            read.add(new Read(ack, last.millis, Math.min(last.appliedMillis, nowMillis)));
        } else {
            read.add(new Read(ack, nowMillis, Read.NONE));
        }
    }

    /** Until that time, at most so many clients a second get their OK, though no settled one waits for too long. */
    public void slow(double perSecond, long nowMillis, long untilMillis) {
        pace.slow(perSecond, nowMillis, untilMillis);
    }

    /**
     * The order has decided everything of this server up to {@code last}.
     *
     * @param lost the numbers of those that have failed; of any age, unknown ones are passed over
     */
    public void decided(Collection<Long> lost, long last) {
        for (long number : lost) {
            Waiting w = waiting.get(number);
            if (w != null) {
                w.lost = true;
            }
        }
        decided = Math.max(decided, last);
        waiting.headMap(decided, true).values().removeIf(w -> w.ended || (!w.lost && !w.asked));
    }

    /** The sessions to end by now; each is named once, until {@link #notEnded}. */
    public List<Ending> endings(long nowMillis) {
        List<Ending> endings = new ArrayList<>();
        waiting.forEach((number, w) -> {
            if (!w.asked && (w.lost || nowMillis >= w.untilMillis)) {
                w.asked = true;
                endings.add(new Ending(number, w.session, w.lost ? Cause.LOST : Cause.UNDECIDED));
            }
        });
        return endings;
    }

    /** The session of this transaction is gone: its client won't hear OK. */
    public void ended(long number) {
        Waiting w = waiting.get(number);
        if (w != null) {
            w.ended = true;
            if (number <= decided) {
                waiting.remove(number);
            }
        }
    }

    /** The session of this transaction couldn't be ended: it is to be tried again. */
    public void notEnded(long number) {
        Waiting w = waiting.get(number);
        if (w != null) {
            w.asked = false;
            if (number <= decided && !w.lost) {
                waiting.remove(number);
            }
        }
    }

    /** Up to where the server may be told OK by now; null before anything may. It only grows. */
    public Ack acknowledged(long nowMillis) {
        long unsettled = unsettled();
        boolean appliedWaited = pace.isSlow(nowMillis) && untilAppliedHasWaited(nowMillis) <= 0;
        for (Read next = read.peek(); next != null && next.ack.number < unsettled; next = read.peek()) {
            boolean answersNobody = settled != null && next.ack.number == settled.number;
            if (!answersNobody && !appliedWaited && !pace.passes(next.millis, nowMillis)) {
                heldSinceMillis = Math.min(heldSinceMillis, nowMillis);
                return settled;
            }
            if (!answersNobody && heldSinceMillis < nowMillis) {
                heldMillis += nowMillis - Math.max(heldSinceMillis, next.millis);
            }
            settled = read.poll().ack;
        }
        heldSinceMillis = Long.MAX_VALUE;
        return settled;
    }

    /** Milliseconds until one of the applier's commits has waited for long enough; the maximum without any. */
    private long untilAppliedHasWaited(long nowMillis) {
        for (Read each : read) {
            if (each.appliedMillis != Read.NONE && (settled == null || each.ack.number > settled.number)) {
                return each.appliedMillis + holdAppliedMillis - nowMillis;
            }
        }
        return Long.MAX_VALUE;
    }

    /** The first place that could be acknowledged and isn't, because OK is slowed; null when there is none. */
    private Read held(long nowMillis) {
        Read next = read.peek();
        return next != null && next.ack.number < unsettled() && pace.isSlow(nowMillis) ? next : null;
    }

    /** For how long the first of the clients has waited that are kept from their OK only by its pace; 0 without one. */
    public long heldMillis(long nowMillis) {
        Read held = held(nowMillis);
        return held == null || heldSinceMillis > nowMillis ? 0 : nowMillis - Math.max(heldSinceMillis, held.millis);
    }

    /** For how long all clients together have waited whose OK was slowed, since this course began. */
    public long heldMillisInAll() {
        return heldMillis;
    }

    /** The number of the first transaction that isn't settled. */
    private long unsettled() {
        for (Map.Entry<Long, Waiting> each : waiting.entrySet()) {
            if (!each.getValue().ended) {
                return each.getKey();
            }
        }
        return Long.MAX_VALUE;
    }

    /** Whether every captured transaction is settled. */
    public boolean isSettled() {
        return unsettled() == Long.MAX_VALUE;
    }

    /** How many clients wait for OK. */
    public int size() {
        return open().size();
    }

    /** The GTID numbers of the transactions whose clients wait for OK, in ascending order. */
    public List<Long> open() {
        List<Long> numbers = new ArrayList<>();
        waiting.forEach((number, w) -> {
            if (!w.ended) {
                numbers.add(number);
            }
        });
        return numbers;
    }

    /** How long the first of them has waited since its transaction was captured; 0 when none waits. */
    public long waitedMillis(long nowMillis) {
        for (Waiting w : waiting.values()) {
            if (!w.ended) {
                return nowMillis - w.sinceMillis;
            }
        }
        return 0;
    }

    /** Milliseconds until there may be something to do even if nothing happens; at most {@code otherwise}. */
    public long waitMillis(long nowMillis, long otherwise) {
        Read held = held(nowMillis);
        long wait = untilAnEnding(nowMillis, otherwise);
        if (held == null) {
            return wait;
        }
        wait = Math.min(wait, Math.max(1, untilAppliedHasWaited(nowMillis)));
        return Math.min(pace.waitMillis(held.millis, nowMillis), wait);
    }

    private long untilAnEnding(long nowMillis, long otherwise) {
        for (Waiting w : waiting.values()) {
            if (!w.asked) {
                // Later ones are given no less time.
                return Math.min(otherwise, Math.max(1, w.untilMillis - nowMillis));
            }
        }
        return otherwise;
    }
}
