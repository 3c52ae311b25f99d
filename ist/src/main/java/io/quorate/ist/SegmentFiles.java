// SPDX-License-Identifier: Apache-2.0
package io.quorate.ist;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.NavigableMap;
import java.util.TreeMap;

/** The names of segment files: {@code ws-} and the first seqno in 19 digits. */
final class SegmentFiles {
    private static final String PREFIX = "ws-";
    private static final String SUFFIX = ".seg";
    private static final String PATTERN = PREFIX + "[0-9]{19}\\" + SUFFIX;

    private SegmentFiles() {}

    static Path path(Path directory, long firstSeqno) {
        return directory.resolve(String.format("%s%019d%s", PREFIX, firstSeqno, SUFFIX));
    }

    /** By first seqno. */
    static NavigableMap<Long, Path> list(Path directory) throws IOException {
        TreeMap<Long, Path> files = new TreeMap<>();
        try (DirectoryStream<Path> all = Files.newDirectoryStream(directory, PREFIX + "*" + SUFFIX)) {
            for (Path file : all) {
                String name = file.getFileName().toString();
                if (name.matches(PATTERN)) {
                    files.put(Long.valueOf(name.substring(PREFIX.length(), name.length() - SUFFIX.length())), file);
                }
            }
        }
        return files;
    }

    /** Makes names that appeared or went away durable. */
    static void forceDirectory(Path directory) throws IOException {
        try (FileChannel channel = FileChannel.open(directory, StandardOpenOption.READ)) {
            channel.force(true);
        }
    }
}
