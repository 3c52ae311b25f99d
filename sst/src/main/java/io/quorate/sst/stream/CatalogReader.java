// SPDX-License-Identifier: Apache-2.0
package io.quorate.sst.stream;

import io.quorate.core.Identifiers;
import io.quorate.core.TableName;
import io.quorate.sst.audit.AuditedTable;
import io.quorate.sst.stream.Catalog.Program;
import io.quorate.sst.stream.Catalog.Schema;
import io.quorate.sst.stream.Catalog.Table;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** Reads a donor's catalog. What is dropped after it was listed and before it is read is left out. */
final class CatalogReader {
    /** No such schema, table, routine, trigger, event. */
    private static final Set<Integer> DROPPED = Set.of(1049, 1146, 1305, 1360, 1539);

    private static final String SCHEMAS = """
            SELECT s.SCHEMA_NAME, s.DEFAULT_COLLATION_NAME, COALESCE(e.OPTIONS LIKE '%%READ ONLY=1%%', 0)
            FROM information_schema.SCHEMATA s
            LEFT JOIN information_schema.SCHEMATA_EXTENSIONS e ON e.SCHEMA_NAME = s.SCHEMA_NAME
            WHERE s.SCHEMA_NAME NOT IN %s ORDER BY 1""";
    private static final String TABLES = """
            SELECT TABLE_SCHEMA, TABLE_NAME, TABLE_TYPE, COALESCE(ENGINE, '')
            FROM information_schema.TABLES WHERE TABLE_SCHEMA NOT IN %s ORDER BY 1, 2""";
    private static final String ROUTINES = """
            SELECT ROUTINE_TYPE, ROUTINE_SCHEMA, ROUTINE_NAME FROM information_schema.ROUTINES
            WHERE ROUTINE_SCHEMA NOT IN %s ORDER BY 1, 2, 3""";

    /** From 9.2 on; an older server doesn't read what is in the comment. */
    static final String LIBRARIES = """
            SELECT 'LIBRARY', s, n, '' FROM (SELECT '' AS s, '' AS n FROM DUAL WHERE FALSE /*!90200 UNION ALL
            SELECT LIBRARY_SCHEMA, LIBRARY_NAME FROM information_schema.LIBRARIES */) all_libraries""";

    private static final String TRIGGERS = """
            SELECT 'TRIGGER', TRIGGER_SCHEMA, TRIGGER_NAME, EVENT_OBJECT_TABLE FROM information_schema.TRIGGERS
            WHERE TRIGGER_SCHEMA NOT IN %s ORDER BY 2, 4, ACTION_TIMING, EVENT_MANIPULATION, ACTION_ORDER""";
    private static final String EVENTS = """
            SELECT 'EVENT', EVENT_SCHEMA, EVENT_NAME FROM information_schema.EVENTS
            WHERE EVENT_SCHEMA NOT IN %s ORDER BY 2, 3""";

    private static final String NOT_PRESERVE = " ON COMPLETION NOT PRESERVE";

    private static final Pattern GLOBAL_GRANT = Pattern.compile("GRANT ([^`]*) ON \\*\\.\\* TO .*", Pattern.DOTALL);

    private final Session session;
    private final Connection connection;
    private final Omitted omitted;

    CatalogReader(Session session, Connection connection, Omitted omitted) {
        this.session = session;
        this.connection = connection;
        this.omitted = omitted;
    }

    Catalog read() throws SQLException {
        requireSight();
        List<Schema> schemas = new ArrayList<>();
        for (List<String> row : listed(SCHEMAS)) {
            if (!omitted.hasSchema(row.get(0))) {
                List<String> shown = shown("SHOW CREATE DATABASE " + Identifiers.quoted(row.get(0)));
                if (shown != null) {
                    schemas.add(new Schema(
                            row.get(0), shown.get(1), row.get(1), row.get(2).equals("1")));
                }
            }
        }
        List<Table> tables = new ArrayList<>();
        List<Program> views = new ArrayList<>();
        for (List<String> row : listed(TABLES)) {
            if (omitted.hasTable(row.get(0), row.get(1))) {
                continue;
            }
            if (row.get(2).equals("BASE TABLE")) {
                addTable(row, plain -> Set.of(), tables);
            } else if (row.get(2).equals("VIEW") && !omitted.views()) {
                addView(row.get(0), row.get(1), views);
            }
        }
        return new Catalog(
                omitted,
                new SharedObjects(session).read(),
                schemas,
                tables,
                omitted.routines() ? List.of() : routines(schemas),
                views,
                omitted.triggers() ? List.of() : programs(TRIGGERS, 2),
                omitted.events() ? List.of() : programs(EVENTS, 3),
                omitted.accounts() ? List.of() : AccountReader.read(session));
    }

    /** Some tables, with what the server has generated. */
    List<Table> tables(Set<TableName> names) throws SQLException {
        List<Table> tables = new ArrayList<>();
        for (List<String> row : listed(TABLES)) {
            TableName name = new TableName(row.get(0), row.get(1));
            if (names.contains(name) && row.get(2).equals("BASE TABLE")) {
                addTable(row, plain -> GeneratedKeys.among(plain, session, name), tables);
            }
        }
        return tables;
    }

    /** An account that lacks one of these privileges doesn't see everything that exists. */
    private void requireSight() throws SQLException {
        Set<String> has = new HashSet<>();
        for (List<String> row : session.rows("SHOW GRANTS")) {
            Matcher grant = GLOBAL_GRANT.matcher(row.get(0));
            if (grant.matches()) {
                has.addAll(List.of(grant.group(1).split(", ?")));
            }
        }
        List<String> needed = new ArrayList<>(List.of("SELECT"));
        needed.addAll(omitted.views() ? List.of() : List.of("SHOW VIEW"));
        needed.addAll(omitted.routines() ? List.of() : List.of("SHOW_ROUTINE"));
        needed.addAll(omitted.triggers() ? List.of() : List.of("TRIGGER"));
        needed.addAll(omitted.events() ? List.of() : List.of("EVENT"));
        needed.removeAll(has);
        if (!needed.isEmpty() && !has.contains("ALL PRIVILEGES")) {
            throw Session.refused("the donor's account can't see all that is to be copied: GRANT "
                    + String.join(", ", needed) + " ON *.* TO " + session.one("SELECT CURRENT_USER()"));
        }
    }

    private List<List<String>> listed(String query) throws SQLException {
        return session.rows(query.formatted(Session.SYSTEM_SCHEMAS));
    }

    /** @return null when it was dropped */
    private List<String> shown(String query) throws SQLException {
        try {
            return session.rows(query).get(0);
        } catch (SQLException e) {
            if (DROPPED.contains(e.getErrorCode())) {
                return null;
            }
            throw e;
        }
    }

    private void addTable(List<String> row, TableText.Generated generated, List<Table> tables) throws SQLException {
        String schema = row.get(0);
        String name = row.get(1);
        List<String> shown = shown("SHOW CREATE TABLE " + Identifiers.quoted(schema, name));
        AuditedTable audited = shown == null ? null : AuditedTable.read(connection, schema, name);
        if (audited != null) {
            TableText text = TableText.of(shown.get(1), row.get(3), generated);
            tables.add(new Table(
                    schema, name, text.create(), text.indexes(), text.foreignKeys(), row.get(3), audited.hasKey()));
        }
    }

    private void addView(String schema, String name, List<Program> views) throws SQLException {
        List<String> shown = shown("SHOW CREATE VIEW " + Identifiers.quoted(schema, name));
        if (shown != null) {
            // For a view that names something missing the server warns.
            views.add(new Program(
                    "VIEW",
                    schema,
                    name,
                    shown.get(1),
                    "",
                    shown.get(2),
                    shown.get(3),
                    "",
                    "",
                    !session.hasWarnings()));
        }
    }

    /** Libraries first, because routines name them. */
    private List<Program> routines(List<Schema> schemas) throws SQLException {
        Map<String, String> collations = schemas.stream().collect(Collectors.toMap(Schema::name, Schema::collation));
        List<Program> routines = new ArrayList<>();
        for (List<String> row : listed(LIBRARIES + " WHERE s NOT IN %s ORDER BY 2, 3")) {
            String schema = row.get(1);
            String name = row.get(2);
            List<String> shown = collations.containsKey(schema)
                    ? shown("SHOW CREATE LIBRARY " + Identifiers.quoted(schema, name))
                    : null;
            if (shown != null) {
                // It is in UTF-8, and has no types whose collation its schema could say.
                routines.add(new Program(
                        "LIBRARY",
                        schema,
                        name,
                        shown.get(2),
                        shown.get(1),
                        "utf8mb4",
                        "utf8mb4_0900_ai_ci",
                        collations.get(schema),
                        "",
                        true));
            }
        }
        routines.addAll(programs(ROUTINES, 2));
        return routines;
    }

    /**
     * @param text in which column of {@code SHOW CREATE} the text is, from 0 on; a time zone, if there is one, is
     *     before it
     */
    private List<Program> programs(String query, int text) throws SQLException {
        List<Program> programs = new ArrayList<>();
        for (List<String> row : listed(query)) {
            String schema = row.get(1);
            String name = row.get(2);
            if (omitted.hasSchema(schema) || (row.size() > 3 && omitted.hasTable(schema, row.get(3)))) {
                continue;
            }
            List<String> shown = shown("SHOW CREATE " + row.get(0) + " " + Identifiers.quoted(schema, name));
            if (shown == null) {
                continue;
            }
            if (shown.get(text) == null) {
                throw Session.refused("the donor doesn't show its account " + row.get(0) + " " + schema + "." + name);
            }
            programs.add(new Program(
                    row.get(0),
                    schema,
                    name,
                    underItsMode(shown.get(text), row.get(0), schema, name, shown.get(1)),
                    shown.get(1),
                    shown.get(text + 1),
                    shown.get(text + 2),
                    shown.get(text + 3),
                    text == 3 ? shown.get(2) : "",
                    true));
        }
        return programs;
    }

    /** The text in a form that the server takes under the program's own SQL mode, where it prints another one. */
    private String underItsMode(String create, String kind, String schema, String name, String mode)
            throws SQLException {
        String text = create;
        if (mode.contains("HIGH_NOT_PRECEDENCE") && kind.equals("EVENT")) {
            // There NOT is another token. It is what an event has anyway.
            int schedule = Math.max(
                    text.indexOf(Identifiers.quoted(name) + " ON SCHEDULE "),
                    text.indexOf('"' + name.replace("\"", "\"\"") + "\" ON SCHEDULE "));
            int at = text.indexOf(NOT_PRESERVE, schedule + name.length());
            text = at < 0 ? text : text.substring(0, at) + text.substring(at + NOT_PRESERVE.length());
        }
        if (mode.contains("NO_BACKSLASH_ESCAPES") && text.contains(" COMMENT '") && !kind.equals("TRIGGER")) {
            String of = kind.equals("EVENT") ? "EVENT" : "ROUTINE";
            List<List<String>> comment = session.rows(
                    "SELECT " + of + "_COMMENT FROM information_schema." + of + "S WHERE " + of + "_SCHEMA = ? AND "
                            + of + "_NAME = ?" + (of.equals("EVENT") ? "" : " AND ROUTINE_TYPE = '" + kind + "'"),
                    schema,
                    name);
            if (!comment.isEmpty()) {
                String quoted = comment.get(0).get(0).replace("'", "''");
                String escaped = quoted.replace("\\", "\\\\")
                        .replace("\0", "\\0")
                        .replace("\n", "\\n")
                        .replace("\r", "\\r");
                text = text.replace(" COMMENT '" + escaped + "'", " COMMENT '" + quoted + "'");
            }
        }
        return text;
    }
}
