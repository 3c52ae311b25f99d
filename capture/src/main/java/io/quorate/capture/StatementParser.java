// SPDX-License-Identifier: Apache-2.0
package io.quorate.capture;

import io.quorate.capture.Statement.Kind;
import io.quorate.capture.Statement.TableName;
import java.util.ArrayList;
import java.util.List;

/**
 * Tells what a statement is, and for the common definitions of tables which tables they are about. It understands no more
 * than it must: any doubt leaves the tables unknown, which makes the statement conflict with everything.
 */
final class StatementParser {
    private final SqlTokens tokens;
    private final String database;
    private final List<TableName> tables = new ArrayList<>();

    StatementParser(SqlTokens tokens, String database) {
        this.tokens = tokens;
        this.database = database;
    }

    Statement parse() {
        return switch (tokens.take().upper()) {
            case "COMMIT" -> Statement.of(Kind.COMMIT);
            case "ROLLBACK" -> Statement.of(tokens.peek().is("TO") ? Kind.ROLLBACK_TO_SAVEPOINT : Kind.ROLLBACK);
            case "SAVEPOINT" -> Statement.of(Kind.SAVEPOINT);
            case "RELEASE" -> Statement.of(Kind.RELEASE_SAVEPOINT);
            case "XA" -> xa();
            case "CREATE" -> create();
            case "ALTER" -> alter();
            case "DROP" -> drop();
            case "RENAME" -> rename();
            case "TRUNCATE" -> truncate();
            case "ANALYZE", "OPTIMIZE", "REPAIR" -> maintain();
            case "GRANT", "REVOKE", "SET", "FLUSH", "INSTALL", "UNINSTALL", "IMPORT" -> Statement.of(Kind.DDL);
            case "INSERT", "UPDATE", "DELETE", "REPLACE", "LOAD", "WITH", "CALL", "DO", "SELECT", "HANDLER" ->
                Statement.of(Kind.DML);
            default -> Statement.of(Kind.UNKNOWN);
        };
    }

    private Statement xa() {
        return switch (tokens.take().upper()) {
            case "START", "BEGIN" -> Statement.of(Kind.XA_START);
            case "END" -> Statement.of(Kind.XA_END);
            case "COMMIT" -> Statement.of(Kind.XA_COMMIT);
            case "ROLLBACK" -> Statement.of(Kind.XA_ROLLBACK);
            default -> Statement.of(Kind.UNKNOWN);
        };
    }

    private Statement create() {
        if (tokens.take("TEMPORARY")) {
            return Statement.of(Kind.TEMPORARY);
        }
        if (tokens.take("TABLE")) {
            if (tokens.take("IF")) {
                tokens.take("NOT");
                tokens.take("EXISTS");
            }
            return takeTable() ? withRestOfTable() : Statement.of(Kind.DDL);
        }
        while (tokens.peek().is("UNIQUE")
                || tokens.peek().is("FULLTEXT")
                || tokens.peek().is("SPATIAL")) {
            tokens.take();
        }
        return tokens.take("INDEX") ? indexOn() : Statement.of(Kind.DDL);
    }

    private Statement alter() {
        if (!tokens.take("TABLE") || !takeTable()) {
            return Statement.of(Kind.DDL);
        }
        return withRestOfTable();
    }

    private Statement drop() {
        if (tokens.take("TEMPORARY")) {
            return Statement.of(Kind.TEMPORARY);
        }
        if (tokens.take("INDEX")) {
            return indexOn();
        }
        if (!tokens.take("TABLE") && !tokens.take("TABLES")) {
            return Statement.of(Kind.DDL);
        }
        if (tokens.take("IF")) {
            tokens.take("EXISTS");
        }
        return list();
    }

    private Statement rename() {
        if (!tokens.take("TABLE") && !tokens.take("TABLES")) {
            return Statement.of(Kind.DDL);
        }
        do {
            if (!takeTable() || !tokens.take("TO") || !takeTable()) {
                return Statement.of(Kind.DDL);
            }
        } while (tokens.takeSign(','));
        return named();
    }

    private Statement truncate() {
        tokens.take("TABLE");
        return takeTable() ? named() : Statement.of(Kind.DDL);
    }

    private Statement maintain() {
        if (!tokens.take("NO_WRITE_TO_BINLOG")) {
            tokens.take("LOCAL");
        }
        return tokens.take("TABLE") || tokens.take("TABLES") ? list() : Statement.of(Kind.DDL);
    }

    private Statement list() {
        do {
            if (!takeTable()) {
                return Statement.of(Kind.DDL);
            }
        } while (tokens.takeSign(','));
        return named();
    }

    private Statement indexOn() {
        while (!tokens.atEnd() && !tokens.peek().is("ON")) {
            tokens.take();
        }
        return tokens.take("ON") && takeTable() ? named() : Statement.of(Kind.DDL);
    }

    /** The other tables that a definition names; statements that read or merge tables are about everything. */
    private Statement withRestOfTable() {
        while (!tokens.atEnd()) {
            SqlTokens.Token token = tokens.take();
            switch (token.upper()) {
                case "UNION" -> {
                    return Statement.of(Kind.DDL);
                }
                case "REFERENCES", "LIKE" -> {
                    if (!takeTable()) {
                        return Statement.of(Kind.DDL);
                    }
                }
                case "WITH" -> {
                    if (tokens.take("TABLE") && !takeTable()) {
                        return Statement.of(Kind.DDL);
                    }
                }
                case "RENAME" -> {
                    if (!renamesPart() && !renamesTable()) {
                        return Statement.of(Kind.DDL);
                    }
                }
                default -> {
                    // Nothing about another table.
                }
            }
        }
        return named();
    }

    private boolean renamesPart() {
        return tokens.take("COLUMN") || tokens.take("INDEX") || tokens.take("KEY");
    }

    private boolean renamesTable() {
        if (!tokens.take("TO")) {
            tokens.take("AS");
        }
        return takeTable();
    }

    private Statement named() {
        return new Statement(Kind.DDL, List.copyOf(tables));
    }

    private boolean takeTable() {
        SqlTokens.Token first = tokens.take();
        if (!first.isName()) {
            return false;
        }
        if (tokens.takeSign('.')) {
            SqlTokens.Token second = tokens.take();
            tables.add(new TableName(first.text(), second.text()));
            return second.isName();
        }
        tables.add(new TableName(database, first.text()));
        return !database.isEmpty();
    }
}
