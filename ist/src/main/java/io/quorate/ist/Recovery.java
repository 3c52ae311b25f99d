// SPDX-License-Identifier: Apache-2.0
package io.quorate.ist;

import io.quorate.core.ErrorCode;
import io.quorate.core.QuorateException;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Finds out which part of a cache directory is whole.
 *
 * <p>The owner says up to which seqno it has made the cache durable. Anything wrong below that is damage, and is
 * refused: those records can't be had again from the order's log. Above it, a crash may have left anything, even whole
 * records after broken ones, because the system writes pages in any order. There the cache is cut after the last log
 * entry before the first broken record, and the log delivers the rest again.
 */
final class Recovery {
    private static final Logger log = LoggerFactory.getLogger(Recovery.class);

    private final CacheSettings settings;
    private final long durableSeqno;
    private final TreeMap<Long, Segment> segments = new TreeMap<>();

    Recovery(CacheSettings settings, long durableSeqno) {
        this.settings = settings;
        this.durableSeqno = durableSeqno;
    }

    /** By first seqno, without a hole, the last one open for appending; empty when there is no file. */
    NavigableMap<Long, Segment> run() throws IOException {
        NavigableMap<Long, Path> files = SegmentFiles.list(settings.directory());
        boolean cut = false;
        for (Map.Entry<Long, Path> file : files.entrySet()) {
            long first = file.getKey();
            // Above the durable part, a crash leaves a hole if the system had not written a file's name yet.
            cut |= !segments.isEmpty() && last() >= durableSeqno && last() != first - 1;
            // Retention never deletes records after the durable part: if these are missing, a crash has left a hole
            // before the first file.
            cut |= segments.isEmpty() && first > durableSeqno + 1;
            if (cut) {
                log.warn("Deleting {}: the cache ends before it", file.getValue());
                Files.delete(file.getValue());
                continue;
            }
            Segment segment = open(file.getValue(), first, files.higherKey(first));
            if (segment == null) {
                cut = true;
                continue;
            }
            setAsideWhatDoesNotReach(first);
            segments.put(first, segment);
            cut = !segment.sealed();
        }
        if (last() < durableSeqno) {
            throw new QuorateException(
                    ErrorCode.CACHE_CORRUPT,
                    "the writeset cache in " + settings.directory() + " ends at seqno " + last()
                            + ", but was durable up to " + durableSeqno);
        }
        return segments;
    }

    private long last() {
        return segments.isEmpty() ? 0 : segments.lastEntry().getValue().lastSeqno();
    }

    /** Null when the file never had any content, and is deleted. */
    private Segment open(Path file, long first, Long next) throws IOException {
        SegmentHeader header;
        long size;
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
            header = SegmentHeader.read(channel);
            size = channel.size();
        }
        if (header == null || header.firstSeqno() != first) {
            if (first <= durableSeqno) {
                throw corrupt(file, "its header is damaged");
            }
            log.warn("Deleting {}: a crash left it without a header", file);
            Files.delete(file);
            return null;
        }
        if (!header.incarnation().equals(settings.incarnation())) {
            throw corrupt(
                    file, "it belongs to incarnation " + header.incarnation() + ", not " + settings.incarnation());
        }
        // If the next one has a durable record, this one was closed before the cache was forced.
        return next != null && next <= durableSeqno
                ? trusted(file, first, size)
                : scanned(file, first, size, next != null);
    }

    /**
     * All of it is durable and was closed: its trailer says where it ends, and records are checked when they are read.
     */
    private Segment trusted(Path file, long first, long size) throws IOException {
        long end = size - RecordCodec.TRAILER_BYTES;
        long last = -1;
        if (end >= SegmentHeader.BYTES) {
            try (SegmentReader reader = new SegmentReader(file, end)) {
                last = reader.trailer(size);
            }
        }
        if (last < first) {
            throw corrupt(file, "it lacks its end");
        }
        return Segment.existing(file, first, last, end, true);
    }

    private Segment scanned(Path file, long first, long size, boolean hasNext) throws IOException {
        try (SegmentReader reader = new SegmentReader(file, SegmentHeader.BYTES)) {
            Segment index = Segment.existing(file, first, first - 1, SegmentHeader.BYTES, false);
            long seqno = first;
            long entryEnd = SegmentHeader.BYTES;
            long entrySeqno = first - 1;
            while (reader.look(size) == SegmentReader.Found.RECORD && RecordCodec.seqno(reader.body()) == seqno) {
                boolean whole = RecordCodec.lastOfEntry(reader.body()) || seqno <= durableSeqno;
                reader.advance();
                if (whole) {
                    entryEnd = reader.offset();
                    entrySeqno = seqno;
                    index.index(seqno + 1, entryEnd);
                }
                seqno++;
            }
            if (hasNext && reader.trailer(size) == seqno - 1 && entrySeqno == seqno - 1) {
                index.restore(entryEnd, entrySeqno, true);
                return index;
            }
            if (entrySeqno < durableSeqno) {
                throw corrupt(file, "the record at byte " + reader.offset() + ", seqno " + seqno + ", is damaged");
            }
            if (entryEnd < size) {
                log.warn(
                        "Cutting {} bytes off {} after seqno {}: a crash left them", size - entryEnd, file, entrySeqno);
                truncate(file, entryEnd);
            }
            index.restore(entryEnd, entrySeqno, false);
            return index;
        }
    }

    /**
     * There is a hole: someone moved a segment away. Anything before it is of no use, but is kept so that it can be
     * examined.
     */
    private void setAsideWhatDoesNotReach(long first) throws IOException {
        if (segments.isEmpty() || last() == first - 1) {
            return;
        }
        for (Segment segment : segments.values()) {
            Path aside = segment.file().resolveSibling(segment.file().getFileName() + ".unlinked");
            log.warn("There is a hole before seqno {}; renaming {} to {}", first, segment.file(), aside);
            Files.move(segment.file(), aside, StandardCopyOption.REPLACE_EXISTING);
        }
        segments.clear();
    }

    private static void truncate(Path file, long size) throws IOException {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
            channel.truncate(size);
            channel.force(true);
        }
    }

    private static QuorateException corrupt(Path file, String what) {
        return new QuorateException(ErrorCode.CACHE_CORRUPT, "segment " + file + ": " + what);
    }
}
