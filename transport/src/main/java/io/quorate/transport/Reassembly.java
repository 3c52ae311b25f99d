// SPDX-License-Identifier: Apache-2.0
package io.quorate.transport;

import io.quorate.core.ErrorCode;
import io.quorate.core.LogPosition;
import io.quorate.core.QuorateException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.BiConsumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Puts the fragments of large entries together again, in files, so that a large entry takes the heap of only one
 * fragment.
 *
 * <p>Each submitter has at most one entry open. A fragment is taken only when it is the one expected next; fragment 0
 * opens an entry; anything else that the submitter sends abandons its open entry. These rules depend only on the log
 * since the first fragment of the oldest open entry. So a node that starts again right before that fragment, with
 * nothing in memory, decides as the others do. That is why a position is handed on with each entry.
 *
 * <p>Belongs to the thread that applies the log.
 */
final class Reassembly {
    private static final Logger LOG = LoggerFactory.getLogger(Reassembly.class);

    /** What can be mapped at a time. The same on every node, or they would differ in what they leave out. */
    static final long ENTRY_BYTES_MAX = Integer.MAX_VALUE;

    private final long entryBytesMax;
    private final Path directory;
    private final BiConsumer<LogPosition, ByteBuffer> entries;
    private final Map<String, Open> open = new HashMap<>();
    private final LongAdder abandoned = new LongAdder();
    private final LongAdder malformed = new LongAdder();

    private record Open(
            long stream,
            long sequence,
            int count,
            int next,
            long bytes,
            LogPosition before,
            Path file,
            FileChannel out) {
        boolean continuedBy(EntryFrame frame) {
            return frame.stream() == stream
                    && frame.sequence() == sequence
                    && frame.count() == count
                    && frame.index() == next;
        }

        Open advanced(int more) {
            return new Open(stream, sequence, count, next + 1, bytes + more, before, file, out);
        }
    }

    /**
     * @param entries takes each whole entry, with the position after which the log must be read again to miss nothing
     */
    Reassembly(Path directory, BiConsumer<LogPosition, ByteBuffer> entries) {
        this(directory, entries, ENTRY_BYTES_MAX);
    }

    Reassembly(Path directory, BiConsumer<LogPosition, ByteBuffer> entries, long entryBytesMax) {
        this.entryBytesMax = entryBytesMax;
        this.directory = directory;
        this.entries = entries;
        try {
            Files.createDirectories(directory);
            try (DirectoryStream<Path> leftOver = Files.newDirectoryStream(directory)) {
                for (Path file : leftOver) {
                    Files.delete(file);
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /**
     * The next logged frame.
     *
     * @param before the position of the log entry before it
     * @param here its own
     */
    void take(LogPosition before, LogPosition here, ByteBuffer logged) throws IOException {
        EntryFrame frame;
        try {
            frame = EntryFrame.decode(logged);
        } catch (QuorateException e) {
            if (e.code() != ErrorCode.MALFORMED_MESSAGE) {
                throw e; // It may be one that a newer version takes.
            }
            malformed.increment();
            LOG.error("the order's log has at {} what is no entry, and it is left out: {}", here, e.getMessage());
            return;
        }
        Open current = open.get(frame.submitter());
        if (current != null && !current.continuedBy(frame)) {
            abandon(frame.submitter(), current);
            current = null;
        }
        if (frame.count() == 1) {
            entries.accept(resumeAfter(here), frame.body());
            return;
        }
        if (current == null) {
            if (frame.index() != 0) {
                return; // what is left of an abandoned entry
            }
            current = open(frame, before);
        }
        if (current.bytes + frame.body().remaining() > entryBytesMax) {
            malformed.increment();
            LOG.error(
                    "the order's log has up to {} more than {} bytes of {} that are to be one entry; they are left out",
                    here,
                    entryBytesMax,
                    frame.submitter());
            abandon(frame.submitter(), current);
            return;
        }
        Open advanced = current.advanced(frame.body().remaining());
        write(current.out, frame.body());
        open.put(frame.submitter(), advanced);
        if (advanced.next == advanced.count) {
            open.remove(frame.submitter());
            complete(advanced, here);
        }
    }

    /** Forgets all open entries, at the end. */
    void close() {
        open.values().forEach(Reassembly::discard);
        open.clear();
    }

    /** How far the entries have come that aren't whole yet. */
    List<UnfinishedEntries.Unfinished> unfinished() {
        if (open.isEmpty()) {
            return List.of(); // It is asked after every entry, and hardly ever there is one.
        }
        List<UnfinishedEntries.Unfinished> unfinished = new ArrayList<>(open.size());
        open.forEach((submitter, entry) ->
                unfinished.add(new UnfinishedEntries.Unfinished(submitter, entry.stream, entry.sequence, entry.next)));
        return List.copyOf(unfinished);
    }

    long abandonedEntries() {
        return abandoned.sum();
    }

    long malformedEntries() {
        return malformed.sum();
    }

    private LogPosition resumeAfter(LogPosition here) {
        LogPosition oldest = here;
        for (Open entry : open.values()) {
            oldest = entry.before.compareTo(oldest) < 0 ? entry.before : oldest;
        }
        return oldest;
    }

    private Open open(EntryFrame frame, LogPosition before) throws IOException {
        Path file = directory.resolve(frame.submitter());
        FileChannel out = FileChannel.open(
                file,
                StandardOpenOption.CREATE,
                StandardOpenOption.TRUNCATE_EXISTING,
                StandardOpenOption.READ,
                StandardOpenOption.WRITE);
        return new Open(frame.stream(), frame.sequence(), frame.count(), 0, 0, before, file, out);
    }

    private void complete(Open entry, LogPosition here) throws IOException {
        try {
            ByteBuffer whole = entry.out.map(FileChannel.MapMode.READ_ONLY, 0, entry.out.size());
            entries.accept(resumeAfter(here), whole);
        } finally {
            discard(entry);
        }
    }

    private void abandon(String submitter, Open entry) {
        open.remove(submitter);
        abandoned.increment();
        discard(entry);
    }

    private static void write(FileChannel out, ByteBuffer bytes) throws IOException {
        ByteBuffer rest = bytes.duplicate();
        while (rest.hasRemaining()) {
            out.write(rest);
        }
    }

    /** Deletes, and never truncates, because a reader may still have the bytes mapped. */
    private static void discard(Open entry) {
        try {
            entry.out.close();
            Files.deleteIfExists(entry.file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
