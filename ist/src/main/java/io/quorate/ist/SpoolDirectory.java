// SPDX-License-Identifier: Apache-2.0
package io.quorate.ist;

import io.quorate.core.ErrorCode;
import io.quorate.core.QuorateException;
import io.quorate.core.Spool;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;

/** Files in a directory of the node's own, which lose their names as soon as they are open. */
public final class SpoolDirectory implements Spool {
    private final Path directory;

    /** @param directory is made when it is first needed */
    public SpoolDirectory(Path directory) {
        this.directory = directory;
    }

    @Override
    public File open() {
        try {
            Files.createDirectories(directory);
            Path file = Files.createTempFile(directory, "payload", null);
            try {
                return new Opened(file, new RandomAccessFile(file.toFile(), "rw"));
            } finally {
                Files.delete(file);
            }
        } catch (IOException e) {
            throw disk(directory, e);
        }
    }

    /** Not a channel, which an interrupt would close. */
    private record Opened(Path file, RandomAccessFile content) implements File {
        @Override
        public void write(byte[] bytes, int offset, int length, long at) {
            try {
                content.seek(at);
                content.write(bytes, offset, length);
            } catch (IOException e) {
                throw disk(file, e);
            }
        }

        @Override
        public ByteBuffer map(int size) {
            boolean interrupted = Thread.interrupted();
            try {
                return content.getChannel().map(FileChannel.MapMode.READ_ONLY, 0, size);
            } catch (IOException e) {
                throw disk(file, e);
            } finally {
                if (interrupted) {
                    Thread.currentThread().interrupt();
                }
            }
        }

        @Override
        public void close() {
            try {
                content.close();
            } catch (IOException e) {
                throw disk(file, e);
            }
        }
    }

    private static QuorateException disk(Path file, IOException cause) {
        return new QuorateException(
                ErrorCode.DISK, "a large transaction can't be kept in " + file + ": " + cause, cause);
    }
}
