// SPDX-License-Identifier: Apache-2.0
package io.quorate.sst.stream;

import io.quorate.core.Identifiers;
import io.quorate.sst.stream.Catalog.Program;
import io.quorate.sst.stream.Catalog.Schema;
import java.nio.charset.StandardCharsets;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Makes the objects that MySQL keeps as text, each in the session in which it was made at the donor. */
final class ProgramMaker {
    /**
     * Without it only SUPER may make a function if the server can't tell whether statement-based replication would
     * repeat it exactly.
     */
    private static final String TRUST = "log_bin_trust_function_creators";

    /** Kind, schema, name; then the table to which it belongs, or which it looks like. */
    private static final String PROGRAMS = """
            SELECT * FROM (
            SELECT ROUTINE_TYPE, ROUTINE_SCHEMA AS s, ROUTINE_NAME, '' FROM information_schema.ROUTINES UNION ALL
            SELECT 'VIEW', TABLE_SCHEMA, TABLE_NAME, TABLE_NAME FROM information_schema.VIEWS UNION ALL
            SELECT 'TRIGGER', TRIGGER_SCHEMA, TRIGGER_NAME, EVENT_OBJECT_TABLE FROM information_schema.TRIGGERS
            UNION ALL
            SELECT 'EVENT', EVENT_SCHEMA, EVENT_NAME, '' FROM information_schema.EVENTS UNION ALL
            """ + CatalogReader.LIBRARIES + """
            ) all_programs WHERE s NOT IN %s""";

    private final Session session;
    private final Catalog catalog;
    private final SchemaCollations collations;

    ProgramMaker(Session session, Catalog catalog) throws SQLException {
        this.session = session;
        this.catalog = catalog;
        this.collations = new SchemaCollations(session);
    }

    List<String> make() throws SQLException {
        for (Schema schema : catalog.schemas()) {
            if (schema.readOnly()) {
                session.setReadOnly(schema.name(), false);
            }
        }
        List<String> left = trusted(() -> {
            makeAll(catalog.routines());
            List<String> views = makeViews();
            makeAll(catalog.triggers());
            makeAll(catalog.events());
            return views;
        });
        collations.restore();
        for (Schema schema : catalog.schemas()) {
            collations.set(schema.name(), schema.collation());
            if (schema.readOnly()) {
                session.setReadOnly(schema.name(), true);
            }
        }
        return left;
    }

    private interface Making<T> {
        T make() throws SQLException;
    }

    private <T> T trusted(Making<T> making) throws SQLException {
        boolean trusts = session.one("SELECT @@GLOBAL." + TRUST).equals("1");
        if (!trusts) {
            session.make(TRUST, "SET GLOBAL " + TRUST + " = ON");
        }
        try {
            return making.make();
        } finally {
            if (!trusts) {
                session.execute("SET GLOBAL " + TRUST + " = OFF");
            }
        }
    }

    /** Makes these alone, and makes schemas read-only if the donor's are. */
    void make(List<Program> programs) throws SQLException {
        trusted(() -> {
            makeAll(programs);
            return null;
        });
        collations.restore();
        for (Schema schema : catalog.schemas()) {
            if (schema.readOnly()) {
                session.setReadOnly(schema.name(), true);
            }
        }
    }

    /** Drops views and stored programs that are here and not in the catalog, unless it leaves them out. */
    void dropOthers() throws SQLException {
        Set<List<String>> kept = Stream.of(catalog.routines(), catalog.views(), catalog.triggers(), catalog.events())
                .flatMap(List::stream)
                .map(program -> List.of(program.kind(), program.schema(), program.name()))
                .collect(Collectors.toSet());
        for (List<String> row : session.rows(PROGRAMS.formatted(Session.SYSTEM_SCHEMAS))) {
            List<String> program = row.subList(0, 3);
            if (!kept.contains(program) && !catalog.omitted().has(row.get(0), row.get(1), row.get(3))) {
                String what = row.get(0) + " " + Identifiers.quoted(row.get(1), row.get(2));
                session.make("room for the donor's instead of " + what, "DROP " + what);
            }
        }
    }

    /** One after the other in their order, which is the order in which a table's triggers run. */
    private void makeAll(List<Program> programs) throws SQLException {
        for (Program program : programs) {
            collations.lend(program.schema(), program.databaseCollation());
            String name = Identifiers.quoted(program.schema(), program.name());
            String what = program.kind() + " " + name;
            session.make(what, "DROP " + program.kind() + " IF EXISTS " + name);
            enter(program);
            session.make(what, program.create());
        }
        leave();
    }

    /** A view may need other views. As long as one more can be made, the rest is tried again. */
    private List<String> makeViews() throws SQLException {
        List<Program> views = catalog.views();
        Map<Program, SQLException> failed = new LinkedHashMap<>();
        int before;
        do {
            before = views.size();
            failed.clear();
            for (Program view : views) {
                enter(view);
                try {
                    session.execute(replacing(view.create()));
                } catch (SQLException e) {
                    if (Session.passes(e)) {
                        throw e;
                    }
                    failed.put(view, e);
                }
            }
            views = List.copyOf(failed.keySet());
        } while (!views.isEmpty() && views.size() < before);
        leave();
        List<String> left = new ArrayList<>();
        for (Map.Entry<Program, SQLException> each : failed.entrySet()) {
            Program view = each.getKey();
            String what = "VIEW " + Identifiers.quoted(view.schema(), view.name());
            if (view.valid() && !catalog.omitted().mayBreakViews()) {
                throw Session.failure(what, each.getValue());
            }
            left.add(what + ": " + each.getValue().getMessage());
        }
        return left;
    }

    private static String replacing(String create) {
        return "CREATE OR REPLACE" + create.substring("CREATE".length());
    }

    /**
     * The text is sent as UTF-8, whatever character set the client used. Text that isn't ASCII would be misread in the
     * client's character set, so it is then made in UTF-8, and means the same.
     */
    private void enter(Program program) throws SQLException {
        boolean ascii = StandardCharsets.US_ASCII.newEncoder().canEncode(program.create());
        String charset = ascii || program.charset().startsWith("utf8") ? program.charset() : "utf8mb4";
        String mode = program.kind().equals("VIEW") ? Session.MODE : program.sqlMode();
        session.execute("USE " + Identifiers.quoted(program.schema()));
        session.make(
                "the session of " + program.kind() + " " + program.name(),
                "SET SESSION character_set_client = " + Session.text(charset) + ", collation_connection = "
                        + Session.text(program.collation()) + ", sql_mode = " + Session.text(mode)
                        + (program.timeZone().isEmpty() ? "" : ", time_zone = " + Session.text(program.timeZone())));
    }

    private void leave() throws SQLException {
        session.execute(Session.COMMON);
    }
}
