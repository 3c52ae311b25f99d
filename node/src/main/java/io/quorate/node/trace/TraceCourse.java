// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.trace;

import static io.quorate.node.trace.TracedSpan.APPLY;
import static io.quorate.node.trace.TracedSpan.TRANSACTION;

import io.quorate.core.Certified;
import io.quorate.core.Gtid;
import io.quorate.core.WriteSet;
import java.util.ArrayDeque;
import java.util.Iterator;
import java.util.List;
import java.util.UUID;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Makes spans of what it hears about sampled transactions.
 *
 * <p>At the node whose client has committed: a root from the commit to what the client hears, or to the verdict where
 * nobody waits for that; below it one for each stage, which begins where the one before ends. At every other node: one
 * from where the order has handed out the transaction until the server has it. A transaction that reaches a node in
 * another way, by a transfer or a copy, has no span there.
 *
 * <p>One lock, held for moments.
 */
final class TraceCourse implements Traces {
    /** So many sampled transactions may be under way at this node, and as many wait to be applied. */
    static final int UNDER_WAY_MAX = 10_000;

    private static final class Commit {
        private final Gtid gtid;
        private final TraceIds trace;
        private final long committedMicros;
        private final long capturedMicros;
        private boolean awaited;
        private long proposedMicros;
        private long orderedMicros;
        private long seqno;
        private @Nullable Boolean verdict;

        Commit(WriteSet w, boolean awaited, long capturedMicros) {
            this.gtid = w.gtid();
            this.trace = TraceIds.of(w.gtid());
            this.committedMicros = w.committedMicros();
            this.awaited = awaited;
            this.capturedMicros = Math.max(w.committedMicros(), capturedMicros);
        }
    }

    private record Due(long seqno, Gtid gtid, long orderedMicros) {}

    private final int oneOf;
    private final String node;
    private final LongSupplier nowMicros;
    private final Consumer<TracedSpan> spans;
    private final Runnable dropped;
    /** By rising number: those that are decided and wait for OK, and then those that aren't decided. */
    private final ArrayDeque<Commit> commits = new ArrayDeque<>();
    /** By rising seqno. */
    private final ArrayDeque<Due> due = new ArrayDeque<>();
    /** The server has everything up to it. */
    private long applied;

    /**
     * @param oneOf how many transactions there are for each that is sampled
     * @param node this node's name
     * @param nowMicros microseconds since the epoch
     * @param dropped is told of each transaction that can't be followed, because too many are
     */
    TraceCourse(int oneOf, String node, LongSupplier nowMicros, Consumer<TracedSpan> spans, Runnable dropped) {
        this.oneOf = oneOf;
        this.node = node;
        this.nowMicros = nowMicros;
        this.spans = spans;
        this.dropped = dropped;
    }

    @Override
    public synchronized void captureBegins() {
        commits.clear();
    }

    @Override
    public void captured(WriteSet w, boolean awaited) {
        if (TraceIds.isSampled(w.gtid(), oneOf)) {
            add(w, awaited);
        }
    }

    private synchronized void add(WriteSet w, boolean awaited) {
        Commit last = commits.peekLast();
        if (last != null && w.gtid().number() <= last.gtid.number()) {
            return;
        }
        if (commits.size() >= UNDER_WAY_MAX) {
            dropped.run();
            return;
        }
        commits.add(new Commit(w, awaited, nowMicros.getAsLong()));
    }

    @Override
    public synchronized void proposed(long last) {
        for (Commit c : commits) {
            if (c.gtid.number() > last) {
                break;
            }
            if (c.proposedMicros == 0 && c.orderedMicros == 0) {
                c.proposedMicros = notBefore(c);
            }
        }
    }

    @Override
    public void ordered(List<Certified> certified, UUID self) {
        for (Certified c : certified) {
            if (c.writeSet().gtid().source().equals(self)) {
                decided(c);
            } else if (c.passed() && TraceIds.isSampled(c.writeSet().gtid(), oneOf)) {
                toApply(c);
            }
        }
    }

    private synchronized void decided(Certified own) {
        long number = own.writeSet().gtid().number();
        for (Iterator<Commit> it = commits.iterator(); it.hasNext(); ) {
            Commit c = it.next();
            if (c.gtid.number() > number) {
                break;
            }
            if (c.gtid.number() == number && c.orderedMicros == 0) {
                c.orderedMicros = notBefore(c);
                c.seqno = own.seqno();
                c.verdict = own.passed();
                if (!c.awaited) {
                    it.remove();
                    finish(c, c.orderedMicros);
                }
            } else if (c.orderedMicros == 0) {
                // The order had it before: it was read from the binlog again.
                it.remove();
            }
        }
    }

    @Override
    public synchronized void acknowledged(long number) {
        for (Iterator<Commit> it = commits.iterator(); it.hasNext(); ) {
            Commit c = it.next();
            if (c.gtid.number() > number) {
                break;
            }
            if (c.orderedMicros == 0) {
                // Its client had been answered before clients began to wait.
                c.awaited = false;
                continue;
            }
            it.remove();
            long now = notBefore(c);
            finish(c, now);
            stage(c, "acknowledged", c.orderedMicros, now);
        }
    }

    @Override
    public synchronized void ended(long number) {
        for (Iterator<Commit> it = commits.iterator(); it.hasNext(); ) {
            Commit c = it.next();
            if (c.gtid.number() == number) {
                it.remove();
                finish(c, notBefore(c));
                break;
            }
        }
    }

    /** Now, or the end of its latest stage if the clock was set back. */
    private long notBefore(Commit c) {
        return Math.max(nowMicros.getAsLong(), Math.max(c.capturedMicros, Math.max(c.proposedMicros, c.orderedMicros)));
    }

    private void finish(Commit c, long endMicros) {
        spans.accept(new TracedSpan(
                c.trace, TRANSACTION, c.trace.root(), 0, c.committedMicros, endMicros, c.gtid, c.seqno, c.verdict));
        stage(c, "captured", c.committedMicros, c.capturedMicros);
        if (c.proposedMicros != 0) {
            stage(c, "proposed", c.capturedMicros, c.proposedMicros);
        }
        if (c.orderedMicros != 0) {
            stage(c, "ordered", c.proposedMicros == 0 ? c.capturedMicros : c.proposedMicros, c.orderedMicros);
        }
    }

    private void stage(Commit c, String name, long startMicros, long endMicros) {
        spans.accept(new TracedSpan(
                c.trace, name, c.trace.span(name), c.trace.root(), startMicros, endMicros, c.gtid, c.seqno, c.verdict));
    }

    private synchronized void toApply(Certified c) {
        Due last = due.peekLast();
        if (c.seqno() <= applied || (last != null && c.seqno() <= last.seqno)) {
            return; // The order hands it out again.
        }
        if (due.size() >= UNDER_WAY_MAX) {
            dropped.run();
            return;
        }
        due.add(new Due(c.seqno(), c.writeSet().gtid(), nowMicros.getAsLong()));
    }

    @Override
    public synchronized void startFrom(long seqno) {
        applied = seqno;
        // When these were applied nobody knows.
        due.removeIf(d -> d.seqno <= seqno);
    }

    @Override
    public synchronized void applied(long seqno) {
        applied = seqno;
        for (Due d = due.peek(); d != null && d.seqno <= seqno; d = due.peek()) {
            due.remove();
            TraceIds trace = TraceIds.of(d.gtid);
            spans.accept(new TracedSpan(
                    trace,
                    APPLY,
                    trace.span(APPLY + " " + node),
                    trace.root(),
                    d.orderedMicros,
                    Math.max(d.orderedMicros, nowMicros.getAsLong()),
                    d.gtid,
                    d.seqno,
                    true));
        }
    }
}
