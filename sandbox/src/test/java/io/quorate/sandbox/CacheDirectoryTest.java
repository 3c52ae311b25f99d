// SPDX-License-Identifier: Apache-2.0
package io.quorate.sandbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CacheDirectoryTest {
    @TempDir
    Path root;

    @Test
    void makesAnEntryOnceForManyWhoWantIt() {
        CacheDirectory cache = new CacheDirectory(root);
        AtomicInteger made = new AtomicInteger();
        List<Path> entries = IntStream.range(0, 8)
                .parallel()
                .mapToObj(i -> cache.entry("e", directory -> {
                    made.incrementAndGet();
                    Files.writeString(directory.resolve("f"), "complete");
                }))
                .distinct()
                .toList();
        assertThat(made).hasValue(1);
        assertThat(entries).containsExactly(root.resolve("e"));
        assertThat(root.resolve("e/f")).hasContent("complete");
    }

    @Test
    void leavesNothingOfAnEntryThatCouldNotBeMade() {
        CacheDirectory cache = new CacheDirectory(root);
        assertThatThrownBy(() -> cache.entry("e", directory -> {
                    Files.writeString(directory.resolve("half"), "x");
                    throw new IOException("disk full");
                }))
                .isInstanceOf(UncheckedIOException.class);
        assertThat(root.resolve("e")).doesNotExist();
        assertThat(root.resolve("e.unfinished")).doesNotExist();
        assertThat(cache.entry("e", directory -> Files.writeString(directory.resolve("f"), "y")))
                .isDirectoryContaining("glob:**/f");
    }
}
