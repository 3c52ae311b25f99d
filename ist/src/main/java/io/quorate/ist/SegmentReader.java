// SPDX-License-Identifier: Apache-2.0
package io.quorate.ist;

import io.quorate.core.Payload;
import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * Reads the records of one segment file in order, through a file handle of its own: an interrupt of the reading thread
 * closes that one alone, and a segment deleted meanwhile can be read to its end. A large record isn't read but mapped:
 * what is decoded of it may refer to its part of the file, for as long as it likes.
 */
final class SegmentReader implements Closeable {
    /** What is at the reader's place. */
    enum Found {
        RECORD,
        END,
        /** Bytes that are no whole record with a right checksum. */
        BROKEN
    }

    private static final int BUFFER_BYTES = 128 << 10;

    private final Path file;
    private final FileChannel channel;
    /** From position to limit: what has been read of the file from {@link #offset} on. */
    private ByteBuffer buffer = allocate(BUFFER_BYTES).limit(0);

    private long offset;
    private int body;
    /** The record at the reader's place, if it is mapped; otherwise null. */
    private ByteBuffer mapped;

    SegmentReader(Path file, long offset) throws IOException {
        this.file = file;
        this.offset = offset;
        this.channel = FileChannel.open(file, StandardOpenOption.READ);
    }

    Path file() {
        return file;
    }

    /** Where in the file the reader stands. */
    long offset() {
        return offset;
    }

    /**
     * Examines the record at the reader's place.
     *
     * @param end the file may be read up to this offset
     */
    Found look(long end) throws IOException {
        if (offset == end) {
            return Found.END;
        }
        if (!fill(RecordCodec.HEAD_BYTES, end)) {
            return Found.BROKEN;
        }
        body = buffer.getInt(buffer.position());
        long bytes = RecordCodec.HEAD_BYTES + (long) body;
        if (!RecordCodec.isBodyLength(body) || bytes > end - offset) {
            return Found.BROKEN;
        }
        mapped = null;
        if (body > Payload.HEAP_BYTES_MAX) {
            if (bytes > channel.size() - offset) {
                return Found.BROKEN;
            }
            mapped = channel.map(FileChannel.MapMode.READ_ONLY, offset, bytes).order(ByteOrder.LITTLE_ENDIAN);
        } else if (!fill(bytes, end)) {
            return Found.BROKEN;
        }
        ByteBuffer record = record();
        int start = record.position();
        return record.getInt(start + 4) == RecordCodec.crc(record, start, body) ? Found.RECORD : Found.BROKEN;
    }

    private ByteBuffer record() {
        return mapped == null ? buffer : mapped;
    }

    /** The body of the record found; valid until {@link #advance}, or for ever if it is large. */
    ByteBuffer body() {
        ByteBuffer record = record();
        return record.slice(record.position() + RecordCodec.HEAD_BYTES, body).order(ByteOrder.LITTLE_ENDIAN);
    }

    /** Moves past the record found. */
    void advance() {
        int bytes = RecordCodec.HEAD_BYTES + body;
        // A mapped record reaches beyond what was read.
        buffer.position(Math.min(buffer.limit(), buffer.position() + bytes));
        mapped = null;
        offset += bytes;
        if (buffer.capacity() > BUFFER_BYTES && buffer.remaining() <= BUFFER_BYTES) {
            buffer = allocate(BUFFER_BYTES).put(buffer).flip();
        }
    }

    /** The last seqno in the trailer at the reader's place, -1 when there is no trailer that ends the file. */
    long trailer(long end) throws IOException {
        return end - offset == RecordCodec.TRAILER_BYTES && fill(RecordCodec.TRAILER_BYTES, end)
                ? RecordCodec.trailer(buffer.duplicate()
                        .limit(buffer.position() + RecordCodec.TRAILER_BYTES)
                        .order(ByteOrder.LITTLE_ENDIAN))
                : -1;
    }

    /** Makes sure that the buffer has at least {@code bytes} from the reader's place; false when the file has fewer. */
    private boolean fill(long bytes, long end) throws IOException {
        if (buffer.remaining() >= bytes) {
            return true;
        }
        if (bytes > end - offset) {
            return false;
        }
        if (bytes > buffer.capacity()) {
            buffer = allocate((int) bytes).put(buffer).flip();
        } else {
            buffer.compact().flip();
        }
        while (buffer.remaining() < bytes) {
            int held = buffer.limit();
            // In slices, because the JDK keeps a direct buffer of the largest read's size for each thread.
            long room = Math.min(Math.min(buffer.capacity() - held, BUFFER_BYTES), end - offset - held);
            int read = channel.read(buffer.duplicate().position(held).limit(held + (int) room), offset + held);
            if (read < 0) {
                return false;
            }
            buffer.limit(held + read);
        }
        return true;
    }

    private static ByteBuffer allocate(int bytes) {
        return ByteBuffer.allocate(bytes).order(ByteOrder.LITTLE_ENDIAN);
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }
}
