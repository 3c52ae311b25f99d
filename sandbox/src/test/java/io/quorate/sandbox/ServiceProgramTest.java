// SPDX-License-Identifier: Apache-2.0
package io.quorate.sandbox;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ServiceProgramTest {
    @TempDir
    Path root;

    /** Source trees of several builds may be in use at a time: a service reads its jars as it needs them. */
    @Test
    void aCopyThatIsInUseStaysHoweverManyThereAre() throws IOException {
        for (int i = 0; i < 5; i++) {
            Files.createDirectory(root.resolve("service-" + i + "-1"));
        }
        Files.setLastModifiedTime(root.resolve("service-0-1"), FileTime.fromMillis(0));
        new ServiceProgram(new CacheDirectory(root), line -> {}).deleteOld();
        try (Stream<Path> left = Files.list(root)) {
            assertThat(left.filter(Files::isDirectory).map(p -> p.getFileName().toString()))
                    .containsExactlyInAnyOrder("service-1-1", "service-2-1", "service-3-1", "service-4-1");
        }
    }

    @Test
    void aCopyThatRunsStaysHoweverOldItIs() throws Exception {
        for (int i = 0; i < 5; i++) {
            Path copy = Files.createDirectory(root.resolve("service-" + i + "-1"));
            Files.setLastModifiedTime(copy, FileTime.fromMillis(1_000L * i));
        }
        Path jar = Files.createFile(root.resolve("service-0-1").resolve("quorate-node.jar"));
        Files.setLastModifiedTime(root.resolve("service-0-1"), FileTime.fromMillis(0));
        ServiceProgram program = new ServiceProgram(new CacheDirectory(root), line -> {});
        Process runs = new ProcessBuilder("tail", "-f", jar.toString()).start();
        try {
            program.deleteOld();
            assertThat(root.resolve("service-0-1")).exists();
            assertThat(root.resolve("service-1-1")).doesNotExist();
        } finally {
            runs.destroy();
            runs.waitFor();
        }
        program.deleteOld();
        assertThat(root.resolve("service-0-1")).doesNotExist();
    }

    /** As several sandboxes do that start at the same time. */
    @Test
    void manyMayDeleteOldCopiesAtOnce() throws IOException {
        for (int i = 0; i < 60; i++) {
            Path copy = Files.createDirectory(root.resolve("service-" + i + "-1"));
            for (int j = 0; j < 50; j++) {
                Files.createFile(copy.resolve("f" + j));
            }
            Files.createFile(root.resolve("service-" + i + "-1.lock"));
            Files.setLastModifiedTime(copy, FileTime.fromMillis(1_000L * i));
        }
        ServiceProgram program = new ServiceProgram(new CacheDirectory(root), line -> {});
        IntStream.range(0, 8).parallel().forEach(i -> {
            try {
                program.deleteOld();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        });
        try (Stream<Path> left = Files.list(root)) {
            assertThat(left.filter(Files::isDirectory).map(p -> p.getFileName().toString()))
                    .containsExactlyInAnyOrder("service-57-1", "service-58-1", "service-59-1");
        }
    }
}
