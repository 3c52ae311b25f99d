// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.audit;

import io.quorate.sst.audit.AuditedTable.Row;

/**
 * What makes a row of one server what it is at another one.
 *
 * @param deleted how often it goes; more than once only in a table without a key
 * @param inserted how often it comes, after that
 */
record RowChange(long deleted, long inserted) {
    /**
     * @param keyed whether the table has a key; else a row's version says how often it is there
     * @param here null when it isn't there
     * @param right likewise
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

    /** What it does to the row, for people. */
    String name() {
        return inserted == 0 ? "deleted" : deleted == 0 ? "inserted" : "replaced";
    }
}
