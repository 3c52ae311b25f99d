// SPDX-License-Identifier: Apache-2.0
package io.quorate.capture;

import io.quorate.core.BinlogPosition;
import io.quorate.core.TableName;
import io.quorate.core.binlog.QueryEvent;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayDeque;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The definitions that a server has run and the reader of its binlog hasn't come to. What {@code information_schema}
 * says of a table is as the server has it now; rows that were written before such a definition have the keys of the one
 * before. When a table was defined can't be told by time: CREATE_TIME is when the statement began, in seconds, and rows
 * go on being written while it runs.
 *
 * <p>So the binlog is read ahead (SHOW BINLOG EVENTS), from where the reader is to its present end, each place once.
 * Only done when a definition is read from the server, so at the beginning and after definitions.
 *
 * <p>The server shows no event that is larger than {@code max_allowed_packet}, which the rows of one statement may be
 * (an UPDATE has its rows twice), and nothing behind it. Until the reader has passed that place, anything may have been
 * defined.
 */
final class DefinitionsAhead {
    private static final Logger log = LoggerFactory.getLogger(DefinitionsAhead.class);
    private static final int EVENTS_MAX = 20_000;
    /** Where the first event of a file is. */
    private static final int FILE_BEGIN = 4;
    /** "Event too big" and the like. */
    private static final int NOT_SHOWN = 1220;
    /** ANSI_QUOTES and NO_BACKSLASH_ESCAPES. */
    private static final long OTHER_QUOTES = QueryEvent.ANSI_QUOTES | QueryEvent.NO_BACKSLASH_ESCAPES;

    private static final Pattern DROPS = Pattern.compile("\\bDROP\\b", Pattern.CASE_INSENSITIVE);
    private static final Pattern DROP = Pattern.compile("\\s*DROP\\b", Pattern.CASE_INSENSITIVE);
    private static final Pattern DROPS_CONSTRAINT =
            Pattern.compile("\\bDROP\\s+(?:FOREIGN|CONSTRAINT)\\b", Pattern.CASE_INSENSITIVE);
    /** Comments, but for the one that the server adds: they may stand between the two words. */
    private static final Pattern COMMENT = Pattern.compile("/\\*(?! xid=\\d+ \\*/)|--|#");

    private static final Pattern DEFAULT_SCHEMA = Pattern.compile("use `((?:[^`]|``)*+)`; ");

    /**
     * @param end where the reader is once it has read it
     * @param mayEndCascades whether it may take a foreign key away from a table that goes on
     */
    private record Ahead(BinlogPosition end, Statement statement, boolean mayEndCascades) {}

    private final Connection connection;
    private final boolean lowerCaseNames;
    private final ArrayDeque<Ahead> ahead = new ArrayDeque<>();
    /** Up to where it was read; null before the first time. */
    private BinlogPosition read;

    DefinitionsAhead(Connection connection, boolean lowerCaseNames) {
        this.connection = connection;
        this.lowerCaseNames = lowerCaseNames;
    }

    /**
     * Whether a statement behind {@code at} may have changed the definition of a table, as the server has it.
     *
     * @param at an end of an event; it never goes back
     */
    boolean mayChange(TableName table, BinlogPosition at) throws SQLException {
        while (!ahead.isEmpty() && !isBehind(ahead.peek().end, at)) {
            ahead.remove();
        }
        if (read == null || isBehind(at, read)) {
            read = at;
        }
        boolean more = true;
        while (more) {
            more = readSome();
        }
        return ahead.stream().anyMatch(each -> mayChange(each.statement, table));
    }

    /**
     * Of tables that aren't named, foreign keys may have changed; what they add to the keys of rows is then missing, as
     * it would be had the statement been run a moment before. What is undone needs more, see {@link #mayEndCascades}.
     */
    private boolean mayChange(Statement statement, TableName table) {
        return switch (statement.scope()) {
            // None of these changes how keys are made.
            case OBJECTS, UPKEEP, ADDED_COLUMNS, ADDED_INDEXES, DROPPED_CHECKS -> false;
            case EVERYTHING, ROWS, TABLES, COPIED_DEFINITION ->
                !leavesDefinition(statement)
                        && (statement.tables() == null
                                || statement.tables().stream()
                                        .anyMatch(each -> lower(each).equals(lower(table))));
        };
    }

    /**
     * Whether one of the statements found by {@link #mayChange} may have taken a foreign key away from a table that
     * goes on. The foreign key is the child's, so the parent isn't among the statement's tables.
     */
    boolean mayEndCascades() {
        return ahead.stream().anyMatch(Ahead::mayEndCascades);
    }

    /** As TRUNCATE does. */
    private static boolean leavesDefinition(Statement statement) {
        return statement.scope() == Statement.Scope.ROWS && statement.leavesEmpty();
    }

    private TableName lower(TableName name) {
        return lowerCaseNames ? name.inLowerCase() : name;
    }

    /** File names have numbers at their ends, with zeros in front until there are more than these. */
    private static boolean isBehind(BinlogPosition a, BinlogPosition b) {
        if (a.file().equals(b.file())) {
            return a.offset() > b.offset();
        }
        int lengths = Integer.compare(a.file().length(), b.file().length());
        return (lengths == 0 ? a.file().compareTo(b.file()) : lengths) > 0;
    }

    /** @return whether there may be more */
    private boolean readSome() throws SQLException {
        String next = fileAfter(read.file());
        int events = 0;
        try (java.sql.Statement show = connection.createStatement();
                ResultSet row = show.executeQuery(
                        "SHOW BINLOG EVENTS IN '" + read.file() + "' FROM " + read.offset() + " LIMIT " + EVENTS_MAX)) {
            for (; row.next(); events++) {
                read = new BinlogPosition(read.file(), row.getLong("End_log_pos"));
                String info = row.getString("Info");
                switch (row.getString("Event_type")) {
                    case "Query" -> take(info);
                    case "Rotate" -> {
                        read = new BinlogPosition(info.substring(0, info.indexOf(';')), FILE_BEGIN);
                        return true;
                    }
                    default -> {
                        // Rows, and what is around them.
                    }
                }
            }
        } catch (SQLException e) {
            if (e.getErrorCode() != NOT_SHOWN) {
                throw e;
            }
            notShown(e.getMessage());
            return false;
        }
        if (events < EVENTS_MAX && next != null) {
            // The end of mysqld ended this file, which then doesn't name the next one.
            read = new BinlogPosition(next, FILE_BEGIN);
            return true;
        }
        return events == EVENTS_MAX;
    }

    private void notShown(String why) {
        BinlogPosition within = new BinlogPosition(read.file(), read.offset() + 1);
        if (ahead.isEmpty() || !ahead.peekLast().end.equals(within)) {
            log.debug("the binlog can't be read ahead beyond {}: {}", read, why);
            ahead.add(new Ahead(within, Statement.of(Statement.Kind.UNKNOWN), true));
        }
    }

    /**
     * The binlog file that the server began after that one; null when there is none. SHOW BINARY LOGS isn't asked: it
     * waits for whoever begins a file, who waits for all commits under way, which may wait for this reader.
     */
    private String fileAfter(String file) throws SQLException {
        int dot = file.lastIndexOf('.') + 1;
        String digits = file.substring(dot);
        String next = file.substring(0, dot) + String.format("%0" + digits.length() + "d", Long.parseLong(digits) + 1);
        try (java.sql.Statement show = connection.createStatement();
                ResultSet row = show.executeQuery("SHOW BINLOG EVENTS IN '" + next + "' LIMIT 1")) {
            return row.next() ? next : null;
        } catch (SQLException e) {
            if (e.getErrorCode() != NOT_SHOWN) {
                throw e;
            }
            return null;
        }
    }

    private void take(String info) {
        Matcher named = DEFAULT_SCHEMA.matcher(info);
        String schema = named.lookingAt() ? named.group(1).replace("``", "`") : "";
        String text = named.lookingAt() ? info.substring(named.end()) : info;
        if (text.equals("BEGIN")) {
            return;
        }
        Statement statement = parse(text, schema);
        if (statement.kind() == Statement.Kind.DDL || statement.kind() == Statement.Kind.UNKNOWN) {
            ahead.add(new Ahead(read, statement, mayEndCascades(text, statement)));
        }
    }

    /** The session's sql_mode isn't shown, by which quotes and backslashes may mean something else. */
    static Statement parse(String text, String schema) {
        Statement statement = Statement.parse(text, schema, 0);
        return statement.equals(Statement.parse(text, schema, OTHER_QUOTES))
                ? statement
                : Statement.of(Statement.Kind.UNKNOWN);
    }

    /**
     * Only an ALTER does, which says DROP FOREIGN KEY or DROP CONSTRAINT. What else is dropped has no rows afterwards
     * that could be missing.
     */
    static boolean mayEndCascades(String text, Statement statement) {
        return switch (statement.scope()) {
            case EVERYTHING -> true;
            case TABLES, ROWS ->
                !DROP.matcher(text).lookingAt()
                        && (DROPS_CONSTRAINT.matcher(text).find()
                                || (DROPS.matcher(text).find()
                                        && COMMENT.matcher(text).find()));
            case OBJECTS, UPKEEP, ADDED_COLUMNS, ADDED_INDEXES, DROPPED_CHECKS, COPIED_DEFINITION -> false;
        };
    }
}
