// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.server;

import io.quorate.core.QuorateException;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/** What other threads tell the link to the server. The link's thread waits here for something to do. */
public final class LinkSignals {
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private boolean writable;
    /** Whether clients have been allowed to write at any time since this service started. */
    private boolean everWritable;
    /** Whether the applier needs clients to be kept from writing for a moment. */
    private boolean held;
    /** Whether clients are to be kept from writing until a definition has been run. */
    private boolean fenced;

    private boolean stopped;
    private boolean suspended;
    private boolean handOver;
    private boolean closed;
    private String lost;
    private QuorateException refused;

    /** What the link is to do now. */
    public enum Task {
        /** Have a session; the server is read-only for clients. */
        READ_ONLY,
        /** Have a session; clients may write. */
        WRITABLE,
        /** The present session is lost: end it and try a new one. */
        RECONNECT,
        /** The server is read-only for clients, and only what they have committed is captured; nothing is applied. */
        HAND_OVER,
        /** The node receives a transfer: have no session until that is over. */
        SUSPENDED,
        /** The node is INCONSISTENT: have no session any more. */
        STOPPED,
        /** The service ends, and so does the link's thread. */
        CLOSED;

        public boolean serves() {
            return this == READ_ONLY || this == WRITABLE || this == HAND_OVER;
        }
    }

    public Task task() {
        lock.lock();
        try {
            if (closed) {
                return Task.CLOSED;
            }
            if (stopped) {
                return Task.STOPPED;
            }
            if (suspended) {
                return Task.SUSPENDED;
            }
            if (lost != null) {
                return Task.RECONNECT;
            }
            if (handOver) {
                return Task.HAND_OVER;
            }
            return writable && !held && !fenced ? Task.WRITABLE : Task.READ_ONLY;
        } finally {
            lock.unlock();
        }
    }

    /** Waits until the task is another one than {@code known}, for at most {@code millis}, and returns the task. */
    public Task await(Task known, long millis) throws InterruptedException {
        lock.lockInterruptibly();
        try {
            long left = millis * 1_000_000;
            while (left > 0 && task() == known) {
                left = changed.awaitNanos(left);
            }
            return task();
        } finally {
            lock.unlock();
        }
    }

    public void writable(boolean value) {
        set(() -> {
            writable = value;
            everWritable |= value;
        });
    }

    /**
     * Whether a server that is open for clients may stay so: this service hasn't opened it itself yet, and nothing
     * requires it to be closed.
     */
    boolean mayStayOpen() {
        lock.lock();
        try {
            return !everWritable && !held && !fenced && !suspended && !stopped;
        } finally {
            lock.unlock();
        }
    }

    void held(boolean value) {
        set(() -> held = value);
    }

    void fenced(boolean value) {
        set(() -> fenced = value);
    }

    void stop() {
        set(() -> stopped = true);
    }

    public void suspend() {
        set(() -> suspended = true);
    }

    public void resume() {
        set(() -> {
            handOver = false;
            suspended = false;
        });
    }

    /** Goes on with nothing but {@link Task#HAND_OVER}. */
    public void handOver() {
        set(() -> {
            handOver = true;
            suspended = false;
        });
    }

    void close() {
        set(() -> closed = true);
    }

    /** The server is lost, for this reason. */
    void lost(String why) {
        set(() -> lost = why);
    }

    /** The server refuses what the session does, so the session is lost; it is worth trying again. */
    void refused(QuorateException why) {
        set(() -> {
            lost = why.getMessage();
            refused = why;
        });
    }

    /** A new session begins. */
    void begin() {
        set(() -> {
            lost = null;
            refused = null;
            held = false;
        });
    }

    /** Why the last session was lost; null when it wasn't. */
    String lostBecause() {
        lock.lock();
        try {
            return lost;
        } finally {
            lock.unlock();
        }
    }

    /** What the server has refused to the last session; null when it was lost for another reason, or wasn't. */
    QuorateException refusal() {
        lock.lock();
        try {
            return refused;
        } finally {
            lock.unlock();
        }
    }

    private void set(Runnable change) {
        lock.lock();
        try {
            change.run();
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }
}
