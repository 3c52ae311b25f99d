// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.order;

import io.quorate.certification.OrderedStream;
import io.quorate.core.Certified;
import io.quorate.core.Entry;
import io.quorate.core.OrderedFirst;
import io.quorate.core.ProposalCodec;
import io.quorate.core.TotalOrder;
import io.quorate.core.WriteSet;
import io.quorate.core.WriteSetLog;
import java.io.IOException;
import java.util.concurrent.TimeUnit;

/**
 * What is ordered under the next number of {@link OrderedFirst}. An entry may be lost on its way, and another node may
 * take up the number; so an entry is proposed until something is ordered under its number, and then looked for.
 */
public final class NextDefinition {
    private static final long ORDER_NANOS = TimeUnit.SECONDS.toNanos(20);
    private static final long SAY_NANOS = TimeUnit.SECONDS.toNanos(2);
    private static final long LOOK_MILLIS = 20;

    private final OrderedStream stream;
    private final WriteSetLog cache;
    private final TotalOrder order;

    public NextDefinition(OrderedStream stream, WriteSetLog cache, TotalOrder order) {
        this.stream = stream;
        this.cache = cache;
        this.order = order;
    }

    /** The last number under which a definition, or nothing, is ordered. */
    public long last() {
        return stream.ask(certifier -> certifier.position(OrderedFirst.ORIGIN).last());
    }

    /** Proposes a definition as the next one after {@code after}; false when nothing is ordered for too long. */
    public boolean propose(WriteSet definition, long after) throws InterruptedException {
        return propose(ProposalCodec.encode(OrderedFirst.proposal(definition)), after);
    }

    /** Has the number after {@code after} taken up by nothing, unless something is ordered under it before. */
    public boolean giveUp(long after) throws InterruptedException {
        return propose(ProposalCodec.encode(OrderedFirst.nothing(after)), after);
    }

    private boolean propose(Entry entry, long after) throws InterruptedException {
        long begun = System.nanoTime();
        long said = begun - SAY_NANOS;
        while (last() == after) {
            long now = System.nanoTime();
            if (now - begun > ORDER_NANOS) {
                return false;
            }
            if (now - said >= SAY_NANOS) {
                said = now;
                var unused = order.submit(entry);
            }
            Thread.sleep(LOOK_MILLIS);
        }
        return true;
    }

    /**
     * What is ordered under the number after {@code after}, if it is the definition with this nonce; otherwise null.
     *
     * @param seen a seqno before it
     */
    public Certified find(long nonce, long after, long seen) throws IOException, InterruptedException {
        long to = stream.lastOrdered();
        Certified next = cache.find(
                seen + 1,
                to,
                c -> OrderedFirst.is(c.writeSet()) && c.writeSet().gtid().number() == after + 1);
        return next != null && next.writeSet().session() == nonce ? next : null;
    }
}
