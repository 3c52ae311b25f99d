// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.thread;

import io.quorate.core.ErrorCode;
import io.quorate.core.NodeEvent;
import io.quorate.core.QuorateException;
import java.io.IOException;
import java.util.function.Consumer;
import java.util.function.IntConsumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Decides what becomes of a node when one of its threads has ended. The node leaves the cluster, because without that
 * thread only a part of it would still work. A process without memory, or without the thread that owns the node's
 * state, can't even leave, and is halted for its supervisor to restart it.
 */
public final class Faults implements FaultHandler {
    /** The exit status of the JVM itself under -XX:+ExitOnOutOfMemoryError. */
    static final int OUT_OF_MEMORY = 3;
    /** The exit status when the thread that owned the node's state has ended. */
    static final int LOOP_ENDED = 4;

    private static final Logger log = LoggerFactory.getLogger(Faults.class);

    private final Consumer<NodeEvent.Failed> machine;
    private final IntConsumer halt;

    /**
     * @param machine is told what ended a thread; directly, so that nothing in between can treat it as temporary
     * @param halt ends the process at once with an exit status
     */
    public Faults(Consumer<NodeEvent.Failed> machine, IntConsumer halt) {
        this.machine = machine;
        this.halt = halt;
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
    public void loopEnded(String thread, Throwable cause) {
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
