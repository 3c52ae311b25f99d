// SPDX-License-Identifier: Apache-2.0
package io.quorate.transport;

import io.quorate.core.ErrorCode;
import io.quorate.core.QuorateException;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BiConsumer;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.server.RaftServer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Ratis' server on this node's directory: from before anything there is examined until no part of it can write there
 * any more.
 *
 * <p>A process may take part in the order again after it has left. The new server must not begin while the old one can
 * still write: two workers would damage the log, and an old vote that overwrites a new one would let this node vote
 * twice. Ratis (3.3.0) doesn't say when it is safe. Its close leaves threads behind when it is interrupted, releases
 * its lock on the directory while the log's worker may be at its last task, and can hang with the lock held. So the
 * directory is {@link #claim claimed} here, and given back when three things hold:
 *
 * <ol>
 *   <li>No thread that writes files is alive. They are all started within one thread group, and bear the member's name;
 *       {@link #start} makes sure of it.
 *   <li>No request of a peer is being handled. Threads of connections do that, but it is within the division's monitor
 *       that Ratis checks that the server is alive, and writes the vote. We take that monitor once, after the server
 *       has closed.
 *   <li>Ratis' lock is released.
 * </ol>
 *
 * <p><b>How it ends.</b> {@code SegmentedRaftLog.close} holds a lock while it waits for the thread that evicts segments
 * from the cache, and that thread may be waiting for the same lock: a deadlock. It happens when the log begins another
 * segment at that moment, for example with the first entry of the leader that has taken over. So that thread is ended
 * first. Then the server is closed. Whatever is left after {@link #CLOSE_MAX} is interrupted, where that makes nothing
 * worse:
 *
 * <ul>
 *   <li>the updater, which applies the log, and everything that waits for it, only after it has let go of the state
 *       machine: otherwise it would go on for ever with a closed log, and the listener may be writing files of its own;
 *   <li>then the log's worker, alone, because a thread that closes the log while it is interrupted frees the buffer
 *       that the worker writes from;
 *   <li>then everything else.
 * </ul>
 *
 * The log is then as after a crash: nothing is lost that was acknowledged. If something doesn't end in spite of that,
 * the directory stays claimed, and the next start refuses and names the thread.
 */
final class RatisServer {
    private static final Logger LOG = LoggerFactory.getLogger(RatisServer.class);
    /** How long a close takes on a machine that is busy with other work. */
    private static final Duration CLOSE_MAX = Duration.ofSeconds(10);

    private static final Duration FORCE_MAX = Duration.ofSeconds(10);
    private static final Duration FORMER_MAX = Duration.ofSeconds(60);
    private static final long AGAIN_MILLIS = 1000;
    private static final int WARN_EVERY = 60;
    private static final String LOG_WORKER = "-SegmentedRaftLogWorker";
    private static final String UPDATER = "-StateMachineUpdater";
    /** These threads wait for something, and write nothing. */
    private static final List<String> WAITING =
            List.of("-LogAppenderDaemon", "-FollowerState", "-cacheEviction-AwaitToRun");

    private static final Map<Path, RatisServer> CLAIMED = new ConcurrentHashMap<>();

    private final Path directory;
    private final Threads threads;
    private final AtomicBoolean ending = new AtomicBoolean();
    private final CompletableFuture<Void> ended = new CompletableFuture<>();
    private volatile OrderStateMachine machine;
    private volatile RaftServer server;
    private volatile RaftServer.Division division;
    private volatile Thread logWorker;
    private volatile boolean started;
    private volatile boolean startFailed;

    private RatisServer(Path directory, BiConsumer<String, Throwable> died) {
        this.directory = directory;
        threads = new Threads(died);
    }

    /**
     * The group of all threads that the server starts. Threads that Ratis shares between all orders of a process stay
     * in the group in which they began, and keep it in memory; so it drops its listener when the order has ended.
     */
    private static final class Threads extends ThreadGroup {
        private volatile BiConsumer<String, Throwable> died;

        Threads(BiConsumer<String, Throwable> died) {
            super("quorate-order");
            this.died = died;
        }

        @Override
        public void uncaughtException(Thread thread, Throwable cause) {
            BiConsumer<String, Throwable> told = died;
            if (told != null) {
                told.accept(thread.getName(), cause);
            } else {
                LOG.warn("{} ended, after the order it began with", thread.getName(), cause);
            }
        }

        void forget() {
            died = null;
        }
    }

    /**
     * Waits until no former server of this process has anything to do with the directory.
     *
     * @param died is told of threads that ended with an uncaught exception
     * @throws QuorateException CONFIGURATION when another order runs there, ORDER_STOPPED when a former one doesn't end
     */
    static RatisServer claim(Path directory, BiConsumer<String, Throwable> died) {
        RatisServer claim = new RatisServer(directory.toAbsolutePath().normalize(), died);
        RatisServer former = CLAIMED.putIfAbsent(claim.directory, claim);
        long deadline = System.nanoTime() + FORMER_MAX.toNanos();
        while (former != null) {
            if (!former.ending.get()) {
                throw new QuorateException(ErrorCode.CONFIGURATION, directory + " is in use by another order");
            }
            if (!former.awaitEnd(deadline - System.nanoTime())) {
                throw new QuorateException(
                        ErrorCode.ORDER_STOPPED,
                        "this node's former part in the order still has " + directory + " and can't be ended: "
                                + former.alive());
            }
            former = CLAIMED.putIfAbsent(claim.directory, claim);
        }
        return claim;
    }

    /** Creates the server; it doesn't run yet. */
    RaftServer open(RaftServer.Builder builder, RaftGroupId group, OrderStateMachine stateMachine) throws Exception {
        machine = stateMachine;
        server = within(() -> builder.setThreadGroup(threads).build());
        division = server.getDivision(group);
        return server;
    }

    RaftServer.Division division() {
        return division;
    }

    void start() throws Exception {
        started = true;
        try {
            within(() -> {
                server.start();
                return null;
            });
        } catch (Exception e) {
            startFailed = true;
            throw e;
        }
        logWorker = alive().stream()
                .filter(thread -> thread.getName().endsWith(LOG_WORKER))
                .findFirst()
                .orElseThrow(() -> new IllegalStateException("Ratis' log has no worker among " + alive()));
    }

    /**
     * False when the log's worker has ended: nothing is written any more, although Ratis doesn't notice. Too slow to be
     * asked all the time.
     */
    boolean writes() {
        return logWorker == null || works(logWorker);
    }

    /** The worker's thread belongs to a pool, and stays when its work has ended. */
    private static boolean works(Thread worker) {
        return Arrays.stream(worker.getStackTrace())
                .anyMatch(frame -> frame.getClassName().endsWith(".SegmentedRaftLogWorker"));
    }

    /**
     * Ends the server. Returns once that is done, or when it has waited too long; then the ending continues by itself.
     */
    void close() {
        if (ending.compareAndSet(false, true)) {
            Thread end = new Thread(this::end, "quorate-order-end");
            end.setDaemon(true);
            end.start();
        }
        if (!awaitEnd(CLOSE_MAX.plus(FORCE_MAX).toNanos())
                && !Thread.currentThread().isInterrupted()) {
            LOG.error("The order on {} has not ended: {}", directory, alive());
        }
    }

    private boolean awaitEnd(long nanos) {
        try {
            ended.get(Math.max(0, nanos), TimeUnit.NANOSECONDS);
            return true;
        } catch (TimeoutException e) {
            return false;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return ended.isDone();
        } catch (ExecutionException e) {
            LOG.error("The order on {} can't be ended", directory, e.getCause());
            return false;
        }
    }

    private void end() {
        try {
            if (started) {
                endThreads();
                passMonitor(division);
            } else if (server != null) {
                // Nothing has been written, and only threads of pools still run; they wait for work and end by
                // themselves.
                closeServer();
            }
            if (division != null) {
                unlock(division);
            }
            threads.forget();
            CLAIMED.remove(directory, this);
            ended.complete(null);
        } catch (Throwable e) { // The directory stays claimed, for nobody knows what still writes there.
            ended.completeExceptionally(e);
        }
    }

    private void endThreads() throws InterruptedException {
        Thread closer = new Thread(threads, this::closeServer, "quorate-order-close");
        closer.setDaemon(true);
        closer.start();
        closer.join(CLOSE_MAX.toMillis());
        boolean inTime = !closer.isAlive();
        for (int round = 0; ; round++) {
            List<Thread> left = alive();
            if (closer.isAlive()) {
                left.add(closer);
            }
            if (left.isEmpty()) {
                return;
            }
            if (round % WARN_EVERY == (inTime ? WARN_EVERY - 1 : 0)) {
                left.forEach(thread -> LOG.warn(
                        "Closing the order on {} takes long: {} is at {}",
                        directory,
                        thread.getName(),
                        Arrays.toString(thread.getStackTrace())));
            }
            interrupt(left);
            left.get(left.size() - 1).join(AGAIN_MILLIS);
        }
    }

    private void closeServer() {
        try {
            for (Thread thread : alive()) {
                if (thread.getName().endsWith("-cacheEviction-AwaitToRun")) {
                    thread.interrupt();
                    thread.join(AGAIN_MILLIS);
                }
            }
            server.close();
            if (startFailed) {
                // The server takes itself for one that was never started, and has closed nothing of what it had begun.
                division.close();
                server.getServerRpc().close();
            }
        } catch (IOException | RuntimeException e) {
            LOG.warn("The order on {} did not close cleanly", directory, e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void interrupt(List<Thread> left) {
        boolean applied = machine.finished() || left.stream().noneMatch(t -> is(t, UPDATER));
        boolean written = left.stream().noneMatch(t -> is(t, LOG_WORKER) && works(t));
        for (Thread thread : left) {
            boolean waits = WAITING.stream().anyMatch(kind -> is(thread, kind));
            if (waits || (applied && (written || is(thread, LOG_WORKER)))) {
                thread.interrupt();
            }
        }
    }

    private static boolean is(Thread thread, String kind) {
        return thread.getName().endsWith(kind);
    }

    /** Any thread that was in the monitor has left it, and any that enters it finds that the server is closed. */
    private void passMonitor(RaftServer.Division closed) {
        synchronized (closed) {
            LOG.debug("no peer's request is handled on {} any more", directory);
        }
    }

    private void unlock(RaftServer.Division closed) {
        try {
            closed.getRaftStorage().close();
        } catch (IllegalStateException e) {
            LOG.debug("{} was never locked", directory, e);
        } catch (IOException e) {
            LOG.warn("Ratis' lock on {} could not be released", directory, e);
        }
    }

    /**
     * Threads of the server that write files, or have others do so. Pools that handle peers' requests are not among
     * them.
     */
    private List<Thread> alive() {
        List<Thread> alive = new ArrayList<>();
        if (server == null) {
            return alive;
        }
        Thread[] all = new Thread[2 * threads.activeCount() + 16];
        int count = threads.enumerate(all, true);
        String id = server.getId().toString();
        for (Thread thread : Arrays.asList(all).subList(0, count)) {
            String name = thread.getName();
            boolean pooled = name.startsWith(id + "-impl") || name.startsWith(id + "-groupManagement");
            // Nobody ends the pools of a server whose start has failed; they do that once they are garbage.
            if (name.startsWith(id + "@") || (pooled && !(startFailed && isIdle(thread)))) {
                alive.add(thread);
            }
        }
        return alive;
    }

    private static boolean isIdle(Thread pooled) {
        return Arrays.stream(pooled.getStackTrace())
                .noneMatch(frame -> frame.getClassName().startsWith("org.apache.ratis."));
    }

    /** Runs it on a thread of the group, so that the threads it starts belong there too. */
    private <T> T within(Callable<T> work) throws Exception {
        FutureTask<T> task = new FutureTask<>(work);
        new Thread(threads, task, "quorate-order-start").start();
        boolean interrupted = false;
        try {
            while (true) {
                try {
                    return task.get();
                } catch (InterruptedException e) {
                    interrupted = true;
                } catch (ExecutionException e) {
                    if (e.getCause() instanceof Exception cause) {
                        throw cause;
                    }
                    throw e;
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
