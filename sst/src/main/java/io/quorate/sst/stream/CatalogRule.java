// SPDX-License-Identifier: Apache-2.0
package io.quorate.sst.stream;

import io.quorate.core.FromOutside;
import io.quorate.core.TableName;
import io.quorate.sst.stream.Catalog.Account;
import io.quorate.sst.stream.Catalog.Clause;
import io.quorate.sst.stream.Catalog.Program;
import io.quorate.sst.stream.Catalog.Role;
import io.quorate.sst.stream.Catalog.Schema;
import io.quorate.sst.stream.Catalog.Shared;
import io.quorate.sst.stream.Catalog.Table;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Holds a donor's {@link Catalog} to what a copy consists of, before any of it is run. Each statement makes one thing,
 * of the kind and under the name that the catalog says, in a schema of users; nothing is made in MySQL's own schemas
 * and in {@code quorate}. What a view, a program or an account does later is for the donor to say: it is the copy.
 */
final class CatalogRule {
    private static final Set<String> SYSTEM_USERS = Set.of("mysql.sys", "mysql.session", "mysql.infoschema");
    /** Rows of other tables would come with these. */
    private static final Set<String> ROWS = Set.of("SELECT", "TABLE");

    private CatalogRule() {}

    /** @throws io.quorate.core.QuorateException COPY_REFUSED, which names what is none of it */
    static void require(Catalog catalog) {
        check("the catalog", () -> Objects.requireNonNull(catalog.omitted()));
        each("what no schema has", catalog.shared(), Shared::name, CatalogRule::shared);
        each("schema", catalog.schemas(), Schema::name, CatalogRule::schema);
        Set<String> schemas = catalog.schemas().stream().map(Schema::name).collect(Collectors.toSet());
        each("table", catalog.tables(), t -> t.schema() + "." + t.name(), t -> table(t, schemas));
        each("routine", catalog.routines(), p -> p.schema() + "." + p.name(), CatalogRule::routine);
        each("view", catalog.views(), p -> p.schema() + "." + p.name(), CatalogRule::view);
        each("trigger", catalog.triggers(), p -> p.schema() + "." + p.name(), CatalogRule::trigger);
        each("event", catalog.events(), p -> p.schema() + "." + p.name(), CatalogRule::event);
        each("account", catalog.accounts(), a -> a.user() + "@" + a.host(), CatalogRule::account);
    }

    /**
     * Holds a statement that corrects a row to one that writes to that table alone, values that are in it.
     *
     * @throws io.quorate.core.QuorateException COPY_REFUSED
     */
    static void requireCorrection(String schema, String table, String update) {
        check("a correction of a row of " + schema + "." + table, () -> new StatementRule(update, Session.MODE)
                .words("UPDATE")
                .name(schema)
                .sign('.')
                .name(table)
                .words("SET")
                .only(Set.of(
                        "WHERE",
                        "AND",
                        "JSON_OBJECT",
                        "JSON_ARRAY",
                        "JSON_UNQUOTE",
                        "CAST",
                        "CONVERT",
                        "USING",
                        "UTF8MB4",
                        "AS",
                        "JSON",
                        "DATE",
                        "TIME",
                        "DATETIME",
                        "DECIMAL",
                        "UNSIGNED",
                        "BINARY",
                        "NULL",
                        "X")));
    }

    private interface Named<T> {
        String of(T one);
    }

    private interface Rule<T> {
        void require(T one);
    }

    private static <T> void each(String kind, List<T> all, Named<T> named, Rule<T> rule) {
        check(kind, () -> Objects.requireNonNull(all, "it is missing"));
        for (T one : all) {
            check(one == null ? kind : kind + " " + named.of(one), () -> rule.require(Objects.requireNonNull(one)));
        }
    }

    private static void check(String what, Runnable rule) {
        try {
            rule.run();
        } catch (IllegalArgumentException | NullPointerException e) {
            throw Session.refused("the donor sends as " + FromOutside.oneLine(what)
                    + " what isn't one, and nothing of it is made here: "
                    + FromOutside.oneLine(e instanceof NullPointerException ? "a part is missing" : e.getMessage())
                    + "; look at what the donor's service and server are");
        }
    }

    private static StatementRule read(String statement) {
        return new StatementRule(statement, Session.MODE);
    }

    private static void shared(Shared shared) {
        StatementRule create = read(shared.create()).words("CREATE");
        switch (shared.kind()) {
            case TABLESPACE -> create.words("TABLESPACE").name(shared.name()).words("ADD", "DATAFILE");
            case SERVER -> create.words("SERVER").name(shared.name()).words("FOREIGN", "DATA", "WRAPPER");
            case REFERENCE_SYSTEM -> {
                if (!shared.name().matches("[0-9]{1,10}")) {
                    throw new IllegalArgumentException("its number is none");
                }
                create.words("SPATIAL", "REFERENCE", "SYSTEM")
                        .name(shared.name())
                        .words("NAME");
            }
        }
        create.rest(Set.of());
    }

    private static void requireOfUsers(String schema) {
        if (schema.isEmpty() || !TableName.isSchemaOfUsers(schema)) {
            throw new IllegalArgumentException("schema " + schema + " isn't copied");
        }
    }

    private static void schema(Schema schema) {
        requireOfUsers(schema.name());
        Objects.requireNonNull(schema.collation());
        // The server tells in a comment that one is read-only.
        read(schema.create()).words("CREATE", "DATABASE").name(schema.name()).restWithComments(Set.of());
    }

    private static void table(Table table, Set<String> schemas) {
        requireOfUsers(table.schema());
        if (!schemas.contains(table.schema())) {
            throw new IllegalArgumentException("schema " + table.schema() + " doesn't come with it");
        }
        Objects.requireNonNull(table.engine());
        read(table.create())
                .words("CREATE", "TABLE")
                .name(table.name())
                .sign('(', "LIKE")
                .rest(ROWS);
        for (Clause index : table.indexes()) {
            read(index.definition())
                    // A generated one.
                    .perhaps("FOREIGN")
                    .perhaps("UNIQUE")
                    .perhaps("FULLTEXT")
                    .perhaps("SPATIAL")
                    .words("KEY")
                    .name(index.name())
                    .clause();
        }
        for (Clause key : table.foreignKeys()) {
            read(key.definition())
                    .words("CONSTRAINT")
                    .name(key.name())
                    .words("FOREIGN", "KEY")
                    .clauseWithoutTexts();
        }
    }

    private static StatementRule program(Program program, String... kinds) {
        requireOfUsers(program.schema());
        if (!List.of(kinds).contains(program.kind())) {
            throw new IllegalArgumentException("its kind is " + program.kind());
        }
        Stream.of(program.charset(), program.collation(), program.databaseCollation(), program.timeZone())
                .forEach(Objects::requireNonNull);
        String mode = program.kind().equals("VIEW") ? Session.MODE : program.sqlMode();
        return new StatementRule(program.create(), mode)
                .words("CREATE")
                .definer()
                // A view of 9.4 and later.
                .perhaps("JSON", "RELATIONAL", "DUALITY")
                .words(program.kind())
                .perhaps("IF", "NOT", "EXISTS")
                .name(program.schema(), program.name());
    }

    /** What follows the name isn't the parameters but a library, where a function isn't stored but loaded. */
    private static void routine(Program routine) {
        if (routine.kind().equals("LIBRARY")) {
            program(routine, "LIBRARY").oneOf(Set.of("COMMENT", "LANGUAGE"));
            return;
        }
        program(routine, "PROCEDURE", "FUNCTION").sign('(');
    }

    private static void view(Program view) {
        program(view, "VIEW").upTo("AS").restWithComments(Set.of("INTO"));
    }

    private static void trigger(Program trigger) {
        StatementRule rule = upToTable(trigger);
        rule.tableOf(trigger.schema());
        rule.words("FOR", "EACH", "ROW");
    }

    private static StatementRule upToTable(Program trigger) {
        return program(trigger, "TRIGGER")
                .oneOf(Set.of("BEFORE", "AFTER"))
                .oneOf(Set.of("INSERT", "UPDATE", "DELETE"))
                .words("ON");
    }

    /** The table of a trigger, as the trigger has it. */
    static TableName tableOf(Program trigger) {
        return new TableName(trigger.schema(), upToTable(trigger).tableOf(trigger.schema()));
    }

    private static void event(Program event) {
        program(event, "EVENT").words("ON", "SCHEDULE");
    }

    private static void account(Account account) {
        if (SYSTEM_USERS.contains(account.user().toLowerCase(Locale.ROOT))) {
            throw new IllegalArgumentException("it is MySQL's own");
        }
        read(account.create())
                .words("CREATE", "USER")
                .account(account.user(), account.host())
                .clause();
        for (String grant : account.grants()) {
            boolean revokes = grant.startsWith("REVOKE ");
            read(grant)
                    .words(revokes ? "REVOKE" : "GRANT")
                    .upTo(revokes ? "FROM" : "TO")
                    .account(account.user(), account.host())
                    .perhaps("WITH", "GRANT", "OPTION")
                    .end();
        }
        for (Role role : account.roles()) {
            read(role.name()).accountAlone();
        }
        for (String role : account.defaultRoles()) {
            read(role).accountAlone();
        }
    }
}
