// SPDX-License-Identifier: Apache-2.0
package io.quorate.ist;

import io.quorate.core.Certified;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.UUID;

/**
 * Examines a cache directory from outside and changes nothing, whether a node has it open or not, and whatever is wrong
 * with it. If a node has it open, a record that is just being written may look like a torn end.
 */
public final class CacheInspector {
    /**
     * One file.
     *
     * @param first its first seqno, according to its name
     * @param last the last whole record's, {@code first - 1} when there is none
     * @param bytes of the file
     * @param closed whether it ends with a trailer; the last file of a cache doesn't
     * @param damage what is wrong with it, null when nothing is
     */
    public record SegmentReport(
            Path file, long first, long last, long bytes, UUID incarnation, boolean closed, String damage) {}

    /** Takes what is read, record by record. */
    public interface Reader {
        /** @return whether to continue */
        boolean record(Certified c);
    }

    private final Path directory;

    public CacheInspector(Path directory) {
        this.directory = directory;
    }

    /** Whether a directory has none of a cache's files. */
    public static boolean isEmpty(Path directory) throws IOException {
        return SegmentFiles.list(directory).isEmpty();
    }

    /** Checks every file, and every record's checksum. */
    public List<SegmentReport> verify() throws IOException {
        return read(0, Long.MAX_VALUE, c -> true);
    }

    /**
     * Hands out the whole records between two seqnos, in order, and reports what it met on the way.
     *
     * @return a report of every file read; files that are entirely outside the range are left out
     */
    public List<SegmentReport> read(long from, long to, Reader reader) throws IOException {
        NavigableMap<Long, Path> files = SegmentFiles.list(directory);
        List<SegmentReport> reports = new ArrayList<>();
        Long start = files.floorKey(from);
        long expected = -1;
        boolean[] more = {true};
        for (Map.Entry<Long, Path> file :
                files.tailMap(start == null ? Long.MIN_VALUE : start, true).entrySet()) {
            if (file.getKey() > to || !more[0]) {
                break;
            }
            boolean isLast = files.higherKey(file.getKey()) == null;
            SegmentReport report;
            try {
                report = read(file.getValue(), file.getKey(), isLast, c -> {
                    if (more[0] && c.seqno() >= from && c.seqno() <= to) {
                        more[0] = reader.record(c);
                    }
                });
            } catch (NoSuchFileException e) {
                // The node deleted it meanwhile.
                continue;
            }
            if (report.damage == null && expected >= 0 && report.first != expected) {
                report = damaged(report, "seqnos " + expected + " to " + (report.first - 1) + " are missing before it");
            }
            expected = report.last + 1;
            reports.add(report);
        }
        return reports;
    }

    private static SegmentReport damaged(SegmentReport r, String damage) {
        return new SegmentReport(r.file, r.first, r.last, r.bytes, r.incarnation, r.closed, damage);
    }

    /** Takes a record whose checksum is right. */
    private interface Whole {
        void record(Certified c);
    }

    private static SegmentReport read(Path file, long first, boolean isLast, Whole whole) throws IOException {
        SegmentHeader header;
        long size;
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
            header = SegmentHeader.read(channel);
            size = channel.size();
        }
        if (header == null || header.firstSeqno() != first) {
            return new SegmentReport(file, first, first - 1, size, null, false, "its header is damaged");
        }
        long seqno = first;
        String damage = null;
        boolean closed = false;
        try (SegmentReader reader = new SegmentReader(file, SegmentHeader.BYTES)) {
            SegmentReader.Found found;
            while ((found = reader.look(size)) == SegmentReader.Found.RECORD
                    && RecordCodec.seqno(reader.body()) == seqno) {
                whole.record(RecordCodec.decode(reader.body()));
                reader.advance();
                seqno++;
            }
            long trailer = reader.trailer(size);
            closed = trailer == seqno - 1;
            if (!closed && found == SegmentReader.Found.END && !isLast) {
                damage = "it lacks its end";
            } else if (!closed && found != SegmentReader.Found.END) {
                damage = "what follows seqno " + (seqno - 1) + ", from byte " + reader.offset() + " of " + size
                        + ", is no record"
                        + (isLast ? ": a torn end, which a restart cuts off, or being written just now" : "");
            }
        }
        return new SegmentReport(file, first, seqno - 1, size, header.incarnation(), closed, damage);
    }
}
