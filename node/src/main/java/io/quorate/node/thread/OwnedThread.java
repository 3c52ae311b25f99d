// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.thread;

import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A thread that one part of the node owns, starts and closes. It can't end unseen: whatever ends it before it is
 * closed, an exception, an error, an interrupt that nobody answers for, and of a lasting one its return too, reaches
 * its fault handler.
 */
public final class OwnedThread implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(OwnedThread.class);
    /** How long closing waits for the thread before it goes on without it. */
    private static final Duration JOIN_MAX = Duration.ofSeconds(10);

    private static final int STACK_LINES_MAX = 12;

    /** What a thread does. Interrupted, it should throw InterruptedException, or return, soon. */
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

    /** One that works until it is closed; if it returns before, that is a fault. */
    public static OwnedThread lasting(String name, Body body, FaultHandler faults) {
        return new OwnedThread(name, body, true, faults);
    }

    /** One that has a task and is over when that is done. */
    public static OwnedThread task(String name, Body body, FaultHandler faults) {
        return new OwnedThread(name, body, false, faults);
    }

    /** Starts it, once. */
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
        try {
            body.run();
            if (lasting && !closing) {
                faults.ended(thread.getName(), new IllegalStateException("it returned"));
            }
        } catch (Throwable e) {
            if (closing) {
                log.debug("{} was closed: {}", thread.getName(), e.toString());
            } else {
                faults.ended(thread.getName(), e);
            }
        }
    }

    /** Waits until it has ended, at most {@code max}. */
    public void awaitEnd(Duration max) throws InterruptedException {
        thread.join(max.toMillis());
    }

    /** From now on its end is no fault. For an owner that tells it in a way of its own to come to an end. */
    public void expectEnd() {
        closing = true;
    }

    /** Gives it up to {@code grace} to come to an end by itself, then {@link #close}s it. */
    public void close(Duration grace) {
        closing = true;
        if (join(grace)) {
            close();
        }
    }

    /** Interrupts it and waits until it has ended, a bounded time. From the thread itself: only asks it to end. */
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

    /** @return false when this thread can't wait, or was interrupted while it did */
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
