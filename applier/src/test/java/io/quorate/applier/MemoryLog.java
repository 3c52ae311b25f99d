// SPDX-License-Identifier: Apache-2.0
package io.quorate.applier;

import io.quorate.core.Certified;
import io.quorate.core.WriteSetLog;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** A record in memory, for tests. */
class MemoryLog implements WriteSetLog {
    private final List<Certified> records = new ArrayList<>();

    @Override
    public long first() {
        return 1;
    }

    @Override
    public synchronized long last() {
        return records.size();
    }

    @Override
    public synchronized void append(List<Certified> batch) {
        for (Certified c : batch) {
            if (c.seqno() != records.size() + 1) {
                throw new IllegalArgumentException("seqno " + c.seqno() + " after " + records.size());
            }
            records.add(c);
        }
        notifyAll();
    }

    @Override
    public void force() {}

    @Override
    public Cursor read(long seqno) {
        return new Cursor() {
            private long next = seqno;

            @Override
            public Certified next(Duration timeout) throws InterruptedException {
                synchronized (MemoryLog.this) {
                    long deadline = System.nanoTime() + timeout.toNanos();
                    while (next > records.size()) {
                        long millis = (deadline - System.nanoTime()) / 1_000_000;
                        if (millis <= 0) {
                            return null;
                        }
                        MemoryLog.this.wait(millis);
                    }
                    return records.get((int) next++ - 1);
                }
            }

            @Override
            public void close() {}
        };
    }

    @Override
    public void close() {}
}
