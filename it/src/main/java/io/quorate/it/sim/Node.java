// SPDX-License-Identifier: Apache-2.0
package io.quorate.it.sim;

import io.quorate.certification.Certification;
import io.quorate.certification.Certifier;
import io.quorate.core.Certified;
import io.quorate.core.Gtid;
import io.quorate.core.KeyType;
import io.quorate.core.Keys;
import io.quorate.core.LogPosition;
import io.quorate.core.NodeEvent;
import io.quorate.core.NodeMachine;
import io.quorate.core.OriginPosition;
import io.quorate.core.OwnWrites;
import io.quorate.core.Proposal;
import io.quorate.core.ProposalCodec;
import io.quorate.core.TotalOrder;
import io.quorate.core.WriteSet;
import io.quorate.core.WriteSetLog;
import io.quorate.ist.CacheSettings;
import io.quorate.ist.WriteSetCache;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;

/** A database and the service beside it: the real certification, cache, state machine and register of own writes. */
final class Node {
    private static final int SEGMENT_BYTES = 8 << 10;

    final World world;
    final int number;
    final UUID uuid;
    final Database database;
    boolean databaseUp = true;
    boolean cutOff;
    /** Every GTID number whose undo was ever committed here. */
    final Set<Long> undoneEver = new HashSet<>();

    private final Disk disk;
    private final Rows model;
    private long modelSeqno;
    /** From here on in the binlog, transactions may still be open. */
    private int openFrom;

    // On disk.
    private byte[] checkpoint;
    private int checkpointIndex;
    private long checkpointSeqno;
    private long tornSeqno;

    // In memory, gone with the service.
    private Certifier certifier;
    private WriteSetCache cache;
    private NodeMachine machine;
    private int nextIndex;
    private long cachedBefore;
    private long lastOrdered;
    private boolean delivering;
    private boolean slowDisk;
    private long life;
    private Session session;

    Node(World world, int number, Rows rows) {
        this.world = world;
        this.number = number;
        this.uuid = new UUID(0, number);
        this.database = new Database(rows);
        this.model = rows.copy();
        this.disk = new Disk(world.directory.resolve("n" + number), world.random);
        this.checkpoint = write(new Certifier(4096));
        startService();
    }

    boolean isServing() {
        return certifier != null;
    }

    boolean isWritable() {
        return databaseUp && (machine == null ? writableLeft : machine.state().writable());
    }

    /** A service that goes leaves its server as it is. */
    private boolean writableLeft;

    Certifier certifier() {
        return certifier;
    }

    WriteSetLog log() {
        return cache;
    }

    /** As far as the order is in the database; -1 without a session. */
    long applied() {
        return session == null ? -1 : session.applied();
    }

    long life() {
        return life;
    }

    // The service.

    void startService() {
        life++;
        try {
            certifier = Certifier.readFrom(new DataInputStream(new ByteArrayInputStream(checkpoint)));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        cache = WriteSetCache.open(
                new CacheSettings(disk.directory(), new UUID(1, 1), SEGMENT_BYTES, 1L << 30), checkpointSeqno);
        machine = new NodeMachine(1000, 600);
        nextIndex = checkpointIndex;
        cachedBefore = cache.last();
        lastOrdered = certifier.lastSeqno();
        delivering = false;
        slowDisk = life > 1 && world.random.nextInt(6) == 0;
        tick(life);
        wake();
    }

    void crashService() {
        world.trace("n" + number + " service crashes");
        world.statistics.crashes++;
        writableLeft = isWritable();
        closeSession();
        try {
            cache.close();
            if (world.bugs.contains(Bug.TORN_TAIL_TRUSTED) && lastOrdered > checkpointSeqno) {
                tornSeqno = lastOrdered;
            } else {
                disk.tear();
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        certifier = null;
        machine = null;
        life++;
    }

    void crashDatabase() {
        world.trace("n" + number + " database crashes");
        world.statistics.crashes++;
        closeSession();
        databaseUp = false;
        database.crash(t -> world.random.nextInt(8) == 0);
    }

    private void closeSession() {
        if (session != null) {
            session.close();
            session = null;
        }
    }

    /** The loop's regular look; opens a session with the database when there is one to be had. */
    private void tick(long ofLife) {
        if (ofLife != life || certifier == null) {
            return;
        }
        boolean primary = world.order().isPrimary(this);
        if (machine.quorum().primary() != primary) {
            machine.on(new NodeEvent.QuorumChanged(new TotalOrder.Quorum(primary, "n0", 1)));
        }
        if (databaseUp && session == null) {
            session = new Session(this);
        }
        if (session != null) {
            boolean current = lastOrdered >= Math.max(cachedBefore, session.applied());
            session.look(primary && (current || world.bugs.contains(Bug.CAPTURE_TOO_EARLY)));
        }
        machine.on(
                databaseUp && session != null && session.isCapturing()
                        ? new NodeEvent.DatabaseUp()
                        : new NodeEvent.DatabaseDown("away"));
        machine.on(new NodeEvent.Progress(lastOrdered, session == null ? 0 : session.applied(), world.millis()));
        if (world.random.nextInt(30) == 0) {
            takeCheckpoint();
        }
        world.after(2000 + world.random.nextInt(1000), () -> tick(ofLife));
    }

    private void takeCheckpoint() {
        try {
            cache.force();
            disk.forced();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        checkpoint = write(certifier);
        checkpointIndex = nextIndex;
        checkpointSeqno = certifier.lastSeqno();
        long[] failures = certifier.failures(uuid);
        long needed = Math.min(checkpointSeqno, database.position()) + 1;
        cache.retain(failures.length == 0 ? needed : Math.min(needed, failures[0]));
    }

    private static byte[] write(Certifier certifier) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try {
            certifier.writeTo(new DataOutputStream(bytes));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return bytes.toByteArray();
    }

    // The order.

    /** There may be something to deliver. */
    void wake() {
        if (certifier == null
                || delivering
                || cutOff
                || nextIndex >= world.order().size()) {
            return;
        }
        delivering = true;
        long ofLife = life;
        world.after(world.deliveryDelay() * (slowDisk ? 10 : 1), () -> {
            if (ofLife == life) {
                delivering = false;
                if (!cutOff) {
                    deliver();
                }
                wake();
            }
        });
    }

    private void deliver() {
        int index = nextIndex++;
        Proposal proposal =
                spoil(ProposalCodec.decode(ByteBuffer.wrap(world.order().entry(index))), index);
        Certification result = certifier.certify(proposal, new LogPosition(1, index));
        if (result.link() == Certification.Link.DUPLICATE && world.bugs.contains(Bug.DUPLICATE_TAKEN)) {
            result = certifier.certify(renamed(proposal, index), new LogPosition(1, index));
        }
        World.require(result.link() != Certification.Link.IMPOSSIBLE, () -> "impossible: " + proposal);
        world.decided(index, certifier.digest(), result.certified(), this);
        if (!result.certified().isEmpty()) {
            try {
                cache.append(result.certified());
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
            lastOrdered = certifier.lastSeqno();
        }
        if (session != null) {
            if (proposal.origin().equals(uuid)) {
                session.ordered(result);
            }
            session.feed();
        }
    }

    private Proposal spoil(Proposal p, int index) {
        if (!world.bugs.contains(Bug.PURGED_TOO_EARLY) || index % 3 != 0) {
            return p;
        }
        List<WriteSet> stripped = new ArrayList<>();
        for (WriteSet w : p.writeSets()) {
            Keys none =
                    w.isBarrier() ? w.keys() : new Keys(new long[] {5}, new byte[] {(byte) KeyType.SHARED.ordinal()});
            stripped.add(new WriteSet(
                    w.gtid(), w.lastSeen(), w.committedMicros(), w.kind(), none, w.payload(), w.builtOn(), 0));
        }
        return new Proposal(p.origin(), p.previous(), p.last(), p.lastSeen(), p.undecided(), stripped);
    }

    private static Proposal renamed(Proposal p, int index) {
        UUID stranger = new UUID(7, index);
        List<WriteSet> writeSets = new ArrayList<>();
        for (WriteSet w : p.writeSets()) {
            writeSets.add(new WriteSet(
                    new Gtid(stranger, w.gtid().number()), p.lastSeen(), 0, w.kind(), w.keys(), w.payload()));
        }
        return new Proposal(stranger, p.previous(), p.last(), p.lastSeen(), new long[0], writeSets);
    }

    OriginPosition ownPosition() {
        return certifier.position(uuid);
    }

    boolean isKnown() {
        return certifier.positions().containsKey(uuid);
    }

    /** Tells a new register what has failed, as the service does when a session begins. */
    void attach(OwnWrites register) {
        List<Certified> failed = new ArrayList<>();
        for (long seqno : certifier.failures(uuid)) {
            if (seqno < cache.first()) {
                register.failedUnknown(seqno);
            } else if (seqno <= cache.last()) {
                failed.add(read(seqno));
            }
        }
        register.ordered(failed, ownPosition().last(), ownPosition().lastSeen());
    }

    Certified read(long seqno) {
        try (WriteSetLog.Cursor cursor = cache.read(seqno)) {
            return cursor.next(Duration.ZERO);
        } catch (IOException | InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    /** What the applier reads; not what was written when a torn record is trusted. */
    Certified asRead(Certified c) {
        if (c.seqno() != tornSeqno || c.writeSet().isBarrier()) {
            return c;
        }
        List<Change> changes = Change.decode(c.writeSet().payload());
        WriteSet w = c.writeSet();
        WriteSet torn = new WriteSet(
                w.gtid(),
                w.lastSeen(),
                0,
                w.kind(),
                w.keys(),
                Change.encode(changes.subList(0, changes.size() - 1)),
                w.builtOn(),
                0);
        return new Certified(
                c.seqno(), c.verdict(), c.conflictsWith(), c.dependsOn(), c.position(), c.lastOfEntry(), torn);
    }

    // What must hold.

    /**
     * What is committed here is what the order says up to the position, and on top of it what clients of mode async
     * committed since and nobody undid. Nothing else, ever. So where all clients are certified, whatever anybody reads on
     * any node is a state of one order: no long fork, no aborted read.
     */
    void check() {
        long position = database.visible();
        while (modelSeqno < position) {
            Certified c = world.certified(++modelSeqno);
            if (c.passed()) {
                world.replay(model, c, false);
            }
        }
        Rows expected = model.copy();
        List<Database.Logged> binlog = database.binlog();
        boolean settled = true;
        for (int i = openFrom; i < binlog.size(); i++) {
            Database.Logged entry = binlog.get(i);
            if (!entry.isOpenRows()) {
                openFrom = settled ? i + 1 : openFrom;
                continue;
            }
            Certified fate = world.fate(uuid, entry.number());
            boolean done = fate != null && fate.seqno() <= position;
            settled &= done;
            openFrom = settled ? i + 1 : openFrom;
            if (undoneEver.contains(entry.number())) {
                World.require(
                        fate == null || !fate.passed(),
                        () -> "n" + number + ":" + entry.number() + " passed, and was undone");
                continue;
            }
            if (done) {
                World.require(
                        fate.passed(),
                        () -> "n" + number + ":" + entry.number() + " failed as seqno " + fate.seqno()
                                + ", and still stands at position " + position);
                continue;
            }
            for (Change change : entry.changes()) {
                try {
                    expected.apply(change);
                } catch (Rows.Misfit e) {
                    throw new Violation("n" + number + " at " + position + ": " + entry.number()
                            + " doesn't fit on top of the order: " + e.getMessage());
                }
            }
        }
        String difference = database.committed().difference(expected);
        World.require(difference == null, () -> "n" + number + " at position " + position + " has " + difference);
    }

    /** A client has committed. */
    void committed() {
        if (session != null) {
            session.capture();
        }
    }

    /** The run is over. */
    void end() {
        closeSession();
        if (certifier != null) {
            try {
                cache.close();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    boolean isSettled(long lastSeqno) {
        return certifier != null
                && session != null
                && session.isIdle()
                && lastOrdered == lastSeqno
                && session.applied() == lastSeqno
                && database.clients().isEmpty();
    }

    @Override
    public String toString() {
        return "n" + number + (certifier == null ? " service down" : "") + (databaseUp ? "" : " database down")
                + (cutOff ? " cut off" : "") + " " + (machine == null ? "" : machine.state() + " " + machine.reason())
                + " ordered " + lastOrdered + " of " + world.lastSeqno() + " position " + database.position() + " "
                + session;
    }
}
