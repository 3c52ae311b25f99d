// SPDX-License-Identifier: Apache-2.0
package io.quorate.capture;

import io.quorate.capture.Statement.Scope;
import java.util.Set;

/**
 * Recognises definitions that only add to a table, so that rows written under the former definition fit the new one,
 * and end up the same whether they come before it or after it:
 *
 * <ul>
 *   <li>columns at the table's end that are NULL or have a constant as their default;
 *   <li>indexes over columns that are not unique, and comments.
 * </ul>
 *
 * <p>Not recognised are columns that are NOT NULL without a default, because a row without them may be refused;
 * expressions and times as defaults, because they give each row another value; indexes over expressions, which may
 * refuse a row; and a change of a default, because rows that lack the column would get the new one on some nodes.
 */
final class Additions {
    private static final Set<String> NUMBERS = Set.of(
            "TINYINT",
            "SMALLINT",
            "MEDIUMINT",
            "INT",
            "INTEGER",
            "BIGINT",
            "DECIMAL",
            "NUMERIC",
            "FLOAT",
            "DOUBLE",
            "BIT",
            "BOOL",
            "BOOLEAN");
    private static final Set<String> TIMES = Set.of("DATE", "TIME", "DATETIME", "YEAR", "TIMESTAMP");
    private static final Set<String> TEXTS = Set.of(
            "CHAR",
            "VARCHAR",
            "BINARY",
            "VARBINARY",
            "TINYTEXT",
            "TEXT",
            "MEDIUMTEXT",
            "LONGTEXT",
            "TINYBLOB",
            "BLOB",
            "MEDIUMBLOB",
            "LONGBLOB",
            "JSON",
            "ENUM",
            "SET");
    /** What ADD may be followed by where it doesn't add a column. */
    private static final Set<String> NOT_COLUMNS = Set.of(
            "INDEX", "KEY", "PRIMARY", "UNIQUE", "FULLTEXT", "SPATIAL", "CONSTRAINT", "FOREIGN", "CHECK", "PARTITION");

    private static final Set<String> NAMED_CONSTANTS = Set.of("NULL", "TRUE", "FALSE");

    private final SqlTokens tokens;
    private boolean columns;

    /** @param tokens what follows the table's name; they are read without being taken */
    Additions(SqlTokens tokens) {
        this.tokens = tokens.rest();
    }

    /** What the clauses of an ALTER TABLE add; null if that is not all that they do, or in doubt. */
    Scope clauses() {
        do {
            if (!clause()) {
                return null;
            }
        } while (tokens.takeSign(','));
        return scope();
    }

    /** What a CREATE INDEX adds, from its columns on; null in doubt. */
    Scope index() {
        boolean plain = indexedColumns();
        while (plain && !tokens.atEnd()) {
            plain = tokens.takeWay() || indexOption();
        }
        return plain ? scope() : null;
    }

    private Scope scope() {
        return !tokens.atEnd() ? null : columns ? Scope.ADDED_COLUMNS : Scope.ADDED_INDEXES;
    }

    private boolean clause() {
        if (!tokens.take("ADD")) {
            return comment() || tokens.takeWay();
        }
        if (tokens.take("INDEX") || tokens.take("KEY")) {
            return addedIndex();
        }
        return !NOT_COLUMNS.contains(tokens.peek().upper()) && column();
    }

    private boolean comment() {
        if (!tokens.take("COMMENT")) {
            return false;
        }
        tokens.takeSign('=');
        return tokens.take().isString();
    }

    private boolean addedIndex() {
        if (!tokens.peek().isSign('(')
                && !tokens.peek().is("USING")
                && !tokens.take().isName()) {
            return false;
        }
        if (tokens.take("USING") && !tokens.take().isName()) {
            return false;
        }
        boolean plain = indexedColumns();
        while (plain && !endsClause()) {
            plain = indexOption();
        }
        return plain;
    }

    private boolean indexedColumns() {
        if (!tokens.takeSign('(')) {
            return false;
        }
        do {
            if (!tokens.take().isName() || (tokens.peek().isSign('(') && !lengths())) {
                return false;
            }
            if (!tokens.take("ASC")) {
                tokens.take("DESC");
            }
        } while (tokens.takeSign(','));
        return tokens.takeSign(')');
    }

    private boolean indexOption() {
        return tokens.take("VISIBLE")
                || tokens.take("INVISIBLE")
                || comment()
                || (tokens.take("USING") && tokens.take().isName());
    }

    private boolean column() {
        columns = true;
        tokens.take("COLUMN");
        if (!tokens.take().isName()) {
            return false;
        }
        String type = tokens.take().upper();
        if (!NUMBERS.contains(type) && !TIMES.contains(type) && !TEXTS.contains(type)) {
            return false;
        }
        if (tokens.peek().isSign('(') && !lengths()) {
            return false;
        }
        boolean mayBeNull = false;
        boolean mustNotBeNull = false;
        boolean hasDefault = false;
        while (!endsClause()) {
            if (tokens.take("NULL")) {
                mayBeNull = true;
            } else if (tokens.peek().is("NOT") && tokens.peek(1).is("NULL")) {
                tokens.take();
                tokens.take();
                mustNotBeNull = true;
            } else if (tokens.take("DEFAULT")) {
                hasDefault = true;
                if (!constant()) {
                    return false;
                }
            } else if (!attribute()) {
                return false;
            }
        }
        // With explicit_defaults_for_timestamp=OFF a TIMESTAMP of which nothing is said gets the current time.
        boolean hasNull = !mustNotBeNull && (mayBeNull || !type.equals("TIMESTAMP"));
        return hasDefault || hasNull;
    }

    private boolean attribute() {
        if (tokens.take("UNSIGNED") || tokens.take("SIGNED") || tokens.take("ZEROFILL") || comment()) {
            return true;
        }
        boolean named =
                tokens.take("COLLATE") || tokens.take("CHARSET") || (tokens.take("CHARACTER") && tokens.take("SET"));
        return named && tokens.take().isName();
    }

    /** Numbers or strings in parentheses. */
    private boolean lengths() {
        tokens.takeSign('(');
        do {
            SqlTokens.Token token = tokens.take();
            if (!token.isString() && !token.isNumber()) {
                return false;
            }
        } while (tokens.takeSign(','));
        return tokens.takeSign(')');
    }

    /** A value, without looking further: what follows it must be understood by itself. */
    private boolean constant() {
        if (tokens.peek().isString() || NAMED_CONSTANTS.contains(tokens.peek().upper())) {
            tokens.take();
            return true;
        }
        if ((tokens.peek().is("B") || tokens.peek().is("X")) && tokens.peek(1).isString()) {
            tokens.take();
            tokens.take();
            return true;
        }
        if (!tokens.takeSign('-')) {
            tokens.takeSign('+');
        }
        return tokens.take().isNumber()
                && (!tokens.takeSign('.') || tokens.take().isNumber());
    }

    private boolean endsClause() {
        return tokens.atEnd() || tokens.peek().isSign(',');
    }
}
