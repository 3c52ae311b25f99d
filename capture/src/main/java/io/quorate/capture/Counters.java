// SPDX-License-Identifier: Apache-2.0
package io.quorate.capture;

import java.util.concurrent.atomic.LongAdder;

/** The counters behind {@link CaptureStats}. */
final class Counters {
    final LongAdder events = new LongAdder();
    final LongAdder transactions = new LongAdder();
    final LongAdder writeSets = new LongAdder();
    final LongAdder applied = new LongAdder();
    final LongAdder bytes = new LongAdder();
    final LongAdder restarts = new LongAdder();
    final LongAdder schemaLoads = new LongAdder();
    final LongAdder coarse = new LongAdder();
    volatile boolean connected;
    volatile long lastEventMillis;
    volatile long lastCommittedMicros;
    volatile String lastError;

    CaptureStats snapshot() {
        return new CaptureStats(
                connected,
                events.sum(),
                transactions.sum(),
                writeSets.sum(),
                applied.sum(),
                bytes.sum(),
                lastEventMillis,
                lastCommittedMicros,
                restarts.sum(),
                schemaLoads.sum(),
                coarse.sum(),
                lastError);
    }
}
