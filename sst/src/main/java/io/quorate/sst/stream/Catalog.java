// SPDX-License-Identifier: Apache-2.0
package io.quorate.sst.stream;

import io.quorate.core.Identifiers;
import io.quorate.core.TableName;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Everything of a server that isn't rows. What {@link CatalogRestore} makes of it at another server is the same. The
 * system's own schemas and accounts, and the schema {@code quorate}, aren't part of it.
 *
 * <p>It has the hashes of passwords: it is never logged, and goes nowhere except from donor to joiner.
 *
 * @param shared what no schema has
 * @param tables by schema and name
 * @param triggers those of a table and an event in the order in which they run
 */
public record Catalog(
        Omitted omitted,
        List<Shared> shared,
        List<Schema> schemas,
        List<Table> tables,
        List<Program> routines,
        List<Program> views,
        List<Program> triggers,
        List<Program> events,
        List<Account> accounts) {

    /** What {@link SharedObjects} says. */
    public record Shared(Kind kind, String name, String create) {
        /** As in {@code DROP}. */
        public enum Kind {
            TABLESPACE("TABLESPACE "),
            REFERENCE_SYSTEM("SPATIAL REFERENCE SYSTEM "),
            SERVER("SERVER ");

            private final String words;

            Kind(String words) {
                this.words = words;
            }
        }

        String drop() {
            return "DROP " + this;
        }

        /** Without the password that a server's statement has. */
        @Override
        public String toString() {
            return kind.words + (kind == Kind.REFERENCE_SYSTEM ? name : Identifiers.quoted(name));
        }
    }

    /**
     * @param create {@code CREATE DATABASE} with character set, collation and encryption
     * @param readOnly whether nobody may change its content or add to it
     */
    public record Schema(String name, String create, String collation, boolean readOnly) {}

    /**
     * @param create {@code CREATE TABLE} without what is deferred
     * @param indexes what has to be added when the rows are there, and at the end, with the foreign keys, those that a
     *     server generates ({@link GeneratedKeys})
     * @param foreignKeys what has to be added when all tables have their indexes
     * @param keyed whether rows are found by a primary key, as an audit sees it
     */
    public record Table(
            String schema,
            String name,
            String create,
            List<Clause> indexes,
            List<Clause> foreignKeys,
            String engine,
            boolean keyed) {
        public TableName fullName() {
            return new TableName(schema, name);
        }
    }

    /**
     * What {@code ALTER TABLE ... ADD} takes.
     *
     * @param name of the index or the constraint
     */
    public record Clause(String name, String definition) {}

    /**
     * A view, routine, trigger or event, and the session in which it has to be made.
     *
     * @param kind as in {@code DROP kind name}
     * @param sqlMode empty for a view, which has none
     * @param charset character_set_client
     * @param collation collation_connection
     * @param databaseCollation the schema's when it was made, which types without a collation of their own have; empty
     *     for a view
     * @param timeZone of an event, else empty
     * @param valid whether the donor itself can use it, as far as it says; known of views only
     */
    public record Program(
            String kind,
            String schema,
            String name,
            String create,
            String sqlMode,
            String charset,
            String collation,
            String databaseCollation,
            String timeZone,
            boolean valid) {}

    /**
     * An account or a role.
     *
     * @param create {@code CREATE USER} without default roles
     * @param grants statements, except those for roles
     * @param defaultRoles names in the form that statements take
     */
    public record Account(
            String user, String host, String create, List<String> grants, List<Role> roles, List<String> defaultRoles) {
        /** Without its password. */
        @Override
        public String toString() {
            return name();
        }

        /** The name in the form that statements take. */
        String name() {
            return Session.account(user, host);
        }
    }

    /**
     * A role that is granted to an account.
     *
     * @param name in the form that statements take
     * @param admin whether the account may grant it to others
     */
    public record Role(String name, boolean admin) {}

    /**
     * Holds what another node has sent to what a copy consists of.
     *
     * @throws io.quorate.core.QuorateException COPY_REFUSED, which names what is none of it
     */
    public void require() {
        CatalogRule.require(this);
    }

    /** These tables with their schemas, and all triggers; nothing else. */
    public Catalog only(Set<TableName> names) {
        return only(names, Set.of());
    }

    /** The same, and these schemas. */
    public Catalog only(Set<TableName> names, Set<String> alone) {
        List<Table> kept = tables.stream()
                .filter(table -> names.contains(table.fullName()))
                .toList();
        List<Schema> around = schemas.stream()
                .filter(schema -> alone.contains(schema.name())
                        || kept.stream().anyMatch(table -> table.schema().equals(schema.name())))
                .toList();
        return ofTables(omitted, around, kept, triggers);
    }

    private static Catalog ofTables(Omitted omitted, List<Schema> schemas, List<Table> tables, List<Program> triggers) {
        return new Catalog(omitted, List.of(), schemas, tables, List.of(), List.of(), triggers, List.of(), List.of());
    }

    /** With these tables in place of its own ones of their names. */
    public Catalog with(List<Table> others) {
        Map<TableName, Table> byName =
                others.stream().collect(Collectors.toMap(Table::fullName, other -> other, (one, same) -> same));
        return new Catalog(
                omitted,
                shared,
                schemas,
                tables.stream()
                        .map(table -> byName.getOrDefault(table.fullName(), table))
                        .toList(),
                routines,
                views,
                triggers,
                events,
                accounts);
    }

    /** The tables that foreign keys tie together, each pair as child and parent. */
    public Set<Map.Entry<TableName, TableName>> ties() {
        Set<Map.Entry<TableName, TableName>> ties = new HashSet<>();
        for (Table table : tables) {
            for (Clause key : table.foreignKeys()) {
                ties.add(Map.entry(table.fullName(), Unit.referenced(table.schema(), key.definition())));
            }
        }
        return ties;
    }

    /**
     * Reads what a server has, but for {@link GeneratedKeys}. The statements run one after the other: what is made or
     * dropped meanwhile may be in the result or not.
     *
     * @param donor a connection for this only: its session is changed
     * @throws io.quorate.core.QuorateException COPY_REFUSED when the account can't see all of it
     */
    public static Catalog read(Connection donor, Omitted omitted) throws SQLException {
        try (Session session = Session.ofDonor(donor)) {
            return new CatalogReader(session, donor, omitted).read();
        }
    }

    /** Reads some tables, and nothing else. */
    public static Catalog read(Connection donor, List<TableName> names) throws SQLException {
        try (Session session = Session.ofDonor(donor)) {
            List<Table> tables = new CatalogReader(session, donor, Omitted.NOTHING).tables(Set.copyOf(names));
            return ofTables(Omitted.NOTHING, List.of(), tables, List.of());
        }
    }
}
