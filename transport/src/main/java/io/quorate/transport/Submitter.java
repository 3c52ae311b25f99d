// SPDX-License-Identifier: Apache-2.0
package io.quorate.transport;

import io.quorate.core.Entry;
import io.quorate.core.ErrorCode;
import io.quorate.core.QuorateException;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.util.ArrayDeque;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;

/**
 * Sends entries to the log: this node's own, cut into frames, to the leader wherever it is; and those that peers have
 * forwarded, into the local log. Own entries are sent in the order in which they were submitted, and the frames of one
 * entry without another's in between.
 *
 * <p>One thread does that, because sending can take as long as the disk does. While nothing else is on its way it
 * can't: then whoever brings an entry sends it, and no thread has to be woken.
 *
 * <p>No frame is ever sent twice: when its fate is unknown the whole entry fails, and may be submitted again.
 */
final class Submitter implements AutoCloseable {
    /** The way of frames to the leader. */
    interface Route {
        /** The leader's name now, null when none is known. */
        String leader();

        /** Hands over a frame; never blocks for an answer, and reports every failure as an answer. */
        CompletableFuture<Answer> send(String leader, byte[] frame);
    }

    private final TransportSettings settings;
    private final Route route;
    private final Consumer<Throwable> broken;
    private final byte[] name;
    private final long stream = new SecureRandom().nextLong();
    private final long windowBytesMax;
    private final Thread thread;

    /** Held while something is taken and sent, so that the order is kept. */
    private final ReentrantLock turn = new ReentrantLock();

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition work = lock.newCondition();
    private final ArrayDeque<Own> own = new ArrayDeque<>();
    private final ArrayDeque<Forwarded> forwarded = new ArrayDeque<>();
    private long ownBytes;
    private long forwardedBytes;
    private long windowBytes;
    private long sequence;
    private boolean ownTurn;
    private boolean closed;

    private final LongAdder submittedEntries = new LongAdder();
    private final LongAdder submittedBytes = new LongAdder();
    private final LongAdder failedEntries = new LongAdder();
    private final LongAdder forwardedEntries = new LongAdder();

    /** One entry of this node. Guarded by the lock. */
    private static final class Own {
        final Entry entry;
        final long sequence;
        final int frames;
        final CompletableFuture<Void> result = new CompletableFuture<>();
        String leader;
        int sent;
        int answered;
        boolean over;

        Own(Entry entry, long sequence, int frames) {
            this.entry = entry;
            this.sequence = sequence;
            this.frames = frames;
        }
    }

    private record Forwarded(byte[] frame, CompletableFuture<Answer> answer) {}

    /** @param broken is told when the thread has ended because of something unexpected, such as memory that ran out */
    Submitter(TransportSettings settings, Route route, Consumer<Throwable> broken) {
        this.settings = settings;
        this.route = route;
        this.broken = broken;
        name = settings.self().getBytes(StandardCharsets.UTF_8);
        windowBytesMax = 8L * settings.fragmentBytes();
        thread = new Thread(this::run, "quorate-submit");
        thread.setDaemon(true);
    }

    /** To be called once, when whatever the route leads to is there. */
    void start() {
        thread.start();
    }

    /** Like {@link io.quorate.core.TotalOrder#submit}. */
    CompletableFuture<Void> submit(Entry entry) {
        QuorateException refused = refusal(entry.size());
        if (refused != null) {
            failedEntries.increment();
            return CompletableFuture.failedFuture(refused);
        }
        int frames = Math.max(1, (entry.size() + settings.fragmentBytes() - 1) / settings.fragmentBytes());
        Own added;
        lock.lock();
        try {
            if (closed) {
                return CompletableFuture.failedFuture(closedFailure());
            }
            if (ownBytes > 0 && ownBytes + entry.size() > settings.inFlightBytesMax()) {
                failedEntries.increment();
                return CompletableFuture.failedFuture(
                        new QuorateException(ErrorCode.ORDER_BUSY, ownBytes + " bytes are on their way already"));
            }
            ownBytes += entry.size();
            added = new Own(entry, sequence++, frames);
            own.add(added);
            submittedEntries.increment();
            submittedBytes.add(entry.size());
        } finally {
            lock.unlock();
        }
        sendOrWake();
        return added.result;
    }

    /** A frame a peer hands to this node as the leader. */
    CompletableFuture<Answer> forward(byte[] frame) {
        Forwarded added;
        lock.lock();
        try {
            if (closed) {
                return CompletableFuture.completedFuture(Answer.failed("closing"));
            }
            if (forwardedBytes > 0 && forwardedBytes + frame.length > settings.inFlightBytesMax()) {
                return CompletableFuture.completedFuture(
                        Answer.failed("busy: " + forwardedBytes + " bytes are waiting"));
            }
            forwardedBytes += frame.length;
            added = new Forwarded(frame, new CompletableFuture<>());
            forwarded.add(added);
            forwardedEntries.increment();
        } finally {
            lock.unlock();
        }
        sendOrWake();
        return added.answer;
    }

    long inFlightBytes() {
        lock.lock();
        try {
            return ownBytes;
        } finally {
            lock.unlock();
        }
    }

    long submittedEntries() {
        return submittedEntries.sum();
    }

    long submittedBytes() {
        return submittedBytes.sum();
    }

    long failedEntries() {
        return failedEntries.sum();
    }

    long forwardedEntries() {
        return forwardedEntries.sum();
    }

    @Override
    public void close() {
        ArrayDeque<Own> left;
        lock.lock();
        try {
            closed = true;
            left = new ArrayDeque<>(own);
            own.clear();
            forwarded.forEach(f -> f.answer.complete(Answer.failed("closing")));
            forwarded.clear();
            work.signal();
        } finally {
            lock.unlock();
        }
        left.forEach(entry -> entry.result.completeExceptionally(closedFailure()));
        if (Thread.currentThread() != thread) {
            try {
                thread.join(5_000);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private QuorateException refusal(int bytes) {
        if (bytes > settings.entryBytesMax()) {
            return new QuorateException(
                    ErrorCode.TRANSACTION_TOO_LARGE,
                    "an entry of " + bytes + " bytes; the order takes up to " + settings.entryBytesMax());
        }
        if (route.leader() == null) {
            return new QuorateException(ErrorCode.NO_QUORUM, "no leader is known to " + settings.self());
        }
        return null;
    }

    private void run() {
        try {
            while (awaitReady()) {
                sendNext();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (RuntimeException | Error e) {
            brokenBy(e);
        }
    }

    /** Sends what has just come if it is all there is; otherwise the thread will. */
    private void sendOrWake() {
        try {
            if (isAlone() && turn.tryLock()) {
                try {
                    sendNext();
                } finally {
                    turn.unlock();
                }
            }
        } catch (RuntimeException | Error e) {
            brokenBy(e);
        }
        lock.lock();
        try {
            if (isReady()) {
                work.signal();
            }
        } finally {
            lock.unlock();
        }
    }

    /** Whether a single frame is all that is on its way. */
    private boolean isAlone() {
        lock.lock();
        try {
            return own.size() + forwarded.size() == 1
                    && ownBytes + forwardedBytes
                            == (own.isEmpty()
                                    ? forwarded.peek().frame.length
                                    : own.peek().entry.size())
                    && (own.isEmpty() || own.peek().frames == 1);
        } finally {
            lock.unlock();
        }
    }

    private void brokenBy(Throwable cause) {
        close(); // Who waits for an answer would wait for ever.
        broken.accept(cause);
    }

    /** False when closed. */
    private boolean awaitReady() throws InterruptedException {
        lock.lock();
        try {
            while (!closed && !isReady()) {
                work.await();
            }
            return !closed;
        } finally {
            lock.unlock();
        }
    }

    /** Own frames wait while too many are unanswered. Guarded by the lock. */
    private boolean isReady() {
        return !forwarded.isEmpty() || isOwnReady();
    }

    private boolean isOwnReady() {
        return !own.isEmpty() && windowBytes < windowBytesMax;
    }

    private void sendNext() {
        turn.lock();
        try {
            Runnable next = next();
            if (next != null) {
                next.run();
            }
        } finally {
            turn.unlock();
        }
    }

    /** What to send; null for nothing. Own frames and forwarded ones take turns. */
    private Runnable next() {
        lock.lock();
        try {
            if (closed || !isReady()) {
                return null;
            }
            boolean ownNext = isOwnReady() && (ownTurn || forwarded.isEmpty());
            ownTurn = !ownNext;
            if (ownNext) {
                return ownFrame();
            }
            Forwarded next = forwarded.remove();
            return () -> append(next);
        } finally {
            lock.unlock();
        }
    }

    private void append(Forwarded next) {
        var unused = route.send(settings.self(), next.frame).thenAccept(answer -> {
            lock.lock();
            try {
                forwardedBytes -= next.frame.length;
            } finally {
                lock.unlock();
            }
            next.answer.complete(answer);
        });
    }

    private Runnable ownFrame() {
        Own head = own.peek();
        String leader = route.leader();
        if (head.sent == 0) {
            head.leader = leader;
        }
        if (leader == null || !leader.equals(head.leader)) {
            own.remove();
            return () -> answered(head, 0, Answer.notLeader(leader));
        }
        int index = head.sent++;
        int from = index * settings.fragmentBytes();
        int length = Math.min(settings.fragmentBytes(), head.entry.size() - from);
        windowBytes += length;
        if (head.sent == head.frames) {
            own.remove();
        }
        return () -> {
            try {
                byte[] frame =
                        EntryFrame.encode(name, stream, head.sequence, index, head.frames, head.entry, from, length);
                var unused = route.send(leader, frame).thenAccept(answer -> answered(head, length, answer));
            } catch (RuntimeException | Error e) {
                answered(head, length, Answer.failed(e.toString()));
                throw e;
            }
        };
    }

    private void answered(Own entry, int length, Answer answer) {
        boolean accepted = answer.status() == Answer.Status.ACCEPTED;
        boolean ended;
        lock.lock();
        try {
            windowBytes -= length;
            entry.answered++;
            ended = !entry.over && (!accepted || entry.answered == entry.frames);
            if (ended) {
                entry.over = true;
                ownBytes -= entry.entry.size();
                if (entry.sent < entry.frames) {
                    own.remove(entry);
                }
            }
            if (isOwnReady()) {
                work.signal();
            }
        } finally {
            lock.unlock();
        }
        if (ended && accepted) {
            entry.result.complete(null);
        } else if (ended) {
            failedEntries.increment();
            entry.result.completeExceptionally(answer.failure());
        }
    }

    private static QuorateException closedFailure() {
        return new QuorateException(ErrorCode.ORDER_INTERRUPTED, "this node is closing");
    }
}
