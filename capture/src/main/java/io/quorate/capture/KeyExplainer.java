// SPDX-License-Identifier: Apache-2.0
package io.quorate.capture;

import io.quorate.core.BinlogEvents;
import io.quorate.core.Payload;
import io.quorate.core.QuorateException;
import io.quorate.core.WriteSet;
import io.quorate.core.binlog.RowImage;
import io.quorate.core.binlog.RowsEvent;
import io.quorate.core.binlog.TableMap;
import io.quorate.core.binlog.ValueText;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;

/**
 * Finds indexes and values for the hashes of keys, for people: builds the keys of a writeset's rows again and says
 * which key each hash is, by the tables' definitions as the server has them now.
 *
 * <p>Uses its connection as long as it lives; not thread-safe.
 */
public final class KeyExplainer {
    /** The most rows that are examined. */
    private static final int ROWS_MAX = 100_000;

    /**
     * A key.
     *
     * @param table whose key it is, according to its TABLE_MAP
     * @param index the index's name; {@code FOREIGN KEY} for a parent's row that is referenced; {@code ROW} for a whole
     *     row of a table without keys; {@code TABLE} for the whole table
     * @param columns of the key, by their place in the table; empty for {@code TABLE}
     * @param values in the order of {@code columns}, null for NULL
     */
    public record Explained(TableMap table, String index, int[] columns, String[] values) {}

    private final TablePlans plans;
    private final RowKeys rowKeys = new RowKeys();

    public KeyExplainer(Connection connection) throws SQLException {
        this.plans = new TablePlans(
                new SchemaCatalog(connection, new Counters(), new HashMap<>(), null),
                new ComparisonForms(SchemaCatalog.collations(connection), new ServerWeights(), connection),
                false);
    }

    /**
     * Explains some keys of a writeset; a key that isn't found, because the definition has changed since, is left out.
     *
     * @throws QuorateException {@link io.quorate.core.ErrorCode#SERVER_UNREACHABLE} when the server can't be asked
     */
    public Map<Long, Explained> explain(WriteSet w, Set<Long> hashes) {
        Map<Long, Explained> found = new LinkedHashMap<>();
        Map<Long, TablePlan> byId = new HashMap<>();
        int left = ROWS_MAX;
        for (Payload.Events event = w.payload().events(); left > 0 && found.size() < hashes.size() && event.next(); ) {
            if (event.type() == BinlogEvents.TABLE_MAP) {
                TablePlan plan = plans.plan(event.bytes(), event.offset(), event.length());
                byId.put(event.tableId(), plan);
                for (long table : new long[] {plan.tableKey, plan.wholeRowsKey}) {
                    if (hashes.contains(table)) {
                        found.putIfAbsent(table, new Explained(plan.map, "TABLE", new int[0], new String[0]));
                    }
                }
            } else if (event.isRows()) {
                TablePlan plan = byId.get(event.tableId());
                RowsEvent rows = new RowsEvent(plan.map, event.bytes(), event.offset());
                for (; left > 0 && rows.next(); left--) {
                    if (rows.hasBefore()) {
                        add(rows, rows.before(), rows.beforeFrom(), rows.beforeTo(), plan, hashes, found);
                    }
                    if (rows.hasAfter()) {
                        add(rows, rows.after(), rows.afterFrom(), rows.afterTo(), plan, hashes, found);
                    }
                }
            }
        }
        return found;
    }

    private void add(
            RowsEvent rows,
            RowImage row,
            int from,
            int to,
            TablePlan plan,
            Set<Long> hashes,
            Map<Long, Explained> found) {
        for (TablePlan.RowKey key : plan.keys) {
            long hash = rowKeys.hash(rows.bytes(), row, key);
            if (hash != RowKeys.NULL && hashes.contains(hash)) {
                found.putIfAbsent(hash, explained(rows, row, key.name(), key.columns()));
            }
        }
        long whole = RowKeys.wholeHash(rows.bytes(), from, to, plan);
        if (hashes.contains(whole)) {
            int[] all = new int[plan.map.columns()];
            for (int i = 0; i < all.length; i++) {
                all[i] = i;
            }
            found.putIfAbsent(whole, explained(rows, row, "ROW", all));
        }
    }

    private static Explained explained(RowsEvent rows, RowImage row, String index, int[] columns) {
        String[] values = new String[columns.length];
        for (int i = 0; i < columns.length; i++) {
            values[i] = ValueText.of(rows.map(), columns[i], rows.bytes(), row);
        }
        return new Explained(rows.map(), index, columns, values);
    }
}
