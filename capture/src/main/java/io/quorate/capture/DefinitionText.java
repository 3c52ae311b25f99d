// SPDX-License-Identifier: Apache-2.0
package io.quorate.capture;

import io.quorate.capture.Statement.Scope;
import io.quorate.core.CarriedSetting;
import io.quorate.core.ErrorCode;
import io.quorate.core.KeyType;
import io.quorate.core.Keys;
import io.quorate.core.KeysBuilder;
import io.quorate.core.QuorateException;
import io.quorate.core.TableName;
import java.util.List;
import java.util.Set;

/**
 * A statement that is to be ordered before any server runs it, as far as its text tells what it is.
 *
 * <p>It is run at its place on every server, so whatever was ordered before it is no trouble. What is ordered after it
 * may be: rows that were written without it. Statements that rows fit without have keys with which such rows don't
 * conflict. For all others nobody may write until they have been run: {@link #needsFence}.
 */
public final class DefinitionText {
    private static final Set<String> ACCOUNTS = Set.of("USER", "ROLE");
    private static final Set<String> OF_ACCOUNTS = Set.of("GRANT", "REVOKE", "SET");
    private static final Set<String> UPKEEP = Set.of("FLUSH", "ANALYZE", "OPTIMIZE", "REPAIR");
    private static final Set<String> OF_A_SERVER = Set.of("INSTALL", "UNINSTALL", "IMPORT");
    private static final Set<String> PARTS_OF_A_SERVER = Set.of("INSTANCE", "RESOURCE", "LOGFILE", "UNDO");
    private static final Set<String> FILES = Set.of("DISCARD", "IMPORT");
    /** What runs with the privileges of a definer, and has statements of its own. */
    private static final Set<String> PROGRAMS = Set.of("PROCEDURE", "FUNCTION", "TRIGGER", "EVENT");

    private static final Set<String> DEFINED_BY = Set.of("VIEW", "PROCEDURE", "FUNCTION", "TRIGGER", "EVENT");
    private static final Set<String> ALTERED_BY = Set.of("VIEW", "EVENT");
    /** Before which a definer has to stand: SQL SECURITY, and JSON RELATIONAL DUALITY. */
    private static final Set<String> AFTER_DEFINER = Set.of("SQL", "JSON");

    private final String text;
    private final SqlTokens tokens;
    private final Statement statement;
    private final Unlogged unlogged;
    private final boolean lowerCaseNames;

    private DefinitionText(
            String text, SqlTokens tokens, Statement statement, Unlogged unlogged, boolean lowerCaseNames) {
        this.text = text;
        this.unlogged = unlogged;
        this.tokens = tokens;
        this.statement = statement;
        this.lowerCaseNames = lowerCaseNames;
    }

    /**
     * @param schema the default schema, empty for none
     * @param sqlMode as a number, as in the binlog
     * @param lowerCaseNames whether the servers know tables by their names in lower case
     * @throws QuorateException DEFINITION_NOT_ORDERED when it isn't one definition that any server can run at its place
     */
    public static DefinitionText of(String text, String schema, long sqlMode, boolean lowerCaseNames) {
        String one = withoutEnd(text, sqlMode);
        DefinitionText definition = new DefinitionText(
                one,
                SqlTokens.of(one, sqlMode),
                Statement.parse(one, schema, sqlMode),
                Unlogged.of(one, sqlMode),
                lowerCaseNames);
        definition.requireDefinition();
        definition.requireEverywhereAlike();
        return definition;
    }

    /** Without the semicolon at its end. */
    private static String withoutEnd(String text, long sqlMode) {
        SqlTokens tokens = SqlTokens.of(text, sqlMode);
        SqlTokens.Token last = null;
        while (!tokens.atEnd()) {
            last = tokens.take();
        }
        return last != null && last.isSign(';') ? text.substring(0, last.from()) : text;
    }

    private String word(int at) {
        return tokens.peek(at).upper();
    }

    private boolean isProgram() {
        return PROGRAMS.contains(word(object()));
    }

    /** Where the word is that says which kind of view or program is defined; 0 where it is none. */
    private int object() {
        boolean defines = word(0).equals("CREATE") || word(0).equals("ALTER");
        if (!defines || !(DEFINED_BY.contains(word(1)) || StatementParser.PREAMBLES.contains(word(1)))) {
            return 0;
        }
        int at = 1;
        while (tokens.peek(at).kind() != SqlTokens.Kind.END && !DEFINED_BY.contains(word(at))) {
            at++;
        }
        return at;
    }

    private void requireDefinition() {
        if (tokens.atEnd()) {
            throw refused("there is no statement in it", "give a definition");
        }
        boolean several = false;
        for (int i = 0; tokens.peek(i).kind() != SqlTokens.Kind.END; i++) {
            several |= tokens.peek(i).isSign(';');
        }
        if (several && !isProgram()) {
            throw refused("these are several statements", "give them one at a time, or as a file with -f");
        }
        if (OF_ACCOUNTS.contains(word(0)) || ACCOUNTS.contains(word(1))) {
            throw refused(
                    "accounts and variables are no part of a schema",
                    "run statements about accounts on any server as a client: they conflict with no rows, and are"
                            + " replicated");
        }
        if (UPKEEP.contains(word(0))) {
            throw refused("it defines nothing", "run it on any server as a client: it conflicts with nothing");
        }
        if (OF_A_SERVER.contains(word(0)) || PARTS_OF_A_SERVER.contains(word(1)) || isAboutFiles()) {
            throw refused("it concerns one server and its files", "run it on each server as a client");
        }
        switch (statement.kind()) {
            case DDL -> {
                // That is what it is to be.
            }
            case LOCAL ->
                throw refused("a temporary table belongs to one session", "run it in the session that uses the table");
            case DML -> throw refused("it changes or reads rows", "run it on any server as a client");
            default ->
                throw refused(
                        "it is no definition",
                        "give CREATE, ALTER, DROP, RENAME or TRUNCATE statements; a default schema is given by"
                                + " --schema");
        }
    }

    /** Tablespaces that are files put there by hand, and functions in a library. */
    private boolean isAboutFiles() {
        boolean files = false;
        for (int i = 2; tokens.peek(i).kind() != SqlTokens.Kind.END; i++) {
            files |=
                    FILES.contains(word(i)) && Set.of("TABLESPACE", "PARTITION").contains(word(i + 1));
            files |= word(i).equals("SONAME") && tokens.peek(i + 1).isString();
        }
        return files;
    }

    private void requireEverywhereAlike() {
        if (word(0).equals("CREATE") && word(1).equals("TABLE") && readsRows()) {
            throw refused(
                    "each server would fill the table from its own rows",
                    "create the table first; then fill it by INSERT ... SELECT as a client of any server");
        }
        boolean ours = namedTables().stream().anyMatch(name -> name.schema().equals(TablePlans.OUR_SCHEMA))
                || (Set.of("DATABASE", "SCHEMA").contains(word(1)) && namesOurSchema());
        if (ours) {
            throw refused("the schema quorate is the service's own", "leave it alone");
        }
        if (namedTables().stream().anyMatch(TableName::isServersOwn)) {
            throw refused(
                    "each server has this table for itself", "run it as a client of each server that is to have it");
        }
        String unrepeatable = unlogged.drawsLots() ? "RAND()" : unlogged.unrepeatable();
        if (unrepeatable != null) {
            throw refused(unrepeatable + " is something else on each server", "write the value itself");
        }
        for (int i = 0; i < object(); i++) {
            if (word(i).equals("DEFINER") && word(i + 2).equals("CURRENT_USER")) {
                throw refused(
                        "the account that runs it on the servers is the service's",
                        "name the account after DEFINER, or leave DEFINER out: then it is the account you give");
            }
        }
    }

    private boolean readsRows() {
        for (int i = 2; tokens.peek(i).kind() != SqlTokens.Kind.END; i++) {
            if (word(i).equals("SELECT")
                    || word(i).equals("TABLE")
                    || (word(i).equals("VALUES") && word(i + 1).equals("ROW"))) {
                return true;
            }
        }
        return false;
    }

    private boolean namesOurSchema() {
        for (int i = 2; i < 6; i++) {
            SqlTokens.Token token = tokens.peek(i);
            if (token.isName() && token.text().equalsIgnoreCase(TablePlans.OUR_SCHEMA)) {
                return true;
            }
        }
        return false;
    }

    private QuorateException refused(String cause, String wayOut) {
        return new QuorateException(
                ErrorCode.DEFINITION_NOT_ORDERED,
                "\"" + Statement.shorten(text) + "\" can't be ordered first: " + cause + "; " + wayOut);
    }

    /**
     * Whether clients must be kept from writing until every server has run it, because rows that are written without it
     * may not fit.
     */
    public boolean needsFence() {
        return switch (statement.scope()) {
            case EVERYTHING, ROWS -> true;
            case TABLES -> !createsTable();
            case COPIED_DEFINITION, ADDED_COLUMNS, ADDED_INDEXES, DROPPED_CHECKS, OBJECTS, UPKEEP -> false;
        };
    }

    /** Nobody can have written to a table that there isn't yet. If there is one, the statement does nothing. */
    private boolean createsTable() {
        return statement.leavesEmpty() && statement.scope() == Scope.TABLES && word(0).equals("CREATE");
    }

    /** What it conflicts with. */
    public Keys keys() {
        KeysBuilder keys = new KeysBuilder();
        DefinitionConflicts.addDefined(statement.scope(), statement.leavesEmpty(), namedTables(), keys);
        switch (statement.scope()) {
            case EVERYTHING -> keys.add(Keys.EVERYTHING, KeyType.EXCLUSIVE);
            case OBJECTS -> statement.objects().addKeys(lowerCaseNames, keys);
            case UPKEEP -> {
                // It is refused.
            }
            case TABLES -> addTables(keys, createsTable() ? KeyType.UPDATE : KeyType.EXCLUSIVE);
            case ROWS -> addTables(keys, KeyType.EXCLUSIVE);
            case COPIED_DEFINITION, ADDED_INDEXES, DROPPED_CHECKS -> addTables(keys, KeyType.UPDATE);
            case ADDED_COLUMNS -> {
                addTables(keys, KeyType.UPDATE);
                namedTables()
                        .forEach(name -> keys.add(KeyNames.wholeRows(name.schema(), name.table()), KeyType.EXCLUSIVE));
            }
        }
        return keys.build();
    }

    private void addTables(KeysBuilder keys, KeyType type) {
        namedTables().forEach(name -> keys.add(KeyNames.table(name.schema(), name.table()), type));
    }

    /** The settings that its effect depends on, and that no event of a server's has. */
    Set<CarriedSetting> settings() {
        return unlogged.settings();
    }

    private List<TableName> namedTables() {
        return statement.tables() == null
                ? List.of()
                : statement.tables().stream()
                        .map(name -> lowerCaseNames ? name.inLowerCase() : name)
                        .toList();
    }

    /** Schema and table of a table whose rows it numbers; null when it numbers none. */
    List<String> numberedTable() {
        if (statement.numbering() == null) {
            return null;
        }
        TableName name = statement.tables() == null
                ? new TableName("", "")
                : statement.tables().get(0);
        return List.of(name.schema(), name.table());
    }

    /** Its text, in which a view or program that names no definer has this one. */
    String text(String definer) {
        int object = object();
        if (!(word(0).equals("CREATE") ? DEFINED_BY : ALTERED_BY).contains(word(object))) {
            return text;
        }
        int before = object;
        for (int i = 1; i < object; i++) {
            if (word(i).equals("DEFINER")) {
                return text;
            }
            before = before == object && AFTER_DEFINER.contains(word(i)) ? i : before;
        }
        int at = tokens.peek(before).from();
        return text.substring(0, at) + "DEFINER = " + definer + " " + text.substring(at);
    }

    /** The first words of its text. */
    public String shortText() {
        return Statement.shorten(text);
    }
}
