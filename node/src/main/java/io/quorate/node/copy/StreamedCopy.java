// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.copy;

import io.quorate.applier.CopyReplay;
import io.quorate.applier.PositionTable;
import io.quorate.applier.PositionTable.Position;
import io.quorate.capture.DefinedTables;
import io.quorate.core.Certified;
import io.quorate.core.Difference;
import io.quorate.core.ErrorCode;
import io.quorate.core.LogPosition;
import io.quorate.core.QuorateException;
import io.quorate.core.TableName;
import io.quorate.core.binlog.Upserts;
import io.quorate.node.copy.DifferingTables.Found;
import io.quorate.node.copy.DifferingTables.NotByTables;
import io.quorate.node.server.JoinCounts;
import io.quorate.node.server.LinkSignals;
import io.quorate.node.server.ServerAccess;
import io.quorate.sst.CloneCopy;
import io.quorate.sst.CopyProgress;
import io.quorate.sst.stream.Catalog;
import io.quorate.sst.stream.CatalogRestore;
import io.quorate.sst.stream.CopyLedger;
import io.quorate.sst.stream.CopyLedger.Done;
import io.quorate.sst.stream.CopyLedger.Stage;
import io.quorate.sst.stream.Moment;
import io.quorate.sst.stream.OrderScan;
import io.quorate.sst.stream.Unit;
import java.io.IOException;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A copy by our own means, method {@code stream}, of everything or of some tables ({@link CopyExtent}). Tables come in
 * pieces, each read by a donor at a moment of its own, while everybody goes on writing. Then everything that was
 * ordered since the first of these moments is carried out on all pieces, whether they have it already or not, which
 * brings them to one moment. The idea of overlapping a
 * copy with a log that is forgiving until both have met is that of fuzzy backups (Gray and Reuter 1993, 11.5) and of
 * DBLog's chunks (Andreakis and Papapanagiotou 2020).
 *
 * <p>What is noted about a piece is committed together with its rows. So whichever node fails, the copy goes on where
 * it was, from any donor.
 */
final class StreamedCopy {
    private static final Logger log = LoggerFactory.getLogger(StreamedCopy.class);
    private static final long POLL_MILLIS = 100;
    private static final int CATALOG_TRIES = 20;
    /** A donor answers for so many within seconds. */
    private static final int TABLES_AT_ONCE = 200;

    /** How often a copy begins anew before another method is tried, where that is allowed. */
    private static final int ANEW_MAX = 3;
    /** Memory that the server uses while it makes indexes. */
    private static final int INDEX_BUFFER_BYTES = 64 << 20;

    private final Copying.Ports ports;
    private final ServerAccess access;
    private final LinkSignals signals;
    private final Copying.Donors donors;
    private final Consumer<String> tell;
    private final ByteBudget budget;
    private final UnaryOperator<@Nullable Set<TableName>> ofWaiting;
    private volatile CopyProgress progress = CopyProgress.NONE;
    private volatile String donor = "";
    private volatile String obstacle;
    private volatile CopyPlan plan;
    private CopyExtent extent;
    private CopyLedger ledger;
    private List<Unit> units;
    private OrderScan scan;
    /** By table, the settings under which servers have computed stored columns; looking for them takes its time. */
    private final Map<TableName, Set<Map<String, String>>> computedUnder = new ConcurrentHashMap<>();
    /** How often the copy began anew because tables were changed, since this service started or completed one. */
    private int begunAnew;

    /** When the copy began; 0 when this service didn't see it begin. */
    private long startedNanos;

    /** Says why rows don't come this way. */
    static final class NotByStream extends Exception {
        private static final long serialVersionUID = 1L;

        /** What can't be copied; null when the copy only had to begin anew too often. */
        final QuorateException refusal;

        NotByStream(String why, QuorateException refusal) {
            super(why, refusal);
            this.refusal = refusal;
        }
    }

    /**
     * @param ofWaiting the tables that a server which waits for a copy itself may give, given those that are being
     *     copied, null if that isn't known; null for none
     * @param tell is told what the copy is doing or waiting for
     */
    StreamedCopy(
            Copying.Ports ports,
            ServerAccess access,
            LinkSignals signals,
            Copying.Donors donors,
            ByteBudget budget,
            UnaryOperator<@Nullable Set<TableName>> ofWaiting,
            Consumer<String> tell) {
        this.ports = ports;
        this.access = access;
        this.signals = signals;
        this.donors = donors;
        this.budget = budget;
        this.ofWaiting = ofWaiting;
        this.tell = tell;
    }

    CopyProgress look() {
        return progress;
    }

    String donor() {
        return donor;
    }

    /** Why no rows come; null when they do. */
    String obstacle() {
        return obstacle;
    }

    /**
     * Begins the copy or goes on with it.
     *
     * @param from the copy must hold at least everything ordered up to this seqno
     * @param atLeast the copy must be brought to this seqno or a later one
     * @param where where the server differs, if it isn't to have a copy of everything
     * @return the seqno at which the copy is; -1 when it isn't complete
     * @throws NotByTables when nothing less than a copy of everything will do
     * @throws NotByStream when another method has to be found
     */
    long run(long from, long atLeast, Difference where)
            throws NotByTables, NotByStream, SQLException, IOException, InterruptedException {
        try {
            long at = attempt(from, atLeast, where);
            if (at < 0 && begunAnew >= ANEW_MAX) {
                throw new NotByStream("tables are changed too often", null);
            }
            return at;
        } catch (QuorateException e) {
            if (e.code() != ErrorCode.COPY_NOT_BY_STREAM) {
                throw e;
            }
            throw new NotByStream(e.detail(), e);
        }
    }

    private long attempt(long from, long atLeast, Difference where)
            throws NotByTables, SQLException, IOException, InterruptedException {
        try (Connection connection = control()) {
            clear(connection);
            plan = null;
            // A server that gets everything has run nothing that comes after what it gets.
            long after = where.mayBeAnywhere() ? Math.max(from, atLeast) : from;
            Stage stage = isPlanned(after) ? use(connection) : null;
            if (stage == null) {
                plan = null;
                plan(connection, after, atLeast, where);
            }
            if (stage == null || stage == Stage.MAKING) {
                make(connection);
            }
            try {
                return go(connection, atLeast);
            } catch (PieceFetcher.TablesChanged e) {
                begunAnew++;
                return beginAnew("a statement changed tables at seqno " + e.seqno + ", while they were being read");
            } catch (PieceFetcher.DonorsBehind | PieceFetcher.TableGone e) {
                return beginAnew(e.getMessage());
            }
        }
    }

    private long beginAnew(String why) throws IOException {
        log.warn("the copy begins anew: {}", why);
        CopyPlan.delete(directory());
        plan = null;
        ports.joins().count(JoinCounts.Step.COPY_BEGUN_ANEW);
        return -1;
    }

    /**
     * How fast the copy came, in bytes of the donor's files a second, indexes included; 0 when this service didn't see
     * all of it.
     */
    long bytesPerSecond() {
        long millis = (System.nanoTime() - startedNanos) / 1_000_000;
        return startedNanos == 0 || millis == 0 ? 0 : plan.bytes() * 1000 / millis;
    }

    private long go(Connection connection, long atLeast) throws SQLException, IOException, InterruptedException {
        if (ledger.stage(connection) == Stage.FETCHING && !fetch(connection)) {
            return -1;
        }
        if (plan.upTo() == 0) {
            settle(connection, atLeast);
        }
        if (ledger.stage(connection) == Stage.REPLAYING) {
            if (!replay(connection)) {
                return -1;
            }
            ledger.stage(connection, Stage.FINISHING);
        }
        return complete(connection) ? plan.upTo() : -1;
    }

    private java.nio.file.Path directory() {
        return ports.properties().dataDir();
    }

    /** A connection whose statements don't reach the binlog. */
    private Connection control() throws SQLException {
        Connection connection = access.connectToLoad();
        execute(
                connection,
                "SET SESSION sql_log_bin = 0, foreign_key_checks = 0, innodb_ddl_buffer_size = " + INDEX_BUFFER_BYTES);
        return connection;
    }

    private static void execute(Connection connection, String... statements) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            for (String each : statements) {
                statement.execute(each);
            }
        }
    }

    /**
     * Makes room on the server: nobody else is connected, no prepared transaction holds a table, and LOAD DATA LOCAL is
     * allowed.
     */
    private static void clear(Connection connection) throws SQLException {
        ServerAccess.turnOn(connection, "offline_mode");
        ServerAccess.turnOn(connection, "local_infile");
        CloneCopy.rollBackPrepared(connection);
    }

    /** How far the plan's copy is on this server; null when the server knows nothing of that copy. */
    private Stage use(Connection connection) throws SQLException {
        ledger = new CopyLedger(plan.copy());
        units = Unit.of(plan.catalog());
        extent = CopyExtent.of(plan, DefinedTables.at(connection));
        scan = new OrderScan(ports.cache(), plan.since(), extent::concerns);
        return ledger.stage(connection);
    }

    // MAKING

    private void plan(Connection connection, long from, long atLeast, Difference where)
            throws NotByTables, SQLException, IOException, InterruptedException {
        tell.accept("asking for what there is");
        CopyQuestion.Contents contents = catalog(from);
        Found some = where.mayBeAnywhere() ? null : differing(connection, where, contents, atLeast);
        Set<TableName> tables = some == null ? null : some.tables();
        Set<String> schemas = some == null ? Set.of() : some.schemas();
        boolean objects = some == null || some.objects();
        if (objects) {
            new CatalogRestore(contents.catalog())
                    .requireRights(connection, ports.properties().mysql().user());
        }
        Catalog copied =
                tables == null ? contents.catalog() : contents.catalog().only(tables, schemas);
        plan = new CopyPlan(
                UUID.randomUUID().toString(),
                contents.moment().applied(),
                contents.log(),
                withGenerated(copied, contents.moment().applied()),
                tables == null ? contents.bytes() : ServerAccess.tableBytes(connection, tables),
                0,
                objects ? contents.catalog() : null,
                tables,
                schemas,
                objects);
        plan.write(directory(), donors.json());
    }

    private Found differing(Connection connection, Difference where, CopyQuestion.Contents contents, long atLeast)
            throws NotByTables, SQLException, IOException, InterruptedException {
        long since = contents.moment().applied();
        DefinedTables defined = DefinedTables.at(connection);
        // The donor may be before what this server has run, as one that waits itself often is.
        boolean fromWaiting = fromWaiting() != null;
        long ran = fromWaiting ? Math.max(atLeast, ports.stream().lastOrdered()) : atLeast;
        long upTo = Math.max(since, ran);
        PieceFetcher.awaitOrdered(ports, upTo, () -> !signals.task().serves());
        Found differing = DifferingTables.of(defined, ports.cache(), ServerAccess.uuid(connection))
                .find(where, ServerAccess.applied(connection), upTo, contents.catalog());
        if (fromWaiting) {
            differing.alone();
        }
        requireGiven(differing.tables());
        for (TableName table : differing.tables()) {
            if (!differing.schemas().contains(table.schema()) && !ServerAccess.hasSchema(connection, table.schema())) {
                throw new NotByTables("this server has no schema " + table.schema());
            }
        }
        return differing;
    }

    /** A server that waits for a copy itself defines tables otherwise where it differs. */
    private void requireGiven(Set<TableName> tables) {
        if (donors.present().get().stream().noneMatch(m -> m.node().equals(donor) && m.gives(tables))) {
            throw new QuorateException(
                    ErrorCode.COPY_NO_DONOR, donor + " can't give " + TableName.some(tables) + " now");
        }
    }

    private void make(Connection connection) throws SQLException {
        startedNanos = System.nanoTime();
        use(connection);
        log.info(
                "copying {}, about {} MB in {} tables, by method stream from seqno {} on; what this server holds of it"
                        + " goes",
                plan.what(),
                plan.bytes() >> 20,
                plan.catalog().tables().size(),
                plan.since());
        ports.joins().count(JoinCounts.Step.COPY_BEGUN);
        ledger.begin(connection, plan.since());
        CatalogRestore restore = new CatalogRestore(plan.catalog());
        extent.remove(connection, restore);
        restore.create(connection);
        restore.setSchemas(connection, plan.schemas());
        // Tables that are read at one moment can have their indexes at once. What cascades do is not in the order, so
        // cascades have to happen here, and need their foreign keys from the start.
        List<Catalog.Table> whole = plan.catalog().tables().stream()
                .filter(table -> units.stream().anyMatch(unit -> unit.whole() && unit.has(table)))
                .toList();
        for (Catalog.Table table : whole) {
            restore.addIndexesBeforeRows(connection, table);
        }
        for (Catalog.Table table : whole) {
            restore.addForeignKeys(connection, Unit.withCascadingOnly(table));
        }
        ledger.stage(connection, Stage.FETCHING);
    }

    private CopyQuestion.Contents catalog(long after) throws IOException, InterruptedException {
        donor = PieceFetcher.choose(
                donors.present().get(), ports.properties().zone(), after, fromWaiting(), donor, Set.of());
        CopyQuestion.Contents contents = ask(
                new CopyQuestion.CatalogAfter(after, ports.properties().sst().omitted()));
        contents.catalog().require();
        return contents;
    }

    /** A definition of one of the tables that comes in between has the copy begin anew. */
    private Catalog withGenerated(Catalog catalog, long after) throws IOException, InterruptedException {
        List<TableName> all =
                catalog.tables().stream().map(Catalog.Table::fullName).toList();
        List<Catalog.Table> found = new ArrayList<>();
        for (int from = 0; from < all.size(); from += TABLES_AT_ONCE) {
            List<TableName> some = all.subList(from, Math.min(all.size(), from + TABLES_AT_ONCE));
            tell.accept("asking for the indexes of " + all.size() + " tables, known of " + from);
            found.addAll(
                    ask(new CopyQuestion.TablesAfter(after, some)).catalog().tables());
        }
        Catalog whole = catalog.with(found);
        whole.require();
        return whole;
    }

    private CopyQuestion.Contents ask(CopyQuestion<CopyQuestion.Contents> question)
            throws IOException, InterruptedException {
        try {
            CopyQuestion.Contents contents = donors.questions().ask(donor, question);
            requireNoneFailed(contents);
            return contents;
        } catch (IOException e) {
            throw new QuorateException(ErrorCode.COPY_NO_DONOR, donor + " doesn't answer: " + e.getMessage(), e);
        }
    }

    /** Until a server gets a copy itself, it shows what a definition of its own clients has done that has failed. */
    private void requireNoneFailed(CopyQuestion.Contents contents) throws IOException, InterruptedException {
        PieceFetcher.awaitOrdered(
                ports, contents.ordered(), () -> !signals.task().serves());
        Moment moment = contents.moment();
        Certified failed = ports.cache()
                .find(
                        moment.applied() + 1,
                        contents.ordered(),
                        c -> c.writeSet().isBarrier() && moment.mayShow(c));
        if (failed != null) {
            throw new QuorateException(
                    ErrorCode.COPY_TOO_EARLY,
                    donor + " has run the definition at seqno " + failed.seqno() + ", which has failed");
        }
    }

    private @Nullable Set<TableName> fromWaiting() {
        if (plan == null) {
            return ofWaiting.apply(null);
        }
        return plan.objects() ? null : ofWaiting.apply(plan.tables());
    }

    // FETCHING

    private boolean fetch(Connection connection) throws SQLException, IOException, InterruptedException {
        long before = here(connection);
        long start = System.nanoTime();
        try (PieceFetcher fetcher = new PieceFetcher(
                ports, access, donors, ledger, scan, plan.since(), fromWaiting(), computedUnder, donor, budget)) {
            fetcher.start(
                    ledger.missing(connection, units), ports.properties().sst().streams());
            while (!fetcher.isDone()) {
                if (!signals.task().serves()) {
                    return false;
                }
                fetcher.requireGoing();
                donor = fetcher.donor();
                long millis = (System.nanoTime() - start) / 1_000_000;
                progress = CopyProgress.of("rows", before, fetcher.bytes(), plan.bytes(), millis);
                obstacle = fetcher.obstacle();
                tell.accept(obstacle == null ? progress.toString() : obstacle);
                signals.await(signals.task(), POLL_MILLIS);
            }
            fetcher.requireGoing();
        } finally {
            obstacle = null;
        }
        if (!ledger.missing(connection, units).isEmpty()) {
            throw new SQLException("the copy's ledger misses " + ledger.missing(connection, units));
        }
        log.info(
                "all rows are here, {} MB as text in {} ms",
                (here(connection) - before) >> 20,
                (System.nanoTime() - start) / 1_000_000);
        ledger.stage(connection, Stage.REPLAYING);
        return true;
    }

    private long here(Connection connection) throws SQLException {
        return ledger.done(connection).values().stream()
                .flatMap(List::stream)
                .mapToLong(Done::bytes)
                .sum();
    }

    // REPLAYING

    /** Finds the seqno to which everything is brought, and what exists besides tables at that seqno. */
    private void settle(Connection connection, long atLeast) throws SQLException, IOException, InterruptedException {
        long upTo = Math.max(plan.since(), atLeast);
        for (List<Done> unit : ledger.done(connection).values()) {
            for (Done done : unit) {
                upTo = Math.max(upTo, done.upTo());
            }
        }
        Catalog rest = plan.rest() == null ? plan.catalog() : plan.rest();
        long as = plan.since();
        for (int i = 0; i < CATALOG_TRIES; i++) {
            scan.advance(upTo);
            if (scan.firstOfTables() > 0) {
                throw new PieceFetcher.TablesChanged(scan.firstOfTables());
            }
            if (!extent.objects() || !scan.hasOthersAfter(as)) {
                plan = plan.upTo(upTo, rest);
                plan.write(directory(), donors.json());
                return;
            }
            // Accounts, views or stored programs have changed since: they are copied as they are now.
            CopyQuestion.Contents contents = catalog(upTo);
            as = contents.moment().applied();
            long least = Math.max(as, contents.ordered());
            upTo = Math.max(upTo, PieceFetcher.awaitOrdered(ports, least, () -> !signals.task()
                    .serves()));
            rest = contents.catalog();
        }
        throw new QuorateException(
                ErrorCode.COPY_TOO_EARLY, "accounts, views or stored programs change faster than they can be read");
    }

    private boolean replay(Connection connection) throws SQLException, IOException, InterruptedException {
        Map<TableName, Unit> unitOf = new HashMap<>();
        units.forEach(unit -> unit.tables().forEach(name -> unitOf.put(name, unit)));
        Map<Integer, List<Done>> done = ledger.done(connection);
        CopyReplay replay =
                new CopyReplay(access.workers(), ports.cache(), c -> rules(c, unitOf, done), CopyLedger::replayed);
        long from = ledger.replayed(connection);
        long start = System.nanoTime();
        boolean over;
        try {
            over = replay.run(
                    from,
                    plan.upTo(),
                    () -> signals.task().serves(),
                    at -> tell.accept("its rows are here; carrying out what was ordered meanwhile, "
                            + (plan.upTo() - at) + " writesets to go"));
        } catch (QuorateException e) {
            if (e.code() == ErrorCode.COPY_UNUSABLE) {
                // It can't be done with these rows.
                CopyPlan.delete(directory());
            }
            throw e;
        }
        log.info(
                "rows were brought from seqno {} to {} in {} ms",
                from,
                plan.upTo(),
                (System.nanoTime() - start) / 1_000_000);
        return over;
    }

    private Upserts.Rules rules(Certified c, Map<TableName, Unit> unitOf, Map<Integer, List<Done>> done) {
        if (c.writeSet().isBarrier() || ports.stream().isVoid(c.seqno())) {
            // A statement on something other than tables; that is copied as it is at the end. Or nobody is to have it.
            return null;
        }
        return (schema, table) -> {
            TableName name = new TableName(schema, table);
            Unit unit = unitOf.get(name);
            return unit == null
                    ? Upserts.Rule.SKIP
                    : unit.rule(c, done.get(unit.number()).get(0).moment());
        };
    }

    // FINISHING

    private boolean complete(Connection connection) throws SQLException, IOException, InterruptedException {
        CatalogRestore tables = new CatalogRestore(plan.catalog());
        List<Catalog.Table> all = plan.catalog().tables();
        long start = System.nanoTime();
        for (boolean keys : new boolean[] {true, false}) {
            for (int i = 0; i < all.size(); i++) {
                if (!signals.task().serves()) {
                    return false;
                }
                Catalog.Table table = all.get(i);
                tell.accept("its rows are here; making " + (keys ? "indexes" : "foreign keys") + " of table " + (i + 1)
                        + " of " + all.size());
                if (keys) {
                    tables.addIndexes(connection, table);
                } else {
                    tables.addForeignKeys(connection, table);
                }
            }
        }
        log.info("indexes and foreign keys made in {} ms", (System.nanoTime() - start) / 1_000_000);
        if (extent.everything()) {
            position(connection);
        } else if (!extent.objects()) {
            new CatalogRestore(plan.rest()).createMissingTriggers(connection, extent.tables());
        }
        return true;
    }

    /** The copied tables are further; what is defined besides is still to be made. */
    private void position(Connection connection) throws SQLException, IOException, InterruptedException {
        scan.advance(plan.upTo());
        long others = scan.firstOfOthers();
        long seqno = others == 0 ? plan.upTo() : others - 1;
        PositionTable.create(connection);
        if (seqno > 0) {
            LogPosition log =
                    seqno == plan.since() ? plan.log() : ports.cache().at(seqno).position();
            PositionTable.reset(connection, new Position(seqno, log, ports.incarnation()));
        }
    }

    /** Nothing is to be fetched: the tables of this plan are here. */
    void here(CopyPlan of) throws IOException {
        of.write(directory(), donors.json());
        plan = of;
    }

    /** What is copied; null while there is no copy. */
    @Nullable
    CopyPlan plan() {
        plan = plan == null ? CopyPlan.read(directory(), donors.json()) : plan;
        return plan;
    }

    /** The tables that are copied, if nothing else is; null also while that isn't known. Any thread. */
    @Nullable
    Set<TableName> tablesAlone() {
        CopyPlan known = plan;
        return known == null || known.objects() ? null : known.tables();
    }

    /** Whether it is known what is copied, from a seqno that isn't before this one. */
    boolean isPlanned(long from) {
        CopyPlan known = plan();
        return known != null && known.since() >= from;
    }

    /** Gives this server the donor's accounts, views and stored programs instead of its own. */
    void replaceObjects(Connection connection) throws SQLException {
        execute(connection, "SET SESSION sql_log_bin = 0");
        try {
            new CatalogRestore(plan.rest())
                    .replaceRest(connection, ports.properties().mysql().user(), plan.schemas())
                    .forEach(line -> log.warn("not copied: {}", line));
            // A statement that changes definitions forces all that was committed before it.
            execute(connection, "ALTER TABLE quorate.copy COMMENT = 'with objects'");
        } finally {
            execute(connection, "SET SESSION sql_log_bin = 1");
        }
    }

    /** Opens the server to everybody again, unless somebody else has closed it or it is drained. */
    void open(Connection connection) throws SQLException {
        if (!access.isDrained(connection)) {
            ServerAccess.turnOffAgain(connection, "offline_mode");
        }
        ServerAccess.turnOffAgain(connection, "local_infile");
    }

    /** Removes what is left of the copy, once it is noted that the copy is complete. */
    void forget(Connection connection) throws SQLException, IOException {
        CopyPlan.delete(directory());
        execute(connection, "SET SESSION sql_log_bin = 0");
        CopyLedger.drop(connection);
        execute(connection, "SET SESSION sql_log_bin = 1");
        startedNanos = 0;
        begunAnew = 0;
        progress = CopyProgress.NONE;
    }
}
