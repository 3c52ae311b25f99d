// SPDX-License-Identifier: Apache-2.0
package io.quorate.it.sim;

import io.quorate.applier.ServerLife;
import io.quorate.applier.TakenBack;
import io.quorate.certification.OrderedStream;
import io.quorate.core.Certified;
import io.quorate.core.ErrorCode;
import io.quorate.core.LogPosition;
import io.quorate.core.NodeEvent;
import io.quorate.core.NodeMachine;
import io.quorate.core.QuorateException;
import io.quorate.core.TotalOrder;
import io.quorate.core.WriteSetLog;
import io.quorate.ist.CheckpointStore;
import io.quorate.ist.IncrementalTransfer.Offer;
import io.quorate.node.join.JoinMachine;
import io.quorate.node.order.PausableOrder.Hold;
import io.quorate.transport.Lives;
import java.io.IOException;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Set;
import java.util.UUID;

/** A database and the service beside it: the real certification, cache, state machine and register of own writes. */
final class Node {
    final World world;
    final int number;
    boolean databaseUp;
    boolean cutOff;

    /** Whether it has none: it votes, keeps the order and gives transfers. */
    private final boolean arbitrator;

    // On disk.
    private final Storage storage;
    private UUID uuid;
    private Database database;
    private Model model;
    private Replica replica;
    /** Which life of the cluster it took part in last. */
    private int era;

    /** How many directories it has lost; the last one's name. */
    private int directories;
    /** The highest generation that it ever took part as, with this directory. */
    private int lastGeneration = 1;
    /** Whether its directory knows of no members: it is new, or no member yet of the life it has taken over. */
    private boolean knowsNobody;
    /** Whether its directory knows the members, and that it is none of them. */
    private boolean takenOut;

    private ServerLife serverLife = ServerLife.NONE;
    /** Whether it is kept which server it is. */
    private boolean knowsServer;

    private long tornSeqno;

    // In memory, gone with the service.
    private WatchedStream stream;
    private NodeMachine machine;
    private int nextIndex;
    private boolean delivering;
    private boolean slowDisk;
    private long life;
    private final Link link;
    private Joining joining;
    private final Replacement replacement;
    /** Why it takes no part in the order. */
    private final Set<Hold> holds = EnumSet.noneOf(Hold.class);

    Node(World world, int number, boolean arbitrator, Rows rows) {
        this.world = world;
        this.number = number;
        this.arbitrator = arbitrator;
        this.databaseUp = !arbitrator;
        this.uuid = new UUID(3, number);
        this.link = new Link(this);
        this.replacement = new Replacement(this);
        this.database = new Database(uuid, rows);
        prepareServer();
        this.model = new Model(this, rows.copy(), 0);
        this.storage = new Storage(world.directory.resolve("n" + number), world.faults.cacheBytesMax(), world.random);
        this.replica = new Replica(this, lastGeneration, directory());
    }

    private void prepareServer() {
        if (world.faults.powerLosses() > 0) {
            database.relax();
        }
        if (world.mode == Mode.AFTER_SYNC) {
            database.queue(new CommitQueue(world));
        }
    }

    String directory() {
        return name() + "/" + directories;
    }

    int lastGeneration() {
        return lastGeneration;
    }

    boolean isArbitrator() {
        return arbitrator;
    }

    String name() {
        return "n" + number;
    }

    UUID uuid() {
        return uuid;
    }

    Database database() {
        return database;
    }

    Model model() {
        return model;
    }

    Replica replica() {
        return replica;
    }

    Storage storage() {
        return storage;
    }

    boolean isServing() {
        return stream != null;
    }

    /** Whether it takes part in the order, and messages come through. */
    boolean takesPart() {
        return hasOrder() && !cutOff;
    }

    /** Whether its part in the order is there. */
    boolean hasOrder() {
        return isServing()
                && holds.isEmpty()
                && !replica.out
                && era == world.order().era();
    }

    boolean knowsNobody() {
        return knowsNobody;
    }

    boolean isTakenOut() {
        return takenOut;
    }

    /** Whether its peers tell it that the cluster goes on in another life. */
    boolean isOfFormerLife() {
        return era != world.order().era() && !knowsNobody;
    }

    boolean isWritable() {
        return databaseUp
                && !isSuspect()
                && link.isWritable()
                && (machine == null ? writableLeft : machine.state().writable());
    }

    /** A service that goes leaves its server as it is. */
    private boolean writableLeft;

    OrderedStream stream() {
        return stream;
    }

    WriteSetLog log() {
        return storage.cache();
    }

    /** As far as the order is in the database; -1 without a session. */
    long applied() {
        return link.session() == null ? -1 : link.session().applied();
    }

    long lastOrdered() {
        return stream == null ? 0 : stream.lastOrdered();
    }

    /** Of the entry that is handed out next. */
    int nextIndex() {
        return nextIndex;
    }

    /** Which life of the cluster it took part in last. */
    int era() {
        return era;
    }

    long life() {
        return life;
    }

    // The service.

    void startService() {
        if (replacement.isNeeded() || isServing()) {
            return;
        }
        life++;
        stream = new WatchedStream(this, storage.open());
        if (knowsServer) {
            stream.self(uuid);
        }
        machine = arbitrator ? NodeMachine.ofArbitrator(600) : new NodeMachine(1000, 600);
        nextIndex = (int) storage.position().index() + 1;
        replica.restart(storage.position());
        delivering = false;
        slowDisk = life > 1 && world.random.nextInt(3) == 0;
        holds.clear();
        holds.add(Hold.START);
        link.serviceStarts();
        if (replacement.isWanted()) {
            world.replacesServer(this, life);
        }
        joining = new Joining(this);
        joining.start();
        tick(life);
    }

    // Joining.

    void happened(NodeEvent event) {
        if (machine != null && machine.on(event)) {
            link.writable(machine.state().writable());
        }
    }

    void pauseOrder(Hold why) {
        holds.add(why);
    }

    void resumeOrder(Hold why) {
        if (holds.remove(why) && holds.isEmpty()) {
            world.decided.requireBeginning(this);
            if (nextIndex < replica.first()) {
                tooFarBehind();
            }
            wake();
        }
    }

    /** The order's log doesn't reach back to where this node stands. */
    void tooFarBehind() {
        world.trace(name() + " can't get from the log what comes next");
        missing(new QuorateException(ErrorCode.ORDER_TOO_FAR_BEHIND, "the log doesn't reach back so far"));
    }

    Link link() {
        return link;
    }

    /** Null while there is no service. */
    Joining joining() {
        return joining;
    }

    Replacement replacement() {
        return replacement;
    }

    /** Has another server in place of its own. */
    void replaceServer(Database with, Model expected) {
        uuid = with.uuid();
        database = with;
        prepareServer();
        model = expected;
        databaseUp = true;
        serverLife = ServerLife.NONE;
    }

    /** It belongs to a life of the cluster, of which it is no member yet. */
    void takeOver(Lives lives) {
        era = lives.ids().size();
        knowsNobody = true;
        takenOut = false;
    }

    /** Goes on without what it promised or certified before; its server and its cache stay. */
    void forget() throws IOException {
        storage.forget(stream);
        nextIndex = (int) storage.position().index() + 1;
    }

    /** It is the member that the others take it for. */
    void begins(int generation) {
        asks(generation);
        knowsNobody = false;
        world.order().begins(replica);
    }

    /** Its next part in the order is that of a node that asks to be a member: it counts once it has caught up. */
    void asks(int generation) {
        lastGeneration = generation;
        replica = new Replica(this, generation, directory());
        replica.install(stream.resumeAfter());
    }

    void asksAgain() {
        // Its new log begins here, so what comes before must not be needed after a crash.
        stream.checkpoint();
        asks(lastGeneration + 1);
    }

    /** The leader has made it a member. */
    void admitted() {
        knowsNobody = false;
        takenOut = false;
        joining.answered();
    }

    /** The process is killed: what it has written stays. */
    void killService() {
        world.trace(name() + " service is killed");
        endService();
    }

    /** Its machine goes down with it: what it hasn't forced may be lost. */
    void crashService() {
        world.trace(name() + " service crashes");
        long ordered = lastOrdered();
        endService();
        if (world.bugs.contains(Bug.TORN_TAIL_TRUSTED) && ordered > storage.durableSeqno()) {
            tornSeqno = ordered;
        } else {
            storage.tear();
        }
        if (world.chance(world.faults.diskLoss()) && world.order().canSpare(this)) {
            world.statistics.disksLost++;
            if (world.random.nextBoolean()) {
                storage.loseCache();
            } else {
                storage.damageCheckpoint();
            }
        }
    }

    private void endService() {
        world.statistics.crashes++;
        writableLeft = isWritable();
        link.close();
        storage.close();
        stream = null;
        machine = null;
        joining = null;
        life++;
    }

    void crashDatabase() {
        world.trace(name() + " database crashes");
        world.statistics.crashes++;
        link.close();
        databaseUp = false;
        database.crash(t -> world.random.nextInt(8) == 0);
    }

    /** The server loses power, and what its logs had not forced. */
    void losePower() {
        if (databaseUp && database.isRelaxed()) {
            link.close();
            databaseUp = false;
            int lost = database.loseTail(world.random);
            world.statistics.tailsLost++;
            world.statistics.lostCommits += lost;
            world.trace(name() + " loses up to " + lost + " commits; position " + database.position());
        }
    }

    /** Whether its server was started anew and nobody knows what it has lost: clients are kept out until then. */
    boolean isSuspect() {
        return database.isRelaxed() && serverLife.started() != database.started();
    }

    ServerLife serverLife() {
        return serverLife;
    }

    void keep(ServerLife life) {
        serverLife = life;
    }

    /** Own transactions that the database lacks. */
    TakenBack takenBack() {
        return serverLife.takenBack();
    }

    /** The regular looks of the node's loop, and of the link to its server. */
    private void tick(long ofLife) {
        if (ofLife != life || stream == null) {
            return;
        }
        world.order().hear(this);
        boolean primary = world.order().isPrimary(this);
        if (machine.quorum().primary() != primary) {
            happened(new NodeEvent.QuorumChanged(new TotalOrder.Quorum(primary, "n0", 1), world.millis()));
            link.quorumChanged(primary);
        }
        link.look();
        if (ofLife != life) {
            return;
        }
        happened(new NodeEvent.Progress(lastOrdered(), Math.max(0, applied()), world.millis()));
        if (hasOrder() && world.random.nextInt(30) == 0) {
            takeCheckpoint();
        }
        world.after(2000 + world.random.nextInt(1000), () -> tick(ofLife));
    }

    /** Something has to be received first. */
    void missing(QuorateException cause) {
        joining.missing(cause);
    }

    /** From now on it is kept which server it is. */
    void meetServer() {
        knowsServer = true;
        stream.self(uuid);
    }

    private void takeCheckpoint() {
        int forgettable = (int) stream.checkpoint().index() + 1;
        if (replica.size() > world.faults.logEntriesMax() || world.order().isHeldByAll(forgettable)) {
            replica.purge(forgettable);
        }
        storage.retain(arbitrator ? lastOrdered() : database.position(), stream);
    }

    // Transfers.

    /** Goes on from what another node knew at its checkpoint. */
    void install(CheckpointStore.Checkpoint received) throws IOException {
        storage.install(received, stream);
        nextIndex = (int) received.position().index() + 1;
        replica.install(received.position());
    }

    /** What another one that does transfers may ask this one for. */
    Offer offer() {
        LogPosition at = storage.position();
        return new Offer(
                name(), 0, storage.cache().first(), storage.cache().last(), storage.durableSeqno(), at.index());
    }

    boolean hasLostCache() {
        return storage.hasLostCache();
    }

    /**
     * It crashes, and its directory is gone. Not more than the others can do without: then nobody could be made a
     * member.
     */
    void loseDirectory() {
        if (isServing() && era == world.order().era() && world.order().canSpare(this)) {
            crashService();
            world.trace(name() + " loses its directory");
            world.statistics.emptied++;
            beginAnew();
            world.after(1L + world.random.nextInt(4000), this::startService);
        }
    }

    /** It is taken out of the cluster, in order, and asks to be a member again later. */
    void leave() {
        if (takesPart() && world.order().remove(replica)) {
            world.statistics.left++;
            world.trace(name() + " leaves");
            takenOut = true;
            joining.takenOut();
            world.after(1L + world.random.nextInt(40_000), this::join);
        }
    }

    /** Somebody has it join, until it is a member again. */
    private void join() {
        if (takenOut) {
            if (isServing() && joining.at() == JoinMachine.Step.TAKEN_OUT) {
                joining.join();
            }
            world.after(10_000, this::join);
        }
    }

    /** A new directory beside a server: what was promised and acknowledged is forgotten. */
    void beginAnew() {
        takenOut = false;
        serverLife = ServerLife.NONE;
        replacement.cancel();
        knowsServer = false;
        storage.lose();
        directories++;
        lastGeneration = 0;
        knowsNobody = true;
        replica = new Replica(this, 0, directory());
        era = 0;
    }

    /** Whether all that its database and its cache have is in its log, or was. */
    boolean canGoOn() {
        boolean whole = arbitrator || (databaseUp && !isSuspect());
        return hasOrder() && whole;
    }

    /** The cluster goes on as another life, from what this node has. */
    void goOnAlone() {
        cutOff = false;
        world.order().recover(replica);
        era = world.order().era();
        world.order().elect();
        joining.alone();
        wake();
    }

    /** Whether others may count on its server: it holds what the order says, as far as it knows. */
    boolean isSynced() {
        return machine != null && machine.state().writable();
    }

    /** Whether it is a member that works on its server. */
    boolean isMember() {
        return link.session() != null && joining.at() == JoinMachine.Step.MEMBER;
    }

    // The order.

    /** There may be something to deliver. */
    void wake() {
        if (stream == null || delivering || !hasNext()) {
            return;
        }
        delivering = true;
        long ofLife = life;
        world.after(world.deliveryDelay() * (slowDisk ? 10 : 1), () -> {
            if (ofLife == life) {
                delivering = false;
                if (hasNext()) {
                    deliver();
                }
                wake();
            }
        });
    }

    private boolean hasNext() {
        return hasOrder() && nextIndex < replica.committed();
    }

    private void deliver() {
        Replica.Entry entry = replica.entry(nextIndex);
        stream.deliver(entry, new LogPosition(entry.term(), nextIndex++));
        if (link.session() != null) {
            link.session().feed();
        }
    }

    Certified read(long seqno) {
        return read(storage.cache(), seqno);
    }

    static Certified read(WriteSetLog log, long seqno) {
        try (WriteSetLog.Cursor cursor = log.read(seqno)) {
            return cursor.next(Duration.ZERO);
        } catch (IOException | InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    /** What the applier reads; not what was written when a torn record is trusted. */
    Certified asRead(Certified c) {
        return c.seqno() == tornSeqno && !c.writeSet().isBarrier() ? Spoilt.torn(c) : c;
    }

    void check() {
        if (arbitrator) {
            return;
        }
        model.check();
    }

    /** A client has committed. */
    void committed() {
        if (link.session() != null) {
            link.session().capture();
        }
    }

    /** The run is over. */
    void end() {
        link.close();
        if (stream != null) {
            storage.close();
        }
    }

    boolean isSettled(long lastSeqno) {
        boolean takesPart = hasOrder()
                && joining.at() == JoinMachine.Step.MEMBER
                && world.order().members().contains(replica)
                && lastOrdered() == lastSeqno;
        return takesPart
                && (arbitrator || (link.isIdle(lastSeqno) && database.clients().isEmpty()));
    }

    @Override
    public String toString() {
        return "n" + number + (stream == null ? " service down" : "") + (databaseUp ? "" : " database down")
                + (cutOff ? " cut off" : "") + " " + replica + (joining == null ? "" : " " + joining + " " + holds)
                + " "
                + (machine == null ? "" : machine.state() + " " + machine.reason())
                + " ordered " + lastOrdered() + " of " + world.decided.lastSeqno() + " position " + database.position()
                + " "
                + link;
    }
}
