// SPDX-License-Identifier: Apache-2.0
package io.quorate.applier;

import io.quorate.core.BinlogEvents;
import io.quorate.core.Certified;
import io.quorate.core.Gtid;
import java.nio.charset.StandardCharsets;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import javax.sql.DataSource;

/**
 * Runs writesets that can't share a transaction with the position row: DDL, and row changes of engines without
 * transactions. Such a writeset gets a GTID of its own, which tells the server after any crash whether it ran. The
 * connection is opened for it, because the origin's session settings would be tedious to reset.
 */
final class DdlSession implements AutoCloseable {
    private static final int UNKNOWN_DATABASE = 1049;

    private final Session session;
    private final Gtid gtid;

    private DdlSession(Session session, Gtid gtid) {
        this.session = session;
        this.gtid = gtid;
    }

    static DdlSession open(DataSource source, Duration lockWait, UUID gtidSource, long seqno) throws SQLException {
        return new DdlSession(Session.open(source, lockWait), new Gtid(gtidSource, seqno));
    }

    /** The server's number of this connection. */
    long id() {
        return session.id();
    }

    /** Makes the statements for row events. */
    interface StatementsFactory {
        /** @param check whether the tables are to be compared with the origin's */
        Statements make(boolean check);
    }

    /** Executes all of the writeset under its GTID, unless the server has it already. */
    void run(Certified writeSet, StatementsFactory factory) throws SQLException {
        if (executed()) {
            return;
        }
        session.execute("SET SESSION gtid_next = '" + gtid + "'");
        byte[] payload = writeSet.writeSet().payload();
        int rowsFrom = 0;
        while (rowsFrom < payload.length && BinlogEvents.type(payload, rowsFrom) == BinlogEvents.QUERY) {
            query(QueryEvent.parse(payload, rowsFrom));
            rowsFrom += BinlogEvents.length(payload, rowsFrom);
        }
        if (rowsFrom < payload.length) {
            // The rows of CREATE TABLE ... SELECT go to a table that nobody else sees before the commit.
            Statements statements = factory.make(rowsFrom == 0);
            statements.begin(List.of(writeSet), rowsFrom, null, null);
            for (byte[] events; (events = statements.next()) != null; ) {
                session.binlog(events);
            }
        }
        // This also uses up the GTID of a statement that changed nothing.
        session.execute("COMMIT");
        session.execute("SET SESSION gtid_next = 'AUTOMATIC'");
    }

    private boolean executed() throws SQLException {
        try (Statement statement = session.connection().createStatement();
                ResultSet row = statement.executeQuery("SELECT GTID_SUBSET('" + gtid + "', @@GLOBAL.gtid_executed)")) {
            row.next();
            return row.getBoolean(1);
        }
    }

    private void query(QueryEvent event) throws SQLException {
        if (event.schema() != null) {
            use(event.schema());
        }
        session.execute("SET SESSION " + String.join(", ", event.settings()));
        try {
            session.execute(event.text());
        } catch (SQLException e) {
            if (event.errorCode() == 0 || e.getErrorCode() != event.errorCode()) {
                throw e;
            }
            // It failed at the origin in the same way, after doing a part that counts.
        }
    }

    private void use(String schema) throws SQLException {
        session.execute("SET NAMES utf8mb4");
        byte[] name = ("`" + schema.replace("`", "``") + "`").getBytes(StandardCharsets.UTF_8);
        try {
            session.execute("USE " + new String(name, StandardCharsets.ISO_8859_1));
        } catch (SQLException e) {
            // A replica doesn't require the schema either: the statement may qualify the names of its objects.
            if (e.getErrorCode() != UNKNOWN_DATABASE) {
                throw e;
            }
        }
    }

    @Override
    public void close() {
        session.close();
    }
}
