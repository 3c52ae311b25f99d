// SPDX-License-Identifier: Apache-2.0
package io.quorate.capture;

import io.quorate.capture.TableDefinition.ForeignKey;
import io.quorate.capture.TableDefinition.Index;
import io.quorate.capture.TableDefinition.Part;
import io.quorate.core.CarriedSetting;
import io.quorate.core.TableName;
import io.quorate.core.binlog.ColumnType;
import io.quorate.core.binlog.ExpressionSettings;
import io.quorate.core.binlog.TableMap;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;

/** How the keys of one table's rows are built: its TABLE_MAP and its definition combined. */
final class TablePlan {
    /**
     * A key that every row has.
     *
     * @param name of the index, or a substitute for it
     * @param seed stands for table and columns
     * @param columns where the values are in the row
     * @param forms how they are compared
     * @param kind whose key it is
     */
    record RowKey(String name, long seed, int[] columns, ComparisonForm[] forms, Kind kind) {
        boolean reference() {
            return kind == Kind.PARENT;
        }

        boolean unique() {
            return kind == Kind.UNIQUE;
        }
    }

    /** Whose key a row's key is. */
    enum Kind {
        /** The row's own, in a unique index. */
        UNIQUE,
        /** The row's own, in columns that foreign keys reference although they aren't unique. */
        REFERENCED,
        /** The key of the parent that the row references. */
        PARENT
    }

    final TableMap map;
    final long tableKey;
    final long wholeRowsKey;
    /** Whether nothing of it is replicated. */
    final boolean local;

    /** Rows that were committed before this time don't fit this definition. */
    final long validFromMicros;

    /**
     * Why single rows can't be identified here, so that the key of the whole table is used instead; null when they can.
     */
    final String coarse;

    /** Whether every row has a key of its own; otherwise a row whose unique columns are NULL is a key as a whole. */
    final boolean identified;

    final RowKey[] keys;

    /** Whether foreign keys lead from it or to it, or may. */
    final boolean linked;

    /** Whether nothing is known of its definition. */
    final boolean unknown;

    /**
     * Keys of tables that deletes in this table change by cascade, directly. Their rows have keys of their parents;
     * but a definition that takes the cascade away has only the table's.
     */
    final long[] children;

    /** Keys of tables that deletes in this table change by cascade, beyond its children. */
    final long[] cascades;

    /** Whether other foreign keys may have cascaded from its rows than those of the children. */
    final boolean cascadesEnded;

    /** Whether it holds for as long as no statement names the table, whatever becomes of others. */
    final boolean standsAlone;

    /** Whether servers compute something of its rows, which may depend on settings of the session. */
    final boolean computes;

    /** Whether that may depend on the time zone. */
    final boolean usesTimeZone;

    /** The settings on which that may depend and that are in no event. */
    final Set<CarriedSetting> unlogged;

    private TablePlan(TableMap map, boolean local, TableDefinition definition, String coarse, List<RowKey> keys) {
        this.map = map;
        this.local = local;
        this.tableKey = KeyNames.table(map.schema, map.table);
        this.wholeRowsKey = KeyNames.wholeRows(map.schema, map.table);
        this.validFromMicros = definition.validSecond() * 1_000_000;
        this.coarse = coarse;
        this.identified = map.primaryKey.length > 0;
        this.keys = keys.toArray(RowKey[]::new);
        this.unknown = definition.isUnknown();
        this.linked = unknown
                || !definition.references().isEmpty()
                || !definition.referenced().isEmpty();
        this.children = tableKeys(definition.children());
        this.cascades = tableKeys(definition.cascades());
        this.cascadesEnded = definition.cascadesEnded();
        this.standsAlone = local || (coarse == null && definition.standsAlone());
        List<String> expressions = definition.expressions();
        this.computes = !local && (expressions == null || !expressions.isEmpty());
        ExpressionSettings settings =
                expressions == null ? ExpressionSettings.ALL : ExpressionSettings.of(expressions, hasTimestamp(map));
        this.usesTimeZone = computes && settings.timeZone();
        this.unlogged = EnumSet.noneOf(CarriedSetting.class);
        if (computes && settings.division()) {
            unlogged.add(CarriedSetting.DIV_PRECISION_INCREMENT);
        }
        if (computes && settings.encryption()) {
            unlogged.add(CarriedSetting.BLOCK_ENCRYPTION_MODE);
        }
    }

    private static boolean hasTimestamp(TableMap map) {
        return IntStream.of(map.types).anyMatch(ColumnType::isTimestamp);
    }

    private static long[] tableKeys(List<TableName> tables) {
        return tables.stream()
                .mapToLong(name -> KeyNames.table(name.schema(), name.table()))
                .toArray();
    }

    /** For a table of the schema {@code quorate}, and one that each server has for itself. */
    static TablePlan local(TableMap map) {
        return new TablePlan(map, true, TableDefinition.NONE, null, List.of());
    }

    TableName name() {
        return new TableName(map.schema, map.table);
    }

    /** Whether it is this table of the schema {@code quorate}. */
    boolean isOurs(String table) {
        return local && map.schema.equals(TablePlans.OUR_SCHEMA) && map.table.equals(table);
    }

    static TablePlan of(TableMap map, TableDefinition definition, ComparisonForms forms) throws SQLException {
        List<RowKey> keys = new ArrayList<>();
        String coarse = addKeys(map, definition, forms, keys);
        return new TablePlan(map, false, definition, coarse, coarse == null ? keys : List.of());
    }

    /** Adds the keys of every row, or returns why they can't be found. */
    private static String addKeys(TableMap map, TableDefinition definition, ComparisonForms forms, List<RowKey> keys)
            throws SQLException {
        if (map.names == null) {
            return "its binlog events have no column names (binlog_row_metadata is not FULL)";
        }
        if (!definition.exists()) {
            return "it is gone, or not visible to the capture account";
        }
        if (definition.isUnknown()) {
            return "its keys can't be read while a commit that changes accounts or tables waits";
        }
        if (definition.isLater()) {
            return "it has been defined anew since";
        }
        if (definition.opaque()) {
            return "a unique index of it is over an expression";
        }
        Map<String, Integer> columns = new HashMap<>();
        for (int i = 0; i < map.names.length; i++) {
            columns.put(map.names[i].toLowerCase(Locale.ROOT), i);
        }
        Set<List<String>> unique = new HashSet<>();
        boolean primary = false;
        for (Index index : definition.unique()) {
            primary |= index.name().equals("PRIMARY");
            List<String> names = index.parts().stream()
                    .map(part -> part.prefix() == 0 ? part.column() : part.column() + "(" + part.prefix() + ")")
                    .toList();
            if (!add(
                    map,
                    columns,
                    new TableName(map.schema, map.table),
                    index.name(),
                    names,
                    index.parts(),
                    Kind.UNIQUE,
                    forms,
                    keys)) {
                return "its columns were changed since";
            }
            unique.add(sorted(names));
        }
        if (primary != map.primaryKey.length > 0) {
            return "its primary key was changed since";
        }
        for (List<String> referenced : definition.referenced()) {
            List<Part> parts = referenced.stream().map(c -> new Part(c, 0)).toList();
            if (unique.add(sorted(referenced))
                    && !add(
                            map,
                            columns,
                            new TableName(map.schema, map.table),
                            "(" + String.join(", ", referenced) + ")",
                            referenced,
                            parts,
                            Kind.REFERENCED,
                            forms,
                            keys)) {
                return "its columns were changed since";
            }
        }
        for (ForeignKey key : definition.references()) {
            List<Part> parts = key.columns().stream().map(c -> new Part(c, 0)).toList();
            if (!add(map, columns, key.parent(), "FOREIGN KEY", key.parentColumns(), parts, Kind.PARENT, forms, keys)) {
                return "its columns were changed since";
            }
        }
        return null;
    }

    /**
     * Adds one key. Its columns are ordered by the names they have in the key, so that both sides of a reference agree.
     */
    private static boolean add(
            TableMap map,
            Map<String, Integer> columns,
            TableName owner,
            String name,
            List<String> names,
            List<Part> parts,
            Kind kind,
            ComparisonForms forms,
            List<RowKey> keys)
            throws SQLException {
        List<Integer> order = new ArrayList<>();
        for (int i = 0; i < names.size(); i++) {
            order.add(i);
        }
        order.sort(Comparator.comparing(i -> names.get(i).toLowerCase(Locale.ROOT)));
        int[] at = new int[names.size()];
        ComparisonForm[] form = new ComparisonForm[names.size()];
        for (int i = 0; i < at.length; i++) {
            Part part = parts.get(order.get(i));
            Integer column = columns.get(part.column().toLowerCase(Locale.ROOT));
            if (column == null) {
                return false;
            }
            at[i] = column;
            form[i] = forms.of(map, column, part.prefix());
        }
        keys.add(new RowKey(name, KeyNames.index(owner.schema(), owner.table(), sorted(names)), at, form, kind));
        return true;
    }

    private static List<String> sorted(List<String> names) {
        return names.stream().map(n -> n.toLowerCase(Locale.ROOT)).sorted().toList();
    }
}
