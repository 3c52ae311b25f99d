// SPDX-License-Identifier: Apache-2.0
package io.quorate.sandbox;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;

/** Files and directories that nobody but this user can read, because passwords are in them, or everybody's rows. */
final class PrivateFiles {
    private static final String DIRECTORY = "rwx------";
    private static final String FILE = "rw-------";

    private PrivateFiles() {}

    /** Makes the directory if there is none, with those above it, and takes it from everybody else. */
    static void createDirectory(Path directory) throws IOException {
        Files.createDirectories(directory);
        narrow(directory, DIRECTORY);
    }

    /** Makes an empty file if there is none, and takes it from everybody else. */
    static Path create(Path file) throws IOException {
        if (Files.notExists(file)) {
            if (isPosix(file)) {
                Files.createFile(file, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString(FILE)));
            } else {
                Files.createFile(file);
            }
        }
        narrow(file, FILE);
        return file;
    }

    static void write(Path file, String text) throws IOException {
        Files.writeString(create(file), text);
    }

    private static void narrow(Path file, String rights) throws IOException {
        if (isPosix(file)) {
            Files.setPosixFilePermissions(file, PosixFilePermissions.fromString(rights));
        }
    }

    private static boolean isPosix(Path file) {
        return file.getFileSystem().supportedFileAttributeViews().contains("posix");
    }
}
