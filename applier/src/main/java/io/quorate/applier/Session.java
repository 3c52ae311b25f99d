// SPDX-License-Identifier: Apache-2.0
package io.quorate.applier;

import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
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

    /** Statement buffers up to this size are kept. */
    private static final int KEEP_BYTES = 4 << 20;

    private final Connection connection;
    private final Statement statement;
    private final long id;
    private byte[] text = new byte[64 << 10];

    private Session(Connection connection, Statement statement, long id) {
        this.connection = connection;
        this.statement = statement;
        this.id = id;
    }

    /** Opens and primes a connection for events of any size; transactions begin implicitly. */
    static Session open(DataSource source, Duration lockWait) throws SQLException {
        return open(source, lockWait, LargePackets.BYTES_MAX);
    }

    /** The same for statements of at most that size. */
    static Session open(DataSource source, Duration lockWait, long statementBytesMax) throws SQLException {
        Connection connection = LargePackets.connect(source, statementBytesMax);
        try {
            Statement statement = connection.createStatement();
            statement.setEscapeProcessing(false);
            long seconds = lockWait.toSeconds();
            // Names are sent in UTF-8, whatever the driver takes the connection for.
            statement.execute("SET SESSION character_set_client = 'utf8mb4', sql_log_bin = 1,"
                    + " transaction_isolation = 'READ-COMMITTED', binlog_row_image = 'FULL',"
                    + " binlog_row_value_options = '', innodb_lock_wait_timeout = " + seconds
                    + ", lock_wait_timeout = " + seconds);
            long id;
            try (ResultSet row = statement.executeQuery("SELECT CONNECTION_ID()")) {
                row.next();
                id = row.getLong(1);
            }
            Session session = new Session(connection, statement, id);
            session.binlog(FormatDescription.event());
            // The event also says "GTIDs come with the events", which they don't.
            statement.execute("SET SESSION gtid_next = 'AUTOMATIC'");
            connection.setAutoCommit(false);
            return session;
        } catch (SQLException | RuntimeException e) {
            connection.close();
            throw e;
        }
    }

    /** The server's number of this connection. */
    long id() {
        return id;
    }

    Connection connection() {
        return connection;
    }

    /** Has the server execute events. */
    void binlog(byte[] events) throws SQLException {
        int encoded = (events.length + 2) / 3 * 4;
        if (encoded > KEEP_BYTES) {
            binlogLarge(events);
            return;
        }
        int total = PREFIX.length + encoded + 1;
        if (text.length < total) {
            text = new byte[Math.max(total, Math.min(2 * text.length, KEEP_BYTES))];
        }
        // The JDK's vectorized encoder only writes to the front of an array; then the text is moved behind the keyword.
        Base64.getEncoder().encode(events, text);
        System.arraycopy(text, 0, text, PREFIX.length, encoded);
        System.arraycopy(PREFIX, 0, text, 0, PREFIX.length);
        text[total - 1] = '\'';
        statement.execute(new String(text, 0, total, StandardCharsets.ISO_8859_1));
    }

    /**
     * The driver reserves four bytes per character for the text of a statement, but not for the text of a parameter.
     */
    private void binlogLarge(byte[] events) throws SQLException {
        try (PreparedStatement large = connection.prepareStatement("BINLOG ?")) {
            large.setString(1, Base64.getEncoder().encodeToString(events));
            large.execute();
        }
    }

    /** The highest number of this server's own GTIDs that was executed or is being committed. */
    long lastGtid(UUID server) throws SQLException {
        return GtidSets.givenOut(statement).last(server);
    }

    /** Whether clients can't write to the server. */
    boolean isReadOnly() throws SQLException {
        try (ResultSet row = statement.executeQuery("SELECT @@GLOBAL.read_only")) {
            row.next();
            return row.getBoolean(1);
        }
    }

    void execute(String sql) throws SQLException {
        statement.execute(sql);
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
