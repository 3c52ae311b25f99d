// SPDX-License-Identifier: Apache-2.0
package io.quorate.transport;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;

/** A small file that is there as a whole, in its old or its new form, after any crash and power failure. */
public final class DurableFile {
    private DurableFile() {}

    /** Written aside, forced and renamed, and the directory forced as well: without that the name may be lost. */
    public static void write(Path file, String text) throws IOException {
        Path aside = file.resolveSibling(file.getFileName() + ".new");
        Files.writeString(aside, text);
        force(aside, StandardOpenOption.WRITE);
        Files.move(aside, file, StandardCopyOption.ATOMIC_MOVE);
        force(file.toAbsolutePath().getParent(), StandardOpenOption.READ);
    }

    private static void force(Path path, StandardOpenOption how) throws IOException {
        try (FileChannel channel = FileChannel.open(path, how)) {
            channel.force(true);
        }
    }
}
