// SPDX-License-Identifier: Apache-2.0
package io.quorate.applier;

import io.quorate.core.BinlogEvents;

/** A distinct TABLE_MAP event as this session sends it: the origin's, with a table id of ours. */
final class TableMap {
    private final byte[] event;
    private final long id;
    private final TableMaps.Computed computed;
    private int statement = -1;

    TableMap(byte[] event, long id, TableMaps.Computed computed) {
        this.event = event;
        this.id = id;
        this.computed = computed;
        BinlogEvents.tableId(event, 0, id);
    }

    byte[] event() {
        return event;
    }

    long id() {
        return id;
    }

    /** What the server computes of its rows by settings of the session; null for nothing. */
    TableMaps.Computed computed() {
        return computed;
    }

    /** Whether it was already mapped in this statement; afterwards it is. */
    boolean mapped(int inStatement) {
        boolean already = statement == inStatement;
        statement = inStatement;
        return already;
    }
}
