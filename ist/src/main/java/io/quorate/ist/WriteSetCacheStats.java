// SPDX-License-Identifier: Apache-2.0
package io.quorate.ist;

/**
 * Gauges and counters of a {@link WriteSetCache}; the counters start with the process.
 *
 * @param first seqno of the first record held
 * @param last seqno of the last record held
 * @param bytes size of all segments
 * @param segments how many there are
 * @param appendedRecords records appended
 * @param appendedBytes their size
 * @param redelivered records given to append that were held already
 * @param forces calls of {@link WriteSetCache#force} that had something to do
 * @param cursors open cursors
 */
public record WriteSetCacheStats(
        long first,
        long last,
        long bytes,
        int segments,
        long appendedRecords,
        long appendedBytes,
        long redelivered,
        long forces,
        int cursors) {}
