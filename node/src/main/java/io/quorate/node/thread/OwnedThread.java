// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.thread;

import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A thread that one part of the node owns, starts and closes. It can't end unnoticed: whatever ends the thread before
 * it is closed is told to its fault handler, be it an exception, an error, an unexpected interrupt or, for a lasting
 * thread, its return. A lasting one begins its work anew where the fault handler lets it.
 */
public final class OwnedThread implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(OwnedThread.class);
    /** How long {@link #close()} waits for the thread to end before it goes on. */
    private static final Duration JOIN_MAX = Duration.ofSeconds(10);

    /** Before the work begins anew after a failure. */
    private static final Duration PAUSE = Duration.ofMillis(500);

    private static final int STACK_LINES_MAX = 12;

    /** What a thread does. When interrupted it should soon throw InterruptedException or return. */
    public interface Body {
        void run() throws Exception;
    }

    private final Thread thread;
    private final Body body;
    private final boolean lasting;
    private final FaultHandler faults;
    private volatile boolean closing;

    private OwnedThread(String name, Body body, boolean lasting, FaultHandler faults) {
        this.body = body;
        this.lasting = lasting;
        this.faults = faults;
        this.thread = new Thread(this::run, name);
        thread.setDaemon(true);
    }

    /** A thread that works until it is closed; if it returns before that, this is a fault. */
    public static OwnedThread lasting(String name, Body body, FaultHandler faults) {
        return new OwnedThread(name, body, true, faults);
    }

    /** A thread that has a task and ends when that is done. */
    public static OwnedThread task(String name, Body body, FaultHandler faults) {
        return new OwnedThread(name, body, false, faults);
    }

    /** Starts the thread. To be called once. */
    public OwnedThread start() {
        thread.start();
        return this;
    }

    public boolean isStarted() {
        return thread.getState() != Thread.State.NEW;
    }

    public boolean isAlive() {
        return thread.isAlive();
    }

    private void run() {
        boolean again = true;
        while (again) {
            again = false;
            try {
                body.run();
                if (lasting && !closing) {
                    faults.ended(thread.getName(), new IllegalStateException("it returned"));
                }
            } catch (Throwable e) {
                if (closing) {
                    log.debug("{} was closed: {}", thread.getName(), e.toString());
                } else if (lasting && faults.mayGoOn(thread.getName(), e)) {
                    again = pause();
                } else {
                    faults.ended(thread.getName(), e);
                }
            }
        }
    }

    private boolean pause() {
        try {
            Thread.sleep(PAUSE.toMillis());
        } catch (InterruptedException e) {
            thread.interrupt();
        }
        return !closing;
    }

    /** Waits until the thread has ended, for at most {@code max}. */
    public void awaitEnd(Duration max) throws InterruptedException {
        thread.join(max.toMillis());
    }

    /**
     * From now on the end of the thread is no fault. For owners that have their own way of telling the thread to end.
     */
    public void expectEnd() {
        closing = true;
    }

    /** Gives the thread up to {@code grace} to end by itself, then {@link #close}s it. */
    public void close(Duration grace) {
        closing = true;
        if (join(grace)) {
            close();
        }
    }

    /**
     * Interrupts the thread and waits for a limited time until it has ended. Called on the thread itself, it only
     * interrupts.
     */
    @Override
    public void close() {
        closing = true;
        thread.interrupt();
        if (!join(JOIN_MAX)) {
            return;
        }
        if (thread.isAlive()) {
            StackTraceElement[] stack = thread.getStackTrace();
            List<StackTraceElement> where = Arrays.asList(stack).subList(0, Math.min(STACK_LINES_MAX, stack.length));
            log.warn(
                    "{} hasn't ended {} s after it was told to; it is at {}",
                    thread.getName(),
                    JOIN_MAX.toSeconds(),
                    where);
        }
    }

    /** @return false when the calling thread is the one to wait for, or was interrupted while it waited */
    private boolean join(Duration max) {
        if (Thread.currentThread() == thread) {
            return false;
        }
        try {
            thread.join(max.toMillis());
            return true;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }
}
