// SPDX-License-Identifier: Apache-2.0
package io.quorate.capture;

import io.quorate.capture.Definitions.Redefined;
import io.quorate.capture.Statement.Scope;
import io.quorate.core.KeyType;
import io.quorate.core.Keys;
import io.quorate.core.KeysBuilder;
import io.quorate.core.TableName;
import io.quorate.core.binlog.TableMap;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What a definition conflicts with, as keys, and what is remembered of tables for that. The binlog alone tells: the
 * server's present definitions may be later ones. Lives as long as a connection; on one thread.
 */
final class DefinitionConflicts {
    private static final Logger log = LoggerFactory.getLogger(DefinitionConflicts.class);

    private final TablePlans plans;
    private final boolean lowerCaseNames;
    private final EmptyTables empty;
    private final WidenedTables widened = new WidenedTables();
    private final KnownTables known;
    private final FormerTables former = new FormerTables();

    DefinitionConflicts(TablePlans plans, boolean lowerCaseNames) {
        this.plans = plans;
        this.lowerCaseNames = lowerCaseNames;
        this.empty = new EmptyTables(lowerCaseNames);
        this.known = new KnownTables(plans::present);
    }

    /**
     * Whether a definition that was logged without a transaction of the data dictionary did nothing. Every node has, or
     * will have by its place in the order, what this one has; so nobody else needs it. Tables of engines that aren't
     * atomic are logged in this way also when they are created and dropped.
     */
    boolean changedNothing(Statement statement) {
        if (!statement.conditional()) {
            return false;
        }
        return switch (statement.scope()) {
            case OBJECTS -> true;
            case TABLES, COPIED_DEFINITION -> statement.tables().stream().allMatch(plans::isAtomic);
            case EVERYTHING, ROWS, UPKEEP, ADDED_COLUMNS, ADDED_INDEXES, DROPPED_CHECKS -> false;
        };
    }

    /** This server has lost the rows, and not because somebody wanted them gone: the others keep theirs. */
    void emptiedByRestart(Statement statement) {
        TableName name = statement.tables().get(0);
        log.warn(
                "a restart of this server emptied {}.{}, a table in memory, here and nowhere else. It needs a full"
                        + " copy when another node changes a row that is gone; quorate audit shows what is missing",
                name.schema(),
                name.table());
        empty.defined(statement);
    }

    /**
     * Whether all servers make the same of a definition that may number rows. It is run on every server, and each
     * numbers rows in the order in which it happens to have them.
     */
    boolean numbersAlike(Statement statement) {
        if (statement.numbering() == null) {
            return true;
        }
        TableName name = statement.tables() == null ? null : statement.tables().get(0);
        return name != null && (empty.contains(name) || plans.areNumberedAlike(name, statement.numbering()));
    }

    /** Rows are written to the table of a TABLE_MAP event. */
    void written(byte[] b, int offset, int length) {
        if (!empty.isNone()) {
            TableMap map = TableMap.read(b, offset, length);
            empty.written(new TableName(map.schema, map.table));
        }
    }

    /** Whether rows with this TABLE_MAP fit their table as it was before it was last defined. */
    boolean fitsFormer(TablePlan plan, byte[] b, int offset, int length) {
        return !former.isNone()
                && plan.map.names != null
                && former.fits(new TableName(plan.map.schema, plan.map.table), b, offset, length);
    }

    /**
     * Adds the keys of a definition, and takes note of it.
     *
     * @param number GTID number of the transaction of this server's own; 0 for another one
     * @param readable whether the statement's text could be read, with its characters
     */
    void addKeys(Statement statement, long number, boolean readable, KeysBuilder keys) {
        empty.defined(statement);
        Set<TableName> dropped = statement.dropsSchema() && readable
                ? known.of(statement.objects().names().get(0).schema(), number)
                : null;
        known.defined(statement, number);
        Scope scope = readable ? statement.scope() : Scope.EVERYTHING;
        List<TableName> tables = statement.tables() == null ? List.of() : lower(statement.tables());
        boolean plain = readable
                && !statement.droppedIndexes().isEmpty()
                && plans.werePlain(tables.get(0), statement.droppedIndexes());
        // Rows are the same before and after it, as where such an index comes.
        scope = plain ? Scope.ADDED_INDEXES : scope;
        boolean keepsColumns = readable && (plain || statement.keepsColumns());
        if (!keepsColumns) {
            former.defined(scope, statement, tables, plans::lastSeen);
        }
        if (dropped != null) {
            // As DROP TABLE of all tables of the database; what else is in it goes, too.
            scope = Scope.ROWS;
            tables = lower(dropped);
            statement.objects().addKeys(lowerCaseNames, keys);
        }
        if (creates(scope, statement.leavesEmpty()) && !tables.isEmpty()) {
            widened.made(tables.get(0));
        }
        scope = widened.scope(scope, tables);
        switch (scope) {
            case EVERYTHING -> plans.definitionsChanged();
            // A foreign key that is gone may have been in the way of other tables' rows.
            case ROWS -> plans.definitionsChanged(tables, Redefined.NAMED_AND_TIED);
            case TABLES, COPIED_DEFINITION -> plans.definitionsChanged(tables, Redefined.NAMED);
            case OBJECTS, UPKEEP, ADDED_COLUMNS, ADDED_INDEXES, DROPPED_CHECKS ->
                plans.definitionsChanged(tables, Redefined.NONE);
        }
        if (keepsColumns && scope != Scope.UPKEEP) {
            keys.add(Keys.KEEPS_COLUMNS, KeyType.SHARED);
        }
        addDefined(scope, statement.leavesEmpty(), tables, keys);
        switch (scope) {
            case EVERYTHING -> keys.add(Keys.EVERYTHING, KeyType.EXCLUSIVE);
            case OBJECTS -> statement.objects().addKeys(lowerCaseNames, keys);
            case UPKEEP -> {
                // It may run at any place.
            }
            case TABLES, COPIED_DEFINITION, ADDED_COLUMNS, ADDED_INDEXES, DROPPED_CHECKS ->
                addTables(scope, tables, keys);
            case ROWS -> {
                keys.add(Keys.NO_ROWS_BEFORE, KeyType.SHARED);
                addTables(scope, tables, keys);
            }
        }
    }

    /** What decides how tables are defined, or depends on it. */
    static void addDefined(Scope scope, boolean leavesEmpty, List<TableName> tables, KeysBuilder keys) {
        if (!scope.mayDefineColumns()) {
            return;
        }
        for (TableName table : tables) {
            keys.add(KeyNames.schema(table.schema()), KeyType.REFERENCE);
        }
        if (!creates(scope, leavesEmpty)) {
            // No view has columns of a table that is new.
            keys.add(Keys.DEFINED_TABLES, KeyType.REFERENCE);
        }
    }

    private static boolean creates(Scope scope, boolean leavesEmpty) {
        return leavesEmpty && (scope == Scope.TABLES || scope == Scope.COPIED_DEFINITION);
    }

    private static void addTables(Scope scope, List<TableName> tables, KeysBuilder keys) {
        boolean columns = scope == Scope.ADDED_COLUMNS;
        boolean rowsFit = columns || scope == Scope.ADDED_INDEXES || scope == Scope.DROPPED_CHECKS;
        for (TableName name : tables) {
            keys.add(KeyNames.table(name.schema(), name.table()), rowsFit ? KeyType.UPDATE : KeyType.EXCLUSIVE);
            // What is read for a copy conflicts with definitions, not with rows.
            rowsFit |= scope == Scope.COPIED_DEFINITION;
            if (columns) {
                keys.add(KeyNames.wholeRows(name.schema(), name.table()), KeyType.EXCLUSIVE);
            }
        }
    }

    private List<TableName> lower(Collection<TableName> names) {
        return names.stream()
                .map(name -> lowerCaseNames ? name.inLowerCase() : name)
                .toList();
    }
}
