// SPDX-License-Identifier: Apache-2.0
package io.quorate.sst.stream;

import io.quorate.core.Identifiers;
import io.quorate.core.QuorateException;
import io.quorate.sst.stream.Catalog.Shared;
import io.quorate.sst.stream.Catalog.Shared.Kind;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;

/**
 * What tables may need and no schema has: general tablespaces, spatial reference systems of one's own, and servers to
 * federate with. MySQL shows none of them as a statement, so their statements are made here of what it says about them.
 */
final class SharedObjects {
    /** FILES has the same, and waits for every table that somebody has locked. */
    private static final String TABLESPACES = """
            SELECT t.NAME, f.PATH, t.ZIP_PAGE_SIZE, t.ENCRYPTION, t.AUTOEXTEND_SIZE
            FROM information_schema.INNODB_TABLESPACES t JOIN information_schema.INNODB_DATAFILES f USING (SPACE)
            WHERE t.SPACE_TYPE = 'General' AND t.NAME <> 'mysql' ORDER BY 1""";
    /** MySQL's own are in the ranges that it reserves. */
    private static final String REFERENCE_SYSTEMS = """
            SELECT SRS_ID, SRS_NAME, ORGANIZATION, ORGANIZATION_COORDSYS_ID, DEFINITION, DESCRIPTION
            FROM information_schema.ST_SPATIAL_REFERENCE_SYSTEMS WHERE SRS_ID > 32767 AND SRS_ID < 2000000000
            AND SRS_ID NOT BETWEEN 60000000 AND 69999999 ORDER BY 1""";

    private static final String SERVERS = """
            SELECT Server_name, Wrapper, Host, Db, Username, Password, Socket, Owner, Port
            FROM mysql.servers ORDER BY 1""";
    /** Of {@link #SERVERS}, from the third column on. */
    private static final List<String> TEXTS = List.of("HOST", "DATABASE", "USER", "PASSWORD", "SOCKET", "OWNER");

    private static final String HERE = "./";

    private final Session session;

    SharedObjects(Session session) {
        this.session = session;
    }

    List<Shared> read() throws SQLException {
        List<Shared> all = new ArrayList<>();
        for (List<String> row : session.rows(TABLESPACES)) {
            all.add(new Shared(Kind.TABLESPACE, row.get(0), tablespace(row)));
        }
        for (List<String> row : session.rows(REFERENCE_SYSTEMS)) {
            all.add(new Shared(Kind.REFERENCE_SYSTEM, row.get(0), referenceSystem(row)));
        }
        for (List<String> row : session.rows(SERVERS)) {
            all.add(new Shared(Kind.SERVER, row.get(0), server(row)));
        }
        return all;
    }

    private static String tablespace(List<String> row) {
        String file = row.get(1).startsWith(HERE) ? row.get(1).substring(HERE.length()) : row.get(1);
        return "CREATE TABLESPACE " + Identifiers.quoted(row.get(0)) + " ADD DATAFILE " + Session.text(file)
                + (row.get(2).equals("0") ? "" : " FILE_BLOCK_SIZE = " + row.get(2))
                + (row.get(4).equals("0") ? "" : " AUTOEXTEND_SIZE = " + row.get(4))
                + (row.get(3).equals("Y") ? " ENCRYPTION = 'Y'" : "");
    }

    private static String referenceSystem(List<String> row) {
        return "CREATE SPATIAL REFERENCE SYSTEM " + row.get(0) + " NAME " + Session.text(row.get(1))
                + (row.get(2) == null
                        ? ""
                        : " ORGANIZATION " + Session.text(row.get(2)) + " IDENTIFIED BY " + row.get(3))
                + " DEFINITION " + Session.text(row.get(4))
                + (row.get(5) == null ? "" : " DESCRIPTION " + Session.text(row.get(5)));
    }

    private static String server(List<String> row) {
        StringBuilder options = new StringBuilder("PORT " + row.get(8));
        for (int i = 0; i < TEXTS.size(); i++) {
            String value = row.get(2 + i);
            if (!value.isEmpty()) {
                options.append(", ").append(TEXTS.get(i)).append(' ').append(Session.text(value));
            }
        }
        return "CREATE SERVER " + Identifiers.quoted(row.get(0)) + " FOREIGN DATA WRAPPER "
                + Identifiers.quoted(row.get(1)) + " OPTIONS (" + options + ")";
    }

    /** Makes those that aren't here; which of them couldn't be made, a line each. Without a tablespace this fails. */
    List<String> makeMissing(List<Shared> wanted) throws SQLException {
        List<String> left = new ArrayList<>();
        makeMissing(wanted, wanted.isEmpty() ? wanted : read(), left);
        return left;
    }

    private void makeMissing(List<Shared> wanted, List<Shared> here, List<String> left) throws SQLException {
        for (Shared each : wanted) {
            if (!here.contains(each)) {
                make(each, each.create(), left);
            }
        }
    }

    /**
     * Drops all that are here except these, and makes those that aren't; what couldn't be dropped or made, a line each.
     */
    List<String> replace(List<Shared> wanted) throws SQLException {
        List<String> left = new ArrayList<>();
        List<Shared> here = read();
        for (Shared each : here) {
            if (!wanted.contains(each)) {
                make(each, each.drop(), left);
            }
        }
        makeMissing(wanted, here, left);
        return left;
    }

    private void make(Shared object, String statement, List<String> left) throws SQLException {
        try {
            session.make(object.toString(), statement);
        } catch (QuorateException e) {
            if (object.kind() == Kind.TABLESPACE) {
                throw e;
            }
            // In MySQL 8.0 only SUPER may. A table that needs it will say so.
            left.add(e.detail());
        }
    }
}
