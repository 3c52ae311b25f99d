// SPDX-License-Identifier: Apache-2.0
package io.quorate.applier;

import com.mysql.cj.NativeSession;
import com.mysql.cj.exceptions.CJException;
import com.mysql.cj.jdbc.JdbcConnection;
import com.mysql.cj.jdbc.exceptions.SQLExceptionsMapping;
import com.mysql.cj.protocol.a.NativePacketPayload;
import com.mysql.cj.protocol.a.NativeProtocol;
import io.quorate.core.ErrorCode;
import io.quorate.core.QuorateException;
import io.quorate.core.binlog.RowSettings;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Base64;
import java.util.UUID;
import javax.sql.DataSource;

/**
 * A connection primed to take row events: statements with BINLOG in a transaction, each in a packet of its own because
 * anything after a BINLOG in the same packet would be lost.
 */
final class Session implements AutoCloseable {
    private static final byte[] PREFIX = "BINLOG '".getBytes(StandardCharsets.US_ASCII);

    /** What a packet with a statement begins with (COM_QUERY). */
    private static final byte[] QUERY = {3};

    /** The same where a statement may have attributes: none, in one set. */
    private static final byte[] QUERY_WITHOUT_ATTRIBUTES = {3, 0, 1};

    /** Statement buffers up to this size are kept. */
    private static final int KEEP_BYTES = 4 << 20;

    private static final int UNKNOWN_DATABASE = 1049;
    private static final int UNKNOWN_TIME_ZONE = 1298;

    private final Connection connection;
    private final Statement statement;
    private final long id;
    private final Duration lockWait;
    private final long openedNanos = System.nanoTime();
    private boolean failed;
    private byte[] text = new byte[64 << 10];

    /** The default schema, which is the only thing that {@link #reset} leaves; null for none. */
    private String schema;

    private final ComputedRows computedRows;

    /** Under which rows are computed; null for the server's. */
    private RowSettings settings;

    private Session(Connection connection, Statement statement, long id, Duration lockWait) {
        this.connection = connection;
        this.statement = statement;
        this.id = id;
        this.lockWait = lockWait;
        this.computedRows = new ComputedRows(this);
    }

    /** Opens and primes a connection for events of any size; transactions begin implicitly. */
    static Session open(DataSource source, Duration lockWait) throws SQLException {
        Session session = open(source, lockWait, LargePackets.BYTES_MAX);
        try {
            session.expectEvents();
            return session;
        } catch (SQLException | RuntimeException e) {
            session.close();
            throw e;
        }
    }

    /** The same for statements of at most that size. Events have to be {@linkplain #expectEvents expected}. */
    static Session open(DataSource source, Duration lockWait, long statementBytesMax) throws SQLException {
        Connection connection = LargePackets.connect(source, statementBytesMax);
        try {
            Statement statement = connection.createStatement();
            statement.setEscapeProcessing(false);
            long id;
            try (ResultSet row = statement.executeQuery("SELECT CONNECTION_ID()")) {
                row.next();
                id = row.getLong(1);
            }
            Session session = new Session(connection, statement, id, lockWait);
            session.prime();
            return session;
        } catch (SQLException | RuntimeException e) {
            connection.close();
            throw e;
        }
    }

    private void prime() throws SQLException {
        // Names are sent in UTF-8, whatever the driver takes the connection for.
        statement.execute("SET SESSION character_set_client = 'utf8mb4', sql_log_bin = 1,"
                + " transaction_isolation = 'READ-COMMITTED', binlog_row_image = 'FULL',"
                + " binlog_row_value_options = '', innodb_lock_wait_timeout = " + lockWait.toSeconds()
                + ", lock_wait_timeout = " + lockWait.toSeconds());
        connection.setAutoCommit(false);
    }

    /** Makes the session as it was when it was opened, but for its default schema; no events are expected. */
    void reset() throws SQLException {
        connection.unwrap(JdbcConnection.class).resetServerState();
        settings = null;
        prime();
    }

    /**
     * Makes that the default schema.
     *
     * @param quoted its name as statements have it
     * @return false if there is no such schema; then the session has the one that it had
     */
    boolean use(String quoted) throws SQLException {
        try {
            statement.execute("USE " + quoted);
        } catch (SQLException e) {
            if (e.getErrorCode() == UNKNOWN_DATABASE) {
                return false;
            }
            throw e;
        }
        schema = quoted;
        return true;
    }

    /** Makes a session that has been reset as one that was opened for that schema, if that is possible. */
    boolean suits(String quoted) throws SQLException {
        return schema == null || (quoted != null && (quoted.equals(schema) || use(quoted)));
    }

    /** Has the server take events from now on. Outside of transactions, and while no GTID is given. */
    void expectEvents() throws SQLException {
        binlog(FormatDescription.event());
        // The event also says "GTIDs come with the events", which they don't.
        statement.execute("SET SESSION gtid_next = 'AUTOMATIC'");
    }

    /** The server's number of this connection. */
    long id() {
        return id;
    }

    Connection connection() {
        return connection;
    }

    /** Has the server execute all that there is. */
    void binlog(Statements statements) throws SQLException {
        boolean more = true;
        while (more) {
            more = binlogNext(statements);
        }
    }

    /** Has the server execute the next one of these; false when there was none. */
    boolean binlogNext(Statements statements) throws SQLException {
        byte[] events = statements.next();
        if (events == null) {
            return false;
        }
        if (!statements.computed().isEmpty()) {
            computedRows.apply(events, statements);
            return true;
        }
        settings(statements.settings());
        if (encodedLength(events) <= KEEP_BYTES) {
            binlog(events);
        } else {
            NativePacketPayload packet = packet(events);
            events = null; // It may be large, and isn't needed while the packet is sent.
            send(packet);
        }
        return true;
    }

    /** Has the server execute events under these settings; null for any. */
    void binlog(byte[] events, RowSettings wanted) throws SQLException {
        settings(wanted);
        if (encodedLength(events) <= KEEP_BYTES) {
            binlog(events);
        } else {
            send(packet(events));
        }
    }

    /** Has rows computed as they were under these settings; null for any. */
    private void settings(RowSettings wanted) throws SQLException {
        if (wanted == null || wanted.equals(settings)) {
            return;
        }
        try {
            statement.execute("SET SESSION " + wanted.assignments());
        } catch (SQLException e) {
            if (e.getErrorCode() != UNKNOWN_TIME_ZONE) {
                throw e;
            }
            throw new QuorateException(
                    ErrorCode.TIME_ZONE_LACKING,
                    "rows were written under the time zone " + wanted.timeZone() + ": " + e.getMessage(),
                    e);
        }
        settings = wanted;
    }

    /** Back to those of a new session, for what the service asks the server itself. */
    void forgetSettings() throws SQLException {
        if (settings != null) {
            statement.execute("SET SESSION " + RowSettings.SERVERS);
            settings = null;
        }
    }

    private static int encodedLength(byte[] events) {
        return (events.length + 2) / 3 * 4;
    }

    /** How long the statement with these events is. */
    private static int lengthOf(byte[] events) {
        return PREFIX.length + encodedLength(events) + 1;
    }

    /** Writes the statement with these events to that place, and over whatever stands before it. */
    private static void put(byte[] events, byte[] into, int at) {
        // The JDK's vectorized encoder only writes to the front of an array; then the text is moved behind the keyword.
        int encoded = Base64.getEncoder().encode(events, into);
        System.arraycopy(into, 0, into, at + PREFIX.length, encoded);
        System.arraycopy(PREFIX, 0, into, at, PREFIX.length);
        into[at + PREFIX.length + encoded] = '\'';
    }

    private void binlog(byte[] events) throws SQLException {
        int total = lengthOf(events);
        if (text.length < total) {
            text = new byte[Math.max(total, Math.min(2 * text.length, KEEP_BYTES))];
        }
        put(events, text, 0);
        statement.execute(new String(text, 0, total, StandardCharsets.ISO_8859_1));
    }

    /**
     * A large statement, as the driver sends it. The driver itself reserves four bytes per character for the text of a
     * statement, and it makes three copies of a parameter; a row of a client may be larger than a tenth of the heap.
     */
    private NativePacketPayload packet(byte[] events) throws SQLException {
        byte[] head = protocol().getServerSession().supportsQueryAttributes() ? QUERY_WITHOUT_ATTRIBUTES : QUERY;
        byte[] packet = new byte[head.length + lengthOf(events)];
        put(events, packet, head.length);
        System.arraycopy(head, 0, packet, 0, head.length);
        NativePacketPayload payload = new NativePacketPayload(packet);
        payload.setPosition(packet.length);
        return payload;
    }

    private void send(NativePacketPayload packet) throws SQLException {
        try {
            protocol().sendCommand(packet, false, 0);
        } catch (CJException e) {
            throw SQLExceptionsMapping.translateException(e);
        }
    }

    private NativeProtocol protocol() throws SQLException {
        return ((NativeSession) connection.unwrap(JdbcConnection.class).getSession()).getProtocol();
    }

    /** The highest number of this server's own GTIDs that was executed or is being committed. */
    long lastGtid(UUID server) throws SQLException {
        return GtidSets.lastGivenOut(statement, server);
    }

    /** How many tables the server has opened for this session, rather than give it one that was open. */
    long tablesOpened() throws SQLException {
        try (ResultSet row = statement.executeQuery("SHOW SESSION STATUS LIKE 'Table_open_cache_misses'")) {
            row.next();
            return row.getLong(2);
        }
    }

    /** Whether clients can't write to the server. */
    boolean isReadOnly() throws SQLException {
        try (ResultSet row = statement.executeQuery("SELECT @@GLOBAL.read_only")) {
            row.next();
            return row.getBoolean(1);
        }
    }

    void execute(String sql) throws SQLException {
        try {
            statement.execute(sql);
        } catch (SQLException e) {
            failed = true;
            throw e;
        }
    }

    /** Whether {@link #execute} ever failed. */
    boolean hasFailed() {
        return failed;
    }

    /** For how long it has been open. */
    long ageNanos() {
        return System.nanoTime() - openedNanos;
    }

    void commit() throws SQLException {
        connection.commit();
    }

    void rollback() throws SQLException {
        connection.rollback();
    }

    /** Breaks the connection, whatever it is doing. Any thread. */
    void abort() {
        try {
            connection.abort(Runnable::run);
        } catch (SQLException e) {
            throw new IllegalStateException("abort refused", e);
        }
    }

    @Override
    public void close() {
        try {
            connection.close();
        } catch (SQLException e) {
            // The server rolls back what was open, as it does for a connection that is closed normally.
            return;
        }
    }
}
