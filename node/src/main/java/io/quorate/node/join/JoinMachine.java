// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.join;

import io.quorate.core.ErrorCode;
import io.quorate.core.NodeEvent;
import io.quorate.core.NodeEvent.Part;
import io.quorate.core.QuorateException;
import io.quorate.core.Transitions;
import io.quorate.transport.AdmissionPlan;
import java.util.Map;
import java.util.Set;

/**
 * How a node comes to be a member of the cluster that is up to date with the order, and how it comes back to that.
 *
 * <p><b>The first start.</b> A node whose directory remembers that it is a member goes on as one. If the directory is
 * new, the node asks the others for its place ({@code FINDING_PLACE}): it begins the cluster together with them, or it
 * has to be made a member. Before it asks for that, it settles with what data its server begins ({@code
 * SETTLING_DATA}): with what the server holds already, which must be the beginning of what the others hold, with the
 * order alone, or with a full copy. Then it takes part in the order without a vote and asks the leader to be made a
 * member ({@code ASKING_IN}); the leader waits until the node has all of the log. From then on it is a {@code MEMBER}.
 *
 * <p><b>Receiving.</b> When the order's log no longer reaches back to where the node stands, or its cache is lost, the
 * node leaves the order and receives from the others what it lacks ({@code RECEIVING}; {@link
 * io.quorate.ist.RejoinCourse} says how). That can happen to a member, also to one that waits for a copy, and to a node
 * that asks to be one: it returns to what it was.
 *
 * <p><b>Copying.</b> When its server needs a full copy, the node makes that as a member ({@code COPYING}) and keeps
 * meanwhile what is ordered.
 *
 * <p><b>Differing.</b> When it shows that a member's server holds something else than the order says, nothing more is
 * applied to it ({@code AWAITING_COPY}). As soon as somebody can give a copy the node wants one. Where rows or tables
 * differ, at least half of the servers must hold what this one lacks: a copy would make the wrong of one server the
 * wrong of all. Until then its server stays as it is, and starting its service again has it try what failed once more.
 *
 * <p><b>Out of the cluster.</b> A node that somebody has taken out ({@code TAKEN_OUT}) stays out until it is told to
 * join. A node that a forced recovery has left behind ({@code LEFT_BEHIND}) compares what it holds with the cluster's
 * new life: if that is a beginning of what the others hold, it takes the new life over and joins anew; if not, it has a
 * history of its own, and stays out for good ({@code STAYING_OUT}).
 *
 * <p>This class decides only: it is told what has happened, says where the node stands, and what the node's state
 * machine is to know of it ({@link #shown}). {@link Join} carries out what a step asks for. Not thread-safe.
 */
public final class JoinMachine {
    /** Where a node stands. */
    public enum Step {
        BEGIN(Part.MEMBER),
        FINDING_PLACE(Part.JOINER),
        SETTLING_DATA(Part.JOINER),
        ASKING_IN(Part.JOINER),
        MEMBER(Part.MEMBER),
        AWAITING_COPY(Part.JOINER),
        COPYING(Part.JOINER),
        RECEIVING(Part.JOINER),
        TAKEN_OUT(Part.OUT),
        LEFT_BEHIND(Part.OUT),
        STAYING_OUT(Part.OUT),
        /** What it met can't be mended: the node is INCONSISTENT. */
        FAILED(Part.MEMBER);

        static final Transitions<Step> NEXT = Transitions.of(Map.ofEntries(
                Map.entry(BEGIN, Set.of(FINDING_PLACE, SETTLING_DATA, MEMBER, TAKEN_OUT)),
                Map.entry(FINDING_PLACE, Set.of(SETTLING_DATA, MEMBER, FAILED)),
                Map.entry(SETTLING_DATA, Set.of(ASKING_IN, LEFT_BEHIND, FAILED)),
                Map.entry(ASKING_IN, Set.of(MEMBER, RECEIVING, TAKEN_OUT, LEFT_BEHIND, FAILED)),
                Map.entry(MEMBER, Set.of(AWAITING_COPY, COPYING, RECEIVING, TAKEN_OUT, LEFT_BEHIND, FAILED)),
                Map.entry(AWAITING_COPY, Set.of(COPYING, RECEIVING, TAKEN_OUT, LEFT_BEHIND, FAILED)),
                Map.entry(COPYING, Set.of(MEMBER, AWAITING_COPY, RECEIVING, TAKEN_OUT, LEFT_BEHIND, FAILED)),
                Map.entry(RECEIVING, Set.of(MEMBER, ASKING_IN, TAKEN_OUT, LEFT_BEHIND, FAILED)),
                Map.entry(TAKEN_OUT, Set.of(SETTLING_DATA, FAILED)),
                Map.entry(LEFT_BEHIND, Set.of(SETTLING_DATA, STAYING_OUT, FAILED)),
                Map.entry(STAYING_OUT, Set.of()),
                Map.entry(FAILED, Set.of())));

        private final Part part;

        Step(Part part) {
            this.part = part;
        }

        /** What the node is for the cluster meanwhile. */
        public Part part() {
            return part;
        }
    }

    /**
     * So long a node that asks to be a member may get nothing new of the order before its part in it is started again.
     */
    static final long STUCK_MILLIS = 12_000;

    private Step step = Step.BEGIN;
    /** Which step the node returns to when it has received what it missed. */
    private Step back = Step.MEMBER;
    /** Why the node has to receive what it missed; null while it has it. */
    private QuorateException missing;

    /** What shows that its server holds something else than the order says; null while nothing does. */
    private QuorateException difference;
    /** Last seqno that was ordered when that showed. */
    private long orderedThen;

    private String progress = "";
    private int entered;
    private long heldThen = -1;
    private long movedMillis;

    public Step at() {
        return step;
    }

    /** How often a step was entered: another number means that the step has to be begun, even if it is the same one. */
    public int entered() {
        return entered;
    }

    /** What the node's state machine is to know. */
    public NodeEvent.JoinChanged shown() {
        return new NodeEvent.JoinChanged(step.part, progress);
    }

    /** Why the node has to receive what it missed; null while it has it. */
    public QuorateException missing() {
        return missing;
    }

    /** What shows that its server holds something else than the order says; null while nothing does. */
    public QuorateException difference() {
        return difference;
    }

    /** Last seqno that was ordered when its server showed to differ; whoever has applied it doesn't lack the same. */
    public long orderedThen() {
        return orderedThen;
    }

    /** Whether the node is a member, or was one when it began to receive what it missed. */
    public boolean isMember() {
        return step == Step.MEMBER
                || step == Step.AWAITING_COPY
                || step == Step.COPYING
                || (step == Step.RECEIVING && back == Step.MEMBER);
    }

    /** The service starts; {@code way} is what its own directory says. */
    public void begin(AdmissionPlan.Way way, String name) {
        if (way instanceof AdmissionPlan.TakenOut) {
            go(
                    Step.TAKEN_OUT,
                    new QuorateException(ErrorCode.NOT_A_MEMBER, name + " was taken out of the cluster").getMessage());
        } else if (way instanceof AdmissionPlan.Joiner) {
            go(Step.SETTLING_DATA, "finding out with what data its server begins");
        } else if (way instanceof AdmissionPlan.Member) {
            member();
        } else {
            go(Step.FINDING_PLACE, "asking the other nodes how it takes part");
        }
    }

    /** The others have said how the node takes part. */
    public void placed(boolean asMember) {
        require(Step.FINDING_PLACE);
        if (asMember) {
            member();
        } else {
            settle();
        }
    }

    /** It is known with what the server begins. */
    public void dataSettled() {
        require(Step.SETTLING_DATA);
        go(Step.ASKING_IN, "asking the other nodes to be a member");
        receiveFirst();
    }

    /** The leader has made it a member. */
    public void admitted() {
        require(Step.ASKING_IN);
        member();
    }

    /** It is the cluster alone, as somebody has decided who knows that the others are gone. */
    public void alone() {
        if (step == Step.ASKING_IN) {
            member();
        }
    }

    private void member() {
        go(Step.MEMBER, "");
        receiveFirst();
        if (step == Step.MEMBER && difference != null) {
            go(Step.AWAITING_COPY, difference.getMessage());
        }
    }

    private void settle() {
        go(Step.SETTLING_DATA, "finding out with what data its server begins");
    }

    /**
     * What the order brings next can't be had from its log, or what it brought before is lost. A node that takes no
     * part in the order yet receives it when it does.
     */
    public void missing(QuorateException cause) {
        missing = cause;
        receiveFirst();
    }

    private void receiveFirst() {
        boolean takesPart =
                step == Step.MEMBER || step == Step.AWAITING_COPY || step == Step.COPYING || step == Step.ASKING_IN;
        if (missing != null && takesPart) {
            back = step == Step.ASKING_IN ? Step.ASKING_IN : Step.MEMBER;
            go(Step.RECEIVING, "asking the other nodes for what was missed");
        }
    }

    /**
     * It has received what it missed, or takes part meanwhile without it.
     *
     * @param copyPending whether its server is to get a copy already, so that no difference has to be mended
     */
    public void received(boolean copyPending) {
        require(Step.RECEIVING);
        missing = null;
        difference = copyPending ? null : difference;
        if (back == Step.MEMBER) {
            member();
        } else {
            go(back, "asking the other nodes to be a member");
        }
    }

    /**
     * Its server holds something else than the order says. That shows by what ends the work on it; so where the node is
     * no member, it is remembered until it is one. A server that is left alone anyway will show it again when it is
     * worked on.
     *
     * @param ordered last seqno that is ordered by now
     */
    public void differs(QuorateException cause, long ordered) {
        if (step == Step.MEMBER || step == Step.COPYING) {
            difference = cause;
            orderedThen = ordered;
            go(Step.AWAITING_COPY, cause.getMessage());
        } else if (step == Step.TAKEN_OUT || step == Step.SETTLING_DATA || step == Step.ASKING_IN) {
            difference = cause;
            orderedThen = ordered;
        }
    }

    /** It waits for a copy, and somebody says that the others are right. */
    public void copyIsAsked(QuorateException asked) {
        require(Step.AWAITING_COPY);
        difference = new QuorateException(
                asked.code(),
                asked.detail(),
                difference,
                difference.difference().and(asked.difference()));
    }

    /** It wants a copy now, which somebody can give. */
    public void copyBegins() {
        require(Step.AWAITING_COPY);
        difference = null;
        go(Step.COPYING, progress);
        receiveFirst();
    }

    /**
     * The full copy says how far it is.
     *
     * @param how null when it is complete, or given up
     */
    public void copying(String how) {
        if (how == null && step == Step.COPYING) {
            member();
        } else if (how != null && step == Step.MEMBER) {
            go(Step.COPYING, how);
        } else if (how != null && step == Step.COPYING) {
            progress = how;
        }
    }

    /** The order says that it is no member any more. */
    public void takenOut(String why) {
        if (Step.NEXT.allows(step, Step.TAKEN_OUT)) {
            go(Step.TAKEN_OUT, why);
        }
    }

    /**
     * Somebody wants it to be a member.
     *
     * @return whether it begins with that; false when it is under way
     * @throws QuorateException CONFIGURATION when it is a member, or can't be one
     */
    public boolean joins() {
        switch (step) {
            case TAKEN_OUT -> settle();
            case MEMBER, AWAITING_COPY, COPYING, RECEIVING -> {
                if (isMember()) {
                    throw new QuorateException(ErrorCode.CONFIGURATION, "this node is a member already");
                }
                return false;
            }
            case STAYING_OUT ->
                throw new QuorateException(
                        ErrorCode.CONFIGURATION,
                        "this node has a history of its own and can't be a member with it: " + progress);
            case FAILED ->
                throw new QuorateException(
                        ErrorCode.CONFIGURATION,
                        "this node is INCONSISTENT; mend what it says, and start its service again");
            default -> {
                return false;
            }
        }
        return true;
    }

    /** Whether it is of interest that the cluster has begun a new life. */
    public boolean canBeLeftBehind() {
        return Step.NEXT.allows(step, Step.LEFT_BEHIND);
    }

    /** A peer says that the cluster has begun a new life without this node. */
    public void leftBehind(String why) {
        if (canBeLeftBehind()) {
            difference = null;
            go(Step.LEFT_BEHIND, why);
        }
    }

    /** What it holds is the beginning of what the cluster holds in its new life. */
    public void takenOver() {
        require(Step.LEFT_BEHIND);
        settle();
    }

    /** It isn't. */
    public void staysOut(String why) {
        go(Step.STAYING_OUT, why);
    }

    /** It met something that can't be mended; the node's state machine is told otherwise. */
    public void failed() {
        if (Step.NEXT.allows(step, Step.FAILED)) {
            go(Step.FAILED, "");
        }
    }

    /** How far the step is, or what it waits for, for people. */
    public void progress(String how) {
        progress = how;
    }

    /**
     * A leader may wait for ever for a joiner that has all it needs: Ratis' bootstrapping also waits for an answer
     * about a snapshot, which may be lost. It gives up on one that is silent for three election timeouts, and takes it
     * anew.
     *
     * @param held last seqno that this node holds
     * @return whether nothing has come for {@link #STUCK_MILLIS}, so that its part in the order is to be started again
     */
    public boolean isStuck(long held, long nowMillis) {
        if (held != heldThen) {
            heldThen = held;
            movedMillis = nowMillis;
        }
        boolean stuck = nowMillis - movedMillis > STUCK_MILLIS;
        if (stuck) {
            movedMillis = nowMillis;
        }
        return stuck;
    }

    private void require(Step expected) {
        if (step != expected) {
            throw new IllegalStateException("at " + step + ", not at " + expected);
        }
    }

    private void go(Step next, String how) {
        step = Step.NEXT.step(step, next);
        progress = how;
        entered++;
        heldThen = -1;
    }
}
