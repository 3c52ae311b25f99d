// SPDX-License-Identifier: Apache-2.0
package io.quorate.transport;

import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.zip.CRC32C;
import org.apache.ratis.proto.RaftProtos.LogEntryProto;
import org.apache.ratis.thirdparty.com.google.protobuf.CodedInputStream;
import org.apache.ratis.thirdparty.com.google.protobuf.CodedOutputStream;
import org.apache.ratis.thirdparty.com.google.protobuf.WireFormat;

/**
 * Reads one segment of Ratis' log: the eight bytes {@code RaftLog1}, then entries, each a varint length, that many
 * bytes of {@code LogEntryProto} and their CRC32C, length included; then zeros, if anything.
 */
final class SegmentReader implements AutoCloseable {
    enum Found {
        ENTRY,
        END,
        BAD
    }

    private static final byte[] HEADER = "RaftLog1".getBytes(StandardCharsets.US_ASCII);
    private static final int LENGTH_MAX = RaftSettings.ENTRY_BYTES_MAX + 1024;
    /** The least a disk writes at once. */
    private static final int SECTOR = 512;

    private final FileChannel file;
    private final long size;
    private final DataInputStream in;
    private final CRC32C checksum = new CRC32C();
    private byte[] buffer = new byte[64 << 10];
    private long position;
    private long entryAt;
    private long entryEnd;
    private long index;

    SegmentReader(Path path) throws IOException {
        file = FileChannel.open(path, StandardOpenOption.READ);
        size = file.size();
        InputStream stream = Channels.newInputStream(file);
        in = new DataInputStream(new BufferedInputStream(stream, 256 << 10));
    }

    /** Whether the file begins as a segment does. */
    boolean header() throws IOException {
        byte[] found = in.readNBytes(HEADER.length);
        position = found.length;
        return Arrays.equals(found, HEADER);
    }

    Found next() throws IOException {
        entryAt = position;
        entryEnd = -1;
        if (position >= size) {
            return Found.END;
        }
        int first = in.readUnsignedByte();
        if (first == 0) {
            return onlyZeros(position) ? Found.END : Found.BAD;
        }
        int length = length(first);
        if (length < 0) {
            return Found.BAD;
        }
        int prefix = CodedOutputStream.computeUInt32SizeNoTag(length);
        entryEnd = entryAt + prefix + length + Integer.BYTES;
        if (entryEnd > size) {
            return Found.BAD;
        }
        return body(prefix, length) ? Found.ENTRY : Found.BAD;
    }

    /** Where the current entry begins. */
    long entryAt() {
        return entryAt;
    }

    /** The log index of the current entry. */
    long index() {
        return index;
    }

    /**
     * Whether the current entry, which is bad, can be a write that a crash cut off. Either it runs over the end of the
     * file; or nothing but zeros follows it, and it ends in zeros or contains a sector of them that the disk had not
     * written yet.
     */
    boolean torn() throws IOException {
        if (entryEnd > size) {
            return true;
        }
        long written = writtenUpTo();
        if (entryEnd < 0 || written > entryEnd) {
            return false;
        }
        return written <= entryEnd - Integer.BYTES || roundUp(written) < entryEnd || hasZeroSector();
    }

    boolean onlyZeros(long from) throws IOException {
        return lastNonZero(from) < 0;
    }

    @Override
    public void close() throws IOException {
        file.close();
    }

    private int length(int first) throws IOException {
        int length = first & 0x7f;
        int shift = 7;
        int read = 1;
        for (int b = first; (b & 0x80) != 0; shift += 7) {
            b = shift > 28 || entryAt + read >= size ? -1 : in.readUnsignedByte();
            if (b < 0) {
                return -1;
            }
            read++;
            length |= (b & 0x7f) << shift;
        }
        position = entryAt + read;
        return length > LENGTH_MAX ? -1 : length;
    }

    private boolean body(int prefix, int length) throws IOException {
        if (buffer.length < length + 8) {
            buffer = new byte[Math.max(length + 8, buffer.length * 2)];
        }
        CodedOutputStream lead = CodedOutputStream.newInstance(buffer, 0, prefix);
        lead.writeUInt32NoTag(length);
        in.readFully(buffer, prefix, length);
        int expected = in.readInt();
        position = entryEnd;
        checksum.reset();
        checksum.update(buffer, 0, prefix + length);
        if ((int) checksum.getValue() != expected) {
            return false;
        }
        index = indexOf(CodedInputStream.newInstance(buffer, prefix, length));
        return true;
    }

    private static long indexOf(CodedInputStream entry) throws IOException {
        for (int tag = entry.readTag(); tag != 0; tag = entry.readTag()) {
            if (WireFormat.getTagFieldNumber(tag) == LogEntryProto.INDEX_FIELD_NUMBER) {
                return entry.readUInt64();
            }
            entry.skipField(tag);
        }
        return 0;
    }

    private long writtenUpTo() throws IOException {
        return lastNonZero(entryAt) + 1;
    }

    /** Position of the last byte at or after {@code from} that isn't zero, -1 when there is none. */
    private long lastNonZero(long from) throws IOException {
        ByteBuffer chunk = ByteBuffer.allocate(64 << 10);
        for (long end = size; end > from; end -= chunk.capacity()) {
            long start = Math.max(from, end - chunk.capacity());
            chunk.clear().limit((int) (end - start));
            readFully(chunk, start);
            for (int i = chunk.limit() - 1; i >= 0; i--) {
                if (chunk.get(i) != 0) {
                    return start + i;
                }
            }
        }
        return -1;
    }

    private boolean hasZeroSector() throws IOException {
        ByteBuffer sector = ByteBuffer.allocate(SECTOR);
        byte[] zeros = new byte[SECTOR];
        for (long at = roundUp(entryAt); at + SECTOR <= entryEnd; at += SECTOR) {
            sector.clear();
            readFully(sector, at);
            if (Arrays.equals(sector.array(), zeros)) {
                return true;
            }
        }
        return false;
    }

    private void readFully(ByteBuffer into, long at) throws IOException {
        long from = at;
        while (into.hasRemaining()) {
            int read = file.read(into, from);
            if (read < 0) {
                throw new IOException("the file has become shorter");
            }
            from += read;
        }
    }

    private static long roundUp(long position) {
        return (position + SECTOR - 1) / SECTOR * SECTOR;
    }
}
