// SPDX-License-Identifier: Apache-2.0
package io.quorate.transport;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;

/** A small file that exists as a whole, in its old or its new form, after any crash and power failure. */
public final class DurableFile {
    private DurableFile() {}

    /**
     * Writes a temporary file, forces it, renames it, and forces the directory as well, because otherwise the name may
     * be lost.
     */
    public static void write(Path file, String text) throws IOException {
        write(file, text.getBytes(StandardCharsets.UTF_8));
    }

    /** The same, readable for nobody else. */
    public static void writePrivate(Path file, String text) throws IOException {
        Path aside = aside(file);
        Files.deleteIfExists(aside);
        if (file.getFileSystem().supportedFileAttributeViews().contains("posix")) {
            Files.createFile(aside, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
        }
        write(file, text);
    }

    private static Path aside(Path file) {
        return file.resolveSibling(file.getFileName() + ".new");
    }

    static void write(Path file, byte[] content) throws IOException {
        Path aside = aside(file);
        Files.write(aside, content);
        force(aside, StandardOpenOption.WRITE);
        move(aside, file);
    }

    /** Renames a file or a directory within its parent. */
    static void move(Path from, Path to) throws IOException {
        Files.move(from, to, StandardCopyOption.ATOMIC_MOVE);
        force(to.toAbsolutePath().getParent(), StandardOpenOption.READ);
    }

    private static void force(Path path, StandardOpenOption how) throws IOException {
        try (FileChannel channel = FileChannel.open(path, how)) {
            channel.force(true);
        }
    }
}
