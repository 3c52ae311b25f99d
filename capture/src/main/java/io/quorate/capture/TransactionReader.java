// SPDX-License-Identifier: Apache-2.0
package io.quorate.capture;

import io.quorate.capture.Statement.TableName;
import io.quorate.core.BinlogEvents;
import io.quorate.core.CertifiedXid;
import io.quorate.core.ErrorCode;
import io.quorate.core.Gtid;
import io.quorate.core.KeyType;
import io.quorate.core.Keys;
import io.quorate.core.KeysBuilder;
import io.quorate.core.QuorateException;
import io.quorate.core.WriteSet;
import io.quorate.core.binlog.Bytes;
import io.quorate.core.binlog.EventReader;
import io.quorate.core.binlog.RowsEvent;
import io.quorate.core.binlog.TableMap;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;

/**
 * Combines the events of a binlog into transactions. This is how MySQL writes them:
 *
 * <ul>
 *   <li>a transaction: GTID, QUERY {@code BEGIN}, (TABLE_MAP, ROWS)*, then XID, or QUERY {@code COMMIT} when no
 *       transactional engine took part; savepoints are QUERY events in between;
 *   <li>a definition: GTID, QUERY; CREATE TABLE ... SELECT: GTID, {@code BEGIN}, the CREATE as QUERY, rows, XID;
 *   <li>XA: GTID, QUERY {@code XA START}, rows, QUERY {@code XA END}, XA_PREPARE (which says if it was ONE PHASE, and
 *       then it is the end); later GTID, QUERY {@code XA COMMIT} or {@code XA ROLLBACK}. A transaction that is to be
 *       certified first ({@link CertifiedXid}) becomes a writeset when it is prepared;
 *   <li>with compression: GTID, TRANSACTION_PAYLOAD with all the rest inside.
 * </ul>
 *
 * <p>A transaction that starts with a change of {@code quorate.position} is the applier's: only the seqno in it is
 * kept. Lives as long as a connection; on one thread.
 */
final class TransactionReader {
    private static final String POSITION_TABLE = "position";
    private static final int POSITION_SEQNO_COLUMN = 1;
    private static final String MARK_TABLE = "certified";

    private enum Phase {
        /** Between transactions. */
        IDLE,
        /** After GTID. */
        NAMED,
        /** After BEGIN or XA START. */
        OPEN
    }

    private final CaptureSettings settings;
    private final Progress progress;
    private final TablePlans plans;
    private final Map<Integer, Collation> collations;
    private final boolean lowerCaseNames;
    private final CaptureSink sink;
    private final Counters counters;

    private final Payload payload = new Payload();
    private final KeysBuilder keys = new KeysBuilder();
    private final RowKeys rowKeys = new RowKeys();
    private final Map<Long, TablePlan> tables = new HashMap<>();
    private final Savepoints savepoints = new Savepoints();
    private final EmptyTables empty;

    private Phase phase = Phase.IDLE;
    private UUID foreign;
    private long number;
    private long committedMicros;

    /** The client's connection, by the server's number. */
    private long session;

    private Xid xid;
    private boolean applied;
    private boolean firstTable;
    private boolean ddl;
    /** Whether it has written the mark of a transaction that is to be certified before it commits. */
    private boolean marked;

    private TablePlan lastPlan;
    private long lastTableId;

    TransactionReader(
            CaptureSettings settings,
            Progress progress,
            TablePlans plans,
            Map<Integer, Collation> collations,
            boolean lowerCaseNames,
            CaptureSink sink,
            Counters counters) {
        this.settings = settings;
        this.progress = progress;
        this.plans = plans;
        this.collations = collations;
        this.lowerCaseNames = lowerCaseNames;
        this.empty = new EmptyTables(lowerCaseNames);
        this.sink = sink;
        this.counters = counters;
    }

    /**
     * Takes the next event, without checksum.
     *
     * @throws QuorateException with a capture code for what can't be replicated
     * @throws IndexOutOfBoundsException for an event that is not what its type says
     */
    void event(byte[] b, int offset, int length) throws InterruptedException {
        int type = BinlogEvents.type(b, offset);
        switch (type) {
            case EventType.GTID -> named(b, offset, length);
            case BinlogEvents.QUERY -> query(b, offset, length);
            case BinlogEvents.TABLE_MAP -> tableMap(b, offset, length);
            case BinlogEvents.WRITE_ROWS,
                    BinlogEvents.UPDATE_ROWS,
                    BinlogEvents.DELETE_ROWS,
                    BinlogEvents.PARTIAL_UPDATE_ROWS -> rows(b, offset, length);
            case EventType.XID -> commit();
            case BinlogEvents.XA_PREPARE -> prepare(b, offset, length);
            case EventType.TRANSACTION_PAYLOAD -> unpack(b, offset, length);
            case EventType.ROTATE, EventType.FORMAT_DESCRIPTION -> {
                require(phase == Phase.IDLE, "a binlog file ends within a transaction");
                plans.forgetIds();
            }
            case EventType.STOP,
                    EventType.PREVIOUS_GTIDS,
                    EventType.ROWS_QUERY,
                    EventType.HEARTBEAT,
                    EventType.HEARTBEAT_V2 -> {
                // These have nothing to do with transactions, or are texts for people.
            }
            case EventType.INTVAR,
                    EventType.RAND,
                    EventType.USER_VAR,
                    EventType.LOAD,
                    EventType.APPEND_BLOCK,
                    EventType.DELETE_FILE,
                    EventType.BEGIN_LOAD_QUERY,
                    EventType.EXECUTE_LOAD_QUERY -> throw statementFormat("an event of type " + type);
            case EventType.INCIDENT ->
                throw new QuorateException(
                        ErrorCode.UNSUPPORTED_EVENT, "an INCIDENT: the server says that its binlog lacks changes");
            default -> {
                if ((Bytes.u16(b, offset + 17) & EventType.IGNORABLE_FLAG) == 0) {
                    throw new QuorateException(ErrorCode.UNSUPPORTED_EVENT, "a binlog event of type " + type);
                }
            }
        }
    }

    private void named(byte[] b, int offset, int length) {
        require(phase == Phase.IDLE, "a GTID within a transaction");
        phase = Phase.NAMED;
        foreign = GtidEvent.isFrom(settings.server(), b, offset) ? null : GtidEvent.source(b, offset);
        number = GtidEvent.number(b, offset);
        if (number < 1) {
            throw new IndexOutOfBoundsException("GTID number " + number);
        }
        committedMicros = GtidEvent.committedMicros(b, offset, length);
        firstTable = true;
        if (foreign == null) {
            progress.requireNext(number);
        }
    }

    private void query(byte[] b, int offset, int length) throws InterruptedException {
        require(phase != Phase.IDLE, "a statement outside a transaction");
        session = Bytes.u32(b, offset + BinlogEvents.HEADER_BYTES);
        if (phase == Phase.NAMED && QueryEvent.isBegin(b, offset, length)) {
            phase = Phase.OPEN;
            return;
        }
        QueryEvent query = QueryEvent.read(b, offset, length);
        Charset charset = charset(query);
        String text = query.text(charset == null ? StandardCharsets.ISO_8859_1 : charset);
        Statement statement = Statement.parse(text, query.database, query.sqlMode);
        switch (statement.kind()) {
            case COMMIT -> commit();
            case ROLLBACK -> {
                payload.clear();
                keys.clear();
                commit();
            }
            case SAVEPOINT ->
                savepoints.set(text.substring("SAVEPOINT".length()).strip(), payload.size());
            // Keys of what was rolled back stay: that gives more conflicts, not fewer.
            case ROLLBACK_TO_SAVEPOINT ->
                payload.truncate(
                        savepoints.back(text.substring("ROLLBACK TO".length()).strip()));
            case RELEASE_SAVEPOINT, XA_END -> {
                // The savepoint stays, unused.
            }
            case XA_START -> {
                xid = xid(text);
                phase = Phase.OPEN;
            }
            case XA_COMMIT -> decide(text, true);
            case XA_ROLLBACK -> decide(text, false);
            case TEMPORARY -> endUnlessOpen();
            case DDL -> {
                if (phase == Phase.NAMED && query.outsideDictionary && changedNothing(statement)) {
                    commit();
                } else {
                    define(statement, charset != null, b, offset, length);
                }
            }
            case DML -> throw statementFormat("the statement " + Statement.shorten(text));
            case UNKNOWN ->
                throw new QuorateException(ErrorCode.UNSUPPORTED_EVENT, "the statement " + Statement.shorten(text));
        }
    }

    private void endUnlessOpen() throws InterruptedException {
        if (phase == Phase.NAMED) {
            commit();
        }
    }

    /**
     * Whether a definition that was logged without a transaction of the data dictionary did nothing. Every node has, or
     * will have by its place in the order, what this one has; so nobody else needs it. Tables of engines that aren't
     * atomic are logged in this way also when they are created and dropped.
     */
    private boolean changedNothing(Statement statement) {
        if (!statement.conditional()) {
            return false;
        }
        return switch (statement.scope()) {
            case OBJECTS -> true;
            case TABLES -> statement.tables().stream().allMatch(plans::isAtomic);
            case EVERYTHING, ROWS, UPKEEP, ADDED_COLUMNS, ADDED_INDEXES -> false;
        };
    }

    private void define(Statement statement, boolean readable, byte[] b, int offset, int length)
            throws InterruptedException {
        ddl = true;
        requireSameNumbers(statement);
        empty.defined(statement);
        append(b, offset, length);
        Statement.Scope scope = readable ? statement.scope() : Statement.Scope.EVERYTHING;
        switch (scope) {
            // A foreign key that is gone may have been in the way of any table's rows.
            case EVERYTHING, ROWS -> plans.definitionsChanged();
            case TABLES -> plans.definitionsChanged(lower(statement.tables()));
            case OBJECTS, UPKEEP, ADDED_COLUMNS, ADDED_INDEXES -> plans.definitionsChanged(List.of());
        }
        switch (scope) {
            case EVERYTHING -> keys.add(Keys.EVERYTHING, KeyType.EXCLUSIVE);
            case OBJECTS -> keys.add(Keys.OBJECTS, KeyType.EXCLUSIVE);
            case UPKEEP -> {
                // It may run at any place.
            }
            case TABLES, ADDED_COLUMNS, ADDED_INDEXES -> addTables(statement);
            case ROWS -> {
                keys.add(Keys.NO_ROWS_BEFORE, KeyType.SHARED);
                addTables(statement);
            }
        }
        endUnlessOpen();
    }

    private void addTables(Statement statement) {
        boolean columns = statement.scope() == Statement.Scope.ADDED_COLUMNS;
        boolean rowsFit = columns || statement.scope() == Statement.Scope.ADDED_INDEXES;
        for (TableName name : lower(statement.tables())) {
            keys.add(KeyNames.table(name.schema(), name.table()), rowsFit ? KeyType.UPDATE : KeyType.EXCLUSIVE);
            if (columns) {
                keys.add(KeyNames.wholeRows(name.schema(), name.table()), KeyType.EXCLUSIVE);
            }
        }
    }

    /** A definition is run on every server, and each numbers rows in the order in which it happens to have them. */
    private void requireSameNumbers(Statement statement) {
        if (foreign != null || statement.numbering() == null) {
            return;
        }
        TableName name = statement.tables() == null ? null : statement.tables().get(0);
        if (name != null && (empty.contains(name) || plans.areNumberedAlike(name, statement.numbering()))) {
            return;
        }
        throw new QuorateException(
                ErrorCode.NUMBERED_BY_SERVER,
                "transaction " + gtid() + " added a column with AUTO_INCREMENT to "
                        + (name == null ? "a table" : name.schema() + "." + name.table())
                        + ", whose rows no primary key sorted before: every server would number them in another order");
    }

    private void tableMap(byte[] b, int offset, int length) {
        require(phase == Phase.OPEN, "a TABLE_MAP outside a transaction");
        if (!empty.isNone()) {
            TableMap map = TableMap.read(b, offset, length);
            empty.written(new TableName(map.schema, map.table));
        }
        if (applied) {
            return;
        }
        TablePlan plan = plans.plan(b, offset, length);
        lastTableId = BinlogEvents.tableId(b, offset);
        lastPlan = plan;
        tables.put(lastTableId, plan);
        if (plan.ours) {
            applied = firstTable && plan.map.table.equals(POSITION_TABLE);
            marked |= plan.map.table.equals(MARK_TABLE);
        } else {
            append(b, offset, length);
        }
        firstTable = false;
    }

    private void rows(byte[] b, int offset, int length) {
        require(phase == Phase.OPEN, "rows outside a transaction");
        long id = BinlogEvents.tableId(b, offset);
        TablePlan plan = id == lastTableId ? lastPlan : tables.get(id);
        if (applied) {
            if (plan != null && plan.ours && plan.map.table.equals(POSITION_TABLE)) {
                readMarker(plan.map, b, offset);
            }
            return;
        }
        if (plan == null) {
            throw new QuorateException(ErrorCode.UNSUPPORTED_EVENT, "rows of table id " + id + " without TABLE_MAP");
        }
        if (plan.ours) {
            if (BinlogEvents.endsStatement(b, offset)) {
                payload.endStatement();
            }
            return;
        }
        append(b, offset, length);
        keys.add(plan.tableKey, KeyType.SHARED);
        if (ddl) {
            // The table's key is exclusive already, and the present definition need not be that of these rows.
            return;
        }
        if (plan.coarse != null || committedMicros < plan.validFromMicros) {
            keys.add(plan.tableKey, KeyType.EXCLUSIVE);
            counters.coarse.increment();
        } else if (!rowKeys.add(b, offset, plan, keys)) {
            counters.coarse.increment();
            plans.warn(plan, "row images lack columns of its keys (binlog_row_image of a session is not FULL)");
        }
    }

    /** The applied seqno, from the last image of the rows of quorate.position in the event. */
    private void readMarker(TableMap map, byte[] b, int offset) {
        RowsEvent rows = new RowsEvent(map, b, offset);
        require(rows.hasAfter() && rows.type() != BinlogEvents.PARTIAL_UPDATE_ROWS, "rows taken from quorate.position");
        require(map.columns() > POSITION_SEQNO_COLUMN, "quorate.position is not the table that it should be");
        require(rows.afterIsWhole(), "quorate.position changed under a binlog_row_image other than FULL");
        while (rows.next()) {
            progress.seen(Bytes.i64(b, rows.after().start(POSITION_SEQNO_COLUMN)));
        }
    }

    private void unpack(byte[] b, int offset, int length) throws InterruptedException {
        require(phase == Phase.NAMED, "a TRANSACTION_PAYLOAD outside a transaction");
        byte[] events = CompressedEvents.unpack(b, offset, length, settings.transactionBytesMax());
        int at = 0;
        while (at < events.length) {
            int eventBytes = BinlogEvents.length(events, at);
            if (eventBytes < BinlogEvents.HEADER_BYTES || eventBytes > events.length - at) {
                throw new IndexOutOfBoundsException("event of " + eventBytes + " bytes in a compressed transaction");
            }
            event(events, at, eventBytes);
            at += eventBytes;
        }
    }

    private void append(byte[] b, int offset, int length) {
        if ((long) payload.size() + length > settings.transactionBytesMax()) {
            throw new QuorateException(
                    ErrorCode.TRANSACTION_TOO_LARGE,
                    "transaction " + gtid() + " is larger than " + settings.transactionBytesMax() + " bytes");
        }
        payload.append(b, offset, length);
    }

    /** The end of a transaction that is not an XA PREPARE. */
    private void commit() throws InterruptedException {
        require(phase != Phase.IDLE, "a commit outside a transaction");
        WriteSet writeSet = null;
        if (applied || (foreign != null && foreign.equals(settings.ddlSource()))) {
            counters.applied.increment();
        } else if (payload.size() > 0) {
            WriteSet.Kind kind = ddl ? WriteSet.Kind.DDL : WriteSet.Kind.ROWS;
            writeSet = writeSet(kind, progress.lastSeen(), keys.build(), payload.take());
        }
        cover(writeSet, progress.undecided());
        reset();
    }

    private void prepare(byte[] b, int offset, int length) throws InterruptedException {
        EventReader in = new EventReader(b, offset + BinlogEvents.HEADER_BYTES, offset + length);
        boolean onePhase = in.u8() != 0;
        Xid prepared = Xid.read(in);
        require(phase == Phase.OPEN && prepared.equals(xid), "XA PREPARE of " + prepared + " after XA START of " + xid);
        if (onePhase) {
            commit();
            return;
        }
        require(foreign == null, "XA PREPARE of another server");
        Optional<CertifiedXid> certified = prepared.certified();
        if (marked && certified.isPresent()) {
            payload.endStatement();
            append(b, offset, length);
            cover(
                    writeSet(WriteSet.Kind.PREPARED, certified.get().snapshot(), keys.build(), payload.take()),
                    progress.undecided());
            reset();
            return;
        }
        Progress.Prepared transaction = new Progress.Prepared(number, keys.build(), payload.take());
        cover(null, progress.undecidedWith(number));
        progress.prepare(prepared, transaction, settings.undecidedBytesMax());
        reset();
    }

    private void decide(String text, boolean commits) throws InterruptedException {
        Xid decided = xid(text);
        Progress.Prepared transaction = progress.prepared(decided);
        if (transaction == null
                && commits
                && number > progress.last()
                && decided.certified().isEmpty()) {
            throw new QuorateException(
                    ErrorCode.UNSUPPORTED_EVENT,
                    "XA COMMIT " + decided + " of a transaction that was prepared before capture began");
        }
        WriteSet writeSet = transaction == null || !commits || transaction.payload().length == 0
                ? null
                : writeSet(WriteSet.Kind.ROWS, progress.lastSeen(), transaction.keys(), transaction.payload());
        cover(writeSet, transaction == null ? progress.undecided() : progress.undecidedWithout(transaction.number()));
        progress.decided(decided);
        reset();
    }

    private WriteSet writeSet(WriteSet.Kind kind, long lastSeen, Keys touched, byte[] events) {
        if (foreign != null) {
            throw new QuorateException(
                    ErrorCode.UNSUPPORTED_EVENT,
                    "transaction " + gtid() + " came to this server by another replication; end that first");
        }
        return new WriteSet(gtid(), lastSeen, committedMicros, kind, touched, events, WriteSet.BUILT_ON_NONE, session);
    }

    /** Hands the transaction over, unless that was done before, and only then counts it as read. */
    private void cover(WriteSet writeSet, long[] undecided) throws InterruptedException {
        counters.transactions.increment();
        if (foreign != null) {
            progress.covered(gtid());
            return;
        }
        if (number > progress.last()) {
            sink.covered(number, progress.lastSeen(), undecided, writeSet);
            counters.lastCommittedMicros = committedMicros;
            if (writeSet != null) {
                counters.writeSets.increment();
            }
        }
        progress.covered(number);
    }

    private void reset() {
        phase = Phase.IDLE;
        xid = null;
        applied = false;
        ddl = false;
        marked = false;
        payload.clear();
        keys.clear();
        tables.clear();
        savepoints.clear();
        lastPlan = null;
        lastTableId = -1;
    }

    private Gtid gtid() {
        return new Gtid(foreign == null ? settings.server() : foreign, number);
    }

    private Charset charset(QueryEvent query) {
        if (query.clientCollation < 0) {
            return StandardCharsets.UTF_8;
        }
        Collation collation = collations.get(query.clientCollation);
        return collation == null ? null : collation.charset();
    }

    private List<TableName> lower(List<TableName> names) {
        return names.stream()
                .map(name -> new TableName(lower(name.schema()), lower(name.table())))
                .toList();
    }

    private String lower(String name) {
        return lowerCaseNames ? name.toLowerCase(Locale.ROOT) : name;
    }

    private static Xid xid(String text) {
        return Xid.in(text)
                .orElseThrow(() -> new QuorateException(
                        ErrorCode.UNSUPPORTED_EVENT, "no xid in the statement " + Statement.shorten(text)));
    }

    private static QuorateException statementFormat(String what) {
        return new QuorateException(ErrorCode.STATEMENT_FORMAT, what + " in the binlog, rows were expected");
    }

    private static void require(boolean holds, String otherwise) {
        if (!holds) {
            throw new QuorateException(ErrorCode.UNSUPPORTED_EVENT, otherwise);
        }
    }
}
