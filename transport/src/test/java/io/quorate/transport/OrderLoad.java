// SPDX-License-Identifier: Apache-2.0
package io.quorate.transport;

import io.quorate.core.LogPosition;
import io.quorate.core.OrderListener;
import io.quorate.core.QuorateException;
import io.quorate.core.TotalOrder;
import io.quorate.transport.TransportSettings.Peer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.BufferPoolMXBean;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.lang.management.ThreadMXBean;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A load on the order by hand, to see what an entry costs: {@code OrderLoad <directory> <base port> <nodes> <this node,
 * or 0 for all in this JVM> <bytes> <in flight> <seconds> [submitting node]}. Prints a line a second: entries
 * delivered, CPU of this process, memory; at the end CPU by kind of thread.
 */
public final class OrderLoad {
    private final AtomicLong delivered = new AtomicLong();

    private final class Counting implements OrderListener {
        private final Path file;
        private volatile LogPosition last = LogPosition.START;

        Counting(Path file) throws IOException {
            this.file = file;
            if (Files.exists(file)) {
                String[] position = Files.readString(file).split(":");
                last = new LogPosition(Long.parseLong(position[0]), Long.parseLong(position[1]));
            }
        }

        @Override
        public LogPosition resumeAfter() {
            return last;
        }

        @Override
        public void deliver(LogPosition resumeAfter, ByteBuffer entry) {
            last = resumeAfter;
            delivered.incrementAndGet();
        }

        @Override
        public LogPosition checkpoint() {
            try {
                Files.writeString(file, last.toString());
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
            return last;
        }

        @Override
        public void quorumChanged(TotalOrder.Quorum quorum) {}

        @Override
        public void orderFailed(QuorateException cause) {
            cause.printStackTrace();
        }
    }

    public static void main(String[] args) throws Exception {
        new OrderLoad().run(args);
    }

    private void run(String[] args) throws Exception {
        Path directory = Path.of(args[0]);
        int base = Integer.parseInt(args[1]);
        int count = Integer.parseInt(args[2]);
        int self = Integer.parseInt(args[3]);
        int bytes = Integer.parseInt(args[4]);
        int inFlight = Integer.parseInt(args[5]);
        int seconds = Integer.parseInt(args[6]);
        String submitting = args.length > 7 ? args[7] : "leader";
        List<Peer> peers = new ArrayList<>();
        for (int i = 1; i <= count; i++) {
            peers.add(new Peer("n" + i, "127.0.0.1", base + i, base + 20 + i));
        }
        List<RatisTotalOrder> nodes = new ArrayList<>();
        for (int i = 1; i <= count; i++) {
            if (self == 0 || self == i) {
                String name = "n" + i;
                Files.createDirectories(directory);
                nodes.add(RatisTotalOrder.start(
                        TransportSettings.of("load", name, peers, directory.resolve(name)),
                        new Counting(directory.resolve(name + ".position"))));
            }
        }
        while (!nodes.stream().allMatch(n -> n.quorum().primary())) {
            Thread.sleep(100);
        }
        String leader = nodes.get(0).quorum().leader();
        String writer = submitting.equals("leader")
                ? leader
                : submitting.equals("follower") ? (leader.equals("n1") ? "n2" : "n1") : submitting;
        Thread load = null;
        for (int i = 0; i < nodes.size(); i++) {
            String name = self == 0 ? "n" + (i + 1) : "n" + self;
            if (name.equals(writer) && inFlight > 0) {
                RatisTotalOrder node = nodes.get(i);
                load = new Thread(() -> load(node, bytes, inFlight), "load");
                load.setDaemon(true);
                load.start();
            }
        }
        System.out.println("leader " + leader + ", writer " + writer);
        report(seconds, nodes.size());
        if (load != null) {
            load.interrupt();
        }
        nodes.forEach(RatisTotalOrder::close);
    }

    private static void load(RatisTotalOrder node, int bytes, int inFlight) {
        Semaphore free = new Semaphore(inFlight);
        byte[] entry = new byte[bytes];
        Arrays.fill(entry, (byte) 'x');
        while (true) {
            try {
                free.acquire();
            } catch (InterruptedException e) {
                return;
            }
            var unused = node.submit(entry).whenComplete((v, e) -> free.release());
        }
    }

    private void report(int seconds, int nodes) throws InterruptedException {
        long before = 0;
        long cpuBefore = cpu();
        long startCpu = 0;
        long startEntries = 0;
        Map<String, Long> startThreads = Map.of();
        long startNanos = 0;
        for (int i = 0; i < seconds; i++) {
            Thread.sleep(1000);
            long now = delivered.get();
            long cpu = cpu();
            long entries = (now - before) / nodes;
            System.out.printf(
                    "%d entries/s, %.2f cores, %d us CPU an entry and node, heap %d MB, direct %d MB%n",
                    entries,
                    (cpu - cpuBefore) / 1e9,
                    now == before ? 0 : (cpu - cpuBefore) / 1000 / (now - before),
                    used() >> 20,
                    direct() >> 20);
            before = now;
            cpuBefore = cpu;
            if (i == seconds / 2) {
                startCpu = cpu;
                startEntries = now;
                startThreads = threads();
                startNanos = System.nanoTime();
            }
        }
        long entries = delivered.get() - startEntries;
        double elapsed = (System.nanoTime() - startNanos) / 1e9;
        System.out.printf(
                "SECOND HALF: %.0f entries/s, %.3f cores, %.1f us CPU an entry and node%n",
                entries / elapsed / nodes,
                (cpu() - startCpu) / 1e9 / elapsed,
                entries == 0 ? 0.0 : (cpu() - startCpu) / 1000.0 / entries);
        Map<String, Long> before2 = startThreads;
        Map<String, Long> now = threads();
        now.entrySet().stream()
                .map(e -> Map.entry(e.getKey(), e.getValue() - before2.getOrDefault(e.getKey(), 0L)))
                .sorted(Comparator.comparing((Map.Entry<String, Long> e) -> -e.getValue()))
                .limit(24)
                .forEach(e -> System.out.printf(
                        "  %6.1f us/entry  %7.2f ms/s  %s%n",
                        entries == 0 ? 0.0 : e.getValue() / 1000.0 / entries,
                        e.getValue() / 1e6 / elapsed,
                        e.getKey()));
    }

    private static Map<String, Long> threads() {
        ThreadMXBean bean = ManagementFactory.getThreadMXBean();
        Map<String, Long> cpu = new TreeMap<>();
        for (ThreadInfo info : bean.getThreadInfo(bean.getAllThreadIds())) {
            if (info != null) {
                String kind = info.getThreadName().replaceAll("n[1-9]", "n").replaceAll("[0-9]+", "#");
                cpu.merge(kind, Math.max(0, bean.getThreadCpuTime(info.getThreadId())), Long::sum);
            }
        }
        return cpu;
    }

    private static long cpu() {
        return ((com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean())
                .getProcessCpuTime();
    }

    private static long used() {
        return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
    }

    private static long direct() {
        return ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class).stream()
                .filter(b -> b.getName().equals("direct"))
                .mapToLong(BufferPoolMXBean::getMemoryUsed)
                .sum();
    }
}
