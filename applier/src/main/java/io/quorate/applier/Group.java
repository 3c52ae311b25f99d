// SPDX-License-Identifier: Apache-2.0
package io.quorate.applier;

import io.quorate.core.Certified;
import io.quorate.core.LogPosition;
import io.quorate.core.WriteSet;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;

/**
 * Consecutive writesets that are committed together. Those that need no work here (own ones that passed, failed ones of
 * other nodes) only extend the range. Owned by {@link Schedule} until taken, by a worker afterwards.
 */
public final class Group {
    private final long first;
    private final List<Certified> work = new ArrayList<>();
    private long last;
    private long needs;
    private long bytes;
    private long heapBytes;
    private boolean barrier;
    private WriteSet definition;
    private boolean settling;
    private LogPosition position;
    private long originCommittedMicros;
    private volatile long session;

    public Group(long first, LogPosition position, long originCommittedMicros) {
        this.first = first;
        this.last = first - 1;
        this.position = position;
        this.originCommittedMicros = originCommittedMicros;
    }

    public void add(Certified next, Duty duty) {
        last = next.seqno();
        position = next.position();
        originCommittedMicros = next.writeSet().committedMicros();
        if (next.writeSet().isBarrier() && next.passed()) {
            barrier = true;
            definition = next.writeSet().isDefinition() ? next.writeSet() : null;
        }
        settling |= duty == Duty.SETTLE;
        if (duty != Duty.NONE) {
            if (next.dependsOn() < first) {
                needs = Math.max(needs, next.dependsOn());
            }
            work.add(next);
            bytes += next.writeSet().payload().size();
            heapBytes += next.writeSet().payload().heapBytes();
        }
    }

    /**
     * Leaves out the rows of what nobody is to have, as was found since it was added. What lost against it has failed,
     * and is undone all the same.
     */
    public void leaveOut(Predicate<Certified> isVoid) {
        work.replaceAll(c -> isVoid.test(c) ? c.withoutRows() : c);
    }

    public long first() {
        return first;
    }

    public long last() {
        return last;
    }

    /** What must be committed before this may start; below {@link #first}. */
    public long needs() {
        return needs;
    }

    public List<Certified> work() {
        return work;
    }

    public boolean hasWork() {
        return !work.isEmpty();
    }

    /** How many writesets of other nodes it has to apply; the rest of its work are own ones that failed. */
    public int transactions() {
        return settling ? 0 : (int) work.stream().filter(Certified::passed).count();
    }

    public long bytes() {
        return bytes;
    }

    /** How much of the heap its payloads take. */
    long heapBytes() {
        return heapBytes;
    }

    public boolean isBarrier() {
        return barrier;
    }

    /** The definition that makes it a barrier, whoever has run it; null when it is something else. */
    WriteSet definition() {
        return definition;
    }

    /** Whether its work consists of own prepared transactions only. */
    public boolean isSettling() {
        return settling;
    }

    /** The order's position that goes with {@link #last}. */
    public LogPosition position() {
        return position;
    }

    public long originCommittedMicros() {
        return originCommittedMicros;
    }

    /** The server's number of the connection that executes this; 0 before. */
    public long session() {
        return session;
    }

    public void session(long id) {
        session = id;
    }

    @Override
    public String toString() {
        return "[" + first + ".." + last + "] " + work.size() + " to apply, " + bytes + " bytes, needs " + needs
                + (barrier ? ", barrier" : "") + (settling ? ", prepared here" : "");
    }
}
