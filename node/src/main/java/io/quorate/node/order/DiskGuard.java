// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.order;

import io.quorate.core.NodeEvent;
import io.quorate.core.QuorateException;
import io.quorate.core.Retry;
import io.quorate.node.thread.FaultHandler;
import io.quorate.node.thread.OwnedThread;
import java.io.IOException;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.util.unit.DataSize;

/**
 * Makes the node leave the order before its disk is full, and take part again when there is space. A log or cache that
 * runs out of space in the middle of a record has to be mended; one that stops before that needn't be.
 */
public final class DiskGuard implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(DiskGuard.class);
    private static final Duration PERIOD = Duration.ofMillis(250);
    private static final Retry.Policy COME_BACK = Retry.Policy.unbounded(
                    "the node is of no use before, and what keeps it from coming back may pass", Duration.ofSeconds(5))
            .telling(0, 12);

    private final Path directory;
    private final long reserve;
    private final PausableOrder order;
    private final Consumer<NodeEvent> events;
    private final OwnedThread thread;
    private final Retry retry = new Retry(COME_BACK, System.nanoTime());
    private boolean paused;

    /** @param reserve bytes to be left free; 0 for no guard */
    public DiskGuard(
            Path directory, DataSize reserve, PausableOrder order, Consumer<NodeEvent> events, FaultHandler faults) {
        this.directory = directory;
        this.reserve = reserve.toBytes();
        this.order = order;
        this.events = events;
        this.thread = OwnedThread.lasting("quorate-disk", this::run, faults);
    }

    public void start() {
        if (reserve > 0) {
            thread.start();
        }
    }

    private void run() throws InterruptedException {
        FileStore volume = null;
        while (true) {
            try {
                // To find the volume all mounts are read; what it has left is one question to the system.
                volume = volume == null ? Files.getFileStore(directory) : volume;
                look(volume.getUsableSpace());
            } catch (IOException e) {
                volume = null;
                log.warn("can't tell how much space {} has: {}", directory, e.toString());
            }
            Thread.sleep(PERIOD.toMillis());
        }
    }

    /**
     * Leaves the order when the space is below the reserve; takes part again only with a quarter more than that, or a
     * node at the limit would leave and come back all the time.
     */
    private void look(long usable) throws InterruptedException {
        if (!paused && usable < reserve) {
            paused = true;
            String reason = "the volume of " + directory + " has " + (usable >> 20) + " MB left, " + (reserve >> 20)
                    + " are kept free (quorate.disk.reserve)";
            log.error("leaving the order: {}", reason);
            events.accept(new NodeEvent.DiskLow(reason));
            order.pause(PausableOrder.Hold.DISK);
        } else if (paused && usable >= reserve + reserve / 4) {
            resume(usable);
        }
    }

    private void resume(long usable) throws InterruptedException {
        try {
            order.resume(PausableOrder.Hold.DISK);
            paused = false;
            retry.reset(System.nanoTime());
            log.info("taking part in the order again: the volume of {} has {} MB left", directory, usable >> 20);
            events.accept(new NodeEvent.DiskLow(null));
        } catch (QuorateException e) {
            Retry.Next next = retry.failed(e.getMessage(), System.nanoTime());
            if (next.tell()) {
                log.warn("can't take part in the order again yet: {}", e.getMessage());
            }
            events.accept(new NodeEvent.DiskLow("there is space again, but: " + e.getMessage()));
            Thread.sleep(next.pauseMillis());
        }
    }

    @Override
    public void close() {
        thread.close();
    }
}
