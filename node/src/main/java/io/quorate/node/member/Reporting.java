// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.member;

import io.quorate.node.thread.FaultHandler;
import io.quorate.node.thread.OwnedThread;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.databind.json.JsonMapper;

/** Reports about this node to the others, four times a second, and ten times while something is written. */
public final class Reporting implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(Reporting.class);
    private static final long PERIOD_MILLIS = 250;
    private static final long BUSY_PERIOD_MILLIS = 100;
    /** So many failures on end are a fault: by then a node counts as absent for all others. */
    private static final int FAILURES_MAX = 40;

    private final Supplier<MemberReport> self;
    private final Consumer<byte[]> broadcast;
    private final Consumer<MemberReport> each;
    private final JsonMapper json;
    private final OwnedThread thread;
    private int failures;
    private long ordered;
    private boolean busy;

    /** @param each is told of every report, on the same thread */
    public Reporting(
            Supplier<MemberReport> self,
            Consumer<byte[]> broadcast,
            Consumer<MemberReport> each,
            JsonMapper json,
            FaultHandler faults) {
        this.self = self;
        this.broadcast = broadcast;
        this.each = each;
        this.json = json;
        this.thread = OwnedThread.lasting("quorate-members", this::run, faults);
    }

    public void start() {
        thread.start();
    }

    private void run() throws InterruptedException {
        while (true) {
            report();
            Thread.sleep(busy ? BUSY_PERIOD_MILLIS : PERIOD_MILLIS);
        }
    }

    private void report() {
        try {
            MemberReport report = self.get();
            broadcast.accept(json.writeValueAsBytes(report));
            each.accept(report);
            busy = report.ordered() != ordered || report.queue() > 0;
            ordered = report.ordered();
            failures = 0;
        } catch (RuntimeException e) {
            if (++failures > FAILURES_MAX) {
                throw e;
            }
            log.warn("telling the other nodes of this one failed; it is tried again", e);
        }
    }

    @Override
    public void close() {
        thread.close();
    }
}
