// SPDX-License-Identifier: Apache-2.0
package io.quorate.it.sim;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Stream;

/** The files of a writeset cache, and how much of each is forced to the disk: the rest a crash may take or spoil. */
final class Disk {
    private final Path directory;
    private final Random random;
    private final Map<Path, Long> forcedBytes = new HashMap<>();

    Disk(Path directory, Random random) {
        this.directory = directory;
        this.random = random;
    }

    Path directory() {
        return directory;
    }

    /** All that is written now is on the disk. */
    void forced() throws IOException {
        forcedBytes.clear();
        for (Path file : files()) {
            forcedBytes.put(file, Files.size(file));
        }
    }

    /** Whether a crash would take nothing. */
    boolean isForced() throws IOException {
        for (Path file : files()) {
            if (Files.size(file) > forcedBytes.getOrDefault(file, -1L)) {
                return false;
            }
        }
        return true;
    }

    /** Whether a crash may have taken all that is there. */
    boolean hasNothingForced() {
        try {
            return files().stream().noneMatch(file -> forcedBytes.containsKey(file));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private List<Path> files() throws IOException {
        if (!Files.exists(directory)) {
            return List.of();
        }
        try (Stream<Path> all = Files.list(directory)) {
            return all.filter(f -> f.getFileName().toString().endsWith(".seg"))
                    .sorted()
                    .toList();
        }
    }

    /** A crash: what was not forced is lost, all or from some place on, or holds anything. */
    void tear() throws IOException {
        boolean everything = random.nextInt(3) == 0;
        for (Path file : files()) {
            Long forced = forcedBytes.get(file);
            if (forced == null && (everything || random.nextInt(4) == 0)) {
                Files.delete(file);
                continue;
            }
            long keep = forced == null ? 0 : forced;
            long size = Files.size(file);
            if (size > keep) {
                tear(file, keep, size, everything);
            }
        }
    }

    private void tear(Path file, long keep, long size, boolean everything) throws IOException {
        try (RandomAccessFile raw = new RandomAccessFile(file.toFile(), "rw")) {
            if (everything) {
                raw.setLength(keep);
                return;
            }
            long cut = keep + random.nextInt((int) (size - keep) + 1);
            switch (random.nextInt(3)) {
                case 0 -> raw.setLength(cut);
                case 1 -> {
                    raw.seek(Math.min(cut, size - 1));
                    raw.write(random.nextInt(256));
                }
                default -> {
                    // All of it came through.
                }
            }
        }
    }
}
