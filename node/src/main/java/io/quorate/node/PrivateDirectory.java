// SPDX-License-Identifier: Apache-2.0
package io.quorate.node;

import io.quorate.node.server.NodeIdentity;
import io.quorate.node.server.ServerTlsFiles;
import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.EnumSet;
import java.util.Set;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps a node's data directory, which has everybody's rows in it, for the user alone that the service runs as. What
 * keeps others out is the directory itself: nobody else can pass it, whatever the files in it allow. The files are
 * narrowed as well, because they may be copied elsewhere with their rights. A JVM can't choose the rights of what its
 * libraries create (Ratis its log, for one), so this looks again and again.
 */
final class PrivateDirectory {
    private static final Logger log = LoggerFactory.getLogger(PrivateDirectory.class);
    private static final Set<PosixFilePermission> OWNERS = PosixFilePermissions.fromString("rwx------");
    private static final long PERIOD_MILLIS = 5_000;
    /** What a new directory may have: the first is at the root of a volume, the others are of a start that failed. */
    private static final Set<String> OF_NEW = Set.of("lost+found", ServerTlsFiles.DIRECTORY, "lock");

    private final Path directory;
    /** Whether its rights are ours to change. */
    private final boolean ours;

    private long lookedMillis;
    private int narrowed;
    /** The first file whose rights could not be changed, and why; told once. */
    private String refusal;

    private PrivateDirectory(Path directory, boolean ours) {
        this.directory = directory;
        this.ours = ours;
    }

    /**
     * Makes the directory if there is none, and takes it from everybody else, unless it holds somebody else's files:
     * one that is named by mistake may be anything.
     */
    static PrivateDirectory open(Path directory) throws IOException {
        boolean posix = directory.getFileSystem().supportedFileAttributeViews().contains("posix");
        if (Files.notExists(directory)) {
            Path parent = directory.toAbsolutePath().getParent();
            if (parent != null) {
                Files.createDirectories(parent);
            }
            if (posix) {
                Files.createDirectory(directory, PosixFilePermissions.asFileAttribute(OWNERS));
            } else {
                Files.createDirectory(directory);
            }
        }
        PrivateDirectory result =
                new PrivateDirectory(directory.toRealPath(), posix && (isNodes(directory) || isNew(directory)));
        if (posix && !result.ours) {
            log.warn(
                    "{} holds files that are no node's, so its rights are left as they are; others may be able to read"
                            + " what this node keeps there. Give it a directory of its own (quorate.data-dir)",
                    directory);
        }
        result.begin();
        return result;
    }

    private static boolean isNodes(Path directory) {
        return Files.exists(directory.resolve(NodeIdentity.ID_FILE));
    }

    private static boolean isNew(Path directory) throws IOException {
        try (Stream<Path> content = Files.list(directory)) {
            return content.allMatch(file -> OF_NEW.contains(file.getFileName().toString()));
        }
    }

    private void begin() throws IOException {
        if (!ours) {
            return;
        }
        String before = PosixFilePermissions.toString(Files.getPosixFilePermissions(directory));
        narrow();
        if (narrowed > 0) {
            log.warn(
                    "others than the service's user could read what the node keeps in {} ({} and {} files and"
                            + " directories in all); now they can't",
                    directory,
                    before,
                    narrowed);
        }
        if (refusal != null) {
            log.warn("others may be able to read what the node keeps: {}; chmod it, or give it to this user", refusal);
        }
    }

    /** Narrows what was created since, if the last look was some seconds ago. */
    void look(long nowMillis) {
        if (ours && nowMillis - lookedMillis >= PERIOD_MILLIS) {
            lookedMillis = nowMillis;
            try {
                narrow();
            } catch (IOException e) {
                log.debug("can't look through {}: {}", directory, e.toString());
            }
        }
    }

    private void narrow() throws IOException {
        Files.walkFileTree(directory, new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult preVisitDirectory(Path each, BasicFileAttributes attributes) {
                narrow(each);
                return FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult visitFile(Path each, BasicFileAttributes attributes) {
                narrow(each);
                return FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult visitFileFailed(Path each, IOException e) {
                return FileVisitResult.CONTINUE; // Deleted meanwhile, or not ours.
            }

            @Override
            public FileVisitResult postVisitDirectory(Path each, IOException e) {
                return FileVisitResult.CONTINUE;
            }
        });
    }

    private void narrow(Path file) {
        try {
            PosixFileAttributes is = Files.readAttributes(file, PosixFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
            EnumSet<PosixFilePermission> kept = EnumSet.noneOf(PosixFilePermission.class);
            kept.addAll(is.permissions());
            kept.retainAll(OWNERS);
            // The rights of a link are those of what it leads to, which is none of ours.
            if (!is.isSymbolicLink() && !kept.equals(is.permissions())) {
                Files.setPosixFilePermissions(file, kept);
                narrowed++;
            }
        } catch (IOException e) {
            if (refusal == null && Files.exists(file, LinkOption.NOFOLLOW_LINKS)) {
                refusal = e.toString();
            }
        }
    }
}
