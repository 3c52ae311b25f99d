// SPDX-License-Identifier: Apache-2.0
package io.quorate.bench;

import io.quorate.core.WriteSet;
import io.quorate.core.WriteSetCodec;
import java.nio.ByteBuffer;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/** Nanoseconds to write or read one writeset: of one row (two keys, 500 bytes of events), and of a hundred rows. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(2)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
public class WriteSetCodecBenchmark {
    @Param({"1", "100"})
    private int rows;

    private WriteSet writeSet;
    private ByteBuffer buffer;
    private ByteBuffer encoded;

    @Setup
    public void make() {
        writeSet = Samples.writeSet(1, rows + 1, 100 + 400 * rows);
        buffer = ByteBuffer.allocateDirect(WriteSetCodec.encodedBytes(writeSet));
        encoded = ByteBuffer.allocate(buffer.capacity());
        WriteSetCodec.encode(writeSet, encoded);
    }

    @Benchmark
    public ByteBuffer encode() {
        WriteSetCodec.encode(writeSet, buffer.clear());
        return buffer;
    }

    @Benchmark
    public WriteSet decode() {
        return WriteSetCodec.decode(encoded.flip());
    }
}
