// SPDX-License-Identifier: Apache-2.0
package io.quorate.applier;

import io.quorate.core.AppliedDdl;
import io.quorate.core.Certified;
import io.quorate.core.Difference;
import io.quorate.core.ErrorCode;
import io.quorate.core.Gtid;
import io.quorate.core.Identifiers;
import io.quorate.core.OrderedFirst;
import io.quorate.core.Payload;
import io.quorate.core.QuorateException;
import io.quorate.core.TableName;
import java.nio.charset.StandardCharsets;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;

/**
 * Runs writesets that can't share a transaction with the position row: DDL, and row changes of engines without
 * transactions. Such a writeset gets a GTID of its own, which tells the server after any crash whether it ran. Each is
 * run in a session that is as new, because it gets the origin's settings.
 */
final class DdlSession implements AutoCloseable {
    private static final int NO_SUCH_ACCOUNT = 1410;
    private static final String TRUST = "log_bin_trust_function_creators";
    private static final String UTF8 = "SET NAMES utf8mb4";

    /**
     * What isn't in the event. InnoDB's strict mode makes errors of warnings, so what an origin has taken may be
     * refused with it. The key that a server generates is in the text already, if its session wanted one. Foreign keys
     * to what isn't unique are taken by any server before 8.4, and after that by sessions that say so.
     */
    private static final List<String> AS_LENIENT_AS_ANY = List.of(
            "innodb_strict_mode = OFF",
            "max_points_in_geometry = 1048576",
            "sql_generate_invisible_primary_key = OFF /*!80400 , restrict_fk_on_non_standard_key = OFF */");

    private final DdlConnections connections;
    private final Session session;
    private final String incarnation;
    private final Gtid gtid;
    /** Null if the writeset consists of rows, or is a verdict. */
    private final QueryEvent query;

    private DdlSession(DdlConnections connections, Session session, QueryEvent query, String incarnation, Gtid gtid) {
        this.connections = connections;
        this.session = session;
        this.query = query;
        this.incarnation = incarnation;
        this.gtid = gtid;
    }

    static DdlSession open(DdlConnections connections, String incarnation, Certified writeSet) throws SQLException {
        Payload payload = writeSet.writeSet().payload();
        QueryEvent query = writeSet.writeSet().voidsDefinition() == 0 ? definition(payload) : null;
        return new DdlSession(
                connections,
                connections.take(LargePackets.forEvents(payload.size()), query == null ? null : schema(query)),
                query,
                incarnation,
                new Gtid(AppliedDdl.source(incarnation), writeSet.seqno()));
    }

    /** The server's number of this connection. */
    long id() {
        return session.id();
    }

    /** Makes the statements for row events. */
    interface StatementsFactory {
        /** @param existing whether the tables were there before; otherwise a CREATE TABLE precedes its rows */
        Statements make(boolean existing);
    }

    /**
     * Locks these tables, those that there are. Whoever uses one of them is waited for, and whoever wants to use one
     * waits until this is closed, as for any ALTER TABLE.
     *
     * @return false when they can't be locked; a definition can be run all the same. Of tables that aren't there, no
     *     row can be in its way
     */
    boolean lock(Set<TableName> tables) throws SQLException {
        List<String> there = new ArrayList<>();
        for (TableName table : tables) {
            if (isThere(table)) {
                there.add(Identifiers.quoted(table.schema(), table.table()) + " WRITE");
            }
        }
        boolean locked = there.isEmpty() || lock(there);
        // Leaves the tables locked. Otherwise gtid_next couldn't be set.
        session.execute("COMMIT");
        return locked;
    }

    private boolean lock(List<String> tables) throws SQLException {
        try {
            session.execute(UTF8);
            session.execute("LOCK TABLES " + String.join(", ", tables));
            return true;
        } catch (SQLException e) {
            if (Patience.mayPass(e) || SqlErrors.of(e) == SqlErrors.CONNECTION) {
                throw e;
            }
            // A trigger that names a table which isn't there any more, say.
            return false;
        }
    }

    private boolean isThere(TableName table) throws SQLException {
        try (PreparedStatement statement = session.connection()
                .prepareStatement("SELECT COUNT(*) FROM information_schema.TABLES"
                        + " WHERE TABLE_SCHEMA = ? AND TABLE_NAME = ? AND TABLE_TYPE = 'BASE TABLE'")) {
            statement.setString(1, table.schema());
            statement.setString(2, table.table());
            try (ResultSet row = statement.executeQuery()) {
                row.next();
                return row.getLong(1) > 0;
            }
        }
    }

    /** Whether the writeset's GTID is used up. */
    boolean hasRun() throws SQLException {
        return executed(gtid);
    }

    /**
     * The server, at the place of the writeset.
     *
     * @param repeated whether a client has run the same here
     */
    DefinitionTurn.Server at(Certified writeSet, boolean repeated, StatementsFactory factory) {
        return new DefinitionTurn.Server() {
            @Override
            public boolean hasGtid() throws SQLException {
                return hasRun();
            }

            @Override
            public void run() throws SQLException {
                if (repeated) {
                    useUp("a client has run the definition at seqno " + writeSet.seqno() + " here");
                } else {
                    DdlSession.this.run(writeSet, factory);
                }
            }

            @Override
            public void requireWhole() throws SQLException {
                DdlSession.this.requireWhole(writeSet);
            }

            @Override
            public boolean hasPassedOver(long seqno) throws SQLException {
                return executed(passedOver(seqno));
            }

            @Override
            public void notePassedOver(long seqno) throws SQLException {
                note(passedOver(seqno));
            }

            @Override
            public void useUpGtid(long seqno) throws SQLException {
                useUp("the definition at seqno " + seqno + " is void");
            }
        };
    }

    /** Forces everything before it as any definition does: that is what such a GTID means after a crash. */
    private void useUp(String why) throws SQLException {
        begin();
        session.execute(UndoneTable.comment(why));
    }

    /** Executes all of the writeset under its GTID. */
    private void run(Certified writeSet, StatementsFactory factory) throws SQLException {
        Payload payload = writeSet.writeSet().payload();
        Payload.Events statement = payload.statement();
        int rowsFrom = statement == null ? 0 : statement.position() + statement.length();
        boolean rows = rowsFrom < payload.size();
        if (rows) {
            session.expectEvents();
        }
        if (query != null) {
            // While the session's settings and its GTID are its own yet.
            String text = runnable(query.text());
            boolean orderedFirst = OrderedFirst.is(writeSet.writeSet());
            give(payload);
            prepare(query, rows, orderedFirst);
            execute(query, text, orderedFirst);
        } else {
            begin();
        }
        if (rows) {
            // The rows of CREATE TABLE ... SELECT go to a table that nobody else sees before the commit.
            Statements statements = factory.make(rowsFrom == 0);
            statements.begin(List.of(writeSet), rowsFrom, null, null);
            session.binlog(statements);
        }
        // This also uses up the GTID of a statement that changed nothing. The connection isn't used any more.
        session.execute("COMMIT");
        if (query == null) {
            note(whole());
        } else {
            grantToCreator(query);
        }
    }

    /** Null if the writeset consists of rows. */
    private static QueryEvent definition(Payload payload) {
        Payload.Events statement = payload.statement();
        return statement == null ? null : QueryEvent.parse(statement.bytes(), statement.offset());
    }

    /** What the statement uses of the session in which it was run. */
    private void give(Payload definition) throws SQLException {
        List<String> assignments = new GivenValues(session.connection()).assignments(definition);
        if (!assignments.isEmpty()) {
            session.execute(UTF8);
            session.execute("SET " + String.join(", ", assignments));
            // Otherwise gtid_next couldn't be set.
            session.execute("COMMIT");
        }
    }

    /** A statement that fails in the middle leaves what it has done, in the binlog, too, under its GTID. */
    private void requireWhole(Certified writeSet) throws SQLException {
        if (executed(whole())) {
            return;
        }
        if (query != null) {
            grantToCreator(query);
        } else {
            throw new QuorateException(
                    ErrorCode.APPLY_MISMATCH,
                    "this server may have only a part of writeset " + writeSet.seqno() + " ("
                            + writeSet.writeSet().gtid() + ", "
                            + ApplyErrors.what(writeSet.writeSet().payload()) + "): the engine has no transactions",
                    null,
                    Difference.at(writeSet.seqno()));
        }
    }

    /**
     * What a server itself grants to the creator of a routine. It is a statement of its own, whose GTID says after a
     * crash that it has been run: a client may have revoked these rights since.
     */
    private void grantToCreator(QueryEvent event) throws SQLException {
        CreatorRights rights = CreatorRights.of(event).orElse(null);
        if (rights == null) {
            return;
        }
        try {
            grant(rights, event);
        } catch (SQLException e) {
            // Clients may have dropped the routine, or its creator, since.
            if (!SqlErrors.isAboutContents(e) && e.getErrorCode() != NO_SUCH_ACCOUNT) {
                throw e;
            }
        }
    }

    private void grant(CreatorRights rights, QueryEvent event) throws SQLException {
        session.execute(UTF8);
        session.execute("SET SESSION gtid_next = 'AUTOMATIC'");
        if (rights.schema() == null) {
            use(event);
        }
        session.execute("SET SESSION " + String.join(", ", settings(event, false)));
        if (rights.schema() != null && !session.use(rights.schema())) {
            return;
        }
        if (areDue(rights)) {
            String statement = rights.grant(
                    inClientCharset(rights.creator().user()),
                    inClientCharset(rights.creator().host()));
            session.execute("COMMIT");
            session.execute("SET SESSION gtid_next = '" + whole() + "'");
            session.execute(statement);
        }
    }

    private boolean areDue(CreatorRights rights) throws SQLException {
        try (Statement statement = session.connection().createStatement();
                ResultSet row = statement.executeQuery(rights.areDue())) {
            row.next();
            return row.getBoolean(1);
        }
    }

    private Gtid whole() {
        return new Gtid(AppliedDdl.wholeSource(incarnation), gtid.number());
    }

    /** An empty transaction. */
    private void note(Gtid what) throws SQLException {
        session.execute("SET SESSION gtid_next = '" + what + "'");
        session.execute("COMMIT");
    }

    private Gtid passedOver(long seqno) {
        return new Gtid(AppliedDdl.passedOverSource(incarnation), seqno);
    }

    private boolean executed(Gtid asked) throws SQLException {
        return GtidSets.hasExecuted(session.connection(), asked);
    }

    /** From here on, a statement that fails would use up the GTID. */
    private void begin() throws SQLException {
        session.execute("SET " + givesGtid());
    }

    private String givesGtid() {
        return "SESSION gtid_next = '" + gtid + "'";
    }

    /**
     * Makes the session like that of the origin.
     *
     * @param rows whether rows follow, as after CREATE TABLE ... SELECT. Their BINLOG is a literal, which the server
     *     would convert to the connection's character set; and nothing may be set before it. The CREATE TABLE before
     *     it is the server's own text, to which that character set makes no difference.
     * @param first whether no server has taken it yet, so that this one takes or refuses it by its own settings
     */
    private void prepare(QueryEvent event, boolean rows, boolean first) throws SQLException {
        use(event);
        List<String> settings = settings(event, !rows);
        if (!first) {
            settings.addAll(AS_LENIENT_AS_ANY);
        }
        session.execute(UTF8 + ", " + givesGtid() + ", SESSION " + String.join(", ", settings));
    }

    /** @param literals whether literals are to be in the character set in which they were at the origin */
    private static List<String> settings(QueryEvent event, boolean literals) {
        List<String> settings = new ArrayList<>(event.settings());
        if (!literals) {
            settings.removeIf(assignment -> assignment.startsWith(QueryEvent.COLLATION_CONNECTION));
        }
        return settings;
    }

    /** @param first as for {@link #prepare} */
    private void execute(QueryEvent event, String text, boolean first) throws SQLException {
        String statement = withInvoker(event, text);
        try {
            session.execute(statement);
        } catch (SQLException e) {
            if (!first && SqlErrors.isDistrust(e)) {
                executeTrusted(statement);
                return;
            }
            String anyHow = AlterManner.any(statement);
            if (!first && SqlErrors.isOfManner(e) && !anyHow.equals(statement)) {
                begin();
                session.execute(anyHow);
                return;
            }
            if (event.errorCode() == 0 || e.getErrorCode() != event.errorCode()) {
                throw e;
            }
            // It failed at the origin in the same way, after doing a part that counts.
        }
    }

    /**
     * Makes a function that the server would take from nobody but SUPER, or not at all, since it might give other
     * results elsewhere. What it changes is in the binlog as rows. Only for this moment, since clients may have been
     * denied it on purpose.
     */
    private void executeTrusted(String statement) throws SQLException {
        session.execute("SET GLOBAL " + TRUST + " = ON");
        try {
            begin();
            session.execute(statement);
        } finally {
            session.execute("SET GLOBAL " + TRUST + " = OFF");
        }
    }

    /**
     * A node that comes back is closed for clients until it has applied everything, and a GRANT that is run as another
     * account would wait for it to be opened. Where no restriction depends on that account, it is left out.
     */
    private String runnable(String text) throws SQLException {
        String without = Invoker.withoutGrantor(text);
        if (without.equals(text)) {
            return text;
        }
        try (Statement statement = session.connection().createStatement();
                ResultSet row = statement.executeQuery("SELECT COUNT(*) FROM mysql.user WHERE @@GLOBAL.partial_revokes"
                        + " AND User_attributes->'$.Restrictions' IS NOT NULL AND " + Invoker.grantors(text))) {
            row.next();
            return row.getLong(1) == 0 ? without : text;
        } finally {
            // Otherwise gtid_next couldn't be set.
            session.execute("COMMIT");
        }
    }

    private String withInvoker(QueryEvent event, String text) throws SQLException {
        if (event.invoker() == null || !Invoker.mayBeImplied(text)) {
            return text;
        }
        return Invoker.name(
                text,
                inClientCharset(event.invoker().user()),
                inClientCharset(event.invoker().host()));
    }

    /** The bytes of a text in the character set in which the session's statements are read, one char each. */
    private String inClientCharset(String text) throws SQLException {
        try (Statement statement = session.connection().createStatement()) {
            String charset;
            try (ResultSet row = statement.executeQuery("SELECT @@SESSION.character_set_client")) {
                row.next();
                charset = row.getString(1);
            }
            try (ResultSet row = statement.executeQuery(
                    "SELECT HEX(CONVERT(_utf8mb4 x'" + SchemaCheck.hexOf(text) + "' USING " + charset + "))")) {
                row.next();
                return new String(HexFormat.of().parseHex(row.getString(1)), StandardCharsets.ISO_8859_1);
            }
        }
    }

    /** Null for none. */
    private static String schema(QueryEvent event) {
        return event.schema() == null ? null : Identifiers.quoted(Names.bytes(event.schema()));
    }

    /** A replica doesn't require the schema either: the statement may qualify the names of its objects. */
    private void use(QueryEvent event) throws SQLException {
        String schema = schema(event);
        if (schema != null) {
            session.use(schema);
        }
    }

    @Override
    public void close() {
        connections.giveBack(session);
    }
}
