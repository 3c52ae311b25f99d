// SPDX-License-Identifier: Apache-2.0
package io.quorate.capture;

import io.quorate.capture.Statement.Numbering;
import io.quorate.capture.TableDefinition.ForeignKey;
import io.quorate.capture.TableDefinition.Index;
import io.quorate.capture.TableDefinition.Part;
import io.quorate.core.BinlogPosition;
import io.quorate.core.CarriedSetting;
import io.quorate.core.Identifiers;
import io.quorate.core.OwnedGtids;
import io.quorate.core.TableName;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Definitions of tables as the server has them now. They may be later than the binlog event that needs them, which
 * {@link DefinitionsAhead} finds out. One connection, used by the reader's thread only.
 *
 * <p>Nothing that is asked here may wait for a commit: in commit mode {@code after-sync} that may be the one which
 * waits until its transaction is captured. A commit that waits keeps the locks of its statement, exclusive ones for
 * most definitions; one that changes accounts keeps the lock of their cache, which every query of information_schema
 * needs. So each query has a limit, after which the answer is the one that is right whatever the table is.
 */
final class SchemaCatalog implements Definitions {
    private static final Logger log = LoggerFactory.getLogger(SchemaCatalog.class);
    private static final int TABLES_MAX = 20_000;
    private static final int NO_SUCH_TABLE = 1146;

    /** How long a query may take before it counts as waiting for a commit; the session waits as long for a lock. */
    static final String LIMITED = "SELECT /*+ MAX_EXECUTION_TIME(1000) */ ";

    /**
     * How the server says that a query has come to its limit: a lock, the time, and interrupted, also while it read the
     * account that the views of information_schema belong to.
     */
    private static final Set<Integer> LIMIT_REACHED = Set.of(1205, 3024, 1317, 1449);

    private static final String EXPRESSIONS = LIMITED + "GENERATION_EXPRESSION FROM information_schema.COLUMNS"
            + " WHERE TABLE_SCHEMA = ? AND TABLE_NAME = ? AND GENERATION_EXPRESSION <> ''"
            + " UNION ALL SELECT EXPRESSION FROM information_schema.STATISTICS"
            + " WHERE TABLE_SCHEMA = ? AND TABLE_NAME = ? AND EXPRESSION IS NOT NULL"
            + " UNION ALL SELECT CHECK_CLAUSE FROM information_schema.TABLE_CONSTRAINTS"
            + " JOIN information_schema.CHECK_CONSTRAINTS USING (CONSTRAINT_SCHEMA, CONSTRAINT_NAME)"
            + " WHERE TABLE_SCHEMA = ? AND TABLE_NAME = ? AND ENFORCED = 'YES'";

    private final Connection connection;
    private final Counters counters;
    private final Map<TableName, TableDefinition> definitions = new HashMap<>();
    private final Map<TableName, TableDefinition> former;

    /** Null where nobody reads the binlog. */
    private final DefinitionsAhead ahead;

    private Map<TableName, Set<TableName>> cascades;

    /**
     * @param former definitions as they were last read, unless a statement may have changed how keys are made since;
     *     they hold as long as no statement is passed over, also for the next connection
     */
    SchemaCatalog(
            Connection connection, Counters counters, Map<TableName, TableDefinition> former, DefinitionsAhead ahead) {
        this.connection = connection;
        this.counters = counters;
        this.former = former;
        this.ahead = ahead;
    }

    /** Collations by id. */
    static Map<Integer, Collation> collations(Connection connection) throws SQLException {
        Map<Integer, Collation> collations = new HashMap<>();
        try (PreparedStatement s = connection.prepareStatement(
                        "SELECT ID, COLLATION_NAME, CHARACTER_SET_NAME, MAXLEN FROM information_schema.COLLATIONS"
                                + " JOIN information_schema.CHARACTER_SETS USING (CHARACTER_SET_NAME)");
                ResultSet r = s.executeQuery()) {
            while (r.next()) {
                collations.put(r.getInt(1), new Collation(r.getString(2), r.getString(3), r.getInt(4) == 1));
            }
        }
        return collations;
    }

    @Override
    public void forget() {
        former.clear();
        rereadAll();
    }

    private void rereadAll() {
        definitions.clear();
        cascades = null;
    }

    @Override
    public void reread(Collection<TableName> named, Redefined redefined) {
        if (redefined != Redefined.NONE) {
            named.forEach(former::remove);
        }
        if (redefined == Redefined.NAMED_AND_TIED) {
            former.values().removeIf(each -> !each.standsAlone());
        }
        definitions.values().removeIf(each -> !each.standsAlone());
        named.forEach(definitions::remove);
        cascades = null;
    }

    /**
     * The definition of a table, from memory if the server says that it hasn't changed since. Called once for each
     * table id in the binlog; the id is new whenever the server has opened the definition anew.
     */
    @Override
    public TableDefinition definition(TableName name, BinlogPosition at) throws SQLException {
        return unlessLimited(name, () -> present(name, at), definitions.getOrDefault(name, TableDefinition.UNKNOWN));
    }

    private interface Query<T> {
        T run() throws SQLException;
    }

    /** The answer of a query; {@code otherwise} when it would have to wait. */
    private <T> T unlessLimited(TableName name, Query<T> query, T otherwise) throws SQLException {
        return unlessLimited(name.schema() + "." + name.table(), query, otherwise);
    }

    private static <T> T unlessLimited(String name, Query<T> query, T otherwise) throws SQLException {
        try {
            return query.run();
        } catch (SQLException e) {
            if (!LIMIT_REACHED.contains(e.getErrorCode())) {
                throw e;
            }
            log.info(
                    "what {} is like can't be read without waiting for a commit ({}); what depends on it conflicts"
                            + " with more than it has to",
                    name,
                    e.getMessage());
            return otherwise;
        }
    }

    private TableDefinition present(TableName name, BinlogPosition at) throws SQLException {
        long created = created(name);
        TableDefinition known = definitions.get(name);
        if (known != null && known.createdSecond() == created) {
            return known;
        }
        if (former.size() >= TABLES_MAX) {
            forget();
        }
        if (known != null) {
            rereadAll();
        }
        while (true) {
            TableDefinition loaded = created == TableDefinition.GONE ? TableDefinition.NONE : load(name, created);
            counters.schemaLoads.increment();
            long createdAfter = created(name);
            if (createdAfter == created) {
                // The binlog has a statement before the server shows what it has made of a definition.
                boolean readsAhead = ahead != null && at != null;
                boolean later = readsAhead && ahead.mayChange(name, at);
                if (readsAhead && ahead.mayEndCascades()) {
                    loaded = loaded.afterCascadesEnded();
                }
                if (later) {
                    // Until the reader has come to the statement that has made it what it is.
                    return known == null ? loaded.later() : known;
                }
                TableDefinition definition = loaded.continuing(former.get(name));
                definitions.put(name, definition);
                former.put(name, definition);
                return definition;
            }
            created = createdAfter;
        }
    }

    @Override
    public boolean areNumberedAlike(TableName name, Numbering numbering) throws SQLException {
        return unlessLimited(
                name,
                () -> ("InnoDB".equals(readEngine(name)) && (numbering.hadPrimary() || wereSorted(name, numbering)))
                        || hasNoRows(name),
                false);
    }

    @Override
    public boolean werePlain(TableName name, List<String> indexes) {
        TableDefinition before = former.get(name);
        return before != null && before.exists() && before.arePlain(indexes);
    }

    @Override
    public String engine(TableName name) throws SQLException {
        return unlessLimited(name, () -> readEngine(name), null);
    }

    private String readEngine(TableName name) throws SQLException {
        try (PreparedStatement s = prepare(
                        LIMITED + "ENGINE FROM information_schema.TABLES WHERE TABLE_SCHEMA = ? AND TABLE_NAME = ?",
                        name);
                ResultSet r = s.executeQuery()) {
            return r.next() ? r.getString(1) : null;
        }
    }

    /** InnoDB keeps rows sorted by the primary key, or else by a unique key without NULL. */
    private boolean wereSorted(TableName name, Numbering numbering) throws SQLException {
        try (PreparedStatement s = prepare(
                LIMITED + "1 FROM information_schema.STATISTICS WHERE TABLE_SCHEMA = ? AND TABLE_NAME = ?"
                        + " AND NON_UNIQUE = 0 AND NOT IF(INDEX_NAME = 'PRIMARY', ?, ?) GROUP BY INDEX_NAME"
                        + " HAVING SUM(NULLABLE <> '' OR SUB_PART IS NOT NULL OR COLUMN_NAME IS NULL) = 0",
                name)) {
            s.setBoolean(3, numbering.primaryIsNew());
            s.setBoolean(4, numbering.uniqueIsNew());
            try (ResultSet r = s.executeQuery()) {
                return r.next();
            }
        }
    }

    private boolean hasNoRows(TableName name) throws SQLException {
        String table = Identifiers.quoted(name.schema(), name.table());
        try (java.sql.Statement s = connection.createStatement();
                ResultSet r = s.executeQuery(LIMITED + "1 FROM " + table + " LIMIT 1")) {
            return !r.next();
        } catch (SQLException e) {
            if (e.getErrorCode() == NO_SUCH_TABLE) {
                return false;
            }
            throw e;
        }
    }

    @Override
    public OriginSession session(long id, long second, Set<CarriedSetting> asked) throws SQLException {
        return unlessLimited("the session " + id, () -> OriginSession.of(connection, id, second, asked), null);
    }

    @Override
    public KnownTables.Present present() throws SQLException {
        return unlessLimited("the list of tables", this::readPresent, null);
    }

    private KnownTables.Present readPresent() throws SQLException {
        Set<TableName> names = new HashSet<>();
        try (java.sql.Statement s = connection.createStatement()) {
            try (ResultSet r = s.executeQuery(LIMITED + "TABLE_SCHEMA, TABLE_NAME FROM information_schema.TABLES"
                    + " WHERE TABLE_TYPE = 'BASE TABLE'")) {
                while (r.next()) {
                    names.add(new TableName(r.getString(1), r.getString(2)));
                }
            }
            // Those that are being committed may have dropped some by now.
            try (ResultSet r =
                    s.executeQuery(LIMITED + "@@GLOBAL.gtid_owned, @@GLOBAL.gtid_executed, @@GLOBAL.server_uuid")) {
                r.next();
                UUID server = UUID.fromString(r.getString(3));
                return new KnownTables.Present(
                        names,
                        OwnedGtids.givenOut(r.getString(1), r.getString(2)).last(server));
            }
        }
    }

    private long created(TableName name) throws SQLException {
        try (PreparedStatement s = prepare(
                        LIMITED + "UNIX_TIMESTAMP(CREATE_TIME) FROM information_schema.TABLES"
                                + " WHERE TABLE_SCHEMA = ? AND TABLE_NAME = ?",
                        name);
                ResultSet r = s.executeQuery()) {
            return r.next() ? r.getLong(1) : TableDefinition.GONE;
        }
    }

    private TableDefinition load(TableName name, long created) throws SQLException {
        Map<String, List<Part>> unique = new LinkedHashMap<>();
        boolean opaque = false;
        try (PreparedStatement s = prepare(
                        LIMITED + "INDEX_NAME, COLUMN_NAME, SUB_PART FROM information_schema.STATISTICS"
                                + " WHERE TABLE_SCHEMA = ? AND TABLE_NAME = ? AND NON_UNIQUE = 0"
                                + " ORDER BY INDEX_NAME, SEQ_IN_INDEX",
                        name);
                ResultSet r = s.executeQuery()) {
            while (r.next()) {
                String column = r.getString(2);
                opaque |= column == null;
                unique.computeIfAbsent(r.getString(1), k -> new ArrayList<>()).add(new Part(column, r.getInt(3)));
            }
        }
        List<Index> indexes = new ArrayList<>();
        unique.forEach((index, parts) -> {
            if (parts.stream().allMatch(part -> part.column() != null)) {
                indexes.add(new Index(index, List.copyOf(parts)));
            }
        });
        List<ForeignKey> references =
                foreignKeys("TABLE_SCHEMA = ? AND TABLE_NAME = ? AND REFERENCED_TABLE_NAME IS NOT NULL", name);
        List<List<String>> referenced = new ArrayList<>();
        for (ForeignKey child : foreignKeys("REFERENCED_TABLE_SCHEMA = ? AND REFERENCED_TABLE_NAME = ?", name)) {
            referenced.add(child.parentColumns());
        }
        List<TableName> children = referenced.isEmpty() ? List.of() : List.copyOf(cascadingChildren(name));
        List<TableName> cascaded = referenced.isEmpty() ? List.of() : cascadesBeyondChildren(name);
        return new TableDefinition(
                created,
                created,
                indexes,
                opaque,
                references,
                referenced,
                children,
                cascaded,
                readExpressions(name),
                false);
    }

    @Override
    public List<String> expressions(TableName name) throws SQLException {
        return unlessLimited(name, () -> readExpressions(name), List.of());
    }

    private List<String> readExpressions(TableName name) throws SQLException {
        List<String> texts = new ArrayList<>();
        try (PreparedStatement s = connection.prepareStatement(EXPRESSIONS)) {
            for (int i = 1; i <= 6; i += 2) {
                s.setString(i, name.schema());
                s.setString(i + 1, name.table());
            }
            try (ResultSet r = s.executeQuery()) {
                while (r.next()) {
                    texts.add(r.getString(1));
                }
            }
        }
        return List.copyOf(texts);
    }

    @Override
    public String timeZone(long id) throws SQLException {
        return unlessLimited("the session " + id, () -> OriginSession.timeZone(connection, id), null);
    }

    private List<ForeignKey> foreignKeys(String where, TableName name) throws SQLException {
        Map<String, ForeignKey> keys = new LinkedHashMap<>();
        try (PreparedStatement s = prepare(
                        LIMITED + "CONSTRAINT_SCHEMA, CONSTRAINT_NAME, REFERENCED_TABLE_SCHEMA, REFERENCED_TABLE_NAME,"
                                + " COLUMN_NAME, REFERENCED_COLUMN_NAME FROM information_schema.KEY_COLUMN_USAGE WHERE "
                                + where + " ORDER BY CONSTRAINT_SCHEMA, CONSTRAINT_NAME, ORDINAL_POSITION",
                        name);
                ResultSet r = s.executeQuery()) {
            while (r.next()) {
                TableName parent = new TableName(r.getString(3), r.getString(4));
                ForeignKey key = keys.computeIfAbsent(
                        r.getString(1) + "." + r.getString(2),
                        k -> new ForeignKey(parent, new ArrayList<>(), new ArrayList<>()));
                key.columns().add(r.getString(5));
                key.parentColumns().add(r.getString(6));
            }
        }
        return List.copyOf(keys.values());
    }

    /**
     * The binlog doesn't have the rows that a cascade changed. Children are safe, because their rows have a key of
     * their parent; but the rows of their children have no key of the grandparent.
     */
    private List<TableName> cascadesBeyondChildren(TableName parent) throws SQLException {
        Set<TableName> reached = new LinkedHashSet<>();
        List<TableName> toVisit = new ArrayList<>(cascadingChildren(parent));
        Set<TableName> visited = new LinkedHashSet<>();
        while (!toVisit.isEmpty()) {
            TableName child = toVisit.remove(toVisit.size() - 1);
            if (visited.add(child)) {
                reached.addAll(cascadingChildren(child));
                toVisit.addAll(cascadingChildren(child));
            }
        }
        return List.copyOf(reached);
    }

    private Set<TableName> cascadingChildren(TableName parent) throws SQLException {
        if (cascades == null) {
            cascades = loadCascades();
        }
        return cascades.getOrDefault(parent, Set.of());
    }

    private Map<TableName, Set<TableName>> loadCascades() throws SQLException {
        Map<TableName, Set<TableName>> children = new HashMap<>();
        try (PreparedStatement s = connection.prepareStatement(
                        LIMITED + "UNIQUE_CONSTRAINT_SCHEMA, REFERENCED_TABLE_NAME, CONSTRAINT_SCHEMA, TABLE_NAME"
                                + " FROM information_schema.REFERENTIAL_CONSTRAINTS"
                                + " WHERE DELETE_RULE IN ('CASCADE', 'SET NULL') OR UPDATE_RULE IN ('CASCADE',"
                                + " 'SET NULL')");
                ResultSet r = s.executeQuery()) {
            while (r.next()) {
                children.computeIfAbsent(new TableName(r.getString(1), r.getString(2)), k -> new LinkedHashSet<>())
                        .add(new TableName(r.getString(3), r.getString(4)));
            }
        }
        return children;
    }

    private PreparedStatement prepare(String sql, TableName name) throws SQLException {
        PreparedStatement s = connection.prepareStatement(sql);
        try {
            s.setString(1, name.schema());
            s.setString(2, name.table());
            return s;
        } catch (SQLException e) {
            s.close();
            throw e;
        }
    }
}
