// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.join;

import io.quorate.core.QuorateException;
import java.time.Duration;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;

/** What others want of a thread, which takes it when it has time. All but {@link #runNext} on any thread. */
final class Inbox {
    /** How long an operator's command waits until the thread comes to it, and is done. */
    private static final Duration COMMAND_MAX = Duration.ofSeconds(30);

    private final BlockingQueue<Runnable> waiting = new LinkedBlockingQueue<>();

    /** To be run when there is time. */
    void tell(Runnable what) {
        waiting.add(what);
    }

    /** Ends the thread's pause. */
    void wake() {
        waiting.add(() -> {});
    }

    /** Runs what is wanted first; with nothing there, returns after so many milliseconds. */
    void runNext(long pauseMillis) throws InterruptedException {
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
        waiting.add(asked);
        try {
            return asked.get(COMMAND_MAX.toMillis(), TimeUnit.MILLISECONDS);
        } catch (TimeoutException e) {
            return asked.cancel(false)
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
