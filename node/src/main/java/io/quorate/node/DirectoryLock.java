// SPDX-License-Identifier: Apache-2.0
package io.quorate.node;

import io.quorate.core.ErrorCode;
import io.quorate.core.QuorateException;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** Keeps a second service from using a data directory: two services would ruin it. */
final class DirectoryLock implements AutoCloseable {
    private final FileChannel file;

    private DirectoryLock(FileChannel file) {
        this.file = file;
    }

    /** @throws QuorateException {@link ErrorCode#CONFIGURATION} when a service uses the directory already */
    static DirectoryLock of(Path directory) throws IOException {
        FileChannel file =
                FileChannel.open(directory.resolve("lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
        DirectoryLock lock = new DirectoryLock(file);
        if (!tryTake(file)) {
            lock.close();
            throw new QuorateException(ErrorCode.CONFIGURATION, directory + " is in use by another process");
        }
        return lock;
    }

    private static boolean tryTake(FileChannel file) throws IOException {
        try {
            return file.tryLock() != null;
        } catch (OverlappingFileLockException e) {
            return false; // Locked by this very process.
        }
    }

    @Override
    public void close() throws IOException {
        file.close();
    }
}
