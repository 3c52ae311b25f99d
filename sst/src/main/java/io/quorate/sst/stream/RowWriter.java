// SPDX-License-Identifier: Apache-2.0
package io.quorate.sst.stream;

import io.quorate.core.ErrorCode;
import io.quorate.core.QuorateException;
import io.quorate.sst.audit.AuditedTable;
import io.quorate.sst.audit.AuditedTable.Stretch;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The donor's side of a piece. It writes the rows of a table, a line each in the form that LOAD DATA takes, in blocks:
 * {@code i32 length | bytes}, at the end a length of 0 and {@code i64 rows}. Then come {@code i32 count} and that many
 * statements, {@code i32 length | text}, which make exact what text isn't. Of a table with stored generated columns,
 * which can't be written, the hashes of its rows follow: {@code i32 count} and that many times identity and hashes,
 * those of the row and of its stored columns, as modified UTF-8, until a count is 0. For a bag of rows, that is one
 * hash of all with their number as its identity. It holds a block, a row and the statements at a time.
 */
public final class RowWriter {
    private static final int BLOCK_BYTES = 256 << 10;
    /** The receiver may be held up. */
    static final int WAIT_SECONDS = 600;

    /** How many rows' hashes are sent at once. */
    static final int HASHES = 1000;

    private static final byte[] NULL = {'\\', 'N'};

    private final DataOutputStream out;
    private byte[] buffer = new byte[BLOCK_BYTES + (16 << 10)];
    private int length;

    public RowWriter(DataOutputStream out) {
        this.out = out;
    }

    /**
     * Prepares a connection of its own: values are sent as they are stored, and times don't depend on where the server
     * is.
     */
    public static void prepare(Connection connection) throws SQLException {
        AuditedTable.prepare(connection);
        try (Statement statement = connection.createStatement()) {
            statement.execute("SET SESSION character_set_results = NULL, net_write_timeout = " + WAIT_SECONDS);
        }
    }

    /**
     * @return how many rows there were
     * @throws QuorateException COPY_NOT_BY_STREAM where the bytes wouldn't be the same on the other side
     */
    public long write(Connection connection, AuditedTable table, Stretch stretch) throws SQLException, IOException {
        RowForm form = new RowForm(table);
        List<String> corrections = corrections(connection, form, table, stretch);
        long rows = 0;
        try (Statement statement =
                connection.createStatement(ResultSet.TYPE_FORWARD_ONLY, ResultSet.CONCUR_READ_ONLY)) {
            // Row by row, not all at once.
            statement.setFetchSize(Integer.MIN_VALUE);
            try (ResultSet row = statement.executeQuery(form.select(stretch))) {
                int columns = form.columns();
                while (row.next()) {
                    for (int i = 1; i <= columns; i++) {
                        value(row.getBytes(i));
                        reserve(1);
                        buffer[length++] = (byte) (i == columns ? '\n' : '\t');
                    }
                    rows++;
                    if (length >= BLOCK_BYTES) {
                        flush();
                    }
                }
            }
        }
        flush();
        out.writeInt(0);
        out.writeLong(rows);
        out.writeInt(corrections.size());
        for (String each : corrections) {
            byte[] text = each.getBytes(StandardCharsets.UTF_8);
            out.writeInt(text.length);
            out.write(text);
        }
        if (!table.stored().isEmpty()) {
            hashes(connection, table, stretch);
        }
        return rows;
    }

    private void hashes(Connection connection, AuditedTable table, Stretch stretch) throws SQLException, IOException {
        if (!table.hasKey()) {
            AuditedTable.Sum sum = table.sum(connection, stretch);
            hashes(Map.of(Long.toString(sum.rows()), sum.hash()));
        } else {
            Map<String, String> some = new LinkedHashMap<>();
            try (Statement statement =
                    connection.createStatement(ResultSet.TYPE_FORWARD_ONLY, ResultSet.CONCUR_READ_ONLY)) {
                statement.setFetchSize(Integer.MIN_VALUE);
                try (ResultSet row = statement.executeQuery(
                        "SELECT " + table.identity() + ", " + table.hashes() + table.fromWhere(stretch))) {
                    while (row.next()) {
                        some.put(text(row.getBytes(1)), text(row.getBytes(2)));
                        if (some.size() == HASHES) {
                            hashes(some);
                            some.clear();
                        }
                    }
                }
            }
            if (!some.isEmpty()) {
                hashes(some);
            }
        }
        out.writeInt(0);
    }

    private void hashes(Map<String, String> some) throws IOException {
        out.writeInt(some.size());
        for (Map.Entry<String, String> each : some.entrySet()) {
            out.writeUTF(each.getKey());
            out.writeUTF(each.getValue());
        }
    }

    private static String text(byte[] bytes) {
        return new String(bytes, StandardCharsets.UTF_8);
    }

    private static List<String> corrections(Connection connection, RowForm form, AuditedTable table, Stretch stretch)
            throws SQLException {
        List<String> statements = new ArrayList<>();
        String select = form.selectInexact(stretch);
        if (select == null) {
            return statements;
        }
        List<String> identities = new ArrayList<>();
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(select)) {
            while (row.next()) {
                identities.add(text(row.getBytes(1)));
            }
        }
        for (String identity : identities) {
            String exact = form.exact(connection, identity);
            if (exact == null) {
                throw new QuorateException(
                        ErrorCode.COPY_NOT_BY_STREAM,
                        "a row of " + table.schema() + "." + table.name()
                                + " holds JSON with values of types that no expression makes, or with dates or"
                                + " decimals and without a usable primary key, by which these could be corrected");
            }
            statements.add(exact);
        }
        return statements;
    }

    private void value(byte[] value) throws IOException {
        if (value == null) {
            reserve(NULL.length);
            System.arraycopy(NULL, 0, buffer, length, NULL.length);
            length += NULL.length;
            return;
        }
        for (int from = 0; from < value.length; from += BLOCK_BYTES) {
            int to = Math.min(value.length, from + BLOCK_BYTES);
            reserve(2 * (to - from));
            escape(value, from, to);
            if (length >= BLOCK_BYTES) {
                flush();
            }
        }
    }

    private void escape(byte[] value, int from, int to) {
        byte[] b = buffer;
        int at = length;
        for (int i = from; i < to; i++) {
            byte c = value[i];
            if (c == '\\' || c == '\t' || c == '\n' || c == 0) {
                b[at++] = '\\';
                c = c == '\t' ? (byte) 't' : c == '\n' ? (byte) 'n' : c == 0 ? (byte) '0' : c;
            }
            b[at++] = c;
        }
        length = at;
    }

    private void reserve(int bytes) {
        if (buffer.length - length < bytes) {
            buffer = Arrays.copyOf(buffer, Math.max(length + bytes, 2 * buffer.length));
        }
    }

    private void flush() throws IOException {
        if (length > 0) {
            out.writeInt(length);
            out.write(buffer, 0, length);
            length = 0;
        }
    }
}
