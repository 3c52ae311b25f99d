// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.audit;

import io.quorate.sst.audit.AuditedTable.Row;

/**
 * What has to be done to a row of one server so that it becomes what it is on another server.
 *
 * @param deleted how often the row is deleted; more than once only in a table without a key
 * @param inserted how often the row is inserted after that
 */
record RowChange(long deleted, long inserted) {
    /**
     * @param keyed whether the table has a key; if not, a row's version says how often the row is there
     * @param here the row as it is; null when it isn't there
     * @param right the row as it should be; null when it shouldn't be there
     */
    static RowChange between(boolean keyed, Row here, Row right) {
        if (keyed) {
            return new RowChange(here == null ? 0 : 1, right == null ? 0 : 1);
        }
        long missing = count(right) - count(here);
        return new RowChange(Math.max(0, -missing), Math.max(0, missing));
    }

    private static long count(Row row) {
        return row == null ? 0 : Long.parseLong(row.version());
    }

    /** What is done to the row, for people. */
    String name() {
        return inserted == 0 ? "deleted" : deleted == 0 ? "inserted" : "replaced";
    }
}
