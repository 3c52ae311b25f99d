// SPDX-License-Identifier: Apache-2.0
package io.quorate.transport;

import io.netty.channel.Channel;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.WriteBufferWaterMark;
import io.quorate.core.ErrorCode;
import io.quorate.core.PeerStreams;
import io.quorate.core.QuorateException;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.io.OutputStream;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The answer to one FETCH, written by a thread of its own, which waits when the peer doesn't read fast enough. */
@SuppressWarnings("FutureReturnValueIgnored") // Netty reports failures through the pipeline
final class PeerOutput extends OutputStream {
    private static final Logger LOG = LoggerFactory.getLogger(PeerOutput.class);
    private static final int DATA_BYTES = 128 << 10;
    private static final WriteBufferWaterMark WATER_MARK = new WriteBufferWaterMark(512 << 10, 1 << 20);
    /** A peer that reads nothing for this long only occupies files and a thread. */
    private static final long PATIENCE_NANOS = TimeUnit.MINUTES.toNanos(2);

    private final Channel channel;
    private final byte[] buffer = new byte[DATA_BYTES];
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private int filled;

    PeerOutput(Channel channel) {
        this.channel = channel;
        channel.config().setWriteBufferWaterMark(WATER_MARK);
    }

    /** Answers on a thread of its own, and closes the connection after it. */
    void serve(PeerStreams.Server server, String peer, byte[] request) {
        Thread thread = new Thread(() -> run(server, peer, request), "quorate-serve-" + peer);
        thread.setDaemon(true);
        thread.start();
    }

    private void run(PeerStreams.Server server, String peer, byte[] request) {
        try {
            server.serve(peer, request, this);
            send();
            channel.writeAndFlush(Wire.bytes(channel.alloc(), Wire.END, buffer, 0, 0))
                    .addListener(ChannelFutureListener.CLOSE);
        } catch (QuorateException e) {
            refuse(e);
        } catch (IOException e) {
            LOG.debug("Serving {}: {}", peer, e.toString());
            refuse(new QuorateException(ErrorCode.DISK, e.toString(), e));
        } catch (RuntimeException | Error e) {
            LOG.warn("Serving {} failed", peer, e);
            refuse(new QuorateException(ErrorCode.MALFORMED_MESSAGE, e.toString(), e));
        }
    }

    private void refuse(QuorateException e) {
        boolean told = false;
        try {
            channel.writeAndFlush(Wire.refused(channel.alloc(), e.code(), e.detail()))
                    .addListener(ChannelFutureListener.CLOSE);
            told = true;
        } finally {
            if (!told) {
                channel.close(); // The peer would wait for the rest.
            }
        }
    }

    /** The channel has become writable again, or is closed. */
    void changed() {
        lock.lock();
        try {
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void write(int b) throws IOException {
        if (filled == DATA_BYTES) {
            send();
        }
        buffer[filled++] = (byte) b;
    }

    @Override
    public void write(byte[] bytes, int from, int length) throws IOException {
        int done = 0;
        while (done < length) {
            if (filled == DATA_BYTES) {
                send();
            }
            int taken = Math.min(length - done, DATA_BYTES - filled);
            System.arraycopy(bytes, from + done, buffer, filled, taken);
            filled += taken;
            done += taken;
        }
    }

    @Override
    public void flush() throws IOException {
        send();
    }

    private void send() throws IOException {
        if (filled == 0) {
            return;
        }
        awaitWritable();
        channel.writeAndFlush(Wire.bytes(channel.alloc(), Wire.DATA, buffer, 0, filled), channel.voidPromise());
        filled = 0;
    }

    private void awaitWritable() throws IOException {
        long left = PATIENCE_NANOS;
        lock.lock();
        try {
            while (channel.isActive() && !channel.isWritable()) {
                if (left <= 0) {
                    throw new IOException("the peer does not read");
                }
                left = changed.awaitNanos(left);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw (InterruptedIOException) new InterruptedIOException("interrupted").initCause(e);
        } finally {
            lock.unlock();
        }
        if (!channel.isActive()) {
            throw new IOException("the peer is gone");
        }
    }
}
