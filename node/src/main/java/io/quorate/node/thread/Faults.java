// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.thread;

import io.quorate.core.ErrorCode;
import io.quorate.core.NodeEvent;
import io.quorate.core.QuorateException;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.function.Consumer;
import java.util.function.IntConsumer;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Decides what becomes of a node when one of its threads fails. After an exception that nobody foresaw the thread
 * begins anew, or the session with the server whose thread it is ({@code SessionFaults}): five times within ten
 * minutes, counted over all threads. Whatever else ends a thread, and the sixth of these, has the node leave the
 * cluster, because without that thread only a part of it would still work. A process without memory, or without the
 * thread that owns the node's state, can't even leave, and is halted for its supervisor to restart it.
 */
public final class Faults implements FaultHandler {
    /** The exit status of the JVM itself under -XX:+ExitOnOutOfMemoryError. */
    static final int OUT_OF_MEMORY = 3;
    /** The exit status when the thread that owned the node's state has ended. */
    static final int LOOP_ENDED = 4;

    private static final Logger log = LoggerFactory.getLogger(Faults.class);

    /** So many failures are allowed within {@link #WITHIN_MILLIS}. */
    static final int FAILURES_MAX = 5;

    static final long WITHIN_MILLIS = 600_000;

    private final Consumer<NodeEvent.Failed> machine;
    private final IntConsumer halt;
    private final LongSupplier millis;
    private final ArrayDeque<Long> failures = new ArrayDeque<>();

    /**
     * @param machine is told what ended a thread; directly, so that nothing in between can treat it as temporary
     * @param halt ends the process at once with an exit status
     */
    public Faults(Consumer<NodeEvent.Failed> machine, IntConsumer halt) {
        this(machine, halt, MonotonicClock::millis);
    }

    Faults(Consumer<NodeEvent.Failed> machine, IntConsumer halt, LongSupplier millis) {
        this.machine = machine;
        this.halt = halt;
        this.millis = millis;
    }

    /**
     * Whether nobody foresaw it, and it may be over when the work begins anew. An error of the JVM isn't, nor is what
     * has a code, but for the two that say that a server or a connection has done what nobody expected.
     */
    public static boolean isUnforeseen(Throwable cause) {
        return cause instanceof QuorateException known
                ? known.code() == ErrorCode.APPLY_FAILED || known.code() == ErrorCode.CORRUPT_EVENT
                : cause instanceof RuntimeException;
    }

    @Override
    public synchronized boolean mayGoOn(String thread, Throwable cause) {
        if (!isUnforeseen(cause)) {
            return false;
        }
        long now = millis.getAsLong();
        while (!failures.isEmpty() && now - failures.peek() >= WITHIN_MILLIS) {
            failures.remove();
        }
        if (failures.size() == FAILURES_MAX) {
            return false;
        }
        failures.add(now);
        log.error("{} failed, and begins anew, for the {}. time within ten minutes", thread, failures.size(), cause);
        return true;
    }

    /** For the thread that owns the node's state: when that has ended, nobody can say so any more. */
    public FaultHandler ofLoop() {
        return new FaultHandler() {
            @Override
            public void ended(String thread, Throwable cause) {
                loopEnded(thread, cause);
            }

            @Override
            public boolean mayGoOn(String thread, Throwable cause) {
                return Faults.this.mayGoOn(thread, cause);
            }
        };
    }

    @Override
    public void ended(String thread, Throwable cause) {
        log.error("The thread {} has ended", thread, cause);
        if (cause instanceof OutOfMemoryError) {
            halt.accept(OUT_OF_MEMORY);
        }
        machine.accept(new NodeEvent.Failed(explained(thread, cause)));
    }

    /** Told when the loop itself, which owns the node's state, has ended. */
    void loopEnded(String thread, Throwable cause) {
        log.error("The thread {}, which owns the state of this node, has ended; so does the process", thread, cause);
        halt.accept(cause instanceof OutOfMemoryError ? OUT_OF_MEMORY : LOOP_ENDED);
    }

    /**
     * The exception to report for {@code cause}: itself if it has an error code, otherwise one with a suitable code.
     */
    public static QuorateException explained(String thread, Throwable cause) {
        if (cause instanceof QuorateException known) {
            return known;
        }
        return cause instanceof IOException
                ? new QuorateException(ErrorCode.DISK, cause.toString(), cause)
                : new QuorateException(ErrorCode.INTERNAL, "the thread " + thread + " has ended: " + cause, cause);
    }
}
