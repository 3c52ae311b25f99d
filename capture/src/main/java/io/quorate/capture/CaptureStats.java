// SPDX-License-Identifier: Apache-2.0
package io.quorate.capture;

/**
 * What capture has done since it was created.
 *
 * @param connected whether the binlog is being read now
 * @param events binlog events read, heartbeats included
 * @param transactions transactions completed, of whatever kind
 * @param writeSets those that became writesets
 * @param applied those recognised as the applier's own
 * @param bytes bytes of binlog read
 * @param lastEventMillis when the last event came, by this machine's clock, 0 when none did
 * @param lastCommittedMicros when the server committed the last transaction covered, by its clock, 0 when none was
 * @param restarts how often a new connection had to be made
 * @param schemaLoads how often a table's keys were read from the server's information_schema
 * @param coarse row events represented by the key of their whole table, because their own keys were unknown
 * @param lastError what ended the last connection, null when none was lost
 */
public record CaptureStats(
        boolean connected,
        long events,
        long transactions,
        long writeSets,
        long applied,
        long bytes,
        long lastEventMillis,
        long lastCommittedMicros,
        long restarts,
        long schemaLoads,
        long coarse,
        String lastError) {}
