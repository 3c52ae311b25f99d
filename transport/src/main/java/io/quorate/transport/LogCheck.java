// SPDX-License-Identifier: Apache-2.0
package io.quorate.transport;

import io.quorate.core.ErrorCode;
import io.quorate.core.LogPosition;
import io.quorate.core.QuorateException;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Comparator;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads the whole log before Ratis does, because Ratis 3.3 is too lenient in some places and too strict in one.
 *
 * <p>Too lenient ({@code LogSegment.loadSegment}): a closed segment that ends early is accepted with a warning, and a
 * segment whose header is zeroed is deleted. Either would make this node forget entries it has acknowledged. Here that
 * is QRT-3005.
 *
 * <p>Too strict: space is filled with zeros ahead of the writes, so a write cut off by a crash does not end in
 * end-of-file but in zeros, and Ratis then refuses to start over its checksum. Such an entry was never acknowledged
 * (the log is flushed before an acknowledgement), so it is cut off here. A bad entry that can't be such a torn write is
 * damage and is never cut.
 */
final class LogCheck {
    private static final Logger LOG = LoggerFactory.getLogger(LogCheck.class);
    private static final Pattern NAME = Pattern.compile("log_(?:(\\d+)-(\\d+)|inprogress_(\\d+))");

    /** @param end last index according to its name, {@link Long#MAX_VALUE} for the open one */
    private record Segment(Path file, long start, long end) {
        boolean open() {
            return end == Long.MAX_VALUE;
        }
    }

    private LogCheck() {}

    /**
     * @param directory Ratis' directory with the segment files; may not exist yet
     * @param resumeAfter what this node's own stores hold already
     * @return the index of the last entry; -1 when there is none
     * @throws QuorateException LOG_UNREADABLE, naming the file
     */
    static long run(Path directory, LogPosition resumeAfter) throws IOException {
        if (!Files.isDirectory(directory)) {
            return -1;
        }
        List<Segment> segments = segments(directory);
        long next = -1;
        for (int i = 0; i < segments.size(); i++) {
            Segment segment = segments.get(i);
            if (next < 0 && segment.start > resumeAfter.index() + 1) {
                throw new QuorateException(
                        ErrorCode.ORDER_TOO_FAR_BEHIND,
                        "the log in " + directory + " begins with " + segment.file.getFileName()
                                + ", but this node's other stores hold the order up to " + resumeAfter + " only");
            }
            if (next >= 0 && segment.start != next) {
                throw damaged(
                        segment,
                        "the entries from " + next + " to before " + segment.start + " are missing",
                        resumeAfter);
            }
            next = check(segment, i == segments.size() - 1, resumeAfter) + 1;
        }
        if (next >= 0 && next <= resumeAfter.index()) {
            LOG.warn(
                    "The log in {} ends at {}, but this node's stores hold the order up to {}. What is missing"
                            + " was received"
                            + " otherwise, or the log lost its end: the order goes on after {}, from the leader.",
                    directory,
                    next - 1,
                    resumeAfter,
                    resumeAfter);
            // Ratis drops it too, unless it is the last segment, and then refuses what comes after the gap.
            for (Segment segment : segments) {
                Files.delete(segment.file);
            }
            return -1;
        }
        return next < 0 ? -1 : next - 1;
    }

    private static List<Segment> segments(Path directory) throws IOException {
        try (Stream<Path> files = Files.list(directory)) {
            return files.flatMap(LogCheck::segment)
                    .sorted(Comparator.comparingLong(Segment::start))
                    .toList();
        }
    }

    private static Stream<Segment> segment(Path file) {
        Matcher name = NAME.matcher(file.getFileName().toString());
        if (!name.matches() || (name.group(3) != null && file.toFile().length() == 0)) {
            return Stream.empty(); // Ratis removes an open segment of no length itself
        }
        return Stream.of(
                name.group(3) != null
                        ? new Segment(file, Long.parseLong(name.group(3)), Long.MAX_VALUE)
                        : new Segment(file, Long.parseLong(name.group(1)), Long.parseLong(name.group(2))));
    }

    /** @return the index of its last entry */
    private static long check(Segment segment, boolean last, LogPosition resumeAfter) throws IOException {
        if (segment.open() && !last) {
            throw damaged(segment, "it is open, yet not the last", resumeAfter);
        }
        long index = segment.start - 1;
        try (SegmentReader in = new SegmentReader(segment.file)) {
            if (!in.header()) {
                if (segment.open() && in.onlyZeros(0)) {
                    return index; // created and not yet written to
                }
                throw damaged(segment, "its header is not a segment's", resumeAfter);
            }
            while (true) {
                switch (in.next()) {
                    case ENTRY -> {
                        index++;
                        if (in.index() != index) {
                            throw damaged(segment, "entry " + index + " is in fact " + in.index(), resumeAfter);
                        }
                    }
                    case END -> {
                        return ended(segment, index, last, resumeAfter);
                    }
                    case BAD -> {
                        if (!segment.open() || !in.torn()) {
                            throw damaged(
                                    segment,
                                    "entry " + (index + 1) + " at byte " + in.entryAt() + " is unreadable",
                                    resumeAfter);
                        }
                        cut(segment, in.entryAt(), index);
                        return index;
                    }
                }
            }
        }
    }

    private static void cut(Segment segment, long length, long lastIndex) throws IOException {
        LOG.warn(
                "Segment {} ends in a write that a crash cut off, after entry {}. It was never acknowledged and"
                        + " is dropped.",
                segment.file,
                lastIndex);
        try (FileChannel file = FileChannel.open(segment.file, StandardOpenOption.WRITE)) {
            file.truncate(length);
            file.force(true);
        }
    }

    private static long ended(Segment segment, long index, boolean last, LogPosition resumeAfter) throws IOException {
        if (segment.open() || index == segment.end) {
            return index;
        }
        // Ratis removes unacknowledged entries by cutting the file and then renaming it; a crash can come in between.
        if (last && index >= segment.start && index >= resumeAfter.index() && index < segment.end) {
            Path right = segment.file.resolveSibling("log_" + segment.start + "-" + index);
            LOG.warn("Segment {} was cut back to entry {} before a crash; renaming it.", segment.file, index);
            Files.move(segment.file, right);
            return index;
        }
        throw damaged(segment, "it ends at entry " + index, resumeAfter);
    }

    private static QuorateException damaged(Segment segment, String what, LogPosition resumeAfter) {
        String way = segment.end <= resumeAfter.index()
                ? "all of it is applied here already: move it and the older log_ files beside it away and start again"
                : "with the other nodes running, move it and the newer log_ files beside it away and start again";
        return new QuorateException(ErrorCode.LOG_UNREADABLE, segment.file + ": " + what + "; " + way);
    }
}
