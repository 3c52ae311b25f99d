// SPDX-License-Identifier: Apache-2.0
package io.quorate.it.sim;

import io.quorate.applier.Duty;
import io.quorate.applier.Group;
import io.quorate.applier.OwnWriteSets;
import io.quorate.applier.Schedule;
import io.quorate.certification.Certification;
import io.quorate.core.Certified;
import io.quorate.core.CertifiedXid;
import io.quorate.core.Gtid;
import io.quorate.core.KeyType;
import io.quorate.core.KeysBuilder;
import io.quorate.core.OriginPosition;
import io.quorate.core.OwnWrites;
import io.quorate.core.ProposalWindow;
import io.quorate.core.WriteSet;
import io.quorate.core.WriteSetLog;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** One session of a service with its database: schedule, workers, capture and proposer. */
final class Session {
    private static final int WORKERS = 3;
    private static final long[] NONE = {};
    private static final ProposalWindow.Limits LIMITS = new ProposalWindow.Limits(2048, 3, 1 << 20, 5, 20, 20);

    final Node node;
    final World world;
    final OwnWrites own;
    final Schedule schedule;
    final List<Execution> running = new ArrayList<>();

    private final boolean recovering;
    private final OwnWriteSets here;
    private WriteSetLog.Cursor cursor;
    private Certified held;
    private boolean closed;

    private ProposalWindow window;
    private int captureAt;
    private long capturedSeen;
    private long awaitingSince;
    private boolean capturing;

    /** @param recovering whether it only captures: what the server lost is not known yet */
    Session(Node node, boolean recovering) {
        this.node = node;
        this.world = node.world;
        long position = node.database().position();
        this.recovering = recovering;
        here = new OwnWriteSets(node.uuid(), node.takenBack(), node.database().undone());
        own = !recovering
                ? new OwnWrites(position, node.database().undone(), here::isHere)
                : world.bugs.contains(Bug.FAILURES_FORGOTTEN)
                        ? new OwnWrites(position, Map.of(), c -> false)
                        : OwnWriteSets.beforeRepair(node.uuid(), node.takenBack(), node.lastOrdered());
        node.attach(own);
        schedule = new Schedule(position, 1 + world.random.nextInt(8), 1 << 20, Long.MAX_VALUE);
        feed();
    }

    boolean isClosed() {
        return closed;
    }

    void close() {
        closed = true;
        if (cursor != null) {
            cursor.close();
        }
        for (Execution e : List.copyOf(running)) {
            e.abandon();
        }
    }

    long applied() {
        return schedule.committed();
    }

    boolean isCapturing() {
        return window != null && node.isKnown();
    }

    boolean isIdle() {
        return window != null
                && window.idle()
                && captureAt == node.database().binlog().size()
                && running.isEmpty();
    }

    /** Now and then: what time has made possible. */
    void look(boolean mayCapture) {
        if (window == null && mayCapture) {
            startCapture();
        }
        feed();
        savePosition();
        pump();
    }

    private void savePosition() {
        if (!recovering && node.database().position() < schedule.committed() && world.random.nextBoolean()) {
            Group group = schedule.takePositionOnly();
            if (group != null) {
                running.add(new Execution(this, group));
            }
        }
    }

    // The applier.

    /** Hands the schedule what the cache has, and the workers what the schedule has. */
    void feed() {
        if (closed || recovering || node.log().last() < schedule.committed()) {
            return;
        }
        try {
            if (cursor == null) {
                cursor = node.log().read(schedule.committed() + 1);
            }
            while (true) {
                Certified next = held != null ? held : cursor.next(Duration.ZERO);
                held = next;
                if (next == null) {
                    break;
                }
                boolean ours = here.isOwn(next);
                Duty duty = Duty.of(next, ours, ours && here.isHere(next));
                if (duty == Duty.SETTLE) {
                    own.prepared().prepared(next.writeSet());
                }
                if (!schedule.offer(spoil(node.asRead(next)), duty, running.size() < WORKERS)) {
                    break;
                }
                held = null;
            }
        } catch (IOException | InterruptedException e) {
            throw new IllegalStateException(e);
        }
        own.applied(schedule.committed());
        while (running.size() < WORKERS) {
            Group group = schedule.take(true);
            if (group == null) {
                return;
            }
            running.add(new Execution(this, group));
        }
    }

    private Certified spoil(Certified c) {
        WriteSet w = c.writeSet();
        if (!world.bugs.contains(Bug.DDL_NO_BARRIER) || !w.isBarrier()) {
            return c;
        }
        WriteSet spoilt =
                new WriteSet(w.gtid(), w.lastSeen(), 0, WriteSet.Kind.ROWS, w.keys(), w.payload(), w.builtOn(), 1);
        return new Certified(c.seqno(), c.verdict(), c.conflictsWith(), 0, c.position(), c.lastOfEntry(), spoilt);
    }

    void finished(Execution e) {
        running.remove(e);
        world.after(1, () -> {
            if (!closed) {
                feed();
            }
        });
    }

    // The capture.

    private void startCapture() {
        OriginPosition at = node.ownPosition();
        window = new ProposalWindow(node.uuid(), at, LIMITS);
        if (!node.isKnown()) {
            window.announce();
        }
        capturedSeen = at.lastSeen();
        List<Database.Logged> binlog = node.database().binlog();
        captureAt = 0;
        while (captureAt < binlog.size() && binlog.get(captureAt).number() <= at.last()) {
            captureAt++;
        }
        own.covered(at.last(), at.lastSeen());
        capture();
    }

    /** Something was committed. */
    void capture() {
        if (closed
                || window == null
                || capturing
                || captureAt >= node.database().binlog().size()) {
            return;
        }
        capturing = true;
        world.after(1 + world.random.nextInt(world.faults.captureMicrosMax()), () -> {
            capturing = false;
            if (!closed) {
                captureNext();
                capture();
            }
        });
    }

    private void captureNext() {
        Database.Logged entry = node.database().binlog().get(captureAt++);
        if (entry.number() == 0) {
            return;
        }
        if (!entry.byClient()) {
            capturedSeen = Math.max(capturedSeen, entry.applied());
            own.covered(entry.number(), capturedSeen);
            window.progress(entry.number(), capturedSeen, NONE, world.millis());
            pump();
            return;
        }
        KeysBuilder keys = new KeysBuilder();
        entry.changes().forEach(change -> change.addKeys(keys, world.bugs));
        if (entry.ddl() != null) {
            keys.add(entry.ddl().key(), KeyType.EXCLUSIVE);
        }
        long seen = entry.isPrepared() ? entry.snapshot() : capturedSeen;
        if (world.bugs.contains(Bug.LAST_SEEN_TOO_HIGH)) {
            seen = Math.min(seen + 1, node.certifier().lastSeqno());
        }
        WriteSet w = new WriteSet(
                new Gtid(node.uuid(), entry.number()),
                seen,
                world.now(),
                entry.ddl() != null
                        ? WriteSet.Kind.DDL
                        : entry.isPrepared() ? WriteSet.Kind.PREPARED : WriteSet.Kind.ROWS,
                keys.build(),
                payload(entry));
        WriteSet complete = own.captured(w);
        if (world.bugs.contains(Bug.BUILT_ON_DROPPED)) {
            complete = w;
        }
        own.covered(entry.number(), capturedSeen);
        window.captured(complete, NONE, world.millis());
        pump();
    }

    private byte[] payload(Database.Logged entry) {
        if (entry.ddl() != null) {
            return new byte[] {(byte) entry.ddl().ordinal()};
        }
        return entry.isPrepared()
                ? Change.prepared(entry.payload(), new CertifiedXid(node.number, entry.number(), "x", entry.snapshot()))
                : entry.payload();
    }

    private void pump() {
        if (closed || window == null) {
            return;
        }
        if (window.awaiting() && world.millis() - awaitingSince > 40 + 5 * world.faults.delayMicrosMax() / 1000) {
            window.rewind();
        }
        for (byte[] entry; (entry = window.poll(world.millis())) != null; ) {
            awaitingSince = world.millis();
            world.order().submit(node, entry);
        }
    }

    /** The order has delivered something of ours. */
    void ordered(Certification result) {
        own.ordered(
                result.certified(),
                node.ownPosition().last(),
                node.ownPosition().lastSeen());
        if (window == null) {
            return;
        }
        if (result.link() == Certification.Link.GAP) {
            window.rewind();
        } else {
            window.delivered(node.ownPosition().last(), world.millis());
            awaitingSince = world.millis();
        }
        pump();
    }

    @Override
    public String toString() {
        return "running " + running
                + (window == null
                        ? " no capture"
                        : " captured to " + captureAt + " of "
                                + node.database().binlog().size() + (window.idle() ? " idle" : " open"))
                + " own open " + own.size()
                + " schedule at " + schedule.committed();
    }
}
