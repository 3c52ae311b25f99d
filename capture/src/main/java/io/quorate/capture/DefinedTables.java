// SPDX-License-Identifier: Apache-2.0
package io.quorate.capture;

import io.quorate.capture.Statement.Scope;
import io.quorate.core.BinlogEvents;
import io.quorate.core.TableName;
import io.quorate.core.WriteSet;
import java.nio.charset.Charset;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** Says which tables a definition concerns. */
public final class DefinedTables {
    private static final Pattern OF_TRIGGER =
            Pattern.compile("\\s*(CREATE|DROP)\\b.*\\bTRIGGER\\b.*", Pattern.CASE_INSENSITIVE | Pattern.DOTALL);

    private final Map<Integer, Collation> collations;
    private final boolean lowerCaseNames;

    DefinedTables(Map<Integer, Collation> collations, boolean lowerCaseNames) {
        this.collations = collations;
        this.lowerCaseNames = lowerCaseNames;
    }

    /** For definitions that this server has, or shall get. */
    public static DefinedTables at(Connection connection) throws SQLException {
        return new DefinedTables(SchemaCatalog.collations(connection), ServerConnection.lowerCaseNames(connection));
    }

    /**
     * The tables that a definition changes or names; none for accounts, views and the like.
     *
     * @return null when it may concern any table, or when that isn't known
     */
    public Set<TableName> of(WriteSet definition) {
        byte[] payload = definition.payload();
        if (payload.length == 0 || BinlogEvents.type(payload, 0) != BinlogEvents.QUERY) {
            return null;
        }
        QueryEvent query = QueryEvent.read(payload, 0, BinlogEvents.length(payload, 0));
        Charset charset = Collation.charset(query.clientCollation, collations);
        if (charset == null) {
            return null;
        }
        String text = query.text(charset);
        Statement statement = Statement.parse(text, query.database, query.sqlMode);
        if (statement.kind() != Statement.Kind.DDL
                || statement.scope() == Scope.EVERYTHING
                || (statement.scope() == Scope.OBJECTS
                        && OF_TRIGGER.matcher(text).matches())) {
            return null;
        }
        return statement.tables() == null
                ? Set.of()
                : statement.tables().stream().map(this::name).collect(Collectors.toUnmodifiableSet());
    }

    private TableName name(Statement.TableName name) {
        return new TableName(lower(name.schema()), lower(name.table()));
    }

    private String lower(String name) {
        return lowerCaseNames ? name.toLowerCase(Locale.ROOT) : name;
    }
}
