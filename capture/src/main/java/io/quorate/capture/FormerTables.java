// SPDX-License-Identifier: Apache-2.0
package io.quorate.capture;

import io.quorate.capture.Statement.Scope;
import io.quorate.core.BinlogEvents;
import io.quorate.core.TableName;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/**
 * The columns that tables had before they were defined anew, as the binlog showed them with rows. Rows that are written
 * later and have the same columns fit the former definition too ({@code MODIFY ... NOT NULL}).
 */
final class FormerTables {
    private static final int TABLES_MAX = 1000;
    /** Of a table of whose columns nothing was seen before. */
    private static final byte[] UNKNOWN = {};

    private static final int ID_AND_FLAGS_BYTES = 8;

    private final Map<TableName, byte[]> columns = new LinkedHashMap<>();

    /**
     * Takes note of a definition. Of several the columns before the first one are kept, because rows may have been
     * written under any of them.
     *
     * @param seen the last TABLE_MAP event of a table, from behind its header on; null when none was seen
     */
    void defined(Scope scope, Statement statement, List<TableName> tables, Function<TableName, byte[]> seen) {
        switch (scope) {
            case TABLES, ADDED_COLUMNS -> {
                for (TableName name : tables) {
                    note(name, statement.leavesEmpty() ? null : seen.apply(name));
                }
            }
            case COPIED_DEFINITION -> {
                // The first table is new, and the one that it is like stays as it is.
                note(tables.get(0), null);
                tables.stream().skip(1).forEach(name -> note(name, seen.apply(name)));
            }
            case ROWS -> tables.forEach(name -> columns.put(name, UNKNOWN));
            case EVERYTHING -> columns.replaceAll((name, former) -> UNKNOWN);
            case OBJECTS, UPKEEP, ADDED_INDEXES, DROPPED_CHECKS -> {
                // Columns stay as they are.
            }
        }
        while (columns.size() > TABLES_MAX) {
            columns.remove(columns.keySet().iterator().next());
        }
    }

    private void note(TableName name, byte[] event) {
        columns.putIfAbsent(name, event == null ? UNKNOWN : columns(event));
    }

    boolean isNone() {
        return columns.isEmpty();
    }

    /** Whether rows with this TABLE_MAP fit the table as it was before it was defined anew. */
    boolean fits(TableName name, byte[] b, int offset, int length) {
        byte[] former = columns.get(name);
        return former != null
                && former.length > 0
                && Arrays.equals(
                        former, columns(Arrays.copyOfRange(b, offset + BinlogEvents.HEADER_BYTES, offset + length)));
    }

    /** A TABLE_MAP event without the table's number, and without which columns may be NULL. */
    private static byte[] columns(byte[] event) {
        int at = ID_AND_FLAGS_BYTES;
        for (int names = 0; names < 2; names++) {
            at += (event[at] & 0xff) + 2;
        }
        int from = at;
        int count = number(event, at);
        at += bytes(event, at) + count;
        at += bytes(event, at) + number(event, at);
        int nullBytes = (count + 7) / 8;
        byte[] columns = Arrays.copyOfRange(event, from, event.length - nullBytes);
        System.arraycopy(event, at + nullBytes, columns, at - from, event.length - at - nullBytes);
        return columns;
    }

    /** A number of at most three bytes, as the server packs it; a row has at most 4096 columns. */
    private static int number(byte[] b, int at) {
        int first = b[at] & 0xff;
        return first < 251 ? first : (b[at + 1] & 0xff) | (b[at + 2] & 0xff) << 8;
    }

    private static int bytes(byte[] b, int at) {
        return (b[at] & 0xff) < 251 ? 1 : 3;
    }
}
