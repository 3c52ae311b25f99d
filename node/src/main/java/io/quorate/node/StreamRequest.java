// SPDX-License-Identifier: Apache-2.0
package io.quorate.node;

import io.quorate.core.ErrorCode;
import io.quorate.core.LogPosition;
import io.quorate.core.PeerStreams;
import io.quorate.core.QuorateException;
import io.quorate.sst.audit.AuditedTable.Stretch;
import io.quorate.sst.stream.Catalog;
import io.quorate.sst.stream.Moment;
import io.quorate.sst.stream.Omitted;
import io.quorate.sst.stream.Unit;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.List;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.json.JsonMapper;

/**
 * What a node asks one whose server it copies by method {@code stream}: a byte and JSON. The answer is {@code i32 length | JSON},
 * of {@link What#CATALOG} a {@link Contents}, of {@link What#ROWS} a {@link Head} and a zstd stream of what {@link
 * io.quorate.sst.stream.RowWriter} writes, table by table.
 *
 * @param after the answer is to be of a server that holds everything up to this seqno
 * @param omitted of CATALOG
 * @param tables of ROWS: one, or all that are to be read at one moment
 * @param stretch of the only table
 * @param bytes about so many are to be in it; 0 when its end is known
 */
record StreamRequest(What what, long after, Omitted omitted, List<Unit.Name> tables, Stretch stretch, long bytes) {
    private static final byte MARK = 67;
    private static final int JSON_BYTES_MAX = 1 << 30;

    enum What {
        /** All but the rows. */
        CATALOG,
        /** Those of a stretch of a table; {@code bytes} is set when the donor is to find its end. */
        ROWS,
        /** Those of whole tables, at a moment at which nobody writes to them. */
        TABLES
    }

    /**
     * @param log where in the order's log that moment is
     * @param ordered by this seqno the order has decided on all that it may hold
     * @param bytes of the files of the tables
     */
    record Contents(Moment moment, LogPosition log, long ordered, Catalog catalog, long bytes) {}

    /**
     * After the rows comes {@code i64 seqno}: by it the order has decided on all that they may hold.
     *
     * @param to where the stretch ends, null for the table's end
     */
    record Head(Moment moment, String to) {}

    static boolean isOne(byte[] bytes) {
        return bytes.length > 0 && bytes[0] == MARK;
    }

    static StreamRequest read(byte[] bytes, JsonMapper json) {
        try {
            return json.readValue(bytes, 1, bytes.length - 1, StreamRequest.class);
        } catch (JacksonException e) {
            throw new QuorateException(ErrorCode.MALFORMED_MESSAGE, "a request of a copy in an unknown form", e);
        }
    }

    /** @throws IOException when the peer can't be reached */
    DataInputStream open(PeerStreams peers, String node, JsonMapper json) throws IOException {
        ByteArrayOutputStream request = new ByteArrayOutputStream();
        request.write(MARK);
        request.writeBytes(json.writeValueAsBytes(this));
        return new DataInputStream(peers.open(node, request.toByteArray()));
    }

    /**
     * Reads the head of an answer.
     *
     * @throws QuorateException as the peer refuses
     */
    static <T> T head(DataInputStream in, JsonMapper json, Class<T> type) throws IOException {
        int length = in.readInt();
        if (length < 0 || length > JSON_BYTES_MAX) {
            throw new QuorateException(ErrorCode.MALFORMED_MESSAGE, "an answer with a head of " + length + " bytes");
        }
        try {
            return json.readValue(readExactly(in, length), type);
        } catch (JacksonException e) {
            throw new QuorateException(ErrorCode.MALFORMED_MESSAGE, "an answer of a copy in an unknown form", e);
        }
    }

    private static byte[] readExactly(InputStream in, int length) throws IOException {
        byte[] bytes = in.readNBytes(length);
        if (bytes.length < length) {
            throw new IOException("the answer breaks off");
        }
        return bytes;
    }
}
