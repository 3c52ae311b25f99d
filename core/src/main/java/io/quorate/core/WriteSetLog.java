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

    /** Reads from {@code seqno} on, which may be one above {@link #last}. Fails when it is no longer held. */
    Cursor read(long seqno) throws IOException;

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
