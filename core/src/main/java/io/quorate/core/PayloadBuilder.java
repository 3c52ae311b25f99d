// SPDX-License-Identifier: Apache-2.0
package io.quorate.core;

import java.util.Arrays;

/**
 * Puts a payload together, event by event: in an array, and once that would be too large, in a file of a {@link Spool}.
 * Can be used again. Not thread-safe.
 */
public final class PayloadBuilder implements AutoCloseable {
    /** How much is written to the file at once. */
    private static final int BUFFER_BYTES = 256 << 10;

    private static final int KEPT_BYTES = 1 << 20;
    private static final int START_BYTES = 4096;
    private static final int NONE = -1;

    private final Spool spool;
    private byte[] buffer = new byte[START_BYTES];
    private int buffered;
    /** Null while the array is all there is. */
    private Spool.File file;
    /** How much of it is in the file. */
    private int written;

    private int lastRows = NONE;
    /** The first byte of that event's flags. */
    private byte lastFlags;

    /** A place to come back to. */
    public record Mark(int size, int lastRows, byte lastFlags) {}

    public PayloadBuilder(Spool spool) {
        this.spool = spool;
    }

    public int size() {
        return written + buffered;
    }

    public boolean isEmpty() {
        return size() == 0;
    }

    public void append(byte[] event) {
        append(event, 0, event.length);
    }

    public void append(Payload.Events event) {
        append(event.bytes(), event.offset(), event.length());
    }

    /**
     * Appends an event.
     *
     * @throws QuorateException {@link ErrorCode#DISK} if it can't be written to the file
     */
    public void append(byte[] source, int offset, int length) {
        if (BinlogEvents.isRows(BinlogEvents.type(source, offset))) {
            lastRows = size();
            lastFlags = source[offset + BinlogEvents.ROWS_FLAGS_OFFSET];
        }
        if (file == null && size() + (long) length > spool.heapBytesMax()) {
            file = spool.open();
        }
        if (file != null && buffered + (long) length > Math.max(buffer.length, BUFFER_BYTES)) {
            flush();
            if (length > BUFFER_BYTES) {
                file.write(source, offset, length, written);
                written += length;
                return;
            }
        }
        if (buffered + length > buffer.length) {
            // Sizes stay below 2 GiB: a transaction is at most 1 GiB, and so is an event.
            long twice = Math.min(2L * buffer.length, Integer.MAX_VALUE - 16);
            buffer = Arrays.copyOf(buffer, (int) Math.max(twice, (long) buffered + length));
        }
        System.arraycopy(source, offset, buffer, buffered, length);
        buffered += length;
    }

    private void flush() {
        file.write(buffer, 0, buffered, written);
        written += buffered;
        buffered = 0;
        if (buffer.length > KEPT_BYTES) {
            buffer = new byte[BUFFER_BYTES];
        }
    }

    /** Ends the statement at the last ROWS event so far: the event that would have ended it is not kept. */
    public void endStatement() {
        endsStatement(true);
    }

    /** Says of the last ROWS event so far whether it ends its statement. */
    public void endsStatement(boolean ends) {
        if (lastRows == NONE) {
            return;
        }
        lastFlags = (byte) (ends ? lastFlags | BinlogEvents.STMT_END : lastFlags & ~BinlogEvents.STMT_END);
        int at = lastRows + BinlogEvents.ROWS_FLAGS_OFFSET;
        if (at < written) {
            file.write(new byte[] {lastFlags}, 0, 1, at);
        } else {
            buffer[at - written] = lastFlags;
        }
    }

    public Mark mark() {
        return new Mark(size(), lastRows, lastFlags);
    }

    /** Goes back to an earlier place. */
    public void truncate(Mark mark) {
        written = Math.min(written, mark.size);
        buffered = mark.size - written;
        lastRows = mark.lastRows;
        lastFlags = mark.lastFlags;
    }

    /** What was put together; the builder is empty afterwards. */
    public Payload take() {
        Payload taken;
        if (file == null) {
            taken = Payload.of(Arrays.copyOf(buffer, buffered));
        } else {
            flush();
            taken = Payload.inFile(file.map(written));
        }
        clear();
        return taken;
    }

    /** Forgets everything. */
    public void clear() {
        buffered = 0;
        written = 0;
        lastRows = NONE;
        if (buffer.length > KEPT_BYTES) {
            buffer = new byte[START_BYTES];
        }
        if (file != null) {
            file.close();
            file = null;
        }
    }

    @Override
    public void close() {
        clear();
    }
}
