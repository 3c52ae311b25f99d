// SPDX-License-Identifier: Apache-2.0
package io.quorate.ist;

import com.github.luben.zstd.ZstdOutputStreamNoFinalizer;
import io.quorate.core.Certified;
import io.quorate.core.ErrorCode;
import io.quorate.core.Payload;
import io.quorate.core.PeerStreams;
import io.quorate.core.QuorateException;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Gives incremental transfers from this node's cache, and the newest checkpoint to a joiner that lacks one. It only
 * reads what may be read at any time, so the node goes on serving; what a transfer still needs stays in the cache.
 */
public final class Donor implements PeerStreams.Server {
    /** The lowest level: certified writesets shrink to a third or less, at several hundred MB a second. */
    private static final int ZSTD_LEVEL = 1;
    /** Together they take what a donor can spare; a joiner that is refused asks another donor, or asks again. */
    private static final int TRANSFERS_MAX = 16;

    private final WriteSetCache cache;
    private final CheckpointStore checkpoints;
    private final UUID incarnation;
    private final ConcurrentMap<Long, Given> running = new ConcurrentHashMap<>();
    private final AtomicLong ids = new AtomicLong();
    private final AtomicLong bytes = new AtomicLong();

    /**
     * A transfer in progress.
     *
     * @param from first seqno asked for
     * @param to last seqno asked for
     * @param next the seqno that is sent next
     */
    public record Given(String joiner, long from, long to, long next) {}

    public Donor(WriteSetCache cache, CheckpointStore checkpoints, UUID incarnation) {
        this.cache = cache;
        this.checkpoints = checkpoints;
        this.incarnation = incarnation;
    }

    /** Whether bytes with this beginning ask for something that a donor has. */
    public static boolean understands(byte[] request) {
        return TransferRequest.isOne(request);
    }

    @Override
    public void serve(String joiner, byte[] encoded, OutputStream answer) throws IOException {
        TransferRequest request = TransferRequest.decode(encoded);
        if (!request.incarnation().equals(incarnation)) {
            throw new QuorateException(
                    ErrorCode.FOREIGN_CLUSTER,
                    "the cluster's life is " + incarnation + " here, " + request.incarnation() + " at " + joiner);
        }
        long id = ids.incrementAndGet();
        running.put(id, new Given(joiner, request.from(), request.to(), request.from()));
        try {
            if (running.size() > TRANSFERS_MAX) {
                throw new QuorateException(ErrorCode.ORDER_BUSY, TRANSFERS_MAX + " transfers are under way already");
            }
            try (ZstdOutputStreamNoFinalizer out = new ZstdOutputStreamNoFinalizer(new Counting(answer), ZSTD_LEVEL)) {
                if (request.kind() == TransferRequest.Kind.RECORDS) {
                    records(id, request, out);
                } else {
                    checkpoint(out);
                }
            }
        } finally {
            running.remove(id);
        }
    }

    private void records(long id, TransferRequest request, OutputStream out) throws IOException {
        if (request.to() > cache.last()) {
            throw cache.notHeld(request.to(), null);
        }
        ByteBuffer buffer = buffer(64 << 10);
        try (CacheCursor cursor = cache.read(request.from())) {
            for (long seqno = request.from(); seqno <= request.to(); seqno++) {
                Certified record = cursor.next(Duration.ZERO);
                Payload payload = record.writeSet().payload();
                int size = RecordCodec.headBytes(record) + payload.heapBytes();
                if (size > buffer.remaining()) {
                    running.put(id, new Given(running.get(id).joiner(), request.from(), request.to(), seqno));
                    drain(buffer, out);
                    buffer = size > buffer.capacity() ? buffer(size) : buffer;
                }
                RecordCodec.encodeHead(record, buffer);
                if (payload.heapBytes() == 0) {
                    drain(buffer, out);
                    copy(payload.buffer(), out);
                } else {
                    buffer.put(payload.buffer());
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw (InterruptedIOException) new InterruptedIOException("interrupted").initCause(e);
        }
        drain(buffer, out);
    }

    private static ByteBuffer buffer(int bytes) {
        return ByteBuffer.allocate(bytes).order(ByteOrder.LITTLE_ENDIAN);
    }

    private static void drain(ByteBuffer buffer, OutputStream out) throws IOException {
        out.write(buffer.array(), buffer.arrayOffset(), buffer.position());
        buffer.clear();
    }

    private static void copy(ByteBuffer file, OutputStream out) throws IOException {
        byte[] part = new byte[64 << 10];
        while (file.hasRemaining()) {
            int now = Math.min(part.length, file.remaining());
            file.get(part, 0, now);
            out.write(part, 0, now);
        }
    }

    private void checkpoint(OutputStream out) throws IOException {
        CheckpointStore.Checkpoint newest = checkpoints
                .newest()
                .orElseThrow(
                        () -> new QuorateException(ErrorCode.CACHE_PASSED, "this node has made no checkpoint yet"));
        DataOutputStream data = new DataOutputStream(out);
        try (DataInputStream in = newest.open()) {
            data.writeLong(newest.position().term());
            data.writeLong(newest.position().index());
            data.writeLong(newest.seqno());
            byte[] part = new byte[64 << 10];
            for (long left = newest.contentBytes(); left > 0; ) {
                int read = in.read(part, 0, (int) Math.min(left, part.length));
                if (read < 0) {
                    throw new IOException("checkpoint " + newest.file() + " is cut short");
                }
                data.write(part, 0, read);
                left -= read;
            }
        }
        data.flush();
    }

    /** What is being given now. */
    public Collection<Given> running() {
        return List.copyOf(running.values());
    }

    /** The lowest seqno a transfer still needs here, {@link Long#MAX_VALUE} without one. */
    public long oldestNeeded() {
        return running.values().stream()
                .filter(given -> given.next() > 0)
                .mapToLong(Given::next)
                .min()
                .orElse(Long.MAX_VALUE);
    }

    /** Bytes sent so far, compressed. */
    public long bytes() {
        return bytes.get();
    }

    private final class Counting extends FilterOutputStream {
        Counting(OutputStream out) {
            super(out);
        }

        @Override
        public void write(byte[] part, int from, int length) throws IOException {
            out.write(part, from, length);
            bytes.addAndGet(length);
        }

        /** Leaves the answer's end to the answer's owner. */
        @Override
        public void close() throws IOException {
            flush();
        }
    }
}
