// SPDX-License-Identifier: Apache-2.0
package io.quorate.ist;

import io.quorate.core.Certified;
import io.quorate.core.Spool;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;

/** Reads the records of a range from a stream, and verifies each one's checksum and that none is missing. */
public final class RecordReader {
    /** Records are handed on in batches of about this size. */
    private static final int BATCH_BYTES = 256 << 10;

    private static final int RECORD_BYTES_MAX = Integer.MAX_VALUE - 16;

    /** Takes what was read. */
    @FunctionalInterface
    public interface Sink {
        void take(List<Certified> batch) throws InterruptedException;
    }

    private final long to;
    private final Spool spool;
    private final Sink sink;
    private final List<Certified> batch = new ArrayList<>();
    private int batchBytes;
    private long read;
    private long next;

    /** @param spool where large records are put */
    public RecordReader(long from, long to, Spool spool, Sink sink) {
        this.spool = spool;
        this.to = to;
        this.sink = sink;
        this.read = from;
        this.next = from;
    }

    /** Seqno of the first record that was not handed on. */
    public long next() {
        return next;
    }

    long to() {
        return to;
    }

    void read(InputStream stream) throws IOException, InterruptedException {
        DataInputStream in = new DataInputStream(stream);
        try {
            while (read <= to) {
                Certified record = record(in);
                if (record.seqno() != read) {
                    throw new IOException("seqno " + record.seqno() + " came instead of " + read);
                }
                read++;
                batch.add(record);
                if (batchBytes >= BATCH_BYTES) {
                    handOn();
                }
            }
        } finally {
            handOn();
        }
    }

    private Certified record(DataInputStream in) throws IOException {
        int body = Integer.reverseBytes(in.readInt());
        int crc = Integer.reverseBytes(in.readInt());
        if (!RecordCodec.isBodyLength(body) || body > RECORD_BYTES_MAX) {
            throw new IOException("a record of " + body + " bytes");
        }
        ByteBuffer whole = body > spool.heapBytesMax() ? file(in, body) : array(in, body);
        if (crc != RecordCodec.crc(whole, 0, body)) {
            throw new IOException("seqno " + read + " fails its checksum");
        }
        batchBytes += body;
        try {
            Certified record = RecordCodec.decode(whole.position(RecordCodec.HEAD_BYTES));
            if (whole.hasRemaining()) {
                throw new IOException(whole.remaining() + " bytes follow seqno " + read + " in its record");
            }
            return record;
        } catch (IllegalArgumentException e) {
            throw new IOException("seqno " + read + " is not understood", e);
        }
    }

    private static ByteBuffer array(DataInputStream in, int body) throws IOException {
        byte[] bytes = new byte[RecordCodec.HEAD_BYTES + body];
        in.readFully(bytes, RecordCodec.HEAD_BYTES, body);
        return ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).putInt(0, body);
    }

    private ByteBuffer file(DataInputStream in, int body) throws IOException {
        byte[] part = new byte[64 << 10];
        ByteBuffer.wrap(part).order(ByteOrder.LITTLE_ENDIAN).putInt(0, body);
        try (Spool.File file = spool.open()) {
            file.write(part, 0, RecordCodec.HEAD_BYTES, 0);
            for (int at = 0; at < body; ) {
                int now = Math.min(part.length, body - at);
                in.readFully(part, 0, now);
                file.write(part, 0, now, RecordCodec.HEAD_BYTES + (long) at);
                at += now;
            }
            return file.map(RecordCodec.HEAD_BYTES + body).order(ByteOrder.LITTLE_ENDIAN);
        }
    }

    private void handOn() throws InterruptedException {
        if (!batch.isEmpty()) {
            sink.take(List.copyOf(batch));
            next = read;
            batch.clear();
            batchBytes = 0;
        }
    }
}
