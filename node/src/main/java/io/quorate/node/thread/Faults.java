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
 * What becomes of a node one of whose threads has ended: it leaves the cluster, for without that part it would
 * half-work on. A process without memory, or without the thread that owns the node's state, can't even do that, and is
 * halted for its supervisor to start it anew.
 */
public final class Faults implements FaultHandler {
    /** What the JVM itself ends with under -XX:+ExitOnOutOfMemoryError. */
    static final int OUT_OF_MEMORY = 3;
    /** The thread that owned the node's state has ended. */
    static final int LOOP_ENDED = 4;

    private static final Logger log = LoggerFactory.getLogger(Faults.class);

    private final Consumer<NodeEvent.Failed> machine;
    private final IntConsumer halt;

    /**
     * @param machine told of what ended a thread; directly, for nobody may take it for something that passes
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

    /** The loop's own end. */
    public void loopEnded(String thread, Throwable cause) {
        log.error("The thread {}, which owns the state of this node, has ended; so does the process", thread, cause);
        halt.accept(cause instanceof OutOfMemoryError ? OUT_OF_MEMORY : LOOP_ENDED);
    }

    /** With its own code if it has one. */
    public static QuorateException explained(String thread, Throwable cause) {
        if (cause instanceof QuorateException known) {
            return known;
        }
        return cause instanceof IOException
                ? new QuorateException(ErrorCode.DISK, cause.toString(), cause)
                : new QuorateException(ErrorCode.INTERNAL, "the thread " + thread + " has ended: " + cause, cause);
    }
}
