// SPDX-License-Identifier: Apache-2.0
package io.quorate.applier;

import io.quorate.core.BinlogEvents;
import io.quorate.core.Certified;
import io.quorate.core.ErrorCode;
import io.quorate.core.QuorateException;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
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
    private int offset;
    private PositionRow positionRow;
    private byte[] position;
    private boolean mapPosition;
    private int statement;
    private int checkFlags;
    private int lastRows;
    private boolean single;

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
        offset = from;
        positionRow = row;
        position = positionUpdate;
        forgetLocalIds();
    }

    /** The events of the next BINLOG statement, null when the group is complete. */
    byte[] next() throws SQLException {
        out.clear();
        beginStatement();
        if (position != null) {
            mapPosition = true;
            checkFlags = 0;
            lastRows = rows.append(position, 0, position.length);
            position = null;
        }
        while (writeSet < writeSets.size()) {
            byte[] payload = writeSets.get(writeSet).writeSet().payload();
            if (single && offset == 0) {
                mapWithoutRows(payload);
            }
            if (offset == payload.length) {
                writeSet++;
                offset = 0;
                forgetLocalIds();
            } else if (!add(payload)) {
                break;
            }
        }
        endStatement();
        byte[] events = out.size() == 0 ? null : out.toArray();
        out.clear();
        if (events == null) {
            writeSets = List.of(); // This object outlives the group, whose rows may be large.
        }
        return events;
    }

    private void mapWithoutRows(byte[] payload) throws SQLException {
        Set<Long> written = new HashSet<>();
        for (int at = 0; at < payload.length; at += BinlogEvents.length(payload, at)) {
            if (BinlogEvents.isRows(BinlogEvents.type(payload, at))) {
                written.add(BinlogEvents.tableId(payload, at));
            }
        }
        for (int at = 0; at < payload.length; at += BinlogEvents.length(payload, at)) {
            if (BinlogEvents.type(payload, at) == BinlogEvents.TABLE_MAP
                    && !written.contains(BinlogEvents.tableId(payload, at))) {
                TableMap map = tableMaps.of(payload, at, BinlogEvents.length(payload, at));
                if (!map.mapped(statement)) {
                    maps.append(map.event(), 0, map.event().length);
                }
            }
        }
    }

    /** Takes the event at {@link #offset}; false when it is for the next BINLOG. */
    private boolean add(byte[] payload) throws SQLException {
        int length = lengthOf(payload);
        int type = BinlogEvents.type(payload, offset);
        if (type == BinlogEvents.TABLE_MAP) {
            localIds.add(BinlogEvents.tableId(payload, offset));
            localMaps.add(tableMaps.of(payload, offset, length));
        } else if (type == BinlogEvents.XA_PREPARE) {
            // The origin's name for the transaction, which means nothing to other servers.
            offset += length;
            return true;
        } else if (!BinlogEvents.isRows(type)) {
            throw unreadable("an event of type " + type + " among row changes");
        } else if (!addRows(payload, length)) {
            return false;
        }
        offset += length;
        return true;
    }

    private boolean addRows(byte[] payload, int length) {
        TableMap map = mapOf(BinlogEvents.tableId(payload, offset));
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
        if (!map.mapped(statement)) {
            maps.append(map.event(), 0, map.event().length);
        }
        lastRows = rows.append(payload, offset, length);
        BinlogEvents.tableId(rows.array(), lastRows, map.id());
        BinlogEvents.endsStatement(rows.array(), lastRows, false);
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

    private int lengthOf(byte[] payload) {
        if (payload.length - offset > FLAGS) {
            int length = BinlogEvents.length(payload, offset);
            if (length > FLAGS && length <= payload.length - offset) {
                return length;
            }
        }
        throw unreadable("an event cut short at byte " + offset + " of " + payload.length);
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
