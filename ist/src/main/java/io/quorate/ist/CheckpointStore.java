// SPDX-License-Identifier: Apache-2.0
package io.quorate.ist;

import io.quorate.core.ErrorCode;
import io.quorate.core.LogPosition;
import io.quorate.core.QuorateException;
import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutput;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;
import java.util.zip.CRC32C;
import java.util.zip.CheckedInputStream;
import java.util.zip.CheckedOutputStream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps the two newest checkpoints. A checkpoint is a state, opaque here, with the place in the log that it belongs to.
 * Each is a file of its own, written under a temporary name, forced and renamed, so after a crash it is whole or
 * doesn't exist. If the newest turns out to be damaged, the older one is used. Therefore the log may be discarded up to
 * the <i>older</i> one only.
 *
 * <p>A file, big-endian: {@code "QRCP" | i32 version | i64 term | i64 index | i64 seqno | content | i32 CRC32C of all
 * before}. Thread-safe.
 */
public final class CheckpointStore {
    private static final Logger log = LoggerFactory.getLogger(CheckpointStore.class);
    private static final int MAGIC = 0x51524350;
    private static final int VERSION = 1;
    private static final int HEADER_BYTES = 4 + 4 + 8 + 8 + 8;
    private static final int CRC_BYTES = 4;
    /** More than a state can have: 16 bytes for each of the 2^30 keys that it may know, and what is beside them. */
    private static final long CONTENT_BYTES_MAX = 20L << 30;

    private static final int KEPT = 2;
    private static final int BUFFER_BYTES = 64 << 10;
    private static final String PREFIX = "checkpoint-";

    private final Path directory;
    private final TreeMap<Long, Checkpoint> whole = new TreeMap<>();
    private volatile long forgettableSeqno;

    /** Writes a state. */
    @FunctionalInterface
    public interface Content {
        void writeTo(DataOutput out) throws IOException;
    }

    /**
     * @param position after which the log continues the state
     * @param seqno of the last writeset that the state knows
     * @param file the checkpoint's file
     */
    public record Checkpoint(LogPosition position, long seqno, Path file) {
        /** The content, to be closed by the caller. */
        public DataInputStream open() throws IOException {
            InputStream in = new BufferedInputStream(Files.newInputStream(file), BUFFER_BYTES);
            in.skipNBytes(HEADER_BYTES);
            return new DataInputStream(in);
        }

        /** Length of the content. */
        long contentBytes() throws IOException {
            return Files.size(file) - HEADER_BYTES - CRC_BYTES;
        }
    }

    private CheckpointStore(Path directory) {
        this.directory = directory;
    }

    /**
     * Opens a directory, creating it if it doesn't exist, and checks what is in it.
     *
     * @throws QuorateException {@link ErrorCode#CACHE_CORRUPT} when there are checkpoints and all are damaged, because
     *     starting from nothing would be wrong then; {@link ErrorCode#DISK} when the directory can't be read
     */
    public static CheckpointStore open(Path directory) {
        CheckpointStore store = new CheckpointStore(directory);
        try {
            Files.createDirectories(directory);
            NavigableMap<Long, Path> files = store.files();
            for (Map.Entry<Long, Path> file : files.entrySet()) {
                store.check(file.getKey(), file.getValue());
            }
            if (store.whole.isEmpty() && !files.isEmpty()) {
                throw new QuorateException(ErrorCode.CACHE_CORRUPT, "all checkpoints are damaged: " + files.values());
            }
            store.changed();
            return store;
        } catch (IOException e) {
            throw new QuorateException(ErrorCode.DISK, "can't read the checkpoints in " + directory + ": " + e, e);
        }
    }

    /** The newest one that is whole. */
    public synchronized Optional<Checkpoint> newest() {
        return whole.isEmpty()
                ? Optional.empty()
                : Optional.of(whole.lastEntry().getValue());
    }

    /**
     * The position up to which the log is not needed any more: that of the older checkpoint, {@link LogPosition#START}
     * without one.
     */
    public synchronized LogPosition forgettable() {
        return whole.size() < KEPT
                ? LogPosition.START
                : whole.firstEntry().getValue().position();
    }

    /**
     * The seqno up to which the writeset cache is not needed to continue from either checkpoint, 0 without an older
     * one. What comes between the two is needed: with a cache that doesn't reach back to the older checkpoint, that one
     * is of no use. Waits for nothing.
     */
    public long forgettableSeqno() {
        return forgettableSeqno;
    }

    private void changed() {
        forgettableSeqno =
                whole.size() < KEPT ? 0 : whole.firstEntry().getValue().seqno();
    }

    /**
     * Makes a checkpoint durable, and deletes all except it and the one before.
     *
     * @throws QuorateException {@link ErrorCode#DISK} when it can't be written; the earlier ones are unchanged then
     */
    public synchronized void save(LogPosition position, long seqno, Content content) {
        Path aside = directory.resolve("new-checkpoint");
        try {
            Uninterrupted.run(() -> write(aside, position, seqno, content));
            adopt(new Checkpoint(position, seqno, aside));
        } catch (IOException e) {
            throw new QuorateException(ErrorCode.DISK, "can't write a checkpoint to " + directory + ": " + e, e);
        }
    }

    /**
     * Writes a state that another node sends to a file, up to the stream's end; {@link #adopt} makes it one of ours.
     *
     * @throws IOException also when the stream breaks off, or has more than any state can have
     */
    Checkpoint receive(LogPosition position, long seqno, InputStream content) throws IOException {
        return receive(position, seqno, content, CONTENT_BYTES_MAX);
    }

    Checkpoint receive(LogPosition position, long seqno, InputStream content, long bytesMax) throws IOException {
        if (position.term() < 0 || position.index() < -1 || seqno < 0) {
            throw new IOException("a state at seqno " + seqno + ", " + position + " of the log");
        }
        Path aside = directory.resolve("received-checkpoint");
        write(aside, position, seqno, out -> {
            byte[] part = new byte[BUFFER_BYTES];
            long left = bytesMax;
            for (int read; (read = content.read(part)) >= 0; ) {
                left -= read;
                if (left < 0) {
                    throw new IOException("a state of more than " + bytesMax + " bytes");
                }
                out.write(part, 0, read);
            }
        });
        return new Checkpoint(position, seqno, aside);
    }

    /** Makes a received checkpoint, whose file is whole and durable but has a temporary name, the newest one. */
    public synchronized void adopt(Checkpoint written) {
        long number = whole.isEmpty() ? 1 : whole.lastKey() + 1;
        Path file = directory.resolve(String.format("%s%019d", PREFIX, number));
        try {
            Files.move(written.file(), file, StandardCopyOption.ATOMIC_MOVE);
            Uninterrupted.run(() -> SegmentFiles.forceDirectory(directory));
            whole.put(number, new Checkpoint(written.position(), written.seqno(), file));
            deleteOlder();
            changed();
        } catch (IOException e) {
            throw new QuorateException(ErrorCode.DISK, "can't keep a checkpoint in " + directory + ": " + e, e);
        }
    }

    /** Deletes all of them, durably. */
    public synchronized void clear() throws IOException {
        for (Path file : files().values()) {
            Files.delete(file);
        }
        Uninterrupted.run(() -> SegmentFiles.forceDirectory(directory));
        whole.clear();
    }

    private static void write(Path file, LogPosition position, long seqno, Content content) throws IOException {
        try (FileChannel channel = FileChannel.open(
                file, StandardOpenOption.CREATE, StandardOpenOption.TRUNCATE_EXISTING, StandardOpenOption.WRITE)) {
            writeContent(channel, position, seqno, content);
            channel.force(true);
        }
    }

    private static void writeContent(FileChannel channel, LogPosition position, long seqno, Content content)
            throws IOException {
        CRC32C crc = new CRC32C();
        OutputStream raw = Channels.newOutputStream(channel);
        DataOutputStream out =
                new DataOutputStream(new BufferedOutputStream(new CheckedOutputStream(raw, crc), BUFFER_BYTES));
        out.writeInt(MAGIC);
        out.writeInt(VERSION);
        out.writeLong(position.term());
        out.writeLong(position.index());
        out.writeLong(seqno);
        content.writeTo(out);
        out.flush();
        out.writeInt((int) crc.getValue());
        out.flush();
    }

    private void check(long number, Path file) throws IOException {
        CRC32C crc = new CRC32C();
        long size = Files.size(file);
        try (DataInputStream in = new DataInputStream(
                new CheckedInputStream(new BufferedInputStream(Files.newInputStream(file), BUFFER_BYTES), crc))) {
            boolean header = size >= HEADER_BYTES + CRC_BYTES && in.readInt() == MAGIC && in.readInt() == VERSION;
            if (header) {
                LogPosition position = new LogPosition(in.readLong(), in.readLong());
                long seqno = in.readLong();
                readFully(in, size - HEADER_BYTES - CRC_BYTES);
                int expected = (int) crc.getValue();
                if (in.readInt() == expected) {
                    whole.put(number, new Checkpoint(position, seqno, file));
                    return;
                }
            }
            log.warn("Checkpoint {} is damaged", file);
        }
    }

    private static void readFully(InputStream in, long bytes) throws IOException {
        byte[] buffer = new byte[BUFFER_BYTES];
        for (long left = bytes; left > 0; ) {
            int read = in.read(buffer, 0, (int) Math.min(left, buffer.length));
            if (read < 0) {
                return;
            }
            left -= read;
        }
    }

    private void deleteOlder() throws IOException {
        while (whole.size() > KEPT) {
            whole.pollFirstEntry();
        }
        for (Path file : files().headMap(whole.firstKey()).values()) {
            Files.delete(file);
        }
    }

    private NavigableMap<Long, Path> files() throws IOException {
        TreeMap<Long, Path> files = new TreeMap<>();
        try (DirectoryStream<Path> all = Files.newDirectoryStream(directory, PREFIX + "*")) {
            for (Path file : all) {
                String number = file.getFileName().toString().substring(PREFIX.length());
                if (number.matches("[0-9]{19}")) {
                    files.put(Long.valueOf(number), file);
                }
            }
        }
        return files;
    }
}
