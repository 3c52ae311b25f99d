// SPDX-License-Identifier: Apache-2.0
package io.quorate.core;

import java.io.IOException;
import java.time.Duration;
import java.util.List;

/**
 * The port to the node's own ordered record of everything certified: relay log for the applier, source for IST,
 * evidence. One thread appends; any number of cursors read.
 */
public interface WriteSetLog extends AutoCloseable {
    /** What has been appended comes at once, unless the disk is slow. */
    Duration READ_WAIT = Duration.ofSeconds(5);

    /** Seqno of the first record still held; one above {@link #last} when it is empty. */
    long first();

    /** Seqno of the last record appended, 0 when there has never been one. */
    long last();

    /** Whether no record is held. */
    default boolean isEmpty() {
        return last() < first();
    }

    /** Appends consecutive seqnos, visible to cursors on return, durable after {@link #force} only. */
    void append(List<Certified> batch) throws IOException;

    /** Makes durable what was appended. Any thread. */
    void force() throws IOException;

    /** Where payloads are put that are made of what is here, and too large for the heap. */
    default Spool spool() {
        return Spool.HEAP;
    }

    /** Reads from {@code seqno} on, which may be one above {@link #last}. Fails when it is no longer held. */
    Cursor read(long seqno) throws IOException;

    /**
     * Reads the records from {@code from} up to {@code to}, all of which have been appended.
     *
     * @throws IOException also when one of them isn't there
     */
    default <E extends Exception> void each(long from, long to, Visitor<E> visitor)
            throws E, IOException, InterruptedException {
        find(from, to, record -> {
            visitor.visit(record);
            return false;
        });
    }

    /**
     * The first record from {@code from} up to {@code to} that is wanted; null when none is. All of these have been
     * appended; those after it aren't read.
     *
     * @throws IOException also when one of them isn't there
     */
    default <E extends Exception> Certified find(long from, long to, Search<E> wanted)
            throws E, IOException, InterruptedException {
        if (from > to) {
            return null;
        }
        try (Cursor cursor = read(from)) {
            for (long seqno = from; seqno <= to; seqno++) {
                Certified record = cursor.next(READ_WAIT);
                if (record == null) {
                    throw new IOException("the record does not go on at seqno " + seqno);
                }
                if (wanted.matches(record)) {
                    return record;
                }
            }
        }
        return null;
    }

    /**
     * The record at this seqno, which has been appended.
     *
     * @throws IOException also when it isn't there
     */
    default Certified at(long seqno) throws IOException, InterruptedException {
        return find(seqno, seqno, record -> true);
    }

    /** Is told of one record after the other. */
    interface Visitor<E extends Exception> {
        void visit(Certified record) throws E, IOException, InterruptedException;
    }

    /** Looks for a record. */
    interface Search<E extends Exception> {
        boolean matches(Certified record) throws E, IOException, InterruptedException;
    }

    @Override
    void close() throws IOException;

    /** A reader's place. Holds a bounded buffer, whatever the distance to the end. Not thread-safe. */
    interface Cursor extends AutoCloseable {
        /**
         * The next record, waiting for it to be appended.
         *
         * @return null when none came within {@code timeout}
         * @throws QuorateException {@link ErrorCode#CACHE_CORRUPT} when a record fails its checksum
         */
        Certified next(Duration timeout) throws IOException, InterruptedException;

        @Override
        void close();
    }
}
