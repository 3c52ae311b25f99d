// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.endpoint;

import java.io.IOException;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.springframework.http.MediaType;
import org.springframework.web.servlet.mvc.method.annotation.SseEmitter;

/**
 * The pages that are open, each of which is told what there is to show. One whose browser takes nothing keeps a thread
 * until the web server gives it up; it misses what comes meanwhile, and the other pages don't wait for it.
 */
final class OpenPages implements AutoCloseable {
    private static final int PAGES_MAX = 32;
    private static final long IDLE_SECONDS = 10;

    /** With each, whether it is being told something. */
    private final Map<SseEmitter, AtomicBoolean> pages = new ConcurrentHashMap<>();

    private final ThreadPoolExecutor threads =
            new ThreadPoolExecutor(0, PAGES_MAX, IDLE_SECONDS, TimeUnit.SECONDS, new SynchronousQueue<>(), task -> {
                Thread thread = new Thread(task, "quorate-page-tell");
                thread.setDaemon(true);
                return thread;
            });

    /** Returns false when as many are open as there may be. */
    synchronized boolean add(SseEmitter page) {
        if (pages.size() >= PAGES_MAX) {
            return false;
        }
        page.onCompletion(() -> pages.remove(page));
        page.onError(e -> pages.remove(page));
        page.onTimeout(page::complete);
        pages.put(page, new AtomicBoolean());
        return true;
    }

    boolean isEmpty() {
        return pages.isEmpty();
    }

    /** Tells all of them, without waiting for any. */
    void tell(Object look) {
        pages.forEach((page, busy) -> {
            if (busy.compareAndSet(false, true)) {
                threads.execute(() -> {
                    tell(page, look);
                    busy.set(false);
                });
            }
        });
    }

    private void tell(SseEmitter page, Object look) {
        try {
            page.send(SseEmitter.event().name("look").data(look, MediaType.APPLICATION_JSON));
        } catch (IOException | IllegalStateException e) {
            // Whoever listened has gone.
            pages.remove(page);
        }
    }

    @Override
    public void close() {
        threads.shutdownNow();
        pages.keySet().forEach(SseEmitter::complete);
    }

    static String full() {
        return PAGES_MAX + " pages are open already; close one";
    }
}
