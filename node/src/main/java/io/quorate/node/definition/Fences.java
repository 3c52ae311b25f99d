// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.definition;

import io.quorate.certification.OrderedStream;
import io.quorate.core.OrderedFirst;
import io.quorate.core.ProposalCodec;
import io.quorate.core.QuorateException;
import io.quorate.core.TotalOrder;
import io.quorate.node.definition.DefinitionQuestion.Fence;
import io.quorate.node.definition.DefinitionQuestion.Fenced;
import io.quorate.node.definition.DefinitionQuestion.Refusal;
import io.quorate.node.definition.DefinitionQuestion.Said;
import io.quorate.node.question.Answers;
import io.quorate.node.server.ApplyProgress;
import io.quorate.node.server.Refusals;
import io.quorate.node.server.Server;
import io.quorate.node.server.ServerAccess;
import io.quorate.node.server.ServerSession;
import io.quorate.node.thread.FaultHandler;
import io.quorate.node.thread.OwnedThread;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Iterator;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps clients of this server from writing while a definition is ordered, so that no row is written without it that is
 * ordered after it.
 *
 * <p>A fence waits for the next number of {@link OrderedFirst}. When something is ordered under that number, and this
 * server has applied the order up to there, the fence is lifted. Nobody lifts it before: whoever has waited long enough
 * takes the number up, by an empty proposal. So a definition that comes late, because the node that asked for it was
 * slow, is not ordered any more once clients may write again; and if that node is gone, the fence doesn't stay.
 *
 * <p>A service that is started anew knows of no fence.
 */
public final class Fences implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(Fences.class);
    private static final Duration CLOSE_MAX = Duration.ofSeconds(3);
    private static final Duration DRAIN_MAX = Duration.ofSeconds(5);
    private static final Duration ANSWER_MAX = Duration.ofSeconds(10);
    private static final long LOOK_MILLIS = 20;
    private static final long SAY_NANOS = TimeUnit.SECONDS.toNanos(2);

    /** What the fences need of this node. */
    public record Ports(
            ServerAccess access,
            Server server,
            OrderedStream stream,
            TotalOrder order,
            ApplyProgress progress,
            Refusals refusals,
            BooleanSupplier synced) {}

    private static final class Held {
        long untilNanos;
        long saidNanos;
        /** The seqno up to which the order has to be applied; -1 while nothing is ordered under the number. */
        long seqno = -1;
    }

    private final Ports ports;
    private final Duration max;
    private final OwnedThread thread;
    /** By the number after which something is to be ordered. Guarded by this. */
    private final Map<Long, Held> all = new TreeMap<>();

    /** @param max how long a fence waits for something to be ordered */
    public Fences(Ports ports, Duration max, FaultHandler faults) {
        this.ports = ports;
        this.max = max;
        this.thread = OwnedThread.lasting("quorate-fences", this::run, faults).start();
    }

    public void register(Answers answers) {
        answers.on(Fence.class, this::fence);
        answers.on(Said.class, question -> new Refusal(ports.refusals().of(question.seqno())));
        answers.requireAll(DefinitionQuestion.class);
    }

    /** Registers a refusal of what only a node with a server can answer. */
    public static void refuse(Answers answers, Supplier<QuorateException> refusal) {
        answers.refuse(DefinitionQuestion.class, refusal);
    }

    private Fenced fence(Fence question) {
        if (!ports.synced().getAsBoolean()) {
            return new Fenced("it isn't SYNCED");
        }
        try (Connection connection = ports.access().connectAlone(ANSWER_MAX)) {
            return new Fenced(fence(connection, question.after()));
        } catch (SQLException e) {
            return new Fenced(ports.access().unreachable(e).getMessage());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return new Fenced("interrupted");
        }
    }

    /** The reason why clients may still write, or why not all that they have written is ordered; null for none. */
    private String fence(Connection connection, long after) throws SQLException, InterruptedException {
        long end = System.nanoTime() + DRAIN_MAX.toNanos();
        while (last() < after) {
            // Nothing could take up the number after one that the order doesn't have, so nobody could lift that fence.
            if (System.nanoTime() > end) {
                return "it doesn't know of " + after + " definitions that were ordered first, but of " + last();
            }
            Thread.sleep(LOOK_MILLIS);
        }
        // The link can't wait for clients' statements: everybody's writes would wait behind it.
        if (!ServerAccess.closeWithin(connection, CLOSE_MAX)) {
            return "a statement of its clients doesn't end within " + CLOSE_MAX.toSeconds() + " s";
        }
        hold(after);
        end = System.nanoTime() + DRAIN_MAX.toNanos();
        ServerSession session = ports.server().session();
        while (session != null && !session.isClosed() && System.nanoTime() < end) {
            Thread.sleep(LOOK_MILLIS);
            session = ports.server().session();
        }
        if (session == null || !session.isClosed() || !ServerAccess.isReadOnly(connection)) {
            return "its server isn't closed for clients";
        }
        long last = session.ownExecuted(connection);
        while (session.undecided(last, Duration.ofMillis(LOOK_MILLIS)) != 0) {
            if (System.nanoTime() > end) {
                return "the order doesn't have all that its clients have written";
            }
            Thread.sleep(LOOK_MILLIS);
        }
        return null;
    }

    /** The last number that something is ordered under. */
    private long last() {
        return ports.stream()
                .ask(certifier -> certifier.position(OrderedFirst.ORIGIN).last());
    }

    private synchronized void hold(long after) {
        long now = System.nanoTime();
        Held held = all.computeIfAbsent(after, number -> new Held());
        held.untilNanos = now + max.toNanos();
        held.saidNanos = now - SAY_NANOS;
        ports.server().fence(true);
        notifyAll();
    }

    private void run() throws InterruptedException {
        while (true) {
            awaitFence();
            Thread.sleep(LOOK_MILLIS);
            look();
        }
    }

    private synchronized void awaitFence() throws InterruptedException {
        while (all.isEmpty()) {
            wait();
        }
    }

    private synchronized void look() {
        Iterator<Map.Entry<Long, Held>> each = all.entrySet().iterator();
        while (each.hasNext()) {
            Map.Entry<Long, Held> one = each.next();
            if (isOver(one.getKey(), one.getValue())) {
                each.remove();
            }
        }
        if (all.isEmpty()) {
            ports.server().fence(false);
        }
    }

    private boolean isOver(long after, Held held) {
        if (held.seqno < 0) {
            held.seqno = ports.stream()
                    .ask(certifier ->
                            certifier.position(OrderedFirst.ORIGIN).last() > after ? certifier.lastSeqno() : -1L);
        }
        if (held.seqno >= 0) {
            // A link that hasn't noticed yet that the server is to be closed wouldn't open it.
            ServerSession session = ports.server().session();
            boolean noticed = session == null || session.isClosed();
            return noticed && ports.progress().lastApplied() >= held.seqno;
        }
        long now = System.nanoTime();
        if (now >= held.untilNanos && now - held.saidNanos >= SAY_NANOS) {
            held.saidNanos = now;
            log.warn("no definition has come for {} s; clients are let write again", max.toSeconds());
            var unused = ports.order().submit(ProposalCodec.encode(OrderedFirst.nothing(after)));
        }
        return false;
    }

    @Override
    public void close() {
        thread.expectEnd();
        thread.close();
    }
}
