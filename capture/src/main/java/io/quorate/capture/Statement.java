// SPDX-License-Identifier: Apache-2.0
package io.quorate.capture;

import java.util.List;

/**
 * What a statement in the binlog is, and the tables it names.
 *
 * @param kind what to do with it
 * @param scope of a definition: what it meets
 * @param tables the tables it changes the definition or all the rows of; null when they can't be told or there are none
 */
record Statement(Kind kind, Scope scope, List<TableName> tables) {
    /** What a definition meets among other transactions. */
    enum Scope {
        /** Nothing is known, so everything. */
        EVERYTHING,
        /** The tables named, whose rows stay. */
        TABLES,
        /** The tables named, and rows go with them or move: not to be exchanged with rows written elsewhere. */
        ROWS,
        /** Accounts, views, routines, databases: other such definitions, and no rows, for row events run none of them. */
        OBJECTS,
        /** Neither definitions nor rows change. */
        UPKEEP
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
        /** About temporary tables only: nothing others need. */
        TEMPORARY,
        /** Changes rows by statement. */
        DML,
        UNKNOWN
    }

    /** A table's full name. */
    record TableName(String schema, String table) {}

    static Statement of(Kind kind) {
        return new Statement(kind, Scope.EVERYTHING, null);
    }

    static Statement of(Scope scope) {
        return new Statement(Kind.DDL, scope, null);
    }

    /** Reads a statement; never fails, what it doesn't understand is {@link Kind#UNKNOWN}. */
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
