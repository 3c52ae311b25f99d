// SPDX-License-Identifier: Apache-2.0
package io.quorate.ist;

import io.quorate.core.Certified;
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

    private static final int RECORD_BYTES_MAX = 1 << 30;

    /** Takes what was read. */
    @FunctionalInterface
    public interface Sink {
        void take(List<Certified> batch) throws InterruptedException;
    }

    private final long to;
    private final Sink sink;
    private final List<Certified> batch = new ArrayList<>();
    private int batchBytes;
    private long read;
    private long next;

    public RecordReader(long from, long to, Sink sink) {
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
        byte[] bytes = new byte[RecordCodec.HEAD_BYTES + body];
        in.readFully(bytes, RecordCodec.HEAD_BYTES, body);
        ByteBuffer whole = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).putInt(0, body);
        if (crc != RecordCodec.crc(whole, 0, body)) {
            throw new IOException("seqno " + read + " fails its checksum");
        }
        batchBytes += bytes.length;
        try {
            return RecordCodec.decode(whole.position(RecordCodec.HEAD_BYTES));
        } catch (IllegalArgumentException e) {
            throw new IOException("seqno " + read + " is not understood", e);
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
