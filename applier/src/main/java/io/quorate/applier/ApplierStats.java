// SPDX-License-Identifier: Apache-2.0
package io.quorate.applier;

/**
 * Counters since the applier was created, and current gauges.
 *
 * @param appliedSeqno everything up to it is in the database
 * @param savedSeqno the position table says that everything up to it is in the database
 * @param transactions foreign writesets applied
 * @param groups database transactions they took
 * @param skipped own and failed writesets passed over
 * @param statements BINLOG statements sent
 * @param bytes payload of what was applied
 * @param ddl statements other than row changes
 * @param retries groups rolled back and executed again, for whatever reason
 * @param lockWaits lock wait timeouts and deadlocks met
 * @param yields groups rolled back because they held locks an earlier group needed
 * @param blockersKilled client sessions ended because they kept a group from its locks
 * @param readOnlyWaits times the server refused because it is read-only
 * @param captureWaits groups rolled back because the capture was too far behind to tell what they collide with
 * @param undone own transactions undone because they lost
 * @param settled own transactions that were prepared first and committed at their place
 * @param preparedRolledBack those that were rolled back because they held locks that an earlier writeset needed
 * @param executing groups taken by a worker and not yet committed
 * @param queuedTransactions writesets read from the log and not yet taken by a worker
 * @param busyNanos time all workers together spent on groups, not counting the wait for their turn
 * @param originCommittedMicros when the writeset at {@code appliedSeqno} was committed at its origin
 */
public record ApplierStats(
        long appliedSeqno,
        long savedSeqno,
        long transactions,
        long groups,
        long skipped,
        long statements,
        long bytes,
        long ddl,
        long retries,
        long lockWaits,
        long yields,
        long blockersKilled,
        long readOnlyWaits,
        long captureWaits,
        long undone,
        long settled,
        long preparedRolledBack,
        int executing,
        int queuedTransactions,
        long busyNanos,
        long originCommittedMicros) {}
