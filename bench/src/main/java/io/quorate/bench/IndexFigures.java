// SPDX-License-Identifier: Apache-2.0
package io.quorate.bench;

import io.quorate.certification.Certifier;
import io.quorate.certification.CertifierStats;
import io.quorate.core.LogPosition;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;

/**
 * Prints what a certification index takes as it fills up to four million keys and stays there: by its own count, and by
 * the heap in use after a garbage collection; how long it takes to write the state out; and how many keys a second of
 * processor time certifies, which a busy machine disturbs less than JMH's wall clock.
 */
public final class IndexFigures {
    /** Twice what a service has by default. */
    private static final long KEYS_MAX = 4L << 20;

    private static final long KEYS = 4 << 20;
    private static final long STEP = KEYS / 16;

    private IndexFigures() {}

    public static void main(String[] args) throws IOException {
        PrintStream out = System.out;
        long before = heapBytes();
        Certifier certifier = new Certifier(8 * KEYS);
        Load load = new Load(3, 64, 4, 1L << 40, 1000);
        out.println("      keys  bytes/key  heap bytes/key  state written in ms");
        for (long keys = STEP; keys < KEYS; keys += STEP) {
            fill(certifier, load, keys);
            CertifierStats stats = certifier.stats();
            long heap = heapBytes() - before;
            long start = System.nanoTime();
            certifier.writeTo(new DataOutputStream(OutputStream.nullOutputStream()));
            out.printf(
                    "%10d  %9.1f  %14.1f  %19.1f%n",
                    stats.keys(),
                    (double) stats.bytes() / stats.keys(),
                    (double) heap / stats.keys(),
                    (System.nanoTime() - start) / 1e6);
        }
        // Far beyond, where entries die as fast as others come.
        double millions = millionKeysPerCpuSecond(certifier, load);
        CertifierStats stats = certifier.stats();
        out.printf(
                "%10d  %9.1f  %14.1f  after 25.6 million more%n",
                stats.keys(), (double) stats.bytes() / stats.keys(), (double) (heapBytes() - before) / stats.keys());
        out.printf("%.1f million keys a second of processor time with that index%n", millions);
        for (long rows : new long[] {100_000, 1L << 40}) {
            Certifier usual = new Certifier(KEYS_MAX);
            Load its = new Load(3, 64, 4, rows, 1000);
            millionKeysPerCpuSecond(usual, its);
            millions = millionKeysPerCpuSecond(usual, its);
            out.printf(
                    "%.1f million with one of %d keys%n",
                    millions, usual.stats().keys());
        }
        out.printf("digest %016x%n", certifier.digest());
    }

    private static double millionKeysPerCpuSecond(Certifier certifier, Load load) {
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        long start = threads.getCurrentThreadCpuTime();
        for (int i = 0; i < 100_000; i++) {
            certifier.certify(load.next(certifier.lastSeqno()), LogPosition.START);
        }
        return 25.6 / ((threads.getCurrentThreadCpuTime() - start) / 1e9);
    }

    private static void fill(Certifier certifier, Load load, long keys) {
        while (certifier.stats().keys() < keys) {
            certifier.certify(load.next(certifier.lastSeqno()), LogPosition.START);
        }
    }

    private static long heapBytes() {
        for (int i = 0; i < 3; i++) {
            System.gc();
        }
        return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
    }
}
