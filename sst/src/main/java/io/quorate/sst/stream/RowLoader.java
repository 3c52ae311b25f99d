// SPDX-License-Identifier: Apache-2.0
package io.quorate.sst.stream;

import com.mysql.cj.conf.PropertyKey;
import com.mysql.cj.conf.RuntimeProperty;
import com.mysql.cj.jdbc.JdbcConnection;
import com.mysql.cj.jdbc.JdbcStatement;
import io.quorate.core.ErrorCode;
import io.quorate.core.QuorateException;
import io.quorate.core.TableName;
import io.quorate.sst.audit.AuditedTable;
import io.quorate.sst.audit.StoredColumns;
import io.quorate.sst.audit.TableColumn;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.IntConsumer;

/**
 * The joiner's side of a piece: writes the output of {@link RowWriter} into the table. With LOCAL, MySQL turns every
 * fault into a warning; here each warning is an error, and so is a missing row.
 */
public final class RowLoader {
    /**
     * Of the URL of a connection that loads. A server may answer any statement by asking for any file of its client's,
     * and one that isn't what it should be would get every file that the service can read. With this the driver offers
     * the protocol's part, but gives nothing: there is no such directory. What is given instead is our own stream, and
     * that only while a piece is being loaded.
     */
    public static final String CONNECTION_PARAMETER = "allowLoadLocalInfileInPath=%2Fdev%2Fnull%2Fnone";

    private static final int WARN_DATA_TRUNCATED = 1265;
    private static final int CHECK_VIOLATED = 3819;
    /** Three times the size in which {@link RowWriter} sends the rest of a row that is larger than a block. */
    private static final int BLOCK_BYTES_MAX = 3 << 20;
    /** The largest packet that a server takes unless it is told otherwise. */
    private static final int CORRECTION_BYTES_MAX = 64 << 20;

    private final DataInputStream in;
    private final IntConsumer received;
    private final StoredColumns.Connections others;
    private final Map<TableName, Set<Map<String, String>>> settings;

    /**
     * @param received is told of bytes as they arrive; may hold them up
     * @param others for what the loading connection must not do
     * @param settings under which rows of tables had to be computed; all pieces of a copy share it
     */
    public RowLoader(
            DataInputStream in,
            IntConsumer received,
            StoredColumns.Connections others,
            Map<TableName, Set<Map<String, String>>> settings) {
        this.in = in;
        this.received = received;
        this.others = others;
        this.settings = settings;
    }

    /** Prepares a connection of its own, made with {@link #CONNECTION_PARAMETER}. Transactions begin implicitly. */
    public static void prepare(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute("SET SESSION sql_log_bin = 0, time_zone = '+00:00', foreign_key_checks = 0,"
                    + " sql_mode = 'NO_AUTO_VALUE_ON_ZERO,ALLOW_INVALID_DATES', max_error_count = 1000,"
                    + " show_gipk_in_create_table_and_information_schema = ON,"
                    + " innodb_lock_wait_timeout = 50, lock_wait_timeout = 50, net_read_timeout = "
                    + RowWriter.WAIT_SECONDS);
        }
        connection.setAutoCommit(false);
    }

    /**
     * @return how many rows there are
     * @throws IOException when the donor's data breaks off
     */
    public long load(Connection connection, AuditedTable table) throws SQLException, IOException {
        Blocks blocks = new Blocks();
        String name = table.schema() + "." + table.name();
        try (Statement statement = connection.createStatement()) {
            statement.setEscapeProcessing(false);
            JdbcStatement local = statement.unwrap(JdbcStatement.class);
            RuntimeProperty<Boolean> gives = connection
                    .unwrap(JdbcConnection.class)
                    .getPropertySet()
                    .getBooleanProperty(PropertyKey.allowLoadLocalInfile);
            // In this sequence: where there is no stream, the driver would open the file that the server names.
            local.setLocalInfileInputStream(blocks);
            gives.setValue(true);
            long loaded;
            try {
                loaded = statement.executeLargeUpdate(new RowForm(table).load());
            } finally {
                gives.setValue(false);
                // It is when its server has gone, and then this would hide why.
                if (!statement.isClosed()) {
                    local.setLocalInfileInputStream(null);
                }
            }
            if (blocks.broken != null) {
                throw blocks.broken;
            }
            requireNoWarnings(statement, table);
            if (loaded != blocks.rows) {
                throw unusable(name + ": " + blocks.rows + " rows came, " + loaded + " are here");
            }
            correct(statement, table, name);
            if (!table.stored().isEmpty()) {
                restore(connection, table, name);
            }
            return loaded;
        }
    }

    private void correct(Statement statement, AuditedTable table, String name) throws SQLException, IOException {
        for (int left = in.readInt(); left > 0; left--) {
            String update = correction(name);
            CatalogRule.requireCorrection(table.schema(), table.name(), update);
            if (statement.executeUpdate(update) > 1) {
                throw unusable(name + ": a row was corrected twice");
            }
        }
    }

    /** Has the server compute anew what it has computed otherwise than the donor's server once did. */
    private void restore(Connection connection, AuditedTable table, String name) throws SQLException, IOException {
        TableName key = new TableName(table.schema(), table.name());
        Set<Map<String, String>> known = settings.computeIfAbsent(key, k -> ConcurrentHashMap.newKeySet());
        try (StoredColumns stored = new StoredColumns(connection, table, others, known)) {
            for (int count; (count = in.readInt()) != 0; ) {
                if (count < 0 || count > RowWriter.HASHES) {
                    throw unusable(name + ": hashes of " + count + " rows come at once");
                }
                Map<String, String> wanted = new LinkedHashMap<>();
                for (int i = 0; i < count; i++) {
                    wanted.put(in.readUTF(), in.readUTF());
                }
                String odd;
                // Under which settings the table is open must not change meanwhile.
                synchronized (known) {
                    odd = odd(stored, table, wanted);
                }
                if (odd != null) {
                    throw new QuorateException(
                            ErrorCode.COPY_NOT_BY_STREAM,
                            "no settings are known under which a server computes the stored generated columns of "
                                    + name + " as the donor has them, row " + odd);
                }
            }
        }
    }

    private static String odd(StoredColumns stored, AuditedTable table, Map<String, String> wanted)
            throws SQLException {
        if (table.hasKey()) {
            try {
                return stored.restore(wanted);
            } catch (IllegalArgumentException e) {
                throw unusable(e.getMessage());
            }
        }
        Map.Entry<String, String> all = wanted.entrySet().iterator().next();
        if (!all.getKey().matches("[0-9]{1,18}")) {
            throw unusable("a bag of " + all.getKey() + " rows");
        }
        AuditedTable.Sum sum = new AuditedTable.Sum(Long.parseLong(all.getKey()), all.getValue());
        return stored.restore(sum) ? null : "of all";
    }

    private String correction(String name) throws IOException {
        int bytes = in.readInt();
        if (bytes < 0 || bytes > CORRECTION_BYTES_MAX) {
            throw unusable(name + ": a row is to be corrected with " + bytes + " bytes, at most " + CORRECTION_BYTES_MAX
                    + " are possible; quorate.sst.method=clone has no such limit");
        }
        byte[] text = in.readNBytes(bytes);
        if (text.length < bytes) {
            throw new EOFException("the donor's data breaks off");
        }
        return new String(text, StandardCharsets.UTF_8);
    }

    /**
     * Only one warning is allowed: member 0 of an ENUM, which is what is left of an invalid value, is stored with a
     * warning.
     */
    private static void requireNoWarnings(Statement statement, AuditedTable table) throws SQLException {
        try (ResultSet row = statement.executeQuery("SHOW WARNINGS")) {
            while (row.next()) {
                String text = row.getString(3);
                boolean member = row.getInt(2) == WARN_DATA_TRUNCATED
                        && table.columns().stream()
                                .anyMatch(c ->
                                        c.form() == TableColumn.Form.ORDINAL && text.contains("'" + c.name() + "'"));
                if (row.getInt(2) == CHECK_VIOLATED) {
                    throw new QuorateException(
                            ErrorCode.COPY_NOT_BY_STREAM,
                            "rows of " + table.schema() + "." + table.name() + " don't fit its CHECK under the time"
                                    + " zone and modes with which they are loaded, which aren't those of the sessions"
                                    + " that wrote them (" + text + "); a CHECK that doesn't depend on these can be"
                                    + " copied");
                }
                if (!member) {
                    throw unusable(table.schema() + "." + table.name() + ": MySQL says " + row.getInt(2) + ", " + text);
                }
            }
        }
    }

    private static QuorateException unusable(String why) {
        return new QuorateException(ErrorCode.COPY_UNUSABLE, why);
    }

    /** The blocks of one table as one stream; after its end the number of rows is known. */
    private final class Blocks extends InputStream {
        private int left;
        private boolean over;
        private long rows = -1;
        private IOException broken;

        @Override
        public int read() throws IOException {
            byte[] one = new byte[1];
            return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
        }

        @Override
        public int read(byte[] b, int offset, int length) throws IOException {
            try {
                if (left == 0 && !over) {
                    next();
                }
                if (over) {
                    return -1;
                }
                int read = Math.min(length, left);
                in.readFully(b, offset, read);
                left -= read;
                return read;
            } catch (IOException e) {
                // Otherwise the driver would end the statement normally, as if that were everything.
                broken = e;
                throw e;
            }
        }

        private void next() throws IOException {
            left = in.readInt();
            if (left < 0 || left > BLOCK_BYTES_MAX) {
                throw new IOException("a block of " + left + " bytes comes, at most " + BLOCK_BYTES_MAX + " are taken");
            }
            if (left == 0) {
                over = true;
                rows = in.readLong();
            } else {
                received.accept(left);
            }
        }
    }
}
