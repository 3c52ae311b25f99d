// SPDX-License-Identifier: Apache-2.0
package io.quorate.ist;

import io.quorate.core.Certified;
import io.quorate.core.LogPosition;
import io.quorate.core.Verdict;
import io.quorate.core.WriteSetCodec;
import java.nio.ByteBuffer;
import java.util.zip.CRC32C;

/**
 * A record of a segment, little-endian; all buffers here are set to that order:
 *
 * <pre>
 * i32 bytes of the body | u32 CRC32C of that length and the body
 * body: i64 seqno | u8 verdict | u8 last of its log entry | u16 0 | i64 conflictsWith | i64 dependsOn
 *       | i64 term | i64 index | writeset as {@link WriteSetCodec} writes it
 * </pre>
 *
 * A closed segment ends with a trailer instead of a further record: {@code i32 -1 | u32 CRC32C of the following | i64
 * last seqno}.
 */
final class RecordCodec {
    static final int HEAD_BYTES = 8;
    static final int TRAILER_BYTES = 16;
    private static final int BODY_FIXED_BYTES = 8 + 4 + 4 * 8;
    private static final int FLAGS_OFFSET = 9;
    private static final int TRAILER_MARK = -1;
    private static final int VERDICTS = Verdict.values().length;

    private RecordCodec() {}

    static int bytes(Certified c) {
        return Math.addExact(HEAD_BYTES + BODY_FIXED_BYTES, WriteSetCodec.encodedBytes(c.writeSet()));
    }

    /** Writes at the buffer's position and moves it. */
    static void encode(Certified c, ByteBuffer out) {
        encodeHead(c, out);
        out.put(c.writeSet().payload().buffer());
    }

    /** The size of all but the payload. */
    static int headBytes(Certified c) {
        return Math.addExact(HEAD_BYTES + BODY_FIXED_BYTES, WriteSetCodec.headBytes(c.writeSet()));
    }

    /** Writes all but the payload, which comes last. */
    static void encodeHead(Certified c, ByteBuffer out) {
        int start = out.position();
        out.position(start + HEAD_BYTES);
        out.putLong(c.seqno()).put((byte) c.verdict().ordinal());
        out.put((byte) (c.lastOfEntry() ? 1 : 0)).putShort((short) 0);
        out.putLong(c.conflictsWith()).putLong(c.dependsOn());
        out.putLong(c.position().term()).putLong(c.position().index());
        WriteSetCodec.encodeHead(c.writeSet(), out);
        int head = out.position() - start - HEAD_BYTES;
        ByteBuffer payload = c.writeSet().payload().buffer();
        out.putInt(start, head + payload.remaining());
        CRC32C crc = crcOf(out, start, head);
        crc.update(payload);
        out.putInt(start + 4, (int) crc.getValue());
    }

    /**
     * The checksum of the record at {@code start}, whose body is {@code body} bytes long and entirely in the buffer.
     */
    static int crc(ByteBuffer record, int start, int body) {
        return (int) crcOf(record, start, body).getValue();
    }

    private static CRC32C crcOf(ByteBuffer record, int start, int body) {
        CRC32C crc = new CRC32C();
        ByteBuffer bytes = record.duplicate();
        crc.update(bytes.limit(start + 4).position(start));
        crc.update(bytes.limit(start + HEAD_BYTES + body).position(start + HEAD_BYTES));
        return crc;
    }

    static boolean isBodyLength(int body) {
        return body >= BODY_FIXED_BYTES;
    }

    static long seqno(ByteBuffer body) {
        return body.getLong(body.position());
    }

    static boolean lastOfEntry(ByteBuffer body) {
        return body.get(body.position() + FLAGS_OFFSET) != 0;
    }

    /** Reads a body whose checksum has been verified; moves the buffer's position. */
    static Certified decode(ByteBuffer body) {
        long seqno = body.getLong();
        int verdict = body.get();
        boolean lastOfEntry = body.get() != 0;
        body.getShort();
        long conflictsWith = body.getLong();
        long dependsOn = body.getLong();
        LogPosition position = new LogPosition(body.getLong(), body.getLong());
        if (verdict < 0 || verdict >= VERDICTS) {
            throw new IllegalArgumentException("verdict " + verdict);
        }
        return new Certified(
                seqno,
                Verdict.of(verdict),
                conflictsWith,
                dependsOn,
                position,
                lastOfEntry,
                WriteSetCodec.decode(body));
    }

    /** Writes at the buffer's position and moves it. */
    static void encodeTrailer(long lastSeqno, ByteBuffer out) {
        out.putInt(TRAILER_MARK).putInt(trailerCrc(lastSeqno)).putLong(lastSeqno);
    }

    /**
     * The last seqno in a trailer, -1 when the buffer's remaining bytes are not a trailer. Doesn't move the position.
     */
    static long trailer(ByteBuffer in) {
        int at = in.position();
        if (in.remaining() != TRAILER_BYTES || in.getInt(at) != TRAILER_MARK) {
            return -1;
        }
        long lastSeqno = in.getLong(at + 8);
        return in.getInt(at + 4) == trailerCrc(lastSeqno) ? lastSeqno : -1;
    }

    private static int trailerCrc(long lastSeqno) {
        return Checksum.of(ByteBuffer.allocate(8).putLong(lastSeqno).array(), 0, 8);
    }
}
