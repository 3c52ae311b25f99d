// SPDX-License-Identifier: Apache-2.0
package io.quorate.ist;

import io.quorate.core.ErrorCode;
import io.quorate.core.QuorateException;
import io.quorate.core.Transitions;
import io.quorate.ist.TransferCourse.Goal;
import java.io.IOException;
import java.util.Map;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * How a node is brought back when the order's log no longer reaches back to it, or its cache is lost, while it takes no
 * part in the order:
 *
 * <ol>
 *   <li>A cache that holds nothing of use begins anew after what the server holds; that of a node without a server,
 *       after what it has been handed out.
 *   <li>The node receives what it missed: records, if its own certification can continue; records and state, if not;
 *       the state alone, if there is no server.
 *   <li>If nobody holds its records any more, it gets a copy of another server, if that is allowed: it begins with a
 *       peer's state of certification, and everything that is ordered from there on is kept for the copy.
 *   <li>It takes part in the order again; a copy is made after that.
 * </ol>
 *
 * <p>While it receives it has no vote. If the nodes that could give have no leader themselves, they may be waiting for
 * that very vote. So a node that the order's log doesn't reach back to, and to which nobody has given anything for
 * {@link #IN_VAIN_MILLIS}, takes part in the order meanwhile ({@link #votesMeanwhile}). When there is a leader whose
 * log doesn't reach back to it, it comes here again.
 *
 * <p>Nothing of this is remembered: a node that dies in the middle finds out what it lacks when it starts again. This
 * class only decides: {@link #step} has {@link Work} do it.
 */
public final class RejoinCourse {
    private static final Logger log = LoggerFactory.getLogger(RejoinCourse.class);

    /** Why a node has to be brought back. */
    public enum Cause {
        /** The others' logs begin after the node's place in the order. */
        LOG_PASSED,
        /** Its cache is damaged, or lacks what has to be applied; the order could go on. */
        CACHE_LOST;

        /** The cause, from the exception that stopped a part of the node; null for one that no transfer can repair. */
        public static Cause of(QuorateException stopped) {
            return switch (stopped.code()) {
                case ORDER_TOO_FAR_BEHIND -> LOG_PASSED;
                case CACHE_CORRUPT, CACHE_PASSED -> CACHE_LOST;
                default -> null;
            };
        }
    }

    /** The steps of the course. */
    public enum Step {
        BEGIN,
        EMPTY_CACHE,
        RECEIVE,
        KEEP_FOR_COPY,
        WANT_COPY,
        GO_ON;

        static final Transitions<Step> NEXT = Transitions.of(Map.of(
                BEGIN, Set.of(EMPTY_CACHE, RECEIVE),
                EMPTY_CACHE, Set.of(RECEIVE),
                RECEIVE, Set.of(KEEP_FOR_COPY, WANT_COPY, GO_ON),
                KEEP_FOR_COPY, Set.of(WANT_COPY),
                WANT_COPY, Set.of(GO_ON),
                GO_ON, Set.of()));
    }

    /**
     * The node, at the moment of a decision.
     *
     * @param server whether it has one, up or down
     * @param cacheFirst first seqno that its cache may hold
     * @param cacheLast last seqno that it holds
     * @param lastOrdered last seqno that its certification knows
     * @param nextIndex index of the entry of the order's log that would be handed out next
     */
    public record Here(boolean server, long cacheFirst, long cacheLast, long lastOrdered, long nextIndex) {}

    /**
     * A copy of another server for this node's server.
     *
     * @param allowed whether it may have one
     * @param pending whether it is to have one anyway
     */
    public record Copy(boolean allowed, boolean pending) {
        public static final Copy NONE = new Copy(false, false);
    }

    /** What has to be done; call {@link #done} when it is, unless the task says otherwise. */
    public sealed interface Task permits AskServer, EmptyCache, Receive, WantCopy, GoOn {}

    /** Find out up to which seqno the server holds everything, and call {@link #serverHolds}. */
    public record AskServer() implements Task {}

    /** Empty the cache, to continue at a seqno. */
    public record EmptyCache(long next) implements Task {}

    /**
     * Bring the cache to that goal; if a checkpoint came with it, its state of certification is this node's then. Call
     * {@link #received}, or {@link #failed}.
     */
    public record Receive(Goal goal) implements Task {}

    /** Remember that the server needs a copy, which has to reach at least this seqno: everything after it is kept. */
    public record WantCopy(long from) implements Task {}

    /** Take part in the order again. */
    public record GoOn() implements Task {}

    /** The node that is brought back, as {@link #step} works on it. */
    public interface Work {
        Here here();

        Copy copy();

        /** @throws IOException when the server can't be reached, with the reason as its message */
        long serverHolds() throws IOException;

        /** Empties the cache, to continue at a seqno. */
        void emptyCache(long next) throws IOException;

        /**
         * Goes on with {@link Receive}.
         *
         * @return whether the goal is reached, and a checkpoint that came is this node's
         */
        boolean receive(Goal goal) throws IOException, InterruptedException;

        void wantCopy(long from) throws IOException;
    }

    /** The answer of {@link #beginWithCopy}. */
    public enum Beginning {
        /** This node is told to leave its server alone. */
        REFUSED,
        /** The others' logs are whole: begin with the copy alone, from the beginning of the order. */
        COPY_ALONE,
        /** Begin with the state of certification, then the copy. */
        STATE_AND_COPY
    }

    /** A node asks for records in vain for this long before it takes part in the order without them. */
    public static final long IN_VAIN_MILLIS = 10_000;

    private final Cause cause;
    private boolean inVain;
    private long inVainSinceMillis;
    private long inVainHeld;
    private boolean votesMeanwhile;
    private Step step = Step.BEGIN;
    private boolean copying;
    /** The cache continues after this seqno. */
    private long held;

    public RejoinCourse(Cause cause) {
        this.cause = cause;
    }

    /** The course of a node that holds nothing of the order, and whose server is to have a copy. */
    public static RejoinCourse ofCopy() {
        RejoinCourse course = new RejoinCourse(Cause.LOG_PASSED);
        course.copying = true;
        course.go(Step.RECEIVE);
        return course;
    }

    /**
     * How a node begins that holds nothing of the order, if its server can't begin from the order alone.
     *
     * @param offers what the others have
     */
    public static Beginning beginWithCopy(Copy copy, Iterable<IncrementalTransfer.Offer> offers) {
        if (!copy.allowed) {
            return Beginning.REFUSED;
        }
        for (IncrementalTransfer.Offer offer : offers) {
            if (offer.checkpointIndex() >= 0) {
                return Beginning.STATE_AND_COPY;
            }
        }
        return Beginning.COPY_ALONE;
    }

    /** Whether a transfer can repair what stopped a part of the node. */
    public static boolean mends(QuorateException stopped) {
        return Cause.of(stopped) != null;
    }

    public Step at() {
        return step;
    }

    /**
     * Does one thing of what has to be done.
     *
     * @param nowMillis on a clock that only goes forward
     * @return what it waits for; null when it goes on at once
     * @throws IOException when this node's own disk fails
     */
    public String step(Work work, long nowMillis) throws IOException, InterruptedException {
        Task task = next(work.here(), work.copy());
        try {
            carryOut(task, work);
            return null;
        } catch (IOException e) {
            if (!(task instanceof AskServer)) {
                throw e;
            }
            return "to know what is missing, " + e.getMessage();
        } catch (QuorateException e) {
            if (!(task instanceof Receive)) {
                throw e;
            }
            String why = failed(e, work.here(), work.copy(), nowMillis);
            if (why == null) {
                log.warn("no transfer from the others' caches: {}", e.detail());
            }
            return votesMeanwhile ? null : why;
        }
    }

    /** Does all that has to be done, or fails with what stands in the way. */
    public void run(Work work) throws IOException, InterruptedException {
        while (step != Step.GO_ON) {
            carryOut(next(work.here(), work.copy()), work);
        }
    }

    private void carryOut(Task task, Work work) throws IOException, InterruptedException {
        if (task instanceof AskServer) {
            serverHolds(work.serverHolds());
        } else if (task instanceof EmptyCache empty) {
            work.emptyCache(empty.next());
            done();
        } else if (task instanceof Receive receive && work.receive(receive.goal())) {
            received(work.here().lastOrdered());
        } else if (task instanceof WantCopy want) {
            work.wantCopy(want.from());
            done();
        }
    }

    /** What has to be done now; asked again without an answer in between, it may say something else. */
    Task next(Here here, Copy copy) {
        if (step == Step.BEGIN) {
            boolean useless = cause == Cause.CACHE_LOST || here.cacheLast < here.cacheFirst;
            if (useless && here.server) {
                return new AskServer();
            }
            held = here.lastOrdered;
            go(useless ? Step.EMPTY_CACHE : Step.RECEIVE);
        }
        if (step == Step.RECEIVE) {
            copying |= copy.allowed && copy.pending;
            if (copying && cause == Cause.CACHE_LOST) {
                held = here.lastOrdered;
                go(Step.KEEP_FOR_COPY);
            }
        }
        return switch (step) {
            case EMPTY_CACHE, KEEP_FOR_COPY -> new EmptyCache(held + 1);
            case RECEIVE -> new Receive(goal(here));
            case WANT_COPY -> new WantCopy(held);
            default -> new GoOn();
        };
    }

    private Goal goal(Here here) {
        if (cause == Cause.CACHE_LOST) {
            return Goal.records(here.lastOrdered);
        }
        return copying || !here.server ? Goal.state(here.nextIndex) : Goal.recordsAndState(here.nextIndex);
    }

    /** The answer to {@link AskServer}. */
    void serverHolds(long seqno) {
        held = seqno;
        go(Step.EMPTY_CACHE);
    }

    /** {@link EmptyCache} or {@link WantCopy} is done. */
    void done() {
        go(
                switch (step) {
                    case EMPTY_CACHE -> Step.RECEIVE;
                    case KEEP_FOR_COPY -> Step.WANT_COPY;
                    default -> Step.GO_ON;
                });
    }

    /** {@link Receive} is done, and this node's certification knows everything up to {@code seqno}. */
    void received(long seqno) {
        held = seqno;
        go(copying ? Step.WANT_COPY : Step.GO_ON);
    }

    /**
     * {@link Receive} has failed.
     *
     * @param nowMillis on a clock that only goes forward
     * @return why, if that passes: after a while continue with {@link #next}. Null if the course continues at once, by
     *     a copy
     * @throws QuorateException the same one, if it doesn't pass
     */
    String failed(QuorateException e, Here here, Copy copy, long nowMillis) {
        boolean gone = e.code() == ErrorCode.CACHE_PASSED;
        boolean full = e.code() == ErrorCode.DISK_LOW;
        boolean passes = gone || full || e.code() == ErrorCode.ORDER_INTERRUPTED || e.code() == ErrorCode.ORDER_BUSY;
        if (!passes) {
            throw e;
        }
        copying = gone && copy.allowed && !copying;
        if (gone || full || !inVain || here.cacheLast != inVainHeld) {
            inVain = !gone && !full;
            inVainSinceMillis = nowMillis;
            inVainHeld = here.cacheLast;
        } else if (cause == Cause.LOG_PASSED
                && here.cacheLast >= here.lastOrdered
                && nowMillis - inVainSinceMillis >= IN_VAIN_MILLIS) {
            votesMeanwhile = true;
            go(Step.GO_ON);
        }
        return copying ? null : gone ? e.getMessage() : e.detail();
    }

    /**
     * Whether the node takes part in the order again although it received nothing, because the others may need its
     * vote.
     */
    public boolean votesMeanwhile() {
        return votesMeanwhile;
    }

    private void go(Step next) {
        step = Step.NEXT.step(step, next);
    }
}
