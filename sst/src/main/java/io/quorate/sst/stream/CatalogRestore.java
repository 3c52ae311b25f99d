// SPDX-License-Identifier: Apache-2.0
package io.quorate.sst.stream;

import io.quorate.core.ErrorCode;
import io.quorate.core.Identifiers;
import io.quorate.core.QuorateException;
import io.quorate.core.TableName;
import io.quorate.core.binlog.ExpressionSettings;
import io.quorate.sst.stream.Catalog.Clause;
import io.quorate.sst.stream.Catalog.Schema;
import io.quorate.sst.stream.Catalog.Table;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * Makes at the joiner what is in a donor's {@link Catalog}, in this sequence: {@link #dropAll}, {@link #create}, then
 * the rows, {@link #addIndexes} of every table, {@link #addForeignKeys} of every table, {@link #createRest}, {@link
 * #accounts}. Each can be run again, and makes what is still missing. Nothing of it goes into the binlog.
 *
 * <p>The connections are for this only: their sessions are changed, including their default schema. If MySQL refuses
 * something for a reason that doesn't pass by itself, a {@link QuorateException} COPY_REFUSED is thrown.
 */
public final class CatalogRestore {
    private static final int DUPLICATE = 1062;
    private static final Duration ZONES_LIMIT = Duration.ofMinutes(30);

    /** A generated column, in the text of its table. */
    private static final Pattern GENERATED = Pattern.compile("(?m)^\\s*(`(?:[^`]|``)+`) .* GENERATED ALWAYS AS ");

    private static final String INDEXES =
            "SELECT INDEX_NAME FROM information_schema.STATISTICS WHERE TABLE_SCHEMA = ? AND TABLE_NAME = ?";

    private final Catalog catalog;

    /** @throws QuorateException COPY_REFUSED when the catalog has something that isn't part of a copy */
    public CatalogRestore(Catalog catalog) {
        catalog.require();
        this.catalog = catalog;
    }

    /** Drops all schemas except the system's and {@code quorate}, and what no schema has. */
    public void dropAll(Connection joiner) throws SQLException {
        try (Session session = Session.ofJoiner(joiner)) {
            for (List<String> row : session.rows("SELECT s.SCHEMA_NAME, COALESCE(e.OPTIONS LIKE '%READ ONLY=1%', 0)"
                    + " FROM information_schema.SCHEMATA s LEFT JOIN information_schema.SCHEMATA_EXTENSIONS e"
                    + " ON e.SCHEMA_NAME = s.SCHEMA_NAME WHERE s.SCHEMA_NAME NOT IN "
                    + Session.SYSTEM_SCHEMAS)) {
                if (row.get(1).equals("1")) {
                    session.setReadOnly(row.get(0), false);
                }
                session.make(
                        "room for schema " + row.get(0), "DROP DATABASE IF EXISTS " + Identifiers.quoted(row.get(0)));
            }
            new SharedObjects(session).replace(List.of());
        }
    }

    /** Drops tables, with their triggers. */
    public static void drop(Connection joiner, Set<TableName> tables) throws SQLException {
        try (Session session = Session.ofJoiner(joiner)) {
            for (TableName table : tables) {
                String name = Identifiers.quoted(table.schema(), table.table());
                session.make("room for table " + table, "DROP TABLE IF EXISTS " + name);
            }
        }
    }

    /** Gives schemas that were here before {@link #create} the donor's character sets and encryption. */
    public void setSchemas(Connection joiner, Set<String> names) throws SQLException {
        try (Session session = Session.ofJoiner(joiner)) {
            for (Schema schema : catalog.schemas()) {
                if (names.contains(schema.name())) {
                    session.make(
                            "the characters of schema " + schema.name(),
                            "ALTER" + schema.create().substring("CREATE".length()));
                }
            }
        }
    }

    /**
     * Makes those triggers of some tables that aren't here, and makes schemas read-only if the donor's are. Those of
     * other tables may be defined only later here.
     */
    public void createMissingTriggers(Connection joiner, Set<TableName> tables) throws SQLException {
        // A server may keep the names of tables in lower case, but not those in a trigger.
        Set<TableName> names = tables.stream().map(TableName::inLowerCase).collect(Collectors.toSet());
        try (Session session = Session.ofJoiner(joiner)) {
            Set<List<String>> here =
                    Set.copyOf(session.rows("SELECT TRIGGER_SCHEMA, TRIGGER_NAME FROM information_schema.TRIGGERS"));
            new ProgramMaker(session, catalog)
                    .make(catalog.triggers().stream()
                            .filter(trigger -> !here.contains(List.of(trigger.schema(), trigger.name())))
                            .filter(trigger ->
                                    names.contains(CatalogRule.tableOf(trigger).inLowerCase()))
                            .toList());
        }
    }

    /** Makes schemas and tables, tables without what is deferred. */
    public void create(Connection joiner) throws SQLException {
        try (Session session = Session.ofJoiner(joiner)) {
            new SchemaCollations(session).restore();
            new SharedObjects(session).makeMissing(catalog.shared());
            for (Schema schema : catalog.schemas()) {
                session.make("schema " + schema.name(), ifMissing(schema.create(), "CREATE DATABASE "));
                if (schema.readOnly()) {
                    session.setReadOnly(schema.name(), false);
                }
            }
            for (Table table : catalog.tables()) {
                session.execute("USE " + Identifiers.quoted(table.schema()));
                session.make("table " + named(table), ifMissing(table.create(), "CREATE TABLE "));
            }
        }
    }

    /** What is in its tables may be nowhere else. */
    private static void dropEmpty(Session session, String schema) throws SQLException {
        List<List<String>> tables = session.rows(
                "SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA = ? AND TABLE_TYPE = 'BASE TABLE'",
                schema);
        if (!tables.isEmpty()) {
            throw new QuorateException(
                    ErrorCode.COPY_REFUSED,
                    "schema " + schema + ", which the donor doesn't have, has table "
                            + tables.get(0).get(0));
        }
        session.make("no schema " + schema, "DROP DATABASE IF EXISTS " + Identifiers.quoted(schema));
    }

    private static String ifMissing(String create, String verb) {
        if (!create.startsWith(verb)) {
            throw new IllegalArgumentException("not " + verb + "...: " + create);
        }
        return verb + "IF NOT EXISTS " + create.substring(verb.length());
    }

    private static String named(Table table) {
        return Identifiers.quoted(table.schema(), table.name());
    }

    /** Adds those deferred indexes of a table that it doesn't have. The time it takes grows with the table. */
    public void addIndexes(Connection joiner, Table table) throws SQLException {
        addIndexes(joiner, table, table.indexes());
    }

    /**
     * The same without unique indexes of what is computed: rows that are loaded may have the same value there before
     * they are corrected, or under this session's time zone.
     */
    public void addIndexesBeforeRows(Connection joiner, Table table) throws SQLException {
        addIndexes(
                joiner,
                table,
                table.indexes().stream().filter(c -> !isOfComputed(table, c)).toList());
    }

    private static boolean isOfComputed(Table table, Clause index) {
        return index.definition().startsWith("UNIQUE ")
                && (index.definition().contains("((")
                        || GENERATED.matcher(table.create()).results().anyMatch(column -> index.definition()
                                .contains(column.group(1))));
    }

    private void addIndexes(Connection joiner, Table table, List<Clause> indexes) throws SQLException {
        try (Session session = Session.ofJoiner(joiner)) {
            List<Clause> missing = missing(
                    session,
                    table,
                    indexes.stream().filter(c -> !GeneratedKeys.isOne(c)).toList(),
                    INDEXES);
            // InnoDB makes one FULLTEXT index at a time, and for the first one it makes the whole table again, so there
            // should be no other index yet.
            for (Clause clause : missing) {
                if (isFullText(clause)) {
                    add(session, table, List.of(clause));
                }
            }
            List<Clause> others = missing.stream().filter(c -> !isFullText(c)).toList();
            if (others.stream().anyMatch(c -> isOfComputed(table, c))) {
                addUnderAnyTimeZone(session, table, others);
            } else {
                add(session, table, others);
            }
        }
    }

    /**
     * An index of an expression or a virtual column has what the server computes now. Under another time zone than the
     * one of those who wrote the rows, two of them may be the same.
     */
    private static void addUnderAnyTimeZone(Session session, Table table, List<Clause> clauses) throws SQLException {
        long end = System.nanoTime() + ZONES_LIMIT.toNanos();
        session.execute("USE " + Identifiers.quoted(table.schema()));
        try {
            for (String zone : ExpressionSettings.zones()) {
                session.execute("SET SESSION time_zone = " + (zone.isEmpty() ? "DEFAULT" : "'" + zone + "'"));
                try {
                    session.execute(adding(table, clauses));
                    return;
                } catch (SQLException e) {
                    if (e.getErrorCode() != DUPLICATE) {
                        throw Session.failure(what(table, clauses), e);
                    }
                }
                if (System.nanoTime() > end) {
                    break;
                }
            }
        } finally {
            session.execute(Session.COMMON);
        }
        throw new QuorateException(
                ErrorCode.COPY_NOT_BY_STREAM,
                "there is no time zone under which no two rows are the same by the unique indexes of what is computed"
                        + " among " + what(table, clauses) + "; an index over a STORED column can be copied");
    }

    private static boolean isFullText(Clause clause) {
        return clause.definition().startsWith("FULLTEXT ");
    }

    /**
     * Adds those foreign keys of a table that it doesn't have, with the indexes that the server generates. The rows
     * aren't checked, because they are the donor's.
     */
    public void addForeignKeys(Connection joiner, Table table) throws SQLException {
        try (Session session = Session.ofJoiner(joiner)) {
            List<Clause> missing = missing(
                    session,
                    table,
                    table.foreignKeys(),
                    "SELECT CONSTRAINT_NAME FROM information_schema.TABLE_CONSTRAINTS"
                            + " WHERE TABLE_SCHEMA = ? AND TABLE_NAME = ? AND CONSTRAINT_TYPE = 'FOREIGN KEY'");
            add(session, table, missing);
            // A foreign key brings an index of its name; those of other names take its place.
            List<Clause> generated =
                    table.indexes().stream().filter(GeneratedKeys::isOne).toList();
            if (!generated.isEmpty()) {
                add(
                        session,
                        table,
                        missing(session, table, generated, INDEXES).stream()
                                .map(GeneratedKeys::byNoForeignKey)
                                .toList());
                GeneratedKeys.leave(session, table);
            }
        }
    }

    private static List<Clause> missing(Session session, Table table, List<Clause> clauses, String query)
            throws SQLException {
        if (clauses.isEmpty()) {
            return clauses;
        }
        Set<String> there = session.rows(query, table.schema(), table.name()).stream()
                .map(row -> row.get(0).toLowerCase(Locale.ROOT))
                .collect(Collectors.toSet());
        return clauses.stream()
                .filter(clause -> !there.contains(clause.name().toLowerCase(Locale.ROOT)))
                .toList();
    }

    private static void add(Session session, Table table, List<Clause> clauses) throws SQLException {
        if (clauses.isEmpty()) {
            return;
        }
        session.execute("USE " + Identifiers.quoted(table.schema()));
        session.make(what(table, clauses), adding(table, clauses));
    }

    private static String what(Table table, List<Clause> clauses) {
        return clauses.stream().map(Clause::name).collect(Collectors.joining(", ")) + " of " + named(table);
    }

    private static String adding(Table table, List<Clause> clauses) {
        return clauses.stream()
                .map(clause -> "ADD " + clause.definition())
                .collect(Collectors.joining(", ", "ALTER TABLE " + named(table) + " ", ""));
    }

    /**
     * Makes routines, views, triggers, events and what no schema has, and makes schemas read-only if the donor's are.
     *
     * @return what couldn't be made because the donor itself doesn't have what it needs, or this copy leaves it out; a
     *     line each
     */
    public List<String> createRest(Connection joiner) throws SQLException {
        try (Session session = Session.ofJoiner(joiner)) {
            List<String> left = new ArrayList<>(new SharedObjects(session).replace(catalog.shared()));
            left.addAll(new ProgramMaker(session, catalog).make());
            return left;
        }
    }

    /**
     * As {@link #createRest} and {@link #accounts}, on a server that has such objects already: what the donor doesn't
     * have goes.
     *
     * @param schemas those that go, too, if the donor doesn't have them
     */
    public List<String> replaceRest(Connection joiner, String keepUser, Set<String> schemas) throws SQLException {
        try (Session session = Session.ofJoiner(joiner)) {
            new ProgramMaker(session, catalog).dropOthers();
            for (String schema : schemas) {
                if (!catalog.omitted().hasSchema(schema)
                        && catalog.schemas().stream().noneMatch(s -> s.name().equals(schema))) {
                    dropEmpty(session, schema);
                }
            }
        }
        List<String> left = new ArrayList<>(createRest(joiner));
        left.addAll(accounts(joiner, keepUser));
        return left;
    }

    /**
     * Makes sure that the joiner's service may grant what the donor's accounts have, before anything is copied.
     *
     * @throws QuorateException COPY_REFUSED with the account, the rights and what helps
     */
    public void requireRights(Connection joiner, String keepUser) throws SQLException {
        if (!catalog.omitted().accounts()) {
            try (Session session = Session.ofJoiner(joiner)) {
                new AccountMaker(session, catalog.accounts(), keepUser).requireRights();
            }
        }
    }

    /**
     * By account of a server, the rights on everything that the service's account could not grant on another server
     * where it has what it has on this one. Without the account that a server has from its beginning. The connection is
     * for this only.
     */
    public static Map<String, List<String>> notGrantable(Connection server, String service) throws SQLException {
        try (Session session = Session.ofDonor(server)) {
            Map<String, List<String>> rights = new LinkedHashMap<>();
            new AccountMaker(session, AccountReader.read(session), service)
                    .lacking(Map.of())
                    .forEach((account, lacking) -> rights.put(account.name(), lacking));
            rights.remove("'root'@'localhost'");
            return rights;
        }
    }

    /**
     * Gives the joiner the donor's accounts, roles, grants and default roles, unless they are left out. Has to be run
     * last, because a grant needs its object.
     *
     * @param keepUser a user name whose accounts here stay as they are, except for grants that they lack
     * @return the donor's grants on what isn't there, a line each
     */
    public List<String> accounts(Connection joiner, String keepUser) throws SQLException {
        if (catalog.omitted().accounts()) {
            return new ArrayList<>();
        }
        try (Session session = Session.ofJoiner(joiner)) {
            return new AccountMaker(session, catalog.accounts(), keepUser).make();
        }
    }
}
