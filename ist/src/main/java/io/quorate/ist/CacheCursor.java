// SPDX-License-Identifier: Apache-2.0
package io.quorate.ist;

import io.quorate.core.Certified;
import io.quorate.core.ErrorCode;
import io.quorate.core.QuorateException;
import io.quorate.core.WriteSetLog;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.file.NoSuchFileException;
import java.time.Duration;

/** A reader's place in the {@link WriteSetCache}. Holds one file open, and a buffer of 128 KB to 1 MB. */
public final class CacheCursor implements WriteSetLog.Cursor {
    private final WriteSetCache cache;
    private final Tail tail;
    private final int life;
    private Segment segment;
    private SegmentReader reader;
    private long seqno;

    CacheCursor(WriteSetCache cache, Tail tail, long seqno) throws IOException {
        this.cache = cache;
        this.tail = tail;
        this.life = tail.lives();
        this.seqno = seqno;
        enter(cache.segmentOf(seqno));
        cache.cursorsChanged(1);
    }

    /** The seqno that {@link #next} will return next. */
    public long nextSeqno() {
        return seqno;
    }

    /**
     * {@inheritDoc} When the thread is interrupted, the cursor can't be used any more.
     *
     * @throws QuorateException {@link ErrorCode#CACHE_CORRUPT} when a record fails its checksum, {@link
     *     ErrorCode#CACHE_PASSED} when the cursor has stayed so far behind that the record was deleted
     */
    @Override
    public Certified next(Duration timeout) throws IOException, InterruptedException {
        if (!tail.await(seqno, life, timeout.toNanos())) {
            return null;
        }
        try {
            return nextHeld();
        } catch (ClosedByInterruptException e) {
            Thread.interrupted();
            throw (InterruptedException) new InterruptedException("while reading the writeset cache").initCause(e);
        }
    }

    /** The next record, which must be held. */
    Certified nextHeld() throws IOException {
        while (true) {
            // Read before the record is examined, so that a segment sealed meanwhile is not left too early.
            boolean sealed = segment.sealed();
            long end = segment.end();
            SegmentReader.Found found = reader.look(end);
            if (found == SegmentReader.Found.END && sealed) {
                enter(cache.segmentOf(seqno));
                continue;
            }
            if (found != SegmentReader.Found.RECORD) {
                tail.requireSame(life);
                throw corrupt("the record at byte " + reader.offset() + ", seqno " + seqno + ", is damaged", null);
            }
            long at = RecordCodec.seqno(reader.body());
            segment.index(at, reader.offset());
            if (at > seqno) {
                throw corrupt("seqno " + at + " stands at byte " + reader.offset() + " instead of " + seqno, null);
            }
            Certified record = at == seqno ? decode() : null;
            reader.advance();
            if (record != null) {
                seqno++;
                return record;
            }
        }
    }

    private Certified decode() {
        try {
            return RecordCodec.decode(reader.body());
        } catch (IllegalArgumentException | QuorateException e) {
            throw corrupt("the record at byte " + reader.offset() + " is not understood", e);
        }
    }

    private void enter(Segment next) throws IOException {
        if (next == segment) {
            throw corrupt("it ends before seqno " + seqno, null);
        }
        if (reader != null) {
            reader.close();
        }
        try {
            reader = new SegmentReader(next.file(), next.offsetBefore(seqno));
            segment = next;
        } catch (NoSuchFileException e) {
            throw cache.notHeld(seqno, e);
        }
    }

    private QuorateException corrupt(String what, Exception cause) {
        return new QuorateException(ErrorCode.CACHE_CORRUPT, "segment " + reader.file() + ": " + what, cause);
    }

    @Override
    public void close() {
        if (reader != null) {
            try {
                reader.close();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
            reader = null;
            cache.cursorsChanged(-1);
        }
    }
}
