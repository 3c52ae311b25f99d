// SPDX-License-Identifier: Apache-2.0
package io.quorate.node;

import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.json.JsonMapper;

/** What the nodes tell one another of themselves, four times a second, and what was heard last of each. */
final class Members implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(Members.class);
    private static final long PERIOD_MILLIS = 250;
    /** Who was not heard for so long counts as absent. */
    private static final Duration FRESH = Duration.ofSeconds(2);

    private final Supplier<MemberReport> self;
    private final Consumer<byte[]> broadcast;
    private final Runnable each;
    private final JsonMapper json;
    private final Map<String, Heard> heard = new ConcurrentHashMap<>();
    private final ScheduledExecutorService thread;

    /**
     * The last report of a node.
     *
     * @param nanos when it came, by {@link System#nanoTime}
     */
    record Heard(MemberReport report, long nanos) {
        boolean isFresh() {
            return System.nanoTime() - nanos < FRESH.toNanos();
        }
    }

    /** @param each run at every report, on the same thread */
    Members(Supplier<MemberReport> self, Consumer<byte[]> broadcast, Runnable each, JsonMapper json) {
        this.self = self;
        this.broadcast = broadcast;
        this.each = each;
        this.json = json;
        this.thread = Executors.newSingleThreadScheduledExecutor(task -> {
            Thread t = new Thread(task, "quorate-members");
            t.setDaemon(true);
            return t;
        });
    }

    void start() {
        var unused = thread.scheduleWithFixedDelay(this::tick, 0, PERIOD_MILLIS, TimeUnit.MILLISECONDS);
    }

    private void tick() {
        try {
            broadcast.accept(json.writeValueAsBytes(self.get()));
            each.run();
        } catch (RuntimeException e) {
            log.warn("telling the other nodes of this one failed; it is tried again", e);
        }
    }

    /** A report has come. */
    void heard(String node, byte[] report) {
        try {
            heard.put(node, new Heard(json.readValue(report, MemberReport.class), System.nanoTime()));
        } catch (JacksonException e) {
            log.debug("a report of {} is not understood: {}", node, e.toString());
        }
    }

    /** The last report of every other node ever heard. */
    Map<String, Heard> all() {
        return Map.copyOf(heard);
    }

    /** The others that are there now. */
    List<MemberReport> present() {
        Collection<Heard> reports = heard.values();
        return reports.stream().filter(Heard::isFresh).map(Heard::report).toList();
    }

    @Override
    public void close() {
        thread.shutdownNow();
    }
}
