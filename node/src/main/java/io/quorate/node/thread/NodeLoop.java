// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.thread;

import io.quorate.core.ErrorCode;
import io.quorate.core.NodeEvent;
import io.quorate.core.NodeMachine;
import io.quorate.core.NodeState;
import io.quorate.core.QuorateException;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The thread that owns the node's state machine. Other threads post events. What follows from a new state is done on
 * this thread too, by the {@code onState} that it was given, so it must be quick. Progress is not posted but looked at,
 * up to ten times a second.
 *
 * <p>A failure to look at the progress is one of a thread like any other. But if what follows from a new state
 * can't be done, or the machine itself fails, the loop ends: nobody knows then whether clients are kept from writing,
 * and the fault handler has to end the process.
 */
public final class NodeLoop implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(NodeLoop.class);
    private static final int QUEUE_EVENTS_MAX = 1024;
    private static final long TICK_MILLIS = 100;
    /** Far more than a turn takes while other programs have the CPU or the disk. */
    private static final long TURN_NANOS_MAX = 60_000_000_000L;

    private final NodeMachine machine;
    private final Supplier<NodeEvent.Progress> progress;
    private final Consumer<NodeState> onState;
    private final ArrayBlockingQueue<NodeEvent> events = new ArrayBlockingQueue<>(QUEUE_EVENTS_MAX);
    private final OwnedThread thread;
    private final FaultHandler faults;
    private volatile NodeState state;
    private volatile String reason;
    private volatile long turnedNanos;

    /** @param faults is told when the loop ends without having been closed */
    public NodeLoop(
            NodeMachine machine,
            Supplier<NodeEvent.Progress> progress,
            Consumer<NodeState> onState,
            FaultHandler faults) {
        this.machine = machine;
        this.progress = progress;
        this.onState = onState;
        this.state = machine.state();
        this.reason = machine.reason();
        this.faults = faults;
        // It may not begin anew: of what follows from a state, nobody knows how much was done.
        this.thread = OwnedThread.lasting("quorate-node", this::run, faults);
    }

    public void start() {
        thread.start();
    }

    /**
     * Hands an event to the loop, even if the calling thread was interrupted: a part of the node that fails may be
     * ending its own threads, the calling one among them, and its event must not be lost. Waits while the queue is
     * full, which happens only when the loop is stuck. Once the loop has ended, events are dropped.
     */
    public void post(NodeEvent event) {
        boolean interrupted = false;
        while (!events.offer(event)) {
            if (thread.isStarted() && !thread.isAlive()) {
                log.debug("not heard, for the loop has ended: {}", event);
                break;
            }
            try {
                Thread.sleep(1);
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    public NodeState state() {
        return state;
    }

    public String reason() {
        return reason;
    }

    /** Whether the thread has come to the end of a turn within the last minute. */
    public boolean isTurning() {
        return thread.isAlive() && System.nanoTime() - turnedNanos < TURN_NANOS_MAX;
    }

    private void run() throws InterruptedException {
        turnedNanos = System.nanoTime();
        while (true) {
            NodeEvent event = events.poll(TICK_MILLIS, TimeUnit.MILLISECONDS);
            NodeEvent next = event == null ? look() : event;
            if (next != null) {
                take(next);
            }
            turnedNanos = System.nanoTime();
        }
    }

    private @Nullable NodeEvent look() {
        try {
            return progress.get();
        } catch (QuorateException e) {
            return new NodeEvent.Failed(e);
        } catch (RuntimeException e) {
            if (faults.mayGoOn("the look at how far this node is", e)) {
                return null;
            }
            return new NodeEvent.Failed(
                    new QuorateException(ErrorCode.INTERNAL, "the look at how far this node is failed: " + e, e));
        }
    }

    private void take(NodeEvent event) {
        NodeState before = machine.state();
        boolean changed = machine.on(event);
        reason = machine.reason();
        if (!changed) {
            return;
        }
        state = machine.state();
        if (state == NodeState.INCONSISTENT) {
            log.error("{} -> {}: {}", before, state, reason, machine.failure());
        } else {
            log.info("{} -> {}{}", before, state, reason.isEmpty() ? "" : ": " + reason);
        }
        onState.accept(state);
    }

    @Override
    public void close() {
        thread.close();
    }
}
