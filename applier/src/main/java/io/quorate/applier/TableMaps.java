// SPDX-License-Identifier: Apache-2.0
package io.quorate.applier;

import io.quorate.core.BinlogEvents;
import io.quorate.core.TableName;
import io.quorate.core.binlog.ExpressionSettings;
import java.nio.ByteBuffer;
import java.sql.SQLException;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The TABLE_MAP events a session has met, each content once: transactions on one table share one id, and the local
 * definition is compared once. A table is forgotten when it may have changed. Not thread-safe.
 */
final class TableMaps {
    private static final int FIRST_ID = PositionRow.TABLE_ID + 1;
    private static final int ID_END = BinlogEvents.HEADER_BYTES + 6;
    private static final int HELD_MAX = 20_000;

    /** Compares a TABLE_MAP with the table of this server. */
    interface Check {
        /**
         * @return what the server computes of its rows by settings of the session; null for nothing
         * @throws io.quorate.core.QuorateException when the definitions differ
         */
        Computed check(byte[] tableMapEvent) throws SQLException;
    }

    /**
     * What a server computes of a table's rows, and may compute otherwise in another session.
     *
     * @param stored where its stored generated columns are among the columns, in order
     * @param unique names of unique indexes of what is computed
     * @param settings that may decide
     */
    record Computed(List<Integer> stored, Set<String> unique, ExpressionSettings settings) {}

    private final Check check;

    private record Held(TableName name, TableMap map) {}

    private final Map<ByteBuffer, Held> held = new HashMap<>();
    private TableMap last;
    private long nextId = FIRST_ID;

    TableMaps(Check check) {
        this.check = check;
    }

    TableMap of(byte[] payload, int offset, int length) throws SQLException {
        if (last != null && same(last.event(), payload, offset, length)) {
            return last;
        }
        ByteBuffer content = ByteBuffer.wrap(payload, offset + ID_END, length - ID_END);
        Held known = held.get(content);
        if (known == null) {
            if (held.size() >= HELD_MAX) {
                forget();
            }
            byte[] event = new byte[length];
            System.arraycopy(payload, offset, event, 0, length);
            known = new Held(name(event), new TableMap(event, nextId++, check.check(event)));
            held.put(ByteBuffer.wrap(event, ID_END, length - ID_END), known);
        }
        last = known.map;
        return last;
    }

    private static boolean same(byte[] event, byte[] payload, int offset, int length) {
        return event.length == length
                && Arrays.equals(event, ID_END, length, payload, offset + ID_END, offset + length);
    }

    private static TableName name(byte[] event) {
        io.quorate.core.binlog.TableMap map = io.quorate.core.binlog.TableMap.read(event, 0, event.length);
        return new TableName(map.schema, map.table).inLowerCase();
    }

    /** Ids are never used twice in a session, so forgetting in the middle of a group does no harm. */
    void forget() {
        held.clear();
        last = null;
    }

    /** Forgets these tables alone, whose names are in lower case; null for all. */
    void forget(Set<TableName> tables) {
        if (tables == null) {
            forget();
        } else if (held.values().removeIf(each -> tables.contains(each.name))) {
            last = null;
        }
    }
}
