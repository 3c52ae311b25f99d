// SPDX-License-Identifier: Apache-2.0
package io.quorate.transport;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.apache.ratis.server.raftlog.RaftLog;

/** Ratis' segment files, by their names. */
final class LogFiles {
    private static final Pattern CLOSED = Pattern.compile("log_(\\d+)-(\\d+)");

    private LogFiles() {}

    /**
     * The index up to which the log would have to be purged for its closed segments to take no more than {@code
     * bytesMax}; -1 when they don't take more.
     */
    static long beyond(Path directory, long bytesMax) throws IOException {
        TreeMap<Long, Long> sizes = new TreeMap<>();
        for (Path file : closed(directory)) {
            Matcher name = CLOSED.matcher(file.getFileName().toString());
            if (name.matches()) {
                sizes.put(Long.valueOf(name.group(2)), size(file));
            }
        }
        long left = sizes.values().stream().mapToLong(Long::longValue).sum();
        long last = RaftLog.INVALID_LOG_INDEX;
        for (Map.Entry<Long, Long> segment : sizes.entrySet()) {
            if (left <= bytesMax) {
                break;
            }
            left -= segment.getValue();
            last = segment.getKey();
        }
        return last;
    }

    private static List<Path> closed(Path directory) throws IOException {
        try (Stream<Path> files = Files.list(directory)) {
            return files.toList();
        }
    }

    private static long size(Path file) throws IOException {
        try {
            return Files.size(file);
        } catch (NoSuchFileException e) {
            return 0; // purged meanwhile
        }
    }
}
