// SPDX-License-Identifier: Apache-2.0
package io.quorate.core.binlog;

import io.quorate.core.BinlogEvents;
import io.quorate.core.ErrorCode;
import io.quorate.core.Payload;
import io.quorate.core.QuorateException;
import io.quorate.core.WriteSet;
import java.util.HashMap;
import java.util.Map;

/**
 * Whether a writeset's payload is what {@link BinlogEvents} says: whole events of the kinds that its kind of writeset
 * has, each ROWS event with the TABLE_MAP of its table before it. Whoever leads the order asks that before an entry is
 * ordered, because an order that has it already would stop every node at that place.
 *
 * <p>It doesn't walk over rows: what is in them each server judges for itself.
 */
public final class PayloadCheck {
    private PayloadCheck() {}

    /** @throws QuorateException MALFORMED_MESSAGE when it is something else */
    public static void require(WriteSet writeSet) {
        try {
            boolean isDefinition = writeSet.isDefinition();
            Map<Long, TableMap> maps = new HashMap<>();
            boolean statementToCome = isDefinition;
            for (Payload.Events event = writeSet.payload().events(); event.next(); ) {
                if (statementToCome && BinlogEvents.isGiven(event.type())) {
                    var unused = GivenValue.read(event.bytes(), event.offset(), event.length());
                } else {
                    require(event, maps, statementToCome);
                    statementToCome = false;
                }
            }
            if (statementToCome) {
                throw new IndexOutOfBoundsException("no statement");
            }
        } catch (IndexOutOfBoundsException | UnsupportedOperationException e) {
            throw malformed(writeSet.gtid() + " brings events that are none: " + e.getMessage());
        }
    }

    private static void require(Payload.Events event, Map<Long, TableMap> maps, boolean isDefinition) {
        int type = event.type();
        if (isDefinition && type != BinlogEvents.QUERY) {
            throw new IndexOutOfBoundsException("type " + type + " at byte " + event.position());
        } else if (type == BinlogEvents.TABLE_MAP) {
            TableMap map = TableMap.read(event);
            maps.put(map.id, map);
        } else if (event.isRows()) {
            requireRows(event, maps);
        } else if (type == BinlogEvents.QUERY) {
            var unused = QueryEvent.read(event.bytes(), event.offset(), event.length());
            if (isDefinition == RowSettings.are(event)) {
                throw new IndexOutOfBoundsException("a statement at byte " + event.position());
            }
        } else if (type != BinlogEvents.XA_PREPARE) {
            throw new IndexOutOfBoundsException("type " + type + " at byte " + event.position());
        }
    }

    private static void requireRows(Payload.Events event, Map<Long, TableMap> maps) {
        if (event.length() < BinlogEvents.HEADER_BYTES + Long.BYTES) {
            throw new IndexOutOfBoundsException("rows without a head at byte " + event.position());
        }
        TableMap map = maps.get(event.tableId());
        if (map == null) {
            throw new IndexOutOfBoundsException("rows of an unknown table at byte " + event.position());
        }
        // Reads the head, which throws where it isn't one of that table.
        var unused = new RowsEvent(map, event.bytes(), event.offset());
    }

    private static QuorateException malformed(String why) {
        return new QuorateException(ErrorCode.MALFORMED_MESSAGE, why);
    }
}
