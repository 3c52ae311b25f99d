// SPDX-License-Identifier: Apache-2.0
package io.quorate.capture;

import io.quorate.core.BinlogEvents;
import io.quorate.core.BinlogPosition;
import io.quorate.core.CarriedSetting;
import io.quorate.core.GtidSet;
import io.quorate.core.OriginPosition;
import io.quorate.core.Spool;
import io.quorate.core.TableName;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;
import org.openjdk.jmh.infra.Blackhole;

/**
 * Nanoseconds to make the writeset of one transaction from its binlog events: sysbench {@code oltp_update_index}, one
 * row with full images and full metadata, 700 bytes in five events, as MySQL 8.0.33 wrote them into {@code
 * oltp_update_index.binlog}. In capture's package, because its reader is nobody else's business.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(2)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
public class DecodingBenchmark {
    private static final int TRANSACTIONS = 200;
    private static final int MAGIC_BYTES = 4;
    private static final int CHECKSUM_BYTES = 4;
    private static final UUID SERVER = UUID.fromString("932c346b-e5a0-11f1-b8e8-02fc00000001");

    private final List<byte[]> events = new ArrayList<>();
    private TablePlans plans;

    @Setup
    public void read() throws IOException {
        byte[] file;
        try (InputStream in = DecodingBenchmark.class.getResourceAsStream("/oltp_update_index.binlog")) {
            file = in.readAllBytes();
        }
        for (int at = MAGIC_BYTES; at < file.length; at += BinlogEvents.length(file, at)) {
            byte[] event = new byte[BinlogEvents.length(file, at) - CHECKSUM_BYTES];
            System.arraycopy(file, at, event, 0, event.length);
            events.add(event);
        }
        TableDefinition.Part id = new TableDefinition.Part("id", 0);
        TableDefinition sbtest = new TableDefinition(
                0,
                0,
                List.of(new TableDefinition.Index("PRIMARY", List.of(id))),
                false,
                List.of(),
                List.of(),
                List.of(),
                List.of(),
                List.of(),
                false);
        Definitions definitions = new Definitions() {
            @Override
            public TableDefinition definition(TableName name, BinlogPosition at) {
                return sbtest;
            }

            @Override
            public List<String> expressions(TableName name) {
                return List.of();
            }

            @Override
            public String engine(TableName name) {
                return "InnoDB";
            }

            @Override
            public boolean areNumberedAlike(TableName name, Statement.Numbering numbering) {
                return false;
            }

            @Override
            public OriginSession session(long id, long second, Set<CarriedSetting> asked) {
                return new OriginSession(Map.of(), true);
            }

            @Override
            public void forget() {
                // There is one table, and it stays.
            }

            @Override
            public void reread(Collection<TableName> named, Redefined redefined) {
                // There is one table, and it stays.
            }
        };
        plans = new TablePlans(definitions, new ComparisonForms(Map.of(), new ServerWeights(), null), true);
    }

    @Benchmark
    @OperationsPerInvocation(TRANSACTIONS)
    public void transaction(Blackhole hole) throws InterruptedException {
        CaptureSettings settings = CaptureSettings.of("localhost", 3306, "nobody", "", SERVER, 2);
        Progress progress = new Progress(SERVER, CapturePosition.after(SERVER, OriginPosition.NONE, new GtidSet()));
        int[] taken = new int[1];
        CaptureSink sink = (number, lastSeen, undecided, writeSet) -> {
            hole.consume(writeSet);
            taken[0]++;
        };
        TransactionReader reader =
                new TransactionReader(settings, progress, plans, Map.of(), false, Spool.HEAP, sink, new Counters());
        for (byte[] event : events) {
            reader.event(event, 0, event.length);
        }
        if (taken[0] != TRANSACTIONS) {
            throw new IllegalStateException(taken[0] + " transactions read, not " + TRANSACTIONS);
        }
    }
}
