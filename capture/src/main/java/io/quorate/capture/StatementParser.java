// SPDX-License-Identifier: Apache-2.0
package io.quorate.capture;

import io.quorate.capture.Statement.Kind;
import io.quorate.capture.Statement.Numbering;
import io.quorate.capture.Statement.Scope;
import io.quorate.core.TableName;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/**
 * Finds out what a statement is, and for the common definitions of tables which tables they concern. It understands no
 * more than it must: in any doubt the tables stay unknown, and the statement conflicts with everything.
 */
final class StatementParser {
    private static final Set<String> DATABASES = Set.of("DATABASE", "SCHEMA");
    private static final Set<String> OBJECTS =
            Set.of("USER", "ROLE", "VIEW", "TRIGGER", "PROCEDURE", "FUNCTION", "EVENT", "SERVER", "DATABASE", "SCHEMA");
    /** With which an ALTER DATABASE may go on that names none. */
    private static final Set<String> OPTIONS_OF_DATABASE =
            Set.of("DEFAULT", "CHARACTER", "CHARSET", "COLLATE", "ENCRYPTION", "READ");
    /** A statement on these is logged alike whether it changed something or not. */
    private static final Set<String> NOT_ATOMIC = Set.of("USER", "ROLE", "SERVER");
    /** Words with which a view's or a routine's definition may begin, before its kind; the last two in 9.x. */
    static final Set<String> PREAMBLES =
            Set.of("OR", "ALGORITHM", "DEFINER", "SQL", "AGGREGATE", "JSON", "MATERIALIZED");

    /**
     * In an ALTER TABLE: columns or partitions may be removed with their content. DROP INDEX and the like count too.
     */
    private static final Set<String> TAKE_ROWS = Set.of(
            "DROP", "TRUNCATE", "EXCHANGE", "PARTITION", "PARTITIONING", "TABLESPACE", "RENAME", "CHANGE", "ENFORCED");

    /** Words between a statement that changes rows and its table. */
    private static final Set<String> BEFORE_TABLE =
            Set.of("LOW_PRIORITY", "HIGH_PRIORITY", "DELAYED", "QUICK", "IGNORE", "INTO", "FROM");

    private final SqlTokens tokens;
    private final String database;
    private final List<TableName> tables = new ArrayList<>();
    private boolean rowsGo;
    private boolean bringsRows;
    private boolean conditional;
    private boolean leavesEmpty;
    private boolean keepsColumns;
    private Numbering numbering;
    /** The index of a DROP INDEX; null in other statements. */
    private SqlTokens.Token dropped;

    private List<String> droppedIndexes = List.of();

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
            case "GRANT", "REVOKE", "SET" -> Statement.of(false, NamedObjects.ACCOUNTS);
            case "FLUSH" -> flush();
            case "INSTALL", "UNINSTALL", "IMPORT" -> Statement.of(Kind.DDL);
            case "INSERT", "REPLACE" -> changesRows(null);
            case "UPDATE" -> changesRows(Set.of("SET"));
            case "DELETE" -> changesRows(Set.of("WHERE", "ORDER", "LIMIT"));
            case "LOAD", "WITH", "CALL", "DO", "SELECT", "HANDLER" -> Statement.of(Kind.DML);
            default -> Statement.of(Kind.UNKNOWN);
        };
    }

    /**
     * Of what a server logs of these, accounts alone are the same everywhere. FLUSH TABLES on another server would wait
     * there for whoever has locked a table, and keep others from reading it.
     */
    private Statement flush() {
        return tokens.restHasAny(Set.of("PRIVILEGES")) ? Statement.upkeep() : Statement.of(Kind.LOCAL);
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
            return Statement.of(Kind.LOCAL);
        }
        if (tokens.take("TABLE")) {
            conditional = takeIf();
            leavesEmpty = true;
            return takeTable() ? createdTable() : Statement.of(Kind.DDL);
        }
        boolean plain = true;
        while (tokens.peek().is("UNIQUE")
                || tokens.peek().is("FULLTEXT")
                || tokens.peek().is("SPATIAL")) {
            tokens.take();
            plain = false;
        }
        if (!tokens.take("INDEX")) {
            return objects();
        }
        Statement statement = indexOn();
        return plain && statement.tables() != null ? scoped(new Additions(tokens).index(), statement) : statement;
    }

    private Statement createdTable() {
        boolean copies = tokens.peek().is("LIKE")
                || (tokens.peek().isSign('(') && tokens.peek(1).is("LIKE"));
        Statement s = withRestOfTable();
        return !copies || s.tables() == null
                ? s
                : new Statement(
                        s.kind(),
                        Scope.COPIED_DEFINITION,
                        s.tables(),
                        s.conditional(),
                        true,
                        false,
                        false,
                        null,
                        null,
                        List.of());
    }

    private Statement alter() {
        if (!tokens.take("TABLE")) {
            if (DATABASES.contains(tokens.peek().upper()) && tokens.restHasAny(Set.of("READ"))) {
                // READ ONLY refuses the applier's rows, too, so none that were written without it may come after it.
                return Statement.of(Kind.DDL);
            }
            return objects();
        }
        if (!takeTable()) {
            return Statement.of(Kind.DDL);
        }
        Scope additions = new Additions(tokens).clauses();
        if (additions != null) {
            return scoped(additions, named());
        }
        if (new Droppings(tokens).areChecks()) {
            return scoped(Scope.DROPPED_CHECKS, named());
        }
        droppedIndexes = new Droppings(tokens).indexes();
        rowsGo = tokens.restHasAny(TAKE_ROWS);
        bringsRows = tokens.restHasAny(Set.of("TABLESPACE"));
        keepsColumns = new KeptColumns(tokens).clauses();
        numbering = AddedColumns.numbering(tokens);
        return withRestOfTable();
    }

    /** @param scope what it adds, or that it drops CHECKs, if that is all that it does; otherwise null */
    private static Statement scoped(Scope scope, Statement s) {
        return scope == null
                ? s
                : new Statement(
                        s.kind(),
                        scope,
                        s.tables(),
                        s.conditional(),
                        false,
                        false,
                        scope == Scope.ADDED_INDEXES,
                        null,
                        null,
                        List.of());
    }

    /** Definitions without rows. A database that is dropped takes its tables along. */
    private Statement objects() {
        if (PREAMBLES.contains(tokens.peek().upper())) {
            while (!tokens.atEnd() && !OBJECTS.contains(tokens.peek().upper())) {
                tokens.take();
            }
        }
        String kind = tokens.take().upper();
        if (!OBJECTS.contains(kind)) {
            return Statement.of(Kind.DDL);
        }
        boolean onlyIf = takeIf() && !NOT_ATOMIC.contains(kind);
        return Statement.of(onlyIf, named(kind));
    }

    private NamedObjects named(String kind) {
        // These are resolved to columns when the view is made.
        boolean ofAllColumns =
                kind.equals("VIEW") && (tokens.restHasSign('*') || tokens.restHasAny(Set.of("TABLE", "NATURAL")));
        boolean known =
                switch (kind) {
                    case "USER", "ROLE" -> true;
                    case "DATABASE", "SCHEMA" -> takeDatabase();
                    case "SERVER" -> takeServer();
                    case "VIEW" -> list();
                    case "EVENT" -> takeTable() && takeNewName();
                    // One in a library is in no database.
                    case "FUNCTION" -> !tokens.restHasAny(Set.of("SONAME")) && takeTable();
                    default -> takeTable();
                };
        List<TableName> names = List.copyOf(tables);
        TableName of = null;
        if (known && kind.equals("TRIGGER") && tokens.restHasAny(Set.of("ON"))) {
            tables.clear();
            known = indexOn().tables() != null;
            // Both are in one schema.
            of = known ? new TableName(names.get(0).schema(), tables.get(0).table()) : null;
        }
        return new NamedObjects(kind, known ? names : null, of, ofAllColumns);
    }

    /** Without a name, ALTER is about the session's own. */
    private boolean takeDatabase() {
        boolean named = tokens.peek().kind() == SqlTokens.Kind.QUOTED
                || (tokens.peek().isName()
                        && !OPTIONS_OF_DATABASE.contains(tokens.peek().upper()));
        String name = named ? tokens.take().text() : database;
        tables.add(new TableName(name, ""));
        return !name.isEmpty();
    }

    private boolean takeServer() {
        SqlTokens.Token name = tokens.take();
        tables.add(new TableName("", name.text()));
        return name.isName();
    }

    private boolean takeNewName() {
        while (tokens.restHasAny(Set.of("RENAME"))) {
            if (tokens.take("RENAME") && tokens.take("TO")) {
                return takeTable();
            }
            tokens.take();
        }
        return true;
    }

    /** Takes IF EXISTS or IF NOT EXISTS. */
    private boolean takeIf() {
        if (!tokens.take("IF")) {
            return false;
        }
        tokens.take("NOT");
        tokens.take("EXISTS");
        return true;
    }

    private Statement drop() {
        if (tokens.take("TEMPORARY")) {
            return Statement.of(Kind.LOCAL);
        }
        if (tokens.take("INDEX")) {
            // Rows that a unique index would have refused can't change places with it.
            rowsGo = true;
            dropped = tokens.peek();
            return indexOn();
        }
        if (DATABASES.contains(tokens.peek().upper())) {
            tokens.take();
            takeIf();
            return takeDatabase() ? droppedDatabase() : Statement.of(Kind.DDL);
        }
        if (!tokens.take("TABLE") && !tokens.take("TABLES")) {
            return objects();
        }
        takeIf();
        rowsGo = true;
        return list() ? named() : Statement.of(Kind.DDL);
    }

    private Statement droppedDatabase() {
        NamedObjects database = new NamedObjects("DATABASE", List.copyOf(tables), null, false);
        return new Statement(Kind.DDL, Scope.EVERYTHING, null, false, false, true, false, null, database, List.of());
    }

    private Statement rename() {
        if (!tokens.take("TABLE") && !tokens.take("TABLES")) {
            return objects();
        }
        rowsGo = true;
        do {
            if (!takeTable() || !tokens.take("TO") || !takeTable()) {
                return Statement.of(Kind.DDL);
            }
        } while (tokens.takeSign(','));
        return named();
    }

    private Statement truncate() {
        tokens.take("TABLE");
        rowsGo = true;
        leavesEmpty = true;
        return takeTable() ? named() : Statement.of(Kind.DDL);
    }

    private Statement maintain() {
        if (!tokens.take("NO_WRITE_TO_BINLOG")) {
            tokens.take("LOCAL");
        }
        boolean ofTables = tokens.take("TABLE") || tokens.take("TABLES");
        return ofTables && list() ? Statement.upkeep() : Statement.of(Kind.DDL);
    }

    /** The tables of an ANALYZE TABLE; null where the statement is another one. */
    List<TableName> analyzed() {
        return tokens.take("ANALYZE") && tokens.take("TABLE") && list() ? tables : null;
    }

    private boolean list() {
        do {
            if (!takeTable()) {
                return false;
            }
        } while (tokens.takeSign(','));
        return true;
    }

    private Statement indexOn() {
        while (!tokens.atEnd() && !tokens.peek().is("ON")) {
            tokens.take();
        }
        if (!tokens.take("ON") || !takeTable()) {
            return Statement.of(Kind.DDL);
        }
        keepsColumns = !rowsGo && !new KeptColumns(tokens).isOverExpression();
        droppedIndexes = dropped == null ? List.of() : new Droppings(tokens).alone(dropped);
        return named();
    }

    /**
     * Names the one table that a statement changes. What triggers, foreign keys and functions do besides is for {@link
     * DefinedTables} to know.
     *
     * @param behind the words that may come behind the table where it is the only one; null where it always is
     */
    private Statement changesRows(Set<String> behind) {
        while (BEFORE_TABLE.contains(tokens.peek().upper())) {
            tokens.take();
        }
        boolean alone = takeTable()
                && (behind == null
                        || tokens.atEnd()
                        || behind.contains(tokens.peek().upper()));
        return alone
                ? new Statement(
                        Kind.DML,
                        Scope.EVERYTHING,
                        List.copyOf(tables),
                        false,
                        false,
                        true,
                        false,
                        null,
                        null,
                        List.of())
                : Statement.of(Kind.DML);
    }

    /** The other tables that a definition names; statements that read or merge tables conflict with everything. */
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
                    // Doesn't concern another table.
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
        return new Statement(
                Kind.DDL,
                rowsGo ? Scope.ROWS : Scope.TABLES,
                List.copyOf(tables),
                conditional,
                leavesEmpty,
                // One that is named alone gets rows from nowhere but a file.
                rowsGo && (bringsRows || tables.size() > 1),
                keepsColumns,
                numbering,
                null,
                droppedIndexes);
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
