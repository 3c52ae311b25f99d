// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.join;

import io.quorate.core.QuorateException;
import java.time.Duration;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;

/** What others want of a thread, which takes it when it has time. All but {@link #runNext} on any thread. */
final class Inbox {
    /** How long an operator's command waits until the thread comes to it, and is done. */
    private static final Duration COMMAND_MAX = Duration.ofSeconds(30);

    /** Far more than there are threads that tell it something; each of those tells it one thing at a time. */
    static final int WAITING_MAX = 256;

    private static final long FULL_MILLIS = 5;

    private final BlockingQueue<Runnable> waiting = new ArrayBlockingQueue<>(WAITING_MAX);
    private volatile boolean closed;
    private volatile Thread taker;

    /**
     * To be run when there is time. Waits while too much is there already, for what happened must not be lost; only the
     * thread itself, which would wait for itself, runs it at once then.
     */
    void tell(Runnable what) {
        boolean interrupted = false;
        while (!closed && !waiting.offer(what)) {
            if (Thread.currentThread() == taker) {
                what.run();
                break;
            }
            try {
                Thread.sleep(FULL_MILLIS);
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /** From now on nobody takes anything, and nobody waits for that. */
    void close() {
        closed = true;
    }

    /** Ends the thread's pause; where something is waiting for the thread, there will be none. */
    void wake() {
        var unused = waiting.offer(() -> {});
    }

    /** Runs what is wanted first; with nothing there, returns after so many milliseconds. */
    void runNext(long pauseMillis) throws InterruptedException {
        taker = Thread.currentThread();
        Runnable next = waiting.poll(pauseMillis, TimeUnit.MILLISECONDS);
        if (next != null) {
            next.run();
        }
    }

    /**
     * Has a command carried out, and waits for that.
     *
     * @param command returns why it can't be done, null when it is
     * @param busy what the thread is at
     * @return why it isn't done, or not known to be; null when it is
     */
    String command(Callable<String> command, Supplier<String> busy) throws InterruptedException {
        FutureTask<String> asked = new FutureTask<>(() -> {
            try {
                return command.call();
            } catch (InterruptedException e) {
                // The task would keep it from the thread.
                Thread.currentThread().interrupt();
                throw e;
            }
        });
        if (!waiting.offer(asked)) {
            return "this node is busy: " + busy.get();
        }
        try {
            return asked.get(COMMAND_MAX.toMillis(), TimeUnit.MILLISECONDS);
        } catch (TimeoutException e) {
            boolean unheard = asked.cancel(false);
            waiting.remove(asked);
            return unheard
                    ? "this node is busy: " + busy.get()
                    : "it isn't done after " + COMMAND_MAX.toSeconds() + " s; it may still be";
        } catch (ExecutionException e) {
            if (e.getCause() instanceof QuorateException known) {
                return known.getMessage();
            }
            throw new IllegalStateException(e.getCause());
        }
    }
}
