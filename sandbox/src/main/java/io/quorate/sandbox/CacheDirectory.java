// SPDX-License-Identifier: Apache-2.0
package io.quorate.sandbox;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.file.AtomicMoveNotSupportedException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.Comparator;
import java.util.stream.Stream;

/**
 * The directory outside the repository for what is made once per user: {@code $QUORATE_CACHE}, else {@code
 * $XDG_CACHE_HOME/quorate}, else {@code ~/.cache/quorate}. An entry is a directory that is made under another name and
 * then renamed, so that it is either complete or absent, even when two processes need it at the same time.
 */
final class CacheDirectory {
    /** Fills a new directory with an entry's content. */
    interface Maker {
        void make(Path directory) throws IOException;
    }

    private final Path root;

    CacheDirectory(Path root) {
        this.root = root;
    }

    static CacheDirectory ofUser() {
        String own = System.getenv("QUORATE_CACHE");
        if (own != null && !own.isBlank()) {
            return new CacheDirectory(Path.of(own).toAbsolutePath());
        }
        String xdg = System.getenv("XDG_CACHE_HOME");
        Path base = xdg != null && !xdg.isBlank() ? Path.of(xdg) : Path.of(System.getProperty("user.home"), ".cache");
        return new CacheDirectory(base.resolve("quorate").toAbsolutePath());
    }

    Path root() {
        return root;
    }

    /** The sandbox's directory: the user's choice, or the one in the cache. */
    static Path sandbox(Path chosen) {
        return chosen != null ? chosen : ofUser().root().resolve("sandbox");
    }

    /** The entry of that name; it is made first if it doesn't exist. */
    Path entry(String name, Maker maker) {
        Path entry = root.resolve(name);
        if (Files.isDirectory(entry)) {
            return entry;
        }
        try {
            exclusively(name, () -> {
                if (!Files.isDirectory(entry)) {
                    makeAndRename(entry, maker);
                }
            });
            return entry;
        } catch (IOException e) {
            throw new UncheckedIOException("cannot make " + entry, e);
        }
    }

    /** Something done with the cache. */
    interface Work {
        void run() throws IOException;
    }

    /** Does something while no other process does the same; the others wait. */
    void exclusively(String name, Work work) throws IOException {
        // Locks of FileChannel are per process; the monitor separates the threads of this one.
        synchronized (CacheDirectory.class) {
            Files.createDirectories(root);
            Path lock = root.resolve(name + ".lock");
            try (FileChannel file = FileChannel.open(lock, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
                // Held until the channel is closed.
                file.lock();
                work.run();
            }
        }
    }

    private void makeAndRename(Path entry, Maker maker) throws IOException {
        Path unfinished = root.resolve(entry.getFileName() + ".unfinished");
        deleteTree(unfinished);
        Files.createDirectories(unfinished);
        boolean made = false;
        try {
            maker.make(unfinished);
            try {
                Files.move(unfinished, entry, StandardCopyOption.ATOMIC_MOVE);
            } catch (AtomicMoveNotSupportedException e) {
                Files.move(unfinished, entry);
            }
            made = true;
        } finally {
            if (!made) {
                deleteTree(unfinished);
            }
        }
    }

    /** A new directory in the cache, to be deleted again by the caller. */
    static Path newTemporary(Path root, String prefix) throws IOException {
        return Files.createTempDirectory(Files.createDirectories(root), prefix);
    }

    /** Deletes a directory and everything below it, without following links; does nothing if it doesn't exist. */
    static void deleteTree(Path directory) throws IOException {
        if (!Files.exists(directory)) {
            return;
        }
        try (Stream<Path> paths = Files.walk(directory)) {
            for (Path path : paths.sorted(Comparator.reverseOrder()).toList()) {
                Files.deleteIfExists(path);
            }
        }
    }

    /** Copies a directory of plain files and directories. */
    static void copyTree(Path from, Path to) throws IOException {
        try (Stream<Path> paths = Files.walk(from)) {
            for (Path path : paths.toList()) {
                Path target = to.resolve(from.relativize(path).toString());
                if (Files.isDirectory(path)) {
                    Files.createDirectories(target);
                } else {
                    Files.copy(path, target, StandardCopyOption.COPY_ATTRIBUTES);
                }
            }
        }
    }
}
