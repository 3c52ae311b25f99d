// SPDX-License-Identifier: Apache-2.0
package io.quorate.ist;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;

/**
 * One file of the cache. The thread that appends owns it, except for its volatile and synchronized parts: {@link #end}
 * and {@link #lastSeqno} are raised only when all bytes below are in the file, so readers can rely on them.
 */
final class Segment {
    /** Offsets of records are remembered at least this far apart; a reader skips what is between. */
    private static final int INDEX_BYTES = 256 << 10;

    private final Path file;
    private final long firstSeqno;
    private volatile long lastSeqno;
    private volatile long end;
    private volatile boolean sealed;

    private FileChannel channel;
    private boolean closed;

    private long[] indexSeqnos = new long[8];
    private long[] indexOffsets = new long[8];
    private int indexed;
    private volatile long indexedUpTo;

    private Segment(Path file, long firstSeqno) {
        this.file = file;
        this.firstSeqno = firstSeqno;
        this.lastSeqno = firstSeqno - 1;
        this.end = SegmentHeader.BYTES;
        addToIndex(firstSeqno, SegmentHeader.BYTES);
    }

    /** A new, empty file. */
    static Segment create(Path file, SegmentHeader header) throws IOException {
        Segment segment = new Segment(file, header.firstSeqno());
        Files.deleteIfExists(file);
        Files.createFile(file);
        segment.writeFully(header.encode(), 0);
        return segment;
    }

    /** An existing file, with what is known to be good in it. */
    static Segment existing(Path file, long firstSeqno, long lastSeqno, long end, boolean sealed) {
        Segment segment = new Segment(file, firstSeqno);
        segment.lastSeqno = lastSeqno;
        segment.end = end;
        segment.sealed = sealed;
        return segment;
    }

    /** Sets what a scan has found. */
    void restore(long foundEnd, long foundLastSeqno, boolean foundSealed) {
        end = foundEnd;
        lastSeqno = foundLastSeqno;
        sealed = foundSealed;
    }

    Path file() {
        return file;
    }

    long firstSeqno() {
        return firstSeqno;
    }

    /** The last seqno in it; one below the first when it is empty. */
    long lastSeqno() {
        return lastSeqno;
    }

    /** The offset at which the records end. */
    long end() {
        return end;
    }

    boolean sealed() {
        return sealed;
    }

    long fileBytes() {
        return end + (sealed ? RecordCodec.TRAILER_BYTES : 0);
    }

    boolean isEmpty() {
        return lastSeqno < firstSeqno;
    }

    /** Writes all of {@code bytes}; readers see them after {@link #commit} only. */
    void write(ByteBuffer bytes, long at) throws IOException {
        writeFully(bytes, at);
    }

    void commit(long newEnd, long newLastSeqno) {
        end = newEnd;
        lastSeqno = newLastSeqno;
    }

    /** Removes what was written and not committed, as far as possible; recovery would cut it off as well. */
    void rollBack() throws IOException {
        channel().truncate(end);
    }

    /** Nothing more will be appended. */
    void seal() throws IOException {
        ByteBuffer trailer = ByteBuffer.allocate(RecordCodec.TRAILER_BYTES).order(ByteOrder.LITTLE_ENDIAN);
        RecordCodec.encodeTrailer(lastSeqno, trailer);
        writeFully(trailer.flip(), end);
        sealed = true;
    }

    /** Makes durable what is in the file. */
    void force() throws IOException {
        try {
            Uninterrupted.run(() -> channel().force(false), this::isClosed);
        } catch (ClosedChannelException e) {
            if (!isClosed()) {
                throw e;
            }
            // Deleted meanwhile, so there is nothing to make durable.
        }
    }

    /** Remembers the offset at which a record starts, if the last remembered one is far enough away. Any thread. */
    void index(long seqno, long offset) {
        if (offset - indexedUpTo >= INDEX_BYTES) {
            addToIndex(seqno, offset);
        }
    }

    private synchronized void addToIndex(long seqno, long offset) {
        if (indexed > 0 && offset <= indexedUpTo) {
            return;
        }
        if (indexed == indexSeqnos.length) {
            indexSeqnos = Arrays.copyOf(indexSeqnos, 2 * indexed);
            indexOffsets = Arrays.copyOf(indexOffsets, 2 * indexed);
        }
        indexSeqnos[indexed] = seqno;
        indexOffsets[indexed++] = offset;
        indexedUpTo = offset;
    }

    /** The last remembered offset that is not after a seqno's record. */
    synchronized long offsetBefore(long seqno) {
        int at = Arrays.binarySearch(indexSeqnos, 0, indexed, seqno);
        return indexOffsets[at >= 0 ? at : -at - 2];
    }

    synchronized void close() throws IOException {
        closed = true;
        if (channel != null) {
            channel.close();
            channel = null;
        }
    }

    /** Closes the file handle; appending and forcing open it again when needed. */
    synchronized void rest() throws IOException {
        if (channel != null) {
            channel.close();
            channel = null;
        }
    }

    private void writeFully(ByteBuffer bytes, long at) throws IOException {
        int start = bytes.position();
        Uninterrupted.run(
                () -> {
                    bytes.position(start);
                    while (bytes.hasRemaining()) {
                        channel().write(bytes, at + bytes.position() - start);
                    }
                },
                this::isClosed);
    }

    private synchronized boolean isClosed() {
        return closed;
    }

    private synchronized FileChannel channel() throws IOException {
        if (closed) {
            throw new ClosedChannelException();
        }
        if (channel == null || !channel.isOpen()) {
            channel = FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE);
        }
        return channel;
    }
}
