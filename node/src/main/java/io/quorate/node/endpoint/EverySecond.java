// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.endpoint;

import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/** A thread that looks once a second, for those who are told of what it sees. What it does must not throw. */
final class EverySecond implements AutoCloseable {
    private final ScheduledExecutorService thread;
    private final Runnable look;

    EverySecond(String name, Runnable look) {
        this.look = look;
        this.thread = Executors.newSingleThreadScheduledExecutor(task -> {
            Thread made = new Thread(task, name);
            made.setDaemon(true);
            return made;
        });
        var unused = thread.scheduleWithFixedDelay(look, 1, 1, TimeUnit.SECONDS);
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
