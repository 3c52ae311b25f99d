// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.endpoint;

import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A thread that looks once a second, for those who are told of what it sees. A look that fails isn't the last one. */
final class EverySecond implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(EverySecond.class);

    private final ScheduledExecutorService thread;
    private final Runnable look;

    EverySecond(String name, Runnable look) {
        this.look = () -> guarded(name, look);
        this.thread = Executors.newSingleThreadScheduledExecutor(task -> {
            Thread made = new Thread(task, name);
            made.setDaemon(true);
            return made;
        });
        var unused = thread.scheduleWithFixedDelay(this.look, 1, 1, TimeUnit.SECONDS);
    }

    /** The executor would look no more after an exception, and say nothing of it. */
    private static void guarded(String name, Runnable look) {
        try {
            look.run();
        } catch (OutOfMemoryError e) {
            Thread thread = Thread.currentThread();
            thread.getUncaughtExceptionHandler().uncaughtException(thread, e);
        } catch (RuntimeException | Error e) {
            log.error("{} failed; it looks again in a second", name, e);
        }
    }

    /** Looks once more, as soon as it can. */
    void soon() {
        thread.execute(look);
    }

    @Override
    public void close() {
        thread.shutdownNow();
    }
}
