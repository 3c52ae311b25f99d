// SPDX-License-Identifier: Apache-2.0
package io.quorate.sandbox;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Consumer;

/** Runs the same step for every node at once. */
final class InParallel {
    private InParallel() {}

    /** Returns when all have ended; throws the first failure, with the others attached to it. */
    static <T> void run(List<T> items, Consumer<T> step) {
        if (items.isEmpty()) {
            return;
        }
        ExecutorService threads = Executors.newFixedThreadPool(items.size());
        try {
            List<Future<?>> futures = new ArrayList<>();
            items.forEach(item -> futures.add(threads.submit(() -> step.accept(item))));
            RuntimeException failure = null;
            for (Future<?> future : futures) {
                try {
                    future.get();
                } catch (ExecutionException e) {
                    failure = joined(failure, e.getCause());
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                    failure = joined(failure, new SandboxException("interrupted"));
                    break;
                }
            }
            if (failure != null) {
                throw failure;
            }
        } finally {
            threads.shutdownNow();
        }
    }

    private static RuntimeException joined(RuntimeException first, Throwable next) {
        RuntimeException failure = next instanceof RuntimeException r ? r : new IllegalStateException(next);
        if (first == null) {
            return failure;
        }
        first.addSuppressed(failure);
        return first;
    }
}
