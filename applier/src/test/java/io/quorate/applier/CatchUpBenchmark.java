// SPDX-License-Identifier: Apache-2.0
package io.quorate.applier;

import com.sun.management.OperatingSystemMXBean;
import io.quorate.core.BinlogEvents;
import io.quorate.core.Certified;
import io.quorate.core.WriteSet;
import io.quorate.sandbox.MySqlServer;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.lang.management.ThreadMXBean;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;

/**
 * How fast, and for how much CPU, one-row transactions (sysbench oltp_update_index) are applied. Not a test: run {@link
 * #main} with {@code count workers [rate]...}, such as {@code 200000 1,2,4 0,3000}; rate is transactions a second as
 * they arrive, 0 is a backlog. Needs sysbench.
 */
final class CatchUpBenchmark {
    private static final int TABLES = 4;
    private static final int ROWS = 50_000;
    private static final double CLOCK_TICKS = 100;

    private final MySqlServer origin;
    private final MySqlServer server;
    private final MemoryLog log = new MemoryLog();
    private final Map<Long, Long> lastWriter = new HashMap<>();

    private double applierSeconds;

    private CatchUpBenchmark(MySqlServer origin, MySqlServer server) {
        this.origin = origin;
        this.server = server;
    }

    public static void main(String[] args) throws Exception {
        int count = Integer.parseInt(args[0]);
        boolean durable = Boolean.getBoolean("durable");
        MySqlServer.Builder replica = MySqlServer.builder()
                .serverId(2)
                .option("innodb-buffer-pool-size", "768M")
                .option("innodb-redo-log-capacity", "512M");
        try (MySqlServer origin = MySqlServer.builder()
                        .relaxed()
                        .option("innodb-buffer-pool-size", "512M")
                        .start();
                MySqlServer server = (durable ? replica : replica.relaxed()).start()) {
            CatchUpBenchmark benchmark = new CatchUpBenchmark(origin, server);
            benchmark.prepare();
            for (String rate : args[2].split(",")) {
                for (String workers : args[1].split(",")) {
                    benchmark.measure(count, Integer.parseInt(workers), Integer.parseInt(rate));
                }
            }
        }
    }

    private void prepare() throws Exception {
        origin.execute(
                "CREATE DATABASE sbtest",
                "CREATE USER sb " + server.dialect().identifiedBy() + " 'sb'",
                "GRANT ALL ON *.* TO sb");
        sysbench("oltp_update_index", "prepare");
        append(read(), Integer.MAX_VALUE);
        run(2);
    }

    private void measure(int count, int workers, int rate) throws Exception {
        sysbench("oltp_update_index", "--threads=8", "--events=" + count, "--time=0", "--rand-type=uniform", "run");
        List<WriteSet> fresh = read();
        if (rate == 0) {
            append(fresh, Integer.MAX_VALUE);
        } else {
            Thread feeder = new Thread(() -> append(fresh, rate), "feeder");
            feeder.setDaemon(true);
            feeder.start();
        }
        double mysqld = mysqldSeconds();
        double jvm = jvmSeconds();
        long from = System.nanoTime();
        ApplierStats stats = run(workers, fresh.size());
        double seconds = (System.nanoTime() - from) / 1e9;
        System.out.printf(
                "workers %d, rate %d, durable %s: %d transactions in %.2f s = %.0f/s; CPU us a transaction:"
                        + " mysqld %.1f, applier"
                        + " threads %.1f, JVM %.1f; %.1f a group; retries %d, yields %d%n",
                workers,
                rate,
                Boolean.getBoolean("durable"),
                fresh.size(),
                seconds,
                fresh.size() / seconds,
                (mysqldSeconds() - mysqld) * 1e6 / fresh.size(),
                applierSeconds * 1e6 / fresh.size(),
                (jvmSeconds() - jvm) * 1e6 / fresh.size(),
                stats.transactions() / (double) stats.groups(),
                stats.retries(),
                stats.yields());
    }

    private ApplierStats run(int workers) throws Exception {
        return run(workers, 0);
    }

    /** Applies until the record's end, or until {@code atLeast} transactions are. */
    private ApplierStats run(int workers, int atLeast) throws Exception {
        try (Replica replica = new Replica(origin, server, log)) {
            replica.start(Replica.SETTINGS.withWorkers(workers));
            replica.awaitApplied(log.last());
            while (replica.stats().transactions() < atLeast) {
                replica.awaitApplied(log.last());
                Thread.sleep(5);
            }
            applierSeconds = applierSeconds();
            return replica.stats();
        }
    }

    private List<WriteSet> read() {
        origin.execute("FLUSH BINARY LOGS");
        List<WriteSet> all = BinlogReader.writeSets(origin.dataDirectory());
        origin.execute(origin.dialect().resetBinlogs());
        return all;
    }

    private void append(List<WriteSet> writeSets, int rate) {
        long from = System.nanoTime();
        long first = log.last() + 1;
        List<Certified> batch = new ArrayList<>();
        for (int i = 0; i < writeSets.size(); i++) {
            long seqno = first + i;
            batch.add(Records.certified(seqno, dependsOn(writeSets.get(i), seqno), writeSets.get(i)));
            boolean due = rate < Integer.MAX_VALUE || i == writeSets.size() - 1;
            if (due) {
                log.append(batch);
                batch = new ArrayList<>();
            }
            while (rate < Integer.MAX_VALUE && System.nanoTime() - from < i * 1_000_000_000L / rate) {
                LockSupport.parkNanos(200_000);
            }
        }
    }

    /** The last writer of the row: sbtest's tables begin with an INT key, the payload of one row with its images. */
    private long dependsOn(WriteSet writeSet, long seqno) {
        byte[] payload = writeSet.payload().toArray();
        if (writeSet.isBarrier() || BinlogEvents.type(payload, 0) != BinlogEvents.TABLE_MAP) {
            return seqno - 1;
        }
        int rows = BinlogEvents.length(payload, 0);
        if (BinlogEvents.type(payload, rows) != BinlogEvents.UPDATE_ROWS) {
            return seqno - 1;
        }
        // Header, table id, flags, extra length, column count, two bitmaps, null bits.
        int id = BinlogEvents.littleEndian(payload).getInt(rows + 19 + 6 + 2 + 2 + 1 + 1 + 1 + 1);
        long key = BinlogEvents.tableId(payload, 0) << 32 | (id & 0xffff_ffffL);
        Long before = lastWriter.put(key, seqno);
        return before == null ? 0 : before;
    }

    private double mysqldSeconds() throws IOException {
        String[] stat =
                Files.readString(Path.of("/proc/" + server.pid() + "/stat")).split(" ");
        return (Long.parseLong(stat[13]) + Long.parseLong(stat[14])) / CLOCK_TICKS;
    }

    /** Of the whole process: compiler, garbage collector and, with a rate, the feeder included. */
    private static double jvmSeconds() {
        OperatingSystemMXBean os = (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
        return os.getProcessCpuTime() / 1e9;
    }

    /** Of the applier's own threads, those that live. */
    private static double applierSeconds() {
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        double seconds = 0;
        for (long id : threads.getAllThreadIds()) {
            ThreadInfo info = threads.getThreadInfo(id);
            if (info != null && info.getThreadName().startsWith("quorate-applier")) {
                seconds += Math.max(0, threads.getThreadCpuTime(id)) / 1e9;
            }
        }
        return seconds;
    }

    private void sysbench(String test, String... rest) throws Exception {
        List<String> command = new ArrayList<>(List.of(
                "sysbench",
                test,
                "--mysql-host=127.0.0.1",
                "--mysql-port=" + origin.port(),
                "--mysql-user=sb",
                "--mysql-password=sb",
                "--mysql-db=sbtest",
                "--tables=" + TABLES,
                "--table-size=" + ROWS,
                "--auto-inc=off"));
        command.addAll(List.of(rest));
        Process process = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .start();
        if (process.waitFor() != 0) {
            throw new IllegalStateException("sysbench ended with " + process.exitValue());
        }
    }
}
