// SPDX-License-Identifier: Apache-2.0
package io.quorate.capture;

import io.quorate.core.TableName;
import java.util.List;

/**
 * The kind of a statement in the binlog, and the tables it names.
 *
 * @param kind what to do with it
 * @param scope of a definition: what it conflicts with
 * @param tables the tables whose definition, or all of whose rows, it changes; null when they are unknown or there are
 *     none
 * @param conditional whether it is a CREATE that changes nothing where there is such a thing already, or a DROP that
 *     changes nothing where there is none, and the binlog shows which it was
 * @param leavesEmpty whether the first of the tables has no rows afterwards
 * @param bringsRows whether tables that had no rows may have some afterwards
 * @param keepsColumns whether it certainly leaves the columns of the tables as they are
 * @param numbering of an ALTER TABLE that adds a column with AUTO_INCREMENT; otherwise null
 * @param objects with {@link Scope#OBJECTS}: what it names; also of DROP DATABASE; otherwise null
 * @param droppedIndexes with {@link Scope#ROWS}: the indexes that it drops, if it does nothing else; otherwise empty
 */
record Statement(
        Kind kind,
        Scope scope,
        List<TableName> tables,
        boolean conditional,
        boolean leavesEmpty,
        boolean bringsRows,
        boolean keepsColumns,
        Numbering numbering,
        NamedObjects objects,
        List<String> droppedIndexes) {
    /** What a definition conflicts with among other transactions. */
    enum Scope {
        /** Everything, because nothing is known. */
        EVERYTHING,
        /** The tables named, whose rows stay as they are. */
        TABLES,
        /**
         * The first of the tables named, which is made with the definition of the second ({@code CREATE TABLE ...
         * LIKE}). The second stays as it is, with its rows.
         */
        COPIED_DEFINITION,
        /**
         * The tables named, which get columns at their end: rows written without these fit as well, and get the same
         * values as the rows that were there.
         */
        ADDED_COLUMNS,
        /** The tables named, which get indexes or comments: rows are the same before and after it. */
        ADDED_INDEXES,
        /**
         * The tables named, of which CHECKs are taken away: rows written with these fit as well. What is written
         * without them may be what they would have refused.
         */
        DROPPED_CHECKS,
        /**
         * The tables named, where rows are removed or moved with the definition: it can't change places with rows
         * written elsewhere.
         */
        ROWS,
        /**
         * Accounts, views, routines, databases: conflicts with other definitions of the same, and with no rows, because
         * row events use none of them.
         */
        OBJECTS,
        /** Neither definitions nor rows change: conflicts with nothing, and is run everywhere. */
        UPKEEP;

        /** Whether the columns of a table may be others afterwards. */
        boolean mayDefineColumns() {
            return this == TABLES || this == COPIED_DEFINITION || this == ADDED_COLUMNS || this == ROWS;
        }
    }

    enum Kind {
        COMMIT,
        ROLLBACK,
        SAVEPOINT,
        ROLLBACK_TO_SAVEPOINT,
        RELEASE_SAVEPOINT,
        XA_START,
        XA_END,
        XA_COMMIT,
        XA_ROLLBACK,
        /** Definitions, accounts, maintenance: replicated as text. */
        DDL,
        /** About temporary tables, or what a server has open or has counted: nothing that others need. */
        LOCAL,
        /** Changes rows by statement. */
        DML,
        UNKNOWN
    }

    /**
     * What an ALTER TABLE that numbers a table's rows says about the keys by which they were sorted before.
     *
     * @param hadPrimary whether there certainly was a primary key
     * @param primaryIsNew whether the primary key that there is afterwards may be new
     * @param uniqueIsNew whether another unique key may be
     */
    record Numbering(boolean hadPrimary, boolean primaryIsNew, boolean uniqueIsNew) {}

    static Statement of(Kind kind) {
        return new Statement(kind, Scope.EVERYTHING, null, false, false, true, false, null, null, List.of());
    }

    /** One that changes nothing. */
    static Statement upkeep() {
        return new Statement(Kind.DDL, Scope.UPKEEP, null, false, false, false, true, null, null, List.of());
    }

    static Statement of(boolean conditional, NamedObjects objects) {
        return new Statement(Kind.DDL, Scope.OBJECTS, null, conditional, false, false, true, null, objects, List.of());
    }

    /** Whether all that it names are tables that each server has for itself. */
    boolean isOfServersOwn() {
        return tables != null && !tables.isEmpty() && tables.stream().allMatch(TableName::isServersOwn);
    }

    /** Whether it drops a database, with all that this has. */
    boolean dropsSchema() {
        return scope == Scope.EVERYTHING && objects != null;
    }

    /** The first of the tables named, for messages. */
    String firstTable() {
        return tables == null ? "a table" : tables.get(0).toString();
    }

    /** Parses a statement; never fails, a statement that it doesn't understand is {@link Kind#UNKNOWN}. */
    static Statement parse(String text, String database, long sqlMode) {
        SqlTokens tokens = SqlTokens.of(text, sqlMode);
        return new StatementParser(tokens, database).parse();
    }

    /** The statement in one short line, for messages. */
    static String shorten(String text) {
        String line = text.strip().replaceAll("\\s+", " ");
        return line.length() <= 120 ? line : line.substring(0, 117) + "...";
    }
}
