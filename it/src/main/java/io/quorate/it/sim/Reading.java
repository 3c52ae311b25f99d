// SPDX-License-Identifier: Apache-2.0
package io.quorate.it.sim;

import io.quorate.core.Certified;
import io.quorate.core.Spool;
import io.quorate.core.TableName;
import io.quorate.core.WriteSetLog;
import io.quorate.core.binlog.Upserts;
import io.quorate.sst.stream.Moment;
import io.quorate.sst.stream.OrderScan;
import io.quorate.sst.stream.Unit;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.UUID;
import java.util.stream.IntStream;

/**
 * Rows read as method {@code stream} reads them, piece by piece, from whatever node is there, and brought to one
 * moment: they must be what the order says then. Nobody uses the copy, so it changes nothing; it begins again and again
 * as long as clients write. What decides whether a piece is any good, and how changes are carried out over it, is the
 * product's.
 */
final class Reading {
    private static final int PIECE_KEYS = 8;
    private static final int KEYS_MAX = 40;
    private static final int WAITS_MAX = 60;

    /** Without tags, whose index comes and goes. */
    private static final List<Table> READ = List.of(Table.ACCOUNT, Table.PARENT, Table.CHILD, Table.LIST, Table.SCRAP);

    private final World world;
    private final Random random;
    private final Map<Table, TreeMap<Long, Row>> keyed = new EnumMap<>(Table.class);
    private final Map<Row, Integer> scrap = new HashMap<>();
    private final Map<Table, Unit> units = new EnumMap<>(Table.class);
    private List<Piece> missing = new ArrayList<>();
    private OrderScan scan;
    private long since = -1;
    private long upTo;
    private int era;
    private Moment whole;

    /** Rows of one table with keys from one on, as many as {@link #PIECE_KEYS}; all of one without keys. */
    private record Piece(Table table, long from) {
        boolean has(long key) {
            return key >= from && (key < from + PIECE_KEYS || from + PIECE_KEYS >= KEYS_MAX);
        }
    }

    /** @param seed of choices of its own, so that what else happens is as it is without */
    Reading(World world, long seed) {
        this.world = world;
        this.random = new Random(seed ^ 0x5DEECE66DL);
        for (Table table : Table.ALL) {
            keyed.put(table, new TreeMap<>());
        }
        later(20_000);
    }

    private void later(int micros) {
        world.after(1 + random.nextInt(micros), this::step);
    }

    private void step() {
        if (!world.writing && since < 0) {
            return;
        }
        if (since >= 0 && (era != world.order().era() || scan.firstOfTables() > 0)) {
            world.statistics.readAnew += scan.firstOfTables() > 0 ? 1 : 0;
            since = -1;
        }
        if (since < 0) {
            begin();
            later(500);
        } else if (missing.isEmpty()) {
            compare();
            since = -1;
            later(5000);
        } else {
            read();
        }
    }

    private Node donor() {
        List<Node> donors = world.nodes().stream()
                .filter(n -> n.databaseUp && n.applied() >= 0 && n.isWritable() && n.takesPart())
                .filter(n -> world.dispute == null
                        || (world.dispute.mayGive(n) && n.model().isUntampered()))
                .filter(n -> n.database().position() >= since && n.database().lastNumber() >= ordered(n))
                .toList();
        return donors.isEmpty() ? null : donors.get(random.nextInt(donors.size()));
    }

    private static long ordered(Node node) {
        return node.stream().own().last();
    }

    private void begin() {
        Node donor = donor();
        if (donor == null) {
            return;
        }
        since = donor.database().position();
        era = world.order().era();
        upTo = since;
        scan = new OrderScan(new Log(), since, w -> true);
        keyed.values().forEach(TreeMap::clear);
        scrap.clear();
        missing = new ArrayList<>();
        for (Table table : READ) {
            units.put(
                    table,
                    new Unit(table.ordinal(), names(table, donor.database().version(table)), !table.keyed));
            for (long from = 0; from < (table.keyed ? KEYS_MAX : 1); from += PIECE_KEYS) {
                missing.add(new Piece(table, from));
            }
        }
    }

    /** As the events of all definitions of it call it; the last one may not be ordered yet. */
    private static List<TableName> names(Table table, int version) {
        return IntStream.rangeClosed(0, version)
                .mapToObj(v -> new TableName("v" + v, table.name()))
                .toList();
    }

    private void read() {
        Node donor = donor();
        Piece piece = missing.get(random.nextInt(missing.size()));
        if (donor == null || (!piece.table.keyed && holdsPrepared(donor, piece.table))) {
            later(2000);
            return;
        }
        Database database = donor.database();
        List<Row> rows = new ArrayList<>();
        Rows committed = database.committed();
        for (Row row : committed.all(piece.table)) {
            if (!piece.table.keyed || piece.has(row.get(0))) {
                rows.add(row);
            }
        }
        Map<Row, Integer> counts = piece.table.keyed ? Map.of() : committed.counts();
        long own = database.lastNumber();
        long undecided = database.binlog().stream()
                .filter(e -> e.byClient() && e.number() <= own && world.decided.fate(donor.uuid(), e.number()) == null)
                .mapToLong(Database.Logged::number)
                .max()
                .orElse(0);
        Moment moment = new Moment(
                donor.uuid(),
                database.position(),
                own,
                List.copyOf(database.undone().keySet()));
        settle(piece, rows, counts, moment, world.bugs.contains(Bug.COPY_OWN_NOT_AWAITED) ? 0 : undecided, 0);
    }

    /** It keeps LOCK TABLES off. */
    private static boolean holdsPrepared(Node donor, Table table) {
        return donor.database().isPrepared(table);
    }

    private void settle(
            Piece piece, List<Row> rows, Map<Row, Integer> counts, Moment moment, long undecided, int waits) {
        world.after(1 + random.nextInt(800), () -> {
            if (waits > WAITS_MAX || era != world.order().era()) {
                later(2000);
            } else if (!isDecided(moment.server(), undecided)) {
                settle(piece, rows, counts, moment, undecided, waits + 1);
            } else {
                take(piece, rows, counts, moment);
                later(800);
            }
        });
    }

    /** What a server lost before it was ordered is never decided. */
    private boolean isDecided(UUID server, long number) {
        return number == 0 || world.decided.fate(server, number) != null;
    }

    private void take(Piece piece, List<Row> rows, Map<Row, Integer> counts, Moment moment) {
        long ordered = Math.max(world.decided.lastSeqno(), moment.applied());
        boolean spoilt;
        try {
            scan.advance(ordered);
            spoilt = scan.isSpoilt(units.get(piece.table), moment);
        } catch (IOException | InterruptedException e) {
            throw new IllegalStateException(e);
        }
        if (spoilt) {
            world.statistics.readAgain++;
            if (!world.bugs.contains(Bug.COPY_SPOILT_TAKEN)) {
                return;
            }
        }
        missing.remove(piece);
        if (!piece.table.keyed) {
            world.trace("a copy since " + since + " has read " + counts + " of " + piece.table + " at " + moment);
        }
        upTo = Math.max(upTo, world.bugs.contains(Bug.COPY_CUT_SHORT) ? moment.applied() : ordered);
        if (piece.table.keyed) {
            rows.forEach(row -> keyed.get(piece.table).put(row.get(0), row));
        } else {
            whole = moment;
            scrap.putAll(counts);
        }
        world.statistics.pieces++;
    }

    private void compare() {
        Rows expected = Decided.opening();
        for (long seqno = 1; seqno <= upTo; seqno++) {
            Certified c = world.decided.certified(seqno);
            if (c.passed()) {
                world.decided.replay(expected, c, false);
            }
        }
        for (long seqno = since + 1; seqno <= upTo; seqno++) {
            Certified c = world.decided.certified(seqno);
            if (c.passed() && !c.writeSet().isBarrier()) {
                carryOut(c);
            }
        }
        for (Table table : READ) {
            if (table.keyed) {
                List<Row> here = List.copyOf(keyed.get(table).values());
                World.require(
                        here.equals(expected.all(table)),
                        () -> "a copy from " + since + " to " + upTo + " has in " + table + " " + here + " instead of "
                                + expected.all(table));
            } else {
                scrap.values().removeIf(count -> count == 0);
                World.require(
                        scrap.equals(expected.counts()),
                        () -> "a copy from " + since + " to " + upTo + " has in " + table + " " + scrap + " instead of "
                                + expected.counts());
            }
        }
        world.statistics.copiesRead++;
    }

    private void carryOut(Certified c) {
        byte[] payload;
        try {
            payload = Upserts.of(
                            c.writeSet().payload(),
                            (schema, table) -> {
                                Unit unit = units.get(Table.valueOf(table));
                                return unit == null ? Upserts.Rule.SKIP : unit.rule(c, whole);
                            },
                            Spool.HEAP)
                    .toArray();
        } catch (Upserts.Impossible e) {
            throw new IllegalStateException(e);
        }
        for (Change change : Change.decode(payload)) {
            TreeMap<Long, Row> rows = keyed.get(change.table());
            if (!change.table().keyed) {
                count(change.before(), -1);
                count(change.after(), 1);
            } else if (change.before() == null) {
                rows.put(change.after().get(0), change.after());
            } else if (rows.remove(change.before().get(0)) != null && change.after() != null) {
                // As IDEMPOTENT goes about it: an update whose row isn't there is passed over.
                rows.put(change.after().get(0), change.after());
            }
        }
    }

    private void count(Row row, int by) {
        if (row != null) {
            int count = scrap.merge(row, by, Integer::sum);
            World.require(count >= 0, () -> "a copy has " + count + " of " + row);
        }
    }

    /** The order, as every node that has come so far has it in its record. */
    private final class Log implements WriteSetLog {
        @Override
        public long first() {
            return 1;
        }

        @Override
        public long last() {
            return world.decided.lastSeqno();
        }

        @Override
        public void append(List<Certified> batch) {
            throw new UnsupportedOperationException();
        }

        @Override
        public void force() {}

        @Override
        public Cursor read(long seqno) {
            return new Cursor() {
                private long next = seqno;

                @Override
                public Certified next(Duration timeout) {
                    return next > world.decided.lastSeqno() ? null : world.decided.certified(next++);
                }

                @Override
                public void close() {}
            };
        }

        @Override
        public void close() {}
    }
}
