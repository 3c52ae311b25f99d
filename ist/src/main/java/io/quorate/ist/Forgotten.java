// SPDX-License-Identifier: Apache-2.0
package io.quorate.ist;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.concurrent.ConcurrentSkipListMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Records when a cache deleted what, for nodes that come too late for it: a line with the last seqno and the time for
 * each segment deleted. Nothing depends on it, so a crash may take its end, and unreadable lines are ignored.
 */
final class Forgotten {
    private static final Logger log = LoggerFactory.getLogger(Forgotten.class);
    private static final String FILE = "forgotten";
    private static final int LINES_MAX = 1000;

    private final Path file;
    private final NavigableMap<Long, Instant> until = new ConcurrentSkipListMap<>();
    private int lines;

    /** Reads what was recorded in a cache's directory. */
    Forgotten(Path directory) {
        file = directory.resolve(FILE);
        if (Files.exists(file)) {
            try {
                for (String line : Files.readAllLines(file)) {
                    read(line);
                }
            } catch (IOException e) {
                log.debug("{} is unreadable: {}", file, e.toString());
            }
        }
    }

    private void read(String line) {
        lines++;
        String[] parts = line.split(" ");
        try {
            until.put(Long.valueOf(parts[0]), Instant.ofEpochMilli(Long.parseLong(parts[1])));
        } catch (RuntimeException e) {
            log.debug("{} has an invalid line: {}", file, line);
        }
    }

    /** Records that everything up to a seqno has been deleted. One thread. */
    void add(long lastSeqno, Instant at) {
        until.put(lastSeqno, at);
        while (until.size() > LINES_MAX) {
            until.pollFirstEntry();
        }
        try {
            if (++lines > 2 * LINES_MAX) {
                List<String> all = until.entrySet().stream()
                        .map(e -> line(e.getKey(), e.getValue()))
                        .toList();
                Files.write(file, all);
                lines = all.size();
            } else {
                Files.writeString(
                        file, line(lastSeqno, at) + "\n", StandardOpenOption.CREATE, StandardOpenOption.APPEND);
            }
        } catch (IOException e) {
            log.debug("{} can't be written: {}", file, e.toString());
        }
    }

    private static String line(long seqno, Instant at) {
        return seqno + " " + at.toEpochMilli();
    }

    /** When a seqno was deleted, null when that isn't known. Any thread. */
    Instant until(long seqno) {
        Map.Entry<Long, Instant> entry = until.ceilingEntry(seqno);
        return entry == null ? null : entry.getValue();
    }
}
