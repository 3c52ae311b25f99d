// SPDX-License-Identifier: Apache-2.0
package io.quorate.transport;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Has the order give up entries that their submitter doesn't go on with. While there is one, no node can take a
 * checkpoint or discard anything of its log ({@link OrderStateMachine#takeSnapshot}), and a node that is lost in the
 * midst of a large transaction may never come back.
 *
 * <p>Whoever leads appends a frame by which all nodes alike abandon the entry. A submitter that was only
 * slow submits it anew, since nothing of it is ever delivered. So it is safe to be wrong here; the patience is only for
 * not doing work twice.
 *
 * <p>Belongs to the thread that looks regularly.
 */
final class UnfinishedEntries {
    private static final Logger LOG = LoggerFactory.getLogger(UnfinishedEntries.class);
    private static final long NOT_YET = -1;

    /**
     * How far an entry has come that isn't whole yet.
     *
     * @param next index of the piece that is expected next
     */
    record Unfinished(String submitter, long stream, long sequence, int next) {
        /** What nobody goes on with, and all versions take for the remainder of something else. */
        byte[] abandonment() {
            return EntryFrame.abandonment(submitter, stream);
        }
    }

    /** @param committed up to where the order was committed when the patience ended, which is applied first */
    private record Seen(Unfinished entry, long sinceNanos, long committed) {}

    private final long patienceNanos;
    private final LongSupplier applied;
    private final LongSupplier committed;
    private final Consumer<byte[]> append;
    private final Map<String, Seen> seen = new HashMap<>();

    /**
     * @param patienceNanos how long nothing more of an entry may come
     * @param applied up to which index this node has applied the log
     * @param committed up to which index it is known to be committed
     * @param append puts a frame into the log, as its leader
     */
    UnfinishedEntries(long patienceNanos, LongSupplier applied, LongSupplier committed, Consumer<byte[]> append) {
        this.patienceNanos = patienceNanos;
        this.applied = applied;
        this.committed = committed;
        this.append = append;
    }

    /**
     * @param leads whether this node leads the order
     * @param unfinished the entries that aren't whole yet where this node has applied the log up to
     */
    void look(boolean leads, List<Unfinished> unfinished, long nowNanos) {
        if (!leads || unfinished.isEmpty()) {
            seen.clear();
            return;
        }
        seen.keySet().retainAll(unfinished.stream().map(Unfinished::submitter).toList());
        for (Unfinished entry : unfinished) {
            Seen before = seen.get(entry.submitter());
            seen.put(entry.submitter(), look(entry, before, nowNanos));
        }
    }

    private Seen look(Unfinished entry, Seen before, long nowNanos) {
        if (before == null || !before.entry.equals(entry)) {
            return new Seen(entry, nowNanos, NOT_YET);
        }
        if (nowNanos - before.sinceNanos < patienceNanos) {
            return before;
        }
        if (before.committed == NOT_YET) {
            return new Seen(entry, before.sinceNanos, committed.getAsLong());
        }
        if (applied.getAsLong() < before.committed) {
            return before; // More of it may be among what this node hasn't applied yet.
        }
        LOG.warn(
                "{} has not gone on for {} s with a large entry, after {} pieces of it; it is given up, so that the"
                        + " order's log can be discarded. {} submits it anew when it can.",
                entry.submitter(),
                patienceNanos / 1_000_000_000,
                entry.next(),
                entry.submitter());
        append.accept(entry.abandonment());
        return new Seen(entry, nowNanos, NOT_YET);
    }
}
