// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.member;

import io.quorate.node.thread.FaultHandler;
import io.quorate.node.thread.OwnedThread;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.databind.json.JsonMapper;

/**
 * Reports about this node to the others: four times a second if there is something new, ten times while something is
 * written, and twice a second what they know already, so that they know that this node is present.
 */
public final class Reporting implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(Reporting.class);
    private static final long PERIOD_MILLIS = 250;
    private static final long BUSY_PERIOD_MILLIS = 100;
    /** Of looks at which nothing is new, one in so many is reported. */
    private static final int REPEATED = 2;

    /** So many failures on end are a fault: by then a node counts as absent for all others. */
    private static final int FAILURES_MAX = 40;

    private final Supplier<MemberReport> self;
    private final Consumer<byte[]> broadcast;
    private final Consumer<MemberReport> each;
    private final JsonMapper json;
    private final OwnedThread thread;
    private int failures;
    private boolean busy;
    /** The last report, as it was sent; null before the first one. */
    private @Nullable MemberReport last;

    private byte[] bytes = {};
    /** How many looks have found nothing new since it was sent last. */
    private int unchanged;

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

    /** Looks once, and tells the others if it is time. */
    void report() {
        try {
            MemberReport report = self.get();
            busy = report.queue() > 0 || (last != null && report.ordered() != last.ordered());
            tell(report);
            each.accept(report);
            failures = 0;
        } catch (RuntimeException e) {
            if (++failures > FAILURES_MAX) {
                throw e;
            }
            log.warn("telling the other nodes of this one failed; it is tried again", e);
        }
    }

    private void tell(MemberReport report) {
        if (!report.equals(last)) {
            bytes = json.writeValueAsBytes(report);
            if (bytes.length > Members.REPORT_BYTES_MAX) {
                bytes = json.writeValueAsBytes(report.withoutTables());
            }
            last = report;
            unchanged = 0;
        } else if (++unchanged % REPEATED != 0) {
            return;
        }
        broadcast.accept(bytes);
    }

    @Override
    public void close() {
        thread.close();
    }
}
