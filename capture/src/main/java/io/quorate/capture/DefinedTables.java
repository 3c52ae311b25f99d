// SPDX-License-Identifier: Apache-2.0
package io.quorate.capture;

import io.quorate.capture.Statement.Scope;
import io.quorate.core.Keys;
import io.quorate.core.Payload;
import io.quorate.core.TableName;
import io.quorate.core.WriteSet;
import io.quorate.core.binlog.QueryEvent;
import java.nio.charset.Charset;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;

/** Says which tables a definition concerns. */
public final class DefinedTables {
    private static final String TRIGGERS =
            "SELECT EVENT_OBJECT_SCHEMA, EVENT_OBJECT_TABLE, TRIGGER_NAME FROM information_schema.TRIGGERS";

    private static final String VIEWS = "SELECT TABLE_SCHEMA, TABLE_NAME FROM information_schema.VIEWS";

    private static final String FUNCTIONS =
            "SELECT ROUTINE_NAME FROM information_schema.ROUTINES WHERE ROUTINE_TYPE = 'FUNCTION'";

    /** With these, an ALTER TABLE gives rows what depends on when it is run, or on its session. */
    private static final Set<String> OF_A_MOMENT = Set.of(
            "TIMESTAMP",
            "CURRENT_TIMESTAMP",
            "NOW",
            "LOCALTIME",
            "LOCALTIMESTAMP",
            "SYSDATE",
            "CURDATE",
            "CURRENT_DATE",
            "CURTIME",
            "CURRENT_TIME",
            "UTC_DATE",
            "UTC_TIME",
            "UTC_TIMESTAMP",
            "UNIX_TIMESTAMP",
            "UUID",
            "UUID_SHORT",
            "RAND",
            "RANDOM_BYTES",
            "CONNECTION_ID",
            "LAST_INSERT_ID",
            "USER",
            "CURRENT_USER",
            "SESSION_USER",
            "SYSTEM_USER");

    private final Map<Integer, Collation> collations;
    private final boolean lowerCaseNames;
    /** Tables with triggers, and views: a statement that changes these changes others, too. */
    private final Set<TableName> notAlone;
    /** Names of stored functions, in lower case: they may change any table. */
    private final Set<String> functions;
    /** The table of each trigger that this server has, or that it was asked about; by schema and name. */
    private final Map<TableName, TableName> triggers;

    DefinedTables(
            Map<Integer, Collation> collations,
            boolean lowerCaseNames,
            Set<TableName> notAlone,
            Set<String> functions,
            Map<TableName, TableName> triggers) {
        this.collations = collations;
        this.lowerCaseNames = lowerCaseNames;
        this.notAlone = notAlone;
        this.functions = functions;
        this.triggers = new ConcurrentHashMap<>(triggers);
    }

    /** For definitions that this server has, or shall get. */
    public static DefinedTables at(Connection connection) throws SQLException {
        boolean lowerCaseNames = ServerConnection.lowerCaseNames(connection);
        Set<TableName> notAlone = new HashSet<>();
        Set<String> functions = new HashSet<>();
        Map<TableName, TableName> triggers = new HashMap<>();
        try (java.sql.Statement statement = connection.createStatement()) {
            try (ResultSet rows = statement.executeQuery(TRIGGERS)) {
                while (rows.next()) {
                    TableName name = new TableName(rows.getString(1), rows.getString(2));
                    TableName table = lowerCaseNames ? name.inLowerCase() : name;
                    notAlone.add(table);
                    triggers.put(new TableName(table.schema(), rows.getString(3)).inLowerCase(), table);
                }
            }
            try (ResultSet rows = statement.executeQuery(VIEWS)) {
                while (rows.next()) {
                    TableName name = new TableName(rows.getString(1), rows.getString(2));
                    notAlone.add(lowerCaseNames ? name.inLowerCase() : name);
                }
            }
            try (ResultSet rows = statement.executeQuery(FUNCTIONS)) {
                while (rows.next()) {
                    functions.add(rows.getString(1).toLowerCase(Locale.ROOT));
                }
            }
        }
        return new DefinedTables(SchemaCatalog.collations(connection), lowerCaseNames, notAlone, functions, triggers);
    }

    /** The same where it is asked of definitions alone, and not of rows that the binlog has as a statement. */
    public static DefinedTables ofDefinitions(Connection connection) throws SQLException {
        return new DefinedTables(
                SchemaCatalog.collations(connection),
                ServerConnection.lowerCaseNames(connection),
                Set.of(),
                Set.of(),
                Map.of());
    }

    /** The key that whatever is written to a table takes among others. */
    public static long key(TableName table) {
        return KeyNames.table(table.schema(), table.table());
    }

    /**
     * The tables that a definition changes or names; for a trigger that whose rows it acts on; none for accounts, views
     * and the like. Of triggers to ask in the order in which they were defined.
     *
     * @return null when it may concern any table, or when that isn't known
     */
    public Set<TableName> of(WriteSet definition) {
        Text text = read(definition);
        Keys keys = definition.keys();
        if (keys.contains(Keys.NOT_REPEATABLE)
                && (keys.contains(Keys.CASCADES) || keys.contains(Keys.CASCADES_ANYWHERE))) {
            return null;
        }
        if (text != null && text.statement.kind() == Statement.Kind.DML) {
            return changedRows(text);
        }
        if (text != null && keys.contains(Keys.NOT_REPEATABLE) && text.statement.scope() == Scope.UPKEEP) {
            // It stands for a transaction that was too large.
            return lower(new StatementParser(SqlTokens.of(text.sql, text.sqlMode), "").analyzed());
        }
        if (text == null || text.mayBeAnything()) {
            return null;
        }
        if (text.statement.scope() == Scope.OBJECTS
                && text.statement.objects().kind().equals("TRIGGER")) {
            return ofTrigger(text.statement.objects());
        }
        List<TableName> tables = text.statement.tables();
        return tables == null ? Set.of() : lower(tables);
    }

    /**
     * Null when that isn't known. Of a trigger that is made where another table had one of its name, both tables: only
     * one of them can have it.
     */
    private Set<TableName> ofTrigger(NamedObjects named) {
        if (named.names() == null) {
            return null;
        }
        TableName trigger = named.names().get(0).inLowerCase();
        if (named.table() == null) {
            TableName known = triggers.get(trigger);
            return known == null ? null : Set.of(known);
        }
        TableName table = lower(named.table());
        TableName before = triggers.put(trigger, table);
        return before == null || before.equals(table) ? Set.of(table) : Set.of(table, before);
    }

    private Set<TableName> lower(List<TableName> tables) {
        return tables == null ? null : tables.stream().map(this::lower).collect(Collectors.toUnmodifiableSet());
    }

    /** A transaction that the binlog has as a statement. */
    private Set<TableName> changedRows(Text text) {
        if (text.statement.tables() == null) {
            return null;
        }
        TableName table = lower(text.statement.tables().get(0));
        SqlTokens tokens = SqlTokens.of(text.sql, text.sqlMode);
        while (!tokens.atEnd()) {
            SqlTokens.Token token = tokens.take();
            if (token.isName() && functions.contains(token.text().toLowerCase(Locale.ROOT))) {
                return null;
            }
        }
        return notAlone.contains(table) ? null : Set.of(table);
    }

    /** Whether it is one of accounts, views, triggers and other stored programs, and of nothing else. */
    public boolean isOfObjects(WriteSet definition) {
        Text text = read(definition);
        return text != null
                && !text.mayBeAnything()
                && text.statement.scope() == Scope.OBJECTS
                && !text.statement.objects().isSchema();
    }

    /** A database, and whether it is dropped, with all that it has. */
    public record Schema(String name, boolean dropped) {}

    /** The database that a definition makes, changes or drops; null when it isn't one of a database. */
    public Schema schema(WriteSet definition) {
        Text text = read(definition);
        NamedObjects named = text == null ? null : text.statement.objects();
        return named == null || !named.isSchema() || named.names() == null
                ? null
                : new Schema(lower(named.names().get(0)).schema(), text.statement.dropsSchema());
    }

    /**
     * Whether it changes columns, indexes or constraints of a table whose rows stay where and as they are: an ALTER
     * TABLE that moves, empties or converts nothing, or a statement of one index. Doubt means that it isn't.
     */
    public boolean altersInPlace(WriteSet definition) {
        Text text = read(definition);
        return text != null
                && !text.mayBeAnything()
                && new AlteredInPlace(SqlTokens.of(text.sql, text.sqlMode)).isAll();
    }

    /**
     * Whether two definitions do the same, run at the same state of what they name. Not if it depends on when or in
     * which session they are run.
     */
    public boolean doTheSame(WriteSet one, WriteSet other) {
        Text text = read(one);
        Payload.Events a = one.payload().statement();
        Payload.Events b = other.payload().statement();
        return text != null
                && b != null
                && (text.statement.dropsSchema() || !text.mayBeAnything())
                && text.statement.numbering() == null
                && isAll(one.payload(), a)
                && isAll(other.payload(), b)
                && QueryEvent.read(a.bytes(), a.offset(), a.length())
                        .isLike(QueryEvent.read(b.bytes(), b.offset(), b.length()))
                && !text.isOfAMoment();
    }

    private static boolean isAll(Payload payload, Payload.Events statement) {
        return statement.position() == 0 && statement.length() == payload.size();
    }

    /** Whether nothing is left of one definition once the other one is run after it. */
    public boolean overwrites(WriteSet one, WriteSet other) {
        Text before = read(one);
        Text after = read(other);
        if (before == null
                || after == null
                || before.statement.scope() != Scope.OBJECTS
                || after.statement.scope() != Scope.OBJECTS) {
            return false;
        }
        NamedObjects replaced = before.statement.objects();
        NamedObjects made = after.statement.objects();
        SqlTokens tokens = SqlTokens.of(after.sql, after.sqlMode);
        boolean view = made.kind().equals("VIEW") && tokens.take("CREATE") && tokens.take("OR");
        boolean characters = setsCharacters(before) && setsCharacters(after);
        return ((view && replaced.kind().equals("VIEW")) || characters)
                && made.names() != null
                && made.names().size() == 1
                && made.names().equals(replaced.names());
    }

    /**
     * Whether a server alone would answer OK to one definition beside the other one, and has afterwards what the other
     * one has made: it is the same and may be run twice, or nothing is left of it.
     */
    public boolean isAnsweredBy(WriteSet one, WriteSet other) {
        return other.isDefinition() && (overwrites(one, other) || (doTheSame(one, other) && mayBeRepeated(read(one))));
    }

    private static boolean mayBeRepeated(Text text) {
        SqlTokens tokens = SqlTokens.of(text.sql, text.sqlMode);
        if (text.statement.conditional() || tokens.take("GRANT") || setsCharacters(text)) {
            return true;
        }
        return tokens.take("CREATE")
                && (tokens.take("OR") || ((tokens.take("USER") || tokens.take("ROLE")) && tokens.take("IF")));
    }

    /** Whether it says of a database which characters it has, and no more. */
    private static boolean setsCharacters(Text text) {
        SqlTokens tokens = SqlTokens.of(text.sql, text.sqlMode);
        return tokens.take("ALTER")
                && text.statement.scope() == Scope.OBJECTS
                && text.statement.objects().isSchema()
                && tokens.restHasAny(Set.of("CHARACTER", "CHARSET", "COLLATE"))
                && !tokens.restHasAny(Set.of("ENCRYPTION", "READ"));
    }

    private record Text(String sql, long sqlMode, Statement statement) {
        /** Whether it does something else when it is run at another time or in another session. */
        boolean isOfAMoment() {
            if (statement.scope() == Scope.OBJECTS) {
                return statement.objects().kind().equals("EVENT");
            }
            return !statement.leavesEmpty() && SqlTokens.of(sql, sqlMode).restHasAny(OF_A_MOMENT);
        }

        boolean mayBeAnything() {
            return statement.kind() != Statement.Kind.DDL || statement.scope() == Scope.EVERYTHING;
        }
    }

    /** Null when it isn't a statement, or one in a character set that isn't known here. */
    private Text read(WriteSet definition) {
        Payload.Events statement = definition.payload().statement();
        if (statement == null) {
            return null;
        }
        QueryEvent query = QueryEvent.read(statement.bytes(), statement.offset(), statement.length());
        Charset charset = Collation.charset(query.clientCollation, collations);
        if (charset == null) {
            return null;
        }
        String sql = query.text(charset);
        return new Text(sql, query.sqlMode, Statement.parse(sql, query.database, query.sqlMode));
    }

    private TableName lower(TableName name) {
        return lowerCaseNames ? name.inLowerCase() : name;
    }
}
