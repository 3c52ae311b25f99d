// SPDX-License-Identifier: Apache-2.0
package io.quorate.applier;

import io.quorate.core.BinlogEvents;
import io.quorate.core.Certified;
import io.quorate.core.ErrorCode;
import io.quorate.core.Payload;
import io.quorate.core.QuorateException;
import io.quorate.core.binlog.RowSettings;
import io.quorate.core.binlog.RowsEvent;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The events of a group as the fewest BINLOG statements: the server treats everything up to an event with STMT_END as
 * one statement, so the group's transactions are merged into one, with each table mapped and opened once.
 *
 * <p>The server demands the following, and otherwise drops rows without an error:
 *
 * <ul>
 *   <li>every BINLOG is complete in itself: all TABLE_MAPs its rows need, the last ROWS event with STMT_END;
 *   <li>all TABLE_MAPs of a statement come before its first ROWS event, which opens and locks what is mapped by then;
 *   <li>the first ROWS event of a statement decides about foreign key and unique checks for all of it, so a change of
 *       these flags ends the statement (not the BINLOG).
 * </ul>
 *
 * <p>The position row's update is the first row event. Its TABLE_MAP goes last: the server opens tables in reverse
 * order and logs their maps in the order in which it opened them, and the capture recognizes our transactions by the
 * first one in the binlog.
 *
 * <p>Where a writeset says under which settings its rows were written, rows that were written under others are in
 * another BINLOG.
 *
 * <p>Rows of engines without transactions are a single statement, however large: its end commits, and uses up the GTID
 * under which it runs. If there are tables of engine MERGE among them, the server takes the tables that these unite for
 * some that were mapped, so it doesn't come to those mapped first and drops their rows without an error. So tables that
 * are mapped without having rows, as the united ones are, go first.
 */
final class Statements {
    private static final int FLAGS = BinlogEvents.HEADER_BYTES + 6;
    private static final int CHECK_FLAGS = 0x2 | 0x4;
    private static final byte[] NONE = {};

    private final TableMaps tableMaps;
    private final int bytesMax;
    private final ByteSink out = new ByteSink(256 << 10);
    private final ByteSink maps = new ByteSink(4 << 10);
    private final ByteSink rows = new ByteSink(256 << 10);
    private final List<Long> localIds = new ArrayList<>();
    private final List<TableMap> localMaps = new ArrayList<>();

    private List<Certified> writeSets = List.of();
    private int writeSet;
    /** The walk over its payload, standing at the event that comes next; null before its first. */
    private Payload.Events event;

    private int from;
    private PositionRow positionRow;
    private byte[] position;
    private boolean mapPosition;
    private int statement;
    private int checkFlags;
    private int lastRows;
    private boolean single;
    private boolean ended;
    /** Under which the rows are to be applied that come now; null until a writeset says so. */
    private RowSettings settings;

    /** Whether the BINLOG has rows beside the position's. */
    private boolean hasRows;

    /** Tables of the BINLOG of which the server computes something by the session's settings, by id. */
    private final Map<Long, TableMaps.Computed> computed = new HashMap<>();

    /** @param bytesMax of the events of one BINLOG; only a single larger event exceeds it */
    Statements(TableMaps tableMaps, int bytesMax) {
        this.tableMaps = tableMaps;
        this.bytesMax = bytesMax;
    }

    /** For engines without transactions. */
    static Statements single(TableMaps tableMaps) {
        Statements statements = new Statements(tableMaps, LargePackets.EVENTS_BYTES_MAX);
        statements.single = true;
        return statements;
    }

    /**
     * Begins a group.
     *
     * @param from where in the first payload to start
     * @param positionUpdate the update of {@code row}, null when there is none
     */
    void begin(List<Certified> group, int from, PositionRow row, byte[] positionUpdate) {
        writeSets = group;
        writeSet = 0;
        event = null;
        this.from = from;
        positionRow = row;
        position = positionUpdate;
        settings = null;
        forgetLocalIds();
    }

    /** The events of the next BINLOG statement, null when the group is complete. */
    byte[] next() throws SQLException {
        out.clear();
        hasRows = false;
        computed.clear();
        beginStatement();
        if (position != null) {
            mapPosition = true;
            checkFlags = 0;
            lastRows = rows.append(position, 0, position.length);
            position = null;
        }
        while (writeSet < writeSets.size()) {
            Payload payload = writeSets.get(writeSet).writeSet().payload();
            if (event == null) {
                if (single && from == 0) {
                    mapWithoutRows(payload);
                }
                event = payload.events(from);
                from = 0;
                goOn();
            }
            if (ended) {
                writeSet++;
                event = null;
                forgetLocalIds();
            } else if (add()) {
                goOn();
            } else {
                break;
            }
        }
        endStatement();
        byte[] events = out.size() == 0 ? null : out.toArray();
        out.clear();
        if (events == null) {
            // This object outlives the group, whose rows may be large.
            writeSets = List.of();
            event = null;
        }
        return events;
    }

    /** Under which the events of this BINLOG are to be applied; null when it makes no difference. */
    RowSettings settings() {
        return settings;
    }

    /** Tables of this BINLOG of which the server computes something by the session's settings, by id. */
    Map<Long, TableMaps.Computed> computed() {
        return computed;
    }

    /** Whether the group is a single writeset. */
    boolean isOfOne() {
        return writeSets.size() == 1;
    }

    private void goOn() {
        try {
            ended = !event.next();
        } catch (IndexOutOfBoundsException e) {
            throw unreadable(e.getMessage());
        }
    }

    private void mapWithoutRows(Payload payload) throws SQLException {
        Set<Long> written = new HashSet<>();
        for (Payload.Events each = payload.events(); each.next(); ) {
            if (each.isRows()) {
                written.add(each.tableId());
            }
        }
        for (Payload.Events each = payload.events(); each.next(); ) {
            if (each.type() == BinlogEvents.TABLE_MAP && !written.contains(each.tableId())) {
                TableMap map = tableMaps.of(each.bytes(), each.offset(), each.length());
                if (!map.mapped(statement)) {
                    maps.append(map.event(), 0, map.event().length);
                }
            }
        }
    }

    /** Takes the {@link #event}; false when it is for the next BINLOG. */
    private boolean add() throws SQLException {
        int type = event.type();
        if (type == BinlogEvents.TABLE_MAP) {
            localIds.add(event.tableId());
            localMaps.add(tableMaps.of(event.bytes(), event.offset(), event.length()));
        } else if (BinlogEvents.isRows(type)) {
            return addRows();
        } else if (type == BinlogEvents.QUERY && RowSettings.are(event)) {
            return settle();
        } else if (type != BinlogEvents.XA_PREPARE) {
            throw unreadable("an event of type " + type + " among row changes");
        }
        // An XA_PREPARE has the origin's name for the transaction, which means nothing to other servers.
        return true;
    }

    /** Takes the settings under which the next rows are to be applied; false when those before have others. */
    private boolean settle() {
        RowSettings next = RowSettings.read(event);
        if (next.equals(settings)) {
            return true;
        }
        if (settings == null || (!hasRows && !single)) {
            settings = next;
            return true;
        }
        // Rows of an engine without transactions can't be in two statements.
        return single;
    }

    private boolean addRows() {
        byte[] payload = event.bytes();
        int offset = event.offset();
        int length = event.length();
        if (length <= FLAGS) {
            throw unreadable("rows in an event of " + length + " bytes");
        }
        TableMap map = mapOf(event.tableId());
        int flags = payload[offset + FLAGS] & CHECK_FLAGS;
        if (rows.size() > 0 && flags != checkFlags && !single) {
            endStatement();
        }
        long total = (long) out.size() + maps.size() + rows.size() + length + map.event().length;
        if (total > bytesMax && (out.size() > 0 || rows.size() > 0)) {
            return false;
        }
        if (total > LargePackets.EVENTS_BYTES_MAX) {
            throw tooLarge(length);
        }
        checkFlags = flags;
        hasRows = true;
        if (map.computed() != null && !single) {
            computed.put(map.id(), map.computed());
        }
        if (!map.mapped(statement)) {
            maps.append(map.event(), 0, map.event().length);
        }
        if (map.computed() == null || !appendAlone(map, payload, offset)) {
            append(map, payload, offset, length);
        }
        return true;
    }

    private void append(TableMap map, byte[] bytes, int offset, int length) {
        lastRows = rows.append(bytes, offset, length);
        BinlogEvents.tableId(rows.array(), lastRows, map.id());
        BinlogEvents.endsStatement(rows.array(), lastRows, false);
    }

    /**
     * An update whose images lack a stored column leaves that as it is, but only in the first row of its event: in
     * others BINLOG computes it anew. So each row gets an event; false for events that don't lack any.
     */
    private boolean appendAlone(TableMap map, byte[] payload, int offset) {
        int type = BinlogEvents.type(payload, offset);
        if (type != BinlogEvents.UPDATE_ROWS && type != BinlogEvents.PARTIAL_UPDATE_ROWS) {
            return false;
        }
        RowsEvent row = new RowsEvent(
                io.quorate.core.binlog.TableMap.read(map.event(), 0, map.event().length), payload, offset);
        if (map.computed().stored().stream().allMatch(row::afterHas)) {
            return false;
        }
        while (row.next()) {
            byte[] alone = row.alone(offset);
            append(map, alone, 0, alone.length);
        }
        return true;
    }

    private void beginStatement() {
        statement++;
        maps.clear();
        rows.clear();
        mapPosition = false;
    }

    private void endStatement() {
        if (rows.size() > 0) {
            BinlogEvents.endsStatement(rows.array(), lastRows, true);
            byte[] positionMap = mapPosition ? positionRow.tableMap() : NONE;
            out.reserve(maps.size() + positionMap.length + rows.size());
            out.append(maps);
            out.append(positionMap, 0, positionMap.length);
            out.append(rows);
        }
        beginStatement();
    }

    private TableMap mapOf(long localId) {
        for (int i = localIds.size() - 1; i >= 0; i--) {
            if (localIds.get(i) == localId) {
                return localMaps.get(i);
            }
        }
        throw unreadable("rows of table id " + localId + " without its table map");
    }

    private void forgetLocalIds() {
        localIds.clear();
        localMaps.clear();
    }

    private QuorateException unreadable(String what) {
        return new QuorateException(ErrorCode.APPLY_FAILED, name() + " holds " + what);
    }

    private QuorateException tooLarge(int length) {
        return new QuorateException(
                ErrorCode.APPLY_FAILED,
                name() + " holds a row event of " + length + " bytes; no server takes more than "
                        + LargePackets.EVENTS_BYTES_MAX + " in a statement");
    }

    private String name() {
        Certified c = writeSets.get(writeSet);
        return "writeset " + c.seqno() + " (" + c.writeSet().gtid() + ")";
    }
}
