// SPDX-License-Identifier: Apache-2.0
package io.quorate.ist;

import io.quorate.core.Certified;
import io.quorate.core.ErrorCode;
import io.quorate.core.QuorateException;
import io.quorate.core.Spool;
import io.quorate.core.WriteSetLog;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Set;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;

/**
 * The certified writesets of a node on its own disk: a directory of segment files, each with consecutive seqnos,
 * appended to at the end and deleted from the beginning.
 *
 * <p><b>Durability.</b> What is appended is readable at once, and durable after {@link #force}. After a crash {@link
 * #open} keeps everything up to the seqno that its owner knows to be durable, and of the rest what is whole ({@link
 * Recovery}). The order's log then delivers again what followed the owner's checkpoint; {@link #append} compares that
 * with what is still held, and adds what is not.
 *
 * <p><b>Retention.</b> The oldest segments are deleted when all together exceed {@code bytesMax} or they are older than
 * {@code ageMax}, except those that {@link #retain} asks to keep; until that was called, none is deleted.
 *
 * <p><b>Threads.</b> One thread appends. {@link #force}, {@link #retain}, {@link #read} and the getters may be called
 * from any; each cursor belongs to one thread.
 */
public final class WriteSetCache implements WriteSetLog {
    private static final int BUFFER_BYTES = 1 << 20;

    private final CacheSettings settings;
    private final FileChannel lockFile;
    private final NavigableMap<Long, Segment> segments;
    private final Tail tail = new Tail();
    private final ByteBuffer buffer = ByteBuffer.allocateDirect(BUFFER_BYTES).order(ByteOrder.LITTLE_ENDIAN);
    /** Guarded by its own monitor, which is never held during I/O. */
    private final Set<Segment> unforced = new LinkedHashSet<>();
    /** Held while forcing, so that appending need not wait for it. */
    private final Object forcing = new Object();

    private final Forgotten forgotten;
    private final Spool spool;
    private final AtomicInteger cursors = new AtomicInteger();

    private Segment active;
    private CacheCursor redelivered;
    private volatile boolean unforcedNames;
    private long retained;
    private volatile boolean closed;
    private volatile long first;
    private final AtomicLong bytes = new AtomicLong();
    private final LongAdder appendedRecords = new LongAdder();
    private final LongAdder appendedBytes = new LongAdder();
    private final LongAdder redeliveredRecords = new LongAdder();
    private final LongAdder forces = new LongAdder();

    private WriteSetCache(CacheSettings settings, FileChannel lockFile, Map<Long, Segment> found) throws IOException {
        this.settings = settings;
        this.lockFile = lockFile;
        this.forgotten = new Forgotten(settings.directory());
        this.spool = new SpoolDirectory(settings.directory().resolve("spool"));
        this.segments = new ConcurrentSkipListMap<>(found);
        if (segments.isEmpty()) {
            begin(1);
        } else {
            // Segments that were read back are not known to be durable: the system may not have written them when the
            // node was stopped.
            unforced.addAll(segments.values());
            unforcedNames = true;
            active = segments.lastEntry().getValue();
            if (active.sealed()) {
                begin(active.lastSeqno() + 1);
            }
        }
        first = segments.firstKey();
        tail.reach(active.lastSeqno());
        measure();
    }

    /**
     * Opens a directory, creating it if it doesn't exist.
     *
     * @param durableSeqno up to which seqno the cache is known to have been forced, 0 when nothing is known: anything
     *     wrong up to there is refused, anything broken after it is cut off
     * @throws QuorateException {@link ErrorCode#CACHE_CORRUPT} for damage, {@link ErrorCode#CONFIGURATION} when another
     *     process has the directory open, {@link ErrorCode#DISK} when it can't be read or written
     */
    public static WriteSetCache open(CacheSettings settings, long durableSeqno) {
        Path directory = settings.directory();
        try {
            Files.createDirectories(directory);
            FileChannel lockFile =
                    FileChannel.open(directory.resolve("lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
            try {
                lock(lockFile, directory);
                return new WriteSetCache(settings, lockFile, new Recovery(settings, durableSeqno).run());
            } catch (IOException | RuntimeException e) {
                lockFile.close();
                throw e;
            }
        } catch (IOException e) {
            throw disk("can't open the writeset cache in " + directory, e);
        }
    }

    @Override
    public Spool spool() {
        return spool;
    }

    private static void lock(FileChannel lockFile, Path directory) throws IOException {
        FileLock lock;
        try {
            lock = lockFile.tryLock();
        } catch (OverlappingFileLockException e) {
            lock = null;
        }
        if (lock == null) {
            throw new QuorateException(
                    ErrorCode.CONFIGURATION, "the writeset cache in " + directory + " is in use by another node");
        }
    }

    @Override
    public long first() {
        return first;
    }

    @Override
    public long last() {
        return tail.last();
    }

    /**
     * Appends consecutive seqnos, whole log entries at a time, with one write if they fit its buffer of 1 MB. Writesets
     * that are held already, because the order delivered them again, are compared with what is held and left out.
     *
     * @throws QuorateException {@link ErrorCode#DISK} when it can't be written, for instance because the disk is full:
     *     then nothing of the batch was appended, and the same call may be tried again; {@link
     *     ErrorCode#STATE_DIVERGED} when something else is held under one of the seqnos
     */
    @Override
    public synchronized void append(List<Certified> batch) throws IOException {
        int from = compareWithHeld(batch);
        if (from == batch.size()) {
            return;
        }
        requireOpen();
        long expected = tail.last() + 1;
        long size = 0;
        for (Certified c : batch.subList(from, batch.size())) {
            if (c.seqno() != expected++) {
                throw new IllegalArgumentException("seqno " + c.seqno() + " after " + (expected - 2));
            }
            size += RecordCodec.bytes(c);
        }
        try {
            if (active.sealed()
                    || (!active.isEmpty()
                            && active.end() + size + RecordCodec.TRAILER_BYTES > settings.segmentBytes())) {
                roll();
            }
            write(batch.subList(from, batch.size()));
        } catch (IOException e) {
            buffer.clear();
            throw disk("can't append seqno " + batch.get(from).seqno() + " to " + active.file(), e);
        }
        appendedRecords.add(batch.size() - from);
        appendedBytes.add(size);
        bytes.addAndGet(size);
    }

    /** @return how many records of the batch are held already */
    private int compareWithHeld(List<Certified> batch) throws IOException {
        int held = 0;
        while (held < batch.size() && batch.get(held).seqno() <= tail.last()) {
            Certified c = batch.get(held++);
            if (c.seqno() < first) {
                continue;
            }
            if (redelivered == null || redelivered.nextSeqno() != c.seqno()) {
                stopComparing();
                redelivered = read(c.seqno());
            }
            Certified before = redelivered.nextHeld();
            if (!isSameDecision(before, c)) {
                throw new QuorateException(
                        ErrorCode.STATE_DIVERGED, "the writeset cache holds " + before + ", now the order says " + c);
            }
            redeliveredRecords.increment();
        }
        if (held < batch.size()) {
            stopComparing();
        }
        return held;
    }

    private void stopComparing() {
        if (redelivered != null) {
            redelivered.close();
            redelivered = null;
        }
    }

    /** The position isn't compared: it may name an earlier entry after a restart in the middle of a large one. */
    private static boolean isSameDecision(Certified a, Certified b) {
        return a.seqno() == b.seqno()
                && a.verdict() == b.verdict()
                && a.conflictsWith() == b.conflictsWith()
                && a.dependsOn() == b.dependsOn()
                && a.writeSet().equals(b.writeSet());
    }

    private void write(List<Certified> batch) throws IOException {
        try {
            long flushed = active.end();
            for (Certified c : batch) {
                int size = RecordCodec.bytes(c);
                if (size > buffer.remaining()) {
                    flushed = flush(flushed);
                }
                if (size > buffer.capacity()) {
                    flushed = writeLarge(c, flushed);
                } else {
                    RecordCodec.encode(c, buffer);
                }
            }
            flushed = flush(flushed);
            long last = batch.get(batch.size() - 1).seqno();
            active.index(batch.get(0).seqno(), active.end());
            active.commit(flushed, last);
            tail.reach(last);
        } catch (IOException e) {
            try {
                active.rollBack();
            } catch (IOException again) {
                e.addSuppressed(again);
            }
            throw e;
        }
    }

    private long flush(long at) throws IOException {
        buffer.flip();
        int size = buffer.remaining();
        if (size > 0) {
            active.write(buffer, at);
        }
        buffer.clear();
        return at + size;
    }

    private long writeLarge(Certified c, long at) throws IOException {
        ByteBuffer head = ByteBuffer.allocate(RecordCodec.headBytes(c)).order(ByteOrder.LITTLE_ENDIAN);
        RecordCodec.encodeHead(c, head);
        return writeSliced(c.writeSet().payload().buffer(), writeSliced(head.flip(), at));
    }

    /** The JDK keeps, for each thread, a direct buffer as large as the largest array that it has written at once. */
    private long writeSliced(ByteBuffer bytes, long at) throws IOException {
        long end = at;
        while (bytes.hasRemaining()) {
            int now = Math.min(BUFFER_BYTES, bytes.remaining());
            active.write(bytes.slice(bytes.position(), now), end);
            bytes.position(bytes.position() + now);
            end += now;
        }
        return end;
    }

    private void roll() throws IOException {
        if (!active.sealed()) {
            active.seal();
            bytes.addAndGet(RecordCodec.TRAILER_BYTES);
        }
        begin(active.lastSeqno() + 1);
        deleteOldest();
    }

    private void begin(long firstSeqno) throws IOException {
        Path file = SegmentFiles.path(settings.directory(), firstSeqno);
        Segment segment = Segment.create(file, new SegmentHeader(firstSeqno, settings.incarnation()));
        synchronized (unforced) {
            unforced.add(segment);
        }
        unforcedNames = true;
        segments.put(firstSeqno, segment);
        active = segment;
        bytes.addAndGet(segment.fileBytes());
    }

    /**
     * Makes durable what was appended before the call. To know up to where, ask for {@link #last} before it.
     *
     * @throws QuorateException {@link ErrorCode#DISK} when the disk failed; what was appended since the last force may
     *     be lost
     */
    @Override
    public void force() throws IOException {
        requireOpen();
        synchronized (forcing) {
            try {
                for (Segment segment : toForce()) {
                    boolean sealed = segment.sealed();
                    segment.force();
                    if (sealed) {
                        segment.rest();
                        synchronized (unforced) {
                            unforced.remove(segment);
                        }
                    }
                }
                if (unforcedNames) {
                    unforcedNames = false;
                    Uninterrupted.run(() -> SegmentFiles.forceDirectory(settings.directory()));
                }
                forces.increment();
            } catch (IOException e) {
                throw disk("can't make the writeset cache in " + settings.directory() + " durable", e);
            }
        }
    }

    private List<Segment> toForce() {
        synchronized (unforced) {
            return List.copyOf(unforced);
        }
    }

    /**
     * Says what the cache must keep, whatever its size.
     *
     * @param seqno of the first record that is still needed, by the local applier for instance
     */
    public synchronized void retain(long seqno) {
        retained = seqno;
        try {
            deleteOldest();
        } catch (IOException e) {
            throw disk("can't delete from the writeset cache in " + settings.directory(), e);
        }
    }

    private void deleteOldest() throws IOException {
        while (segments.size() > 2) {
            Segment oldest = segments.firstEntry().getValue();
            boolean goes = bytes.get() > settings.bytesMax() || isTooOld(oldest);
            if (!goes || oldest.lastSeqno() >= retained) {
                return;
            }
            first = oldest.lastSeqno() + 1;
            delete(oldest);
            forgotten.add(oldest.lastSeqno(), Instant.now().truncatedTo(ChronoUnit.SECONDS));
        }
    }

    private boolean isTooOld(Segment segment) throws IOException {
        return !settings.ageMax().isZero()
                && System.currentTimeMillis()
                                - Files.getLastModifiedTime(segment.file()).toMillis()
                        > settings.ageMax().toMillis();
    }

    /** How many bytes the records after {@code seqno} take here. Any thread. */
    public long bytesAfter(long seqno) {
        long sum = 0;
        for (Segment segment : segments.tailMap(seqno, false).values()) {
            sum += segment.fileBytes();
        }
        Map.Entry<Long, Segment> within = segments.floorEntry(seqno);
        if (within != null) {
            Segment segment = within.getValue();
            sum += Math.max(0, segment.end() - segment.offsetBefore(seqno));
        }
        return sum;
    }

    public long bytesMax() {
        return settings.bytesMax();
    }

    private void delete(Segment segment) throws IOException {
        segments.remove(segment.firstSeqno());
        synchronized (unforced) {
            unforced.remove(segment);
        }
        segment.close();
        Files.deleteIfExists(segment.file());
        bytes.addAndGet(-segment.fileBytes());
    }

    /**
     * Empties the cache, to continue at {@code nextSeqno}: for a node that got its data as a full copy. Open cursors
     * fail from now on.
     */
    public synchronized void reset(long nextSeqno) {
        requireOpen();
        stopComparing();
        try {
            tail.reset(nextSeqno - 1);
            for (Segment segment : List.copyOf(segments.values())) {
                delete(segment);
            }
            begin(nextSeqno);
            first = nextSeqno;
            force();
        } catch (IOException e) {
            throw disk("can't empty the writeset cache in " + settings.directory(), e);
        }
    }

    /**
     * Reads from {@code seqno} on, which may be one above {@link #last}.
     *
     * @throws QuorateException {@link ErrorCode#CACHE_PASSED} when it is not held
     */
    @Override
    public CacheCursor read(long seqno) throws IOException {
        requireOpen();
        if (seqno < first || seqno > last() + 1) {
            throw notHeld(seqno, null);
        }
        return new CacheCursor(this, tail, seqno);
    }

    /** The segment that has, or will have, a seqno. */
    Segment segmentOf(long seqno) {
        Map.Entry<Long, Segment> segment = segments.floorEntry(seqno);
        if (segment == null) {
            throw notHeld(seqno, null);
        }
        return segment.getValue();
    }

    QuorateException notHeld(long seqno, IOException cause) {
        Instant until = seqno < first ? forgotten.until(seqno) : null;
        return new QuorateException(
                ErrorCode.CACHE_PASSED,
                "seqno " + seqno + " is not in the writeset cache, which holds " + first + " to " + last()
                        + (until == null ? "" : ", and held it until " + until),
                cause);
    }

    void cursorsChanged(int by) {
        cursors.addAndGet(by);
    }

    private void measure() {
        long sum = 0;
        for (Segment segment : segments.values()) {
            sum += segment.fileBytes();
        }
        bytes.set(sum);
    }

    /** Any thread. */
    public WriteSetCacheStats stats() {
        return new WriteSetCacheStats(
                first,
                last(),
                bytes.get(),
                segments.size(),
                appendedRecords.sum(),
                appendedBytes.sum(),
                redeliveredRecords.sum(),
                forces.sum(),
                cursors.get());
    }

    private void requireOpen() {
        if (closed) {
            throw new IllegalStateException("the writeset cache is closed");
        }
    }

    private static QuorateException disk(String what, IOException cause) {
        return new QuorateException(ErrorCode.DISK, what + ": " + cause, cause);
    }

    /** Makes everything durable. Waiting cursors fail. */
    @Override
    public synchronized void close() throws IOException {
        if (closed) {
            return;
        }
        stopComparing();
        try {
            force();
        } finally {
            closed = true;
            tail.close();
            for (Segment segment : segments.values()) {
                segment.close();
            }
            lockFile.close();
        }
    }
}
