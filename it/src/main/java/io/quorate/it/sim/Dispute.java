// SPDX-License-Identifier: Apache-2.0
package io.quorate.it.sim;

import io.quorate.applier.DefinitionTexts;
import io.quorate.core.BinlogEvents;
import io.quorate.core.Certified;
import io.quorate.core.ErrorCode;
import io.quorate.core.Gtid;
import io.quorate.core.QuorateException;
import io.quorate.core.TableName;
import io.quorate.core.WriteSet;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.sql.SQLException;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Predicate;

/**
 * What servers can disagree about in a run: clients of every node add and drop the unique index of {@link Table#TAG},
 * which rows that are on their way stand against; and somebody changes rows of one server without the binlog. Choices
 * are separate from the run's, so that a run without this is what it always was.
 */
final class Dispute {
    private static final int CONNECTION_LOST = 2013;
    private static final int EVENT_LENGTH_AT = 9;
    private static final int CRASHES_MAX = 12;
    private static final int IMPATIENCE = 10;
    /** So often a person finds a server waiting for them before they have it rebuilt. */
    private static final int PATIENCE = 6;

    /** Ids that no client uses. */
    static final long FOREIGN_IDS = 50;

    final Random random;
    /** How much faster than in the product the time of a vote runs: in some runs nodes that are away aren't awaited. */
    final int clock;

    final Poll poll = new Poll(this);
    private final World world;
    /** Those that passed: whether they add the index. */
    private final TreeMap<Long, Boolean> definitions = new TreeMap<>();
    /** The verdicts' places, by definition. */
    private final Map<Long, Long> voids = new HashMap<>();
    /** Rows that were taken from one server without the binlog, and inserted there again with it. */
    private final Map<Gtid, Change> reinserted = new HashMap<>();

    private final Set<Node> definers = new HashSet<>();
    private final Map<Node, Integer> waited = new HashMap<>();
    private boolean tampered;
    /** Whether a client may have written on one server a tag that all others have. */
    private boolean valuesFreed;

    private int crashes;
    private int allWait;

    Dispute(World world, long seed) {
        this.world = world;
        this.random = new Random(Run.mixed(seed) ^ 0x2545F4914F6CDD1DL);
        this.clock = Joining.CLOCK * (Run.mixed(seed) % 3 == 0 ? IMPATIENCE : 1);
    }

    void begin(long micros) {
        boolean all = random.nextInt(4) == 0;
        int only = random.nextInt(world.nodes().size());
        for (Node node : world.nodes()) {
            // Two at a time conflict, and the server of the one that loses gets a copy.
            if (!node.isArbitrator() && (all || node.number == only)) {
                definers.add(node);
                world.after(random.nextInt(20_000), () -> define(node));
            }
        }
        for (int i = 1; i < world.faults.disputes(); i++) {
            world.after(random.nextInt((int) micros), this::tamper);
        }
        world.after(10_000, this::person);
    }

    /** How many of a client's changes, one out of so many, are of tags: few where definitions are given. */
    int tagsShare(Node node) {
        return definers.contains(node) ? 12 : 2;
    }

    /** As an event with a header and no more. */
    static byte[] definition(boolean added) {
        byte[] event = new byte[BinlogEvents.HEADER_BYTES];
        event[0] = (byte) Table.TAG.ordinal();
        event[1] = (byte) (added ? 1 : 0);
        ByteBuffer.wrap(event).order(ByteOrder.LITTLE_ENDIAN).putInt(EVENT_LENGTH_AT, event.length);
        return event;
    }

    static boolean isAdded(byte[] definition) {
        return definition[1] == 1;
    }

    // What happens.

    private void define(Node node) {
        if (!world.writing) {
            return;
        }
        boolean follows = hasOddDefinition(node) && random.nextInt(3) > 0;
        if (node.isWritable() && random.nextInt(3) > 0 && !hasOpenRows(node) && !follows) {
            Rows rows = node.database().rows();
            boolean adds = !rows.isTagIndexed();
            if (!adds && random.nextInt(3) > 0) {
                world.after(1000 + random.nextInt(4000), () -> define(node));
                return;
            }
            if (node.database().users(Table.TAG).isEmpty() && !(adds && rows.hasEqualTags())) {
                Transaction definition = node.database().begin(true);
                node.database().indexTagsByClient(adds, definition);
                world.statistics.indexed++;
                world.trace(node.name() + ":" + node.database().loggedNumber() + (adds ? " adds" : " drops")
                        + " the index of tags");
                node.committed();
            }
        }
        world.after(1000 + random.nextInt(8000), () -> define(node));
    }

    private void tamper() {
        Node node = world.nodes().get(random.nextInt(world.nodes().size()));
        List<Row> tags = node.database().rows().all(Table.TAG);
        Row tag = tags.isEmpty() ? null : tags.get(random.nextInt(tags.size()));
        int kind = random.nextInt(4);
        if (!node.isMember() || !node.databaseUp || node.replacement().isWanted()) {
            return;
        }
        if (kind < 2) {
            long id = random.nextInt(4);
            if (tamper(node, Table.LIST, id, null) && kind == 0) {
                world.after(1 + random.nextInt(20_000), () -> reinsert(node, id));
            }
        } else if (tag != null && kind == 2) {
            valuesFreed |= tamper(node, Table.TAG, tag.get(0), null);
        } else if (tag != null && !node.database().rows().isTagIndexed()) {
            long id = FOREIGN_IDS + node.number;
            tamper(node, Table.TAG, id, Row.of(id, tag.get(1)));
        }
    }

    private boolean tamper(Node node, Table table, long id, Row row) {
        boolean done = !node.model().isTampered(table, id) && node.database().tamper(table, id, row);
        if (done) {
            tampered = true;
            world.statistics.tampered++;
            node.model().tampered(table, id, row);
            world.trace(
                    "somebody changes " + table + " " + id + " of " + node.name() + " without the binlog to " + row);
        }
        return done;
    }

    private void reinsert(Node node, long id) {
        Database database = node.database();
        if (!node.isWritable() || !node.model().isTampered(Table.LIST, id)) {
            return;
        }
        Change insert = new Change(Table.LIST, database.version(Table.LIST), null, Row.of(id, 0L, 1L));
        Transaction t = database.begin(true);
        try {
            if (!database.change(t, insert).isEmpty()) {
                database.rollback(t);
                return;
            }
        } catch (Rows.Misfit e) {
            throw new IllegalStateException(e);
        }
        Model model = node.model();
        database.commitClient(t, () -> model.mended(Table.LIST, id));
        Gtid gtid = new Gtid(node.uuid(), database.loggedNumber());
        reinserted.put(gtid, insert);
        world.trace(gtid + " inserts what was deleted without the binlog: " + insert.after());
        node.committed();
    }

    /**
     * Has servers rebuilt that wait for a person. Where every server waits for another one there is none to rebuild
     * them from; without a person's doing, or two clients that define at a time, that must not happen.
     */
    private void person() {
        boolean all = world.nodes().stream()
                .allMatch(n -> n.isArbitrator() || n.replacement().isAwaited());
        allWait = all ? allWait + 1 : 0;
        if (allWait > PATIENCE && (tampered || definers.size() > 1)) {
            world.endsStuck();
        }
        for (Node node : world.nodes()) {
            boolean waits = node.replacement().awaitsPerson();
            waited.merge(node, 1, (count, one) -> waits ? count + one : 0);
            if (waited.get(node) > PATIENCE) {
                waited.put(node, 0);
                world.statistics.rebuilt++;
                node.replacement().need("a person has its server rebuilt");
            }
        }
        world.after(10_000, this::person);
    }

    /** Between two steps of a vote, or of what follows from it. */
    void mayBreak(Node node) throws SQLException {
        if (mayCrash()) {
            crash(node);
            throw new SQLException("crashed", "08S01", CONNECTION_LOST);
        }
    }

    void mayCrashSoon(Node node) {
        if (mayCrash()) {
            world.after(1 + random.nextInt(2000), () -> crash(node));
        }
    }

    private boolean mayCrash() {
        return world.faults.crashes() > 0 && random.nextInt(12) == 0 && ++crashes < CRASHES_MAX;
    }

    private void crash(Node node) {
        if (random.nextInt(3) > 0 && node.isServing()) {
            node.crashService();
            world.after(1000L + random.nextInt(20_000), node::startService);
        } else if (node.databaseUp) {
            node.crashDatabase();
            world.after(1000L + random.nextInt(10_000), () -> node.databaseUp = true);
        }
    }

    // What the order says.

    void decided(Certified c) {
        if (!c.passed()) {
            return;
        }
        if (c.writeSet().voidsDefinition() > 0) {
            voids.put(c.writeSet().voidsDefinition(), c.seqno());
        } else if (isOfTags(c.writeSet())) {
            definitions.put(c.seqno(), isAdded(c.writeSet().payload().toArray()));
        }
    }

    static boolean isOfTags(WriteSet w) {
        return w.isDefinition() && w.payload().toArray()[0] == Table.TAG.ordinal();
    }

    static final DefinitionTexts TEXTS = new DefinitionTexts() {
        @Override
        public Set<TableName> tables(WriteSet definition) {
            return null;
        }

        @Override
        public Likeness likeness(WriteSet loser, WriteSet definition) {
            return areAlike(loser, definition) ? Likeness.SAME : Likeness.NONE;
        }
    };

    /** Whether a server that has run the one, which lost, need not run the other one. */
    static boolean areAlike(WriteSet loser, WriteSet definition) {
        return isOfTags(loser)
                && isOfTags(definition)
                && isAdded(loser.payload().toArray())
                        == isAdded(definition.payload().toArray());
    }

    void rewound() {
        definitions.clear();
        voids.clear();
        poll.end();
    }

    void answered(boolean isVoid, boolean stands) {
        world.statistics.voided += isVoid ? 1 : 0;
        world.statistics.stood += stands ? 1 : 0;
    }

    boolean isVoid(long seqno) {
        return voids.containsKey(seqno);
    }

    /** The last definition of the tags that passed up to a place in the order, 0 for none. */
    long lastDefinition(long seqno) {
        return definitions.headMap(seqno, true).isEmpty() ? 0 : definitions.floorKey(seqno);
    }

    /** Whether tags have their index after a place in the order, as far as the verdicts are known. */
    boolean isIndexed(long seqno) {
        for (Map.Entry<Long, Boolean> d :
                definitions.headMap(seqno, true).descendingMap().entrySet()) {
            if (!voids.containsKey(d.getKey())) {
                return d.getValue();
            }
        }
        return false;
    }

    boolean isTampered() {
        return tampered;
    }

    boolean isReinserted(Gtid gtid) {
        return reinserted.containsKey(gtid);
    }

    /** What was inserted again is there also where it was missing because that server is a copy of this one. */
    void applied(Node node, Certified c) {
        Change insert = reinserted.get(c.writeSet().gtid());
        if (insert != null && c.passed() && !c.writeSet().gtid().source().equals(node.uuid())) {
            node.model().mended(insert.table(), insert.after().get(0));
        }
    }

    /** It lost, and what was deleted is gone once more. */
    void undone(Node node, long number) {
        Change insert = reinserted.get(new Gtid(node.uuid(), number));
        if (insert != null) {
            node.model().tampered(insert.table(), insert.after().get(0), null);
        }
    }

    /**
     * Whether a client keeps away from the tags: what it wrote would stand on a definition, or on rows written under
     * another one, that may still be taken back. Their keys don't tell; see "not in the simulation".
     */
    boolean keepsFromTags(Node node) {
        int now = node.database().version(Table.TAG);
        return hasOddDefinition(node) || hasOpenRows(node, c -> c.version() != now);
    }

    private boolean hasOpenRows(Node node) {
        return hasOpenRows(node, c -> true);
    }

    /** Whether rows that clients of a server have written are not decided there yet. */
    private boolean hasOpenRows(Node node, Predicate<Change> which) {
        for (Database.Logged entry : node.database().journal()) {
            if (entry.byClient() && entry.changes().stream().anyMatch(c -> c.table() == Table.TAG && which.test(c))) {
                Certified fate = world.decided.fate(node.uuid(), entry.number());
                if (fate == null || fate.seqno() > node.database().position()) {
                    return true;
                }
            }
        }
        return false;
    }

    // What must hold.

    /**
     * Whether a server has run a definition of its own client that the order doesn't have, or not as standing, and that
     * left something else than the order's.
     */
    boolean hasOddDefinition(Node node) {
        long at = node.database().visible();
        for (Database.Logged entry : node.database().journal()) {
            if (entry.byClient() && entry.ddl() == Table.TAG) {
                Certified fate = world.decided.fate(node.uuid(), entry.number());
                boolean stands = fate != null && fate.seqno() <= at && fate.passed() && !isVoid(fate.seqno());
                if (!stands && !node.model().hasUndone(entry.number())) {
                    return true;
                }
            }
        }
        return false;
    }

    /** Whether others may get their rows from it. */
    boolean mayGive(Node node) {
        return node.isSynced() && !hasOddDefinition(node);
    }

    /** Whether nothing explains that a server holds anything else than the order says. */
    private boolean isPlain(Node node) {
        return !hasOddDefinition(node)
                && node.model().isUntampered()
                && !isVerdictAhead(node)
                && node.database().rows().isTagIndexed()
                        == isIndexed(node.database().visible());
    }

    /** Whether it has run a definition without knowing that it is void. */
    private boolean isVerdictAhead(Node node) {
        long at = node.database().visible();
        return voids.entrySet().stream()
                .anyMatch(e -> e.getValue() > at
                        && (e.getKey() <= at || node.database().hasGtid(e.getKey()))
                        && !node.database().passedOver().contains(e.getKey()));
    }

    /** A server that shows to differ must have a reason to. */
    void requireCause(Node node, QuorateException e) {
        if (e.code() == ErrorCode.UNDO_IMPOSSIBLE && node.hasLostCache()) {
            // Where it isn't known what failed, a definition of any table may have been built on that, and loses.
            return;
        }
        World.require(
                !isPlain(node) || !reinserted.isEmpty() || valuesFreed || undoesBehind(node, e),
                () -> node.name() + " holds what the order says, and is said to differ: " + e.getMessage());
        world.statistics.differed++;
        world.trace(node.name() + " differs: " + e.getMessage());
    }

    /**
     * Whether it undoes, with another definition of the table, what a client committed in the moment before that ran.
     */
    private boolean undoesBehind(Node node, QuorateException e) {
        return e.code() == ErrorCode.UNDO_MISMATCH && hasOpenRows(node);
    }

    /** Its index is the order's: nothing is left of a void definition once its verdict is applied. */
    void check(Node node) {
        long at = node.database().visible();
        if (hasOddDefinition(node) || isVerdictAhead(node)) {
            return;
        }
        boolean indexed = isIndexed(at);
        for (long seqno : definitions.tailMap(at, false).keySet()) {
            if (node.database().hasGtid(seqno) && !isVoid(seqno)) {
                indexed = definitions.get(seqno);
            }
        }
        boolean should = indexed;
        World.require(
                node.database().rows().isTagIndexed() == should,
                () -> node.name() + " at position " + at + (should ? " lacks" : " has") + " the index of tags");
    }

    /** A copy takes nothing from the world that only the replaced server had. */
    void requireHandedOver(Node node) {
        for (Database.Logged entry : node.database().journal()) {
            World.require(
                    !entry.byClient() || world.decided.fate(node.uuid(), entry.number()) != null,
                    () -> node.name() + ":" + entry.number()
                            + " was committed, is not ordered, and its server is replaced");
        }
    }

    /** Nobody but a person has a server replaced by what less than half of them hold. */
    void requireEnough(List<String> holders) {
        int servers = Math.max(poll.voters(), holders.size() + 1);
        World.require(
                2 * holders.size() >= servers || poll.isOver(),
                () -> "a server is to be replaced by what " + holders.size() + " of " + servers + " hold");
    }

    /** At the end. */
    void checkEnd() {
        for (Node node : world.nodes()) {
            boolean as = node.isArbitrator()
                    || node.database().rows().isTagIndexed() == isIndexed(world.decided.lastSeqno());
            World.require(as, () -> node.name() + " ends with another definition than the order");
        }
    }
}
