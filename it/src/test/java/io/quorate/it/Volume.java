// SPDX-License-Identifier: Apache-2.0
package io.quorate.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * An ext4 of its own, in a sparse file, that can lose power: from one moment on nothing reaches the device, and what
 * was in the page cache or in the journal's open transaction only is gone. What comes back is what the journal's
 * recovery makes of the rest. A device that forgets what it has taken without a flush is not part of it.
 */
final class Volume implements AutoCloseable {
    private static final long SIZE_BYTES = 2L << 30;
    private static final int SAMPLE_BYTES = 100_000;
    private static final Duration LIMIT = Duration.ofSeconds(30);

    /** EXT4_IOC_SHUTDOWN with NOLOGFLUSH. Perl, for Java has no ioctl and every Debian has Perl. */
    private static final String SHUTDOWN = "my $flags = pack('L', 2); foreach my $path (@ARGV) {"
            + " open(my $directory, '<', $path) or die $!; ioctl($directory, 0x8004587d, $flags) or die $!; }";

    private final Path image;
    private final Path mount;

    private Volume(Path image, Path mount) {
        this.image = image;
        this.mount = mount;
    }

    /** Whether this machine lets us have one, and fail it. */
    static boolean possible(Path scratch) throws IOException, InterruptedException {
        if (run("sh", "-c", "command -v mkfs.ext4 mount umount perl >/dev/null") != 0) {
            return false;
        }
        Volume trial = new Volume(scratch.resolve("trial.img"), Files.createDirectory(scratch.resolve("trial")));
        trial.format();
        if (!trial.mount()) {
            return false;
        }
        try (trial) {
            return run("perl", "-e", SHUTDOWN, trial.mount.toString()) == 0;
        }
    }

    /** A new one, mounted on a new directory. */
    static Volume make(Path image, Path mount) throws IOException, InterruptedException {
        Volume volume = new Volume(image, Files.createDirectory(mount));
        volume.format();
        assertThat(volume.mount()).isTrue();
        return volume;
    }

    private void format() throws IOException, InterruptedException {
        try (RandomAccessFile file = new RandomAccessFile(image.toFile(), "rw")) {
            file.setLength(SIZE_BYTES);
        }
        assertThat(run("mkfs.ext4", "-q", "-F", image.toString())).isZero();
    }

    private boolean mount() throws IOException, InterruptedException {
        return run("mount", "-o", "loop", image.toString(), mount.toString()) == 0;
    }

    /** Forces the keys that mysqld makes at its first start: it forces its logs and tables, not these. */
    static void forceKeys(Path data) throws IOException {
        try (DirectoryStream<Path> keys = Files.newDirectoryStream(data, "*.pem")) {
            for (Path key : keys) {
                try (FileChannel file = FileChannel.open(key, StandardOpenOption.WRITE)) {
                    file.force(true);
                }
            }
        }
    }

    /** Forces everything there is to the device. */
    void sync() throws IOException, InterruptedException {
        assertThat(run("sync", "-f", mount.toString())).isZero();
    }

    /**
     * Power fails for all of these at once, and for the processes that run there, which are gone then. They stand still
     * first, as they would: an fsync that waits for the journal's commit while ext4 is shut down can return 0, although
     * that commit never reached the device, and nobody may be told of it.
     */
    static void failPower(List<Volume> volumes, List<ProcessHandle> processes)
            throws IOException, InterruptedException {
        for (ProcessHandle process : processes) {
            assertThat(run("kill", "-STOP", Long.toString(process.pid()))).isZero();
        }
        long end = System.nanoTime() + LIMIT.toNanos();
        for (ProcessHandle process : processes) {
            while (!standsStill(process)) {
                assertThat(System.nanoTime()).as("stopping %s", process).isLessThan(end);
                Thread.sleep(1);
            }
        }
        for (Volume volume : volumes) {
            volume.writeSamples();
        }
        List<String> shutdown = new ArrayList<>(List.of("perl", "-e", SHUTDOWN));
        volumes.forEach(volume -> shutdown.add(volume.mount.toString()));
        assertThat(run(shutdown.toArray(new String[0]))).isZero();
        processes.forEach(ProcessHandle::destroyForcibly);
    }

    /** Whether each of its threads is stopped, or in the kernel, from where it can't come back but stopped. */
    private static boolean standsStill(ProcessHandle process) throws IOException {
        try (DirectoryStream<Path> threads = Files.newDirectoryStream(Path.of("/proc/" + process.pid() + "/task"))) {
            for (Path thread : threads) {
                String stat = Files.readString(thread.resolve("stat"));
                if ("TD".indexOf(stat.charAt(stat.lastIndexOf(')') + 2)) < 0) {
                    return false;
                }
            }
            return true;
        } catch (NoSuchFileException e) {
            // A thread has just ended.
            return false;
        }
    }

    private void writeSamples() throws IOException {
        try (FileChannel file =
                FileChannel.open(sample("forced"), StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
            file.write(ByteBuffer.allocate(SAMPLE_BYTES));
            file.force(true);
        }
        Files.write(sample("unforced"), new byte[SAMPLE_BYTES]);
    }

    private Path sample(String name) {
        return mount.resolve("sample-" + name);
    }

    /** Recovers and mounts it again, after everything on it has ended; proves that the failure was one. */
    void restorePower() throws IOException, InterruptedException {
        unmount();
        assertThat(mount()).isTrue();
        assertThat(sample("forced")).hasSize(SAMPLE_BYTES);
        assertThat(Files.exists(sample("unforced")) ? Files.size(sample("unforced")) : 0)
                .as("bytes kept without having been forced")
                .isZero();
        Files.delete(sample("forced"));
        Files.deleteIfExists(sample("unforced"));
    }

    /** Unmounts it. */
    @Override
    public void close() throws IOException {
        try {
            unmount();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("still mounted: " + mount, e);
        }
    }

    private void unmount() throws IOException, InterruptedException {
        long end = System.nanoTime() + LIMIT.toNanos();
        // A process that was just killed may hold it for a moment.
        while (run("umount", mount.toString()) != 0) {
            assertThat(System.nanoTime()).as("unmounting %s", mount).isLessThan(end);
            Thread.sleep(200);
        }
    }

    private static int run(String... command) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(command).inheritIO().start();
        assertThat(process.waitFor(LIMIT.toSeconds(), TimeUnit.SECONDS)).isTrue();
        return process.exitValue();
    }
}
