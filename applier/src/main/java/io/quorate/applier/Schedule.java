// SPDX-License-Identifier: Apache-2.0
package io.quorate.applier;

import io.quorate.core.Certified;
import io.quorate.core.LogPosition;
import java.util.ArrayDeque;
import java.util.HashSet;
import java.util.Set;

/**
 * Decides which writesets share a database transaction, and when it may start. Pure: no threads, no clock.
 *
 * <p>Writesets are offered in order and gather in an open group for as long as no worker takes it, so groups grow by
 * themselves when the database is behind and stay small when it isn't. A group may start when everything before the
 * group that its writesets depend on is committed; inside it, the order of execution is the total order. Groups are
 * taken and committed in order. A barrier is a group of its own that starts when everything before it is committed, and
 * nothing after it starts before its commit. Own prepared transactions are groups of their own too: each commits by
 * itself, at its place.
 *
 * <p>While a group that has been executed waits for its turn to commit, the open one gathers: taken now, it would wait
 * as well, and be all the smaller. Otherwise the last writeset would be as many commits late as there are workers, and
 * where clients are slowed, a commit takes long: it waits with theirs.
 *
 * <p>A writeset that depends on a running group would make the whole open group wait for that one. The open group is
 * then closed without it, if that gains something: if the open group could start before that other group commits.
 *
 * <p>How much of the heap is taken by what has been accepted and isn't committed is bounded too; a writeset that takes
 * more than that is accepted alone.
 */
public final class Schedule {
    /** How many groups may be closed and not yet taken: what a burst of dependencies may cut in advance. */
    private static final int CLOSED_MAX = 2;

    private final int transactionsMax;
    private final int bytesMax;
    private final long heldMax;
    private final int cutMin;
    private final ArrayDeque<Group> running = new ArrayDeque<>();
    private final ArrayDeque<Group> closed = new ArrayDeque<>();
    private final Set<Group> yielding = new HashSet<>();
    /** Those of the running ones that have asked for their turn. */
    private final Set<Group> executed = new HashSet<>();

    private Group open;
    private long next;
    private long held;
    private long committed;
    private LogPosition committedPosition = LogPosition.START;
    private long committedMicros;
    /** The last of this server's own definitions that was offered. */
    private long definition;

    /**
     * @param transactionsMax the most writesets of a group
     * @param bytesMax and their largest payload; a larger writeset is a group of its own
     * @param heldMax how much of the heap the payloads of all groups together take that are not committed
     */
    public Schedule(long committed, int transactionsMax, int bytesMax, long heldMax) {
        this.committed = committed;
        this.next = committed + 1;
        this.transactionsMax = transactionsMax;
        this.bytesMax = bytesMax;
        this.heldMax = heldMax;
        this.cutMin = Math.max(1, transactionsMax / 8);
    }

    /**
     * Takes the next writeset, unless there is no room.
     *
     * @param duty what this node has to do for it
     * @param idle whether a worker waits for a group
     */
    public boolean offer(Certified writeSet, Duty duty, boolean idle) {
        if (writeSet.seqno() != next) {
            throw new IllegalStateException("seqno " + writeSet.seqno() + " offered where " + next + " is next");
        }
        long bytes = duty == Duty.NONE ? 0 : writeSet.writeSet().payload().heapBytes();
        if (held > 0 && held + bytes > heldMax) {
            return false;
        }
        if (open != null && mustCut(writeSet, duty, idle)) {
            if (closed.size() >= CLOSED_MAX) {
                return false;
            }
            close();
        }
        if (open == null) {
            open = new Group(writeSet.seqno(), writeSet.position(), 0);
        }
        open.add(writeSet, duty);
        held += bytes;
        next++;
        if (duty == Duty.NONE && writeSet.passed() && writeSet.writeSet().isDefinition()) {
            definition = writeSet.seqno();
        }
        if (open.isBarrier()) {
            close();
        }
        passOverSkipped();
        return true;
    }

    private boolean mustCut(Certified writeSet, Duty duty, boolean idle) {
        if (writeSet.writeSet().isBarrier() && writeSet.passed()) {
            return true;
        }
        if (duty == Duty.NONE || !open.hasWork()) {
            return false;
        }
        if (open.isSettling() != (duty == Duty.SETTLE)) {
            return true;
        }
        if (open.work().size() >= transactionsMax
                || open.bytes() + writeSet.writeSet().payload().size() > bytesMax) {
            return true;
        }
        long needs = writeSet.dependsOn();
        if (needs >= open.first() || needs <= committed || needs <= open.needs()) {
            return false;
        }
        // If no worker is idle, the next one to become free is the one that commits the head, so a dependency on the
        // head costs nothing.
        boolean gains = idle
                ? open.needs() <= committed
                : running.isEmpty() || needs > running.peek().last();
        return gains && open.work().size() >= cutMin;
    }

    private void close() {
        closed.add(open);
        open = null;
    }

    /** The next group that may start now, or null; with {@code openToo} also the open group as it is. */
    public Group take(boolean openToo) {
        Group group = closed.peek();
        boolean fromOpen = group == null;
        if (fromOpen) {
            if (!openToo || open == null || !open.hasWork() || (isTurnAwaited() && !openIsFull())) {
                return null;
            }
            group = open;
        }
        boolean afterBarrier = !running.isEmpty() && running.peekLast().isBarrier();
        if (afterBarrier || group.needs() > committed || (group.isBarrier() && !running.isEmpty())) {
            return null;
        }
        if (fromOpen) {
            open = null;
        } else {
            closed.poll();
        }
        running.add(group);
        return group;
    }

    /** Whether a group that has been executed waits for another one to be committed. */
    private boolean isTurnAwaited() {
        return executed.size() > (executed.contains(running.peek()) ? 1 : 0);
    }

    /** Whether something waits for a worker. */
    public boolean hasGroup() {
        return !closed.isEmpty() || (open != null && open.hasWork());
    }

    /** Whether the open group has reached its limit. */
    public boolean openIsFull() {
        return open != null && (open.work().size() >= transactionsMax || open.bytes() >= bytesMax);
    }

    /** Whether a writeset has been accepted, alone, that is larger than all together should be. */
    public boolean isOverfull() {
        return held > heldMax;
    }

    public boolean isHead(Group group) {
        return running.peek() == group;
    }

    /** The running group that commits next, or null. */
    public Group head() {
        return running.peek();
    }

    /** The running groups in order. */
    public Iterable<Group> running() {
        return running;
    }

    /** Asks every running group but the head to give up its locks. */
    public void yieldAllButHead() {
        running.stream().skip(1).forEach(yielding::add);
    }

    /** What a group has to do that could commit. */
    public enum Turn {
        /** It is the head. */
        COMMIT,
        /** It has to give up its locks rather than wait with them. */
        YIELD,
        WAIT
    }

    /** What a group has to do next that has been executed. */
    public Turn turn(Group group) {
        Turn turn = isHead(group) ? Turn.COMMIT : yielding.contains(group) ? Turn.YIELD : Turn.WAIT;
        if (turn == Turn.YIELD) {
            executed.remove(group);
        } else {
            executed.add(group);
        }
        return turn;
    }

    /** The head has been committed. */
    public void committed(Group group) {
        if (running.peek() != group) {
            throw new IllegalStateException(group + " committed out of order");
        }
        running.poll();
        yielding.remove(group);
        executed.remove(group);
        held -= group.heapBytes();
        committed = group.last();
        committedPosition = group.position();
        committedMicros = group.originCommittedMicros();
        passOverSkipped();
    }

    /** If nothing runs or waits, writesets that need no work count as committed at once. */
    private void passOverSkipped() {
        if (running.isEmpty() && closed.isEmpty() && open != null && !open.hasWork()) {
            committed = open.last();
            committedPosition = open.position();
            committedMicros = open.originCommittedMicros();
            open = null;
        }
    }

    /** If nothing runs or waits: an empty group whose commit only writes the position; otherwise null. */
    public Group takePositionOnly() {
        if (!running.isEmpty() || !closed.isEmpty() || open != null) {
            return null;
        }
        Group group = new Group(committed + 1, committedPosition, committedMicros);
        running.add(group);
        return group;
    }

    /**
     * Whether the position has to be written now, if {@code saved} was the last that was: a definition of this server's
     * client has its place in between. Until the binlog says that this place is applied, what clients write to its
     * tables loses against whatever others wrote there meanwhile.
     */
    public boolean isPositionAwaited(long saved) {
        return definition > saved && committed >= definition;
    }

    /** Everything up to it is in the database. */
    public long committed() {
        return committed;
    }

    public LogPosition committedPosition() {
        return committedPosition;
    }

    public long committedMicros() {
        return committedMicros;
    }

    public int executing() {
        return running.size();
    }

    /** Accepted writesets that need work and that no worker has taken. */
    public int queued() {
        int n = open == null ? 0 : open.work().size();
        for (Group group : closed) {
            n += group.work().size();
        }
        return n;
    }
}
