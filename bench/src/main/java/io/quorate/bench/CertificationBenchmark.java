// SPDX-License-Identifier: Apache-2.0
package io.quorate.bench;

import io.quorate.certification.Certification;
import io.quorate.certification.Certifier;
import io.quorate.core.LogPosition;
import java.util.concurrent.TimeUnit;
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
import org.openjdk.jmh.annotations.Warmup;

/**
 * Keys certified a second, one thread: three origins in turn, proposals of 64 writesets of 4 keys (a table's SHARED,
 * three rows' UPDATE), rows drawn at random. Making the proposals is part of what is measured; {@link #load} is that
 * part alone.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.Throughput)
@OutputTimeUnit(TimeUnit.SECONDS)
@Fork(value = 2, jvmArgsAppend = "-Xmx2g")
@Warmup(iterations = 3, time = 2)
@Measurement(iterations = 5, time = 2)
public class CertificationBenchmark {
    private static final int WRITE_SETS = 64;
    private static final int KEYS = 4;

    /** How many rows there are: with 100,000 the index stays within the processor's caches. */
    @Param({"100000", "100000000"})
    private long rows;

    /** An eighth of it is what the index holds when nobody is behind: half a million keys by default, or four. */
    @Param({"4194304", "33554432"})
    private long keysMax;

    private Certifier certifier;
    private Load load;

    @Setup
    public void fill() {
        certifier = new Certifier(keysMax);
        load = new Load(3, WRITE_SETS, KEYS, rows, 1000);
        for (int i = 0; i < 40_000; i++) {
            certify();
        }
    }

    @Benchmark
    @OperationsPerInvocation(WRITE_SETS * KEYS)
    public Certification certify() {
        return certifier.certify(load.next(certifier.lastSeqno()), LogPosition.START);
    }

    @Benchmark
    @OperationsPerInvocation(WRITE_SETS * KEYS)
    public Object load() {
        return load.next(1_000_000);
    }
}
