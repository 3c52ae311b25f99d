// SPDX-License-Identifier: Apache-2.0
package io.quorate.bench;

import io.quorate.core.Certified;
import io.quorate.core.WriteSet;
import io.quorate.ist.CacheCursor;
import io.quorate.ist.CacheSettings;
import io.quorate.ist.WriteSetCache;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * Records a second through the writeset cache on the file system of {@code java.io.tmpdir}, not forced: appended in
 * batches, and read in order from the page cache. Times the payload that is roughly the bytes a second.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.Throughput)
@OutputTimeUnit(TimeUnit.SECONDS)
@Fork(1)
@Warmup(iterations = 2, time = 2)
@Measurement(iterations = 5, time = 2)
public class WriteSetCacheBenchmark {
    private static final int BATCH = 64;
    private static final long BYTES_MAX = 256 << 20;

    @Param({"500", "10000"})
    private int payload;

    private final List<WriteSet> samples = new ArrayList<>();
    private Path directory;
    private WriteSetCache cache;
    private CacheCursor cursor;

    @Setup
    public void fill() throws IOException {
        directory = Files.createTempDirectory("quorate-bench");
        cache = WriteSetCache.open(
                new CacheSettings(directory, new UUID(1, 1), CacheSettings.SEGMENT_BYTES_DEFAULT, BYTES_MAX), 0);
        for (int i = 0; i < BATCH; i++) {
            samples.add(Samples.writeSet(i + 1, 2, payload));
        }
        while (cache.stats().bytes() < BYTES_MAX / 2) {
            append();
        }
        cursor = cache.read(cache.first());
    }

    @TearDown
    public void delete() throws IOException {
        cursor.close();
        cache.close();
        try (Stream<Path> files = Files.list(directory)) {
            for (Path file : files.toList()) {
                Files.delete(file);
            }
        }
        Files.delete(directory);
    }

    @Benchmark
    @OperationsPerInvocation(BATCH)
    public long append() throws IOException {
        long seqno = cache.last();
        List<Certified> batch = new ArrayList<>(BATCH);
        for (WriteSet w : samples) {
            batch.add(Samples.certified(++seqno, w));
        }
        cache.append(batch);
        cache.retain(seqno);
        return seqno;
    }

    @Benchmark
    @OperationsPerInvocation(BATCH)
    public long appendOneByOne() throws IOException {
        long seqno = cache.last();
        for (WriteSet w : samples) {
            cache.append(List.of(Samples.certified(++seqno, w)));
        }
        cache.retain(seqno);
        return seqno;
    }

    @Benchmark
    public Certified read() throws IOException, InterruptedException {
        Certified c = cursor.next(Duration.ZERO);
        if (c == null) {
            cursor.close();
            cursor = cache.read(cache.first());
            c = cursor.next(Duration.ZERO);
        }
        return c;
    }
}
