// SPDX-License-Identifier: Apache-2.0
package io.quorate.applier;

import io.quorate.core.ColumnMask;
import java.time.Duration;

/**
 * How the applier works.
 *
 * @param workers connections that execute in parallel, 1 to 64
 * @param groupTransactionsMax the most writesets that share one database transaction; beyond 256 little is gained
 * @param groupBytesMax the largest payload of one group and of one statement. A larger writeset is a group of its own,
 *     sent in several statements
 * @param groupInterval a group starts no sooner than this after the one before it, unless it is full: at high rates
 *     this makes groups of what would be single transactions, at low rates nothing waits
 * @param lockWait {@code innodb_lock_wait_timeout} of the workers, whole seconds
 * @param blockerGrace how long a session that is no worker may keep the next group in order waiting for its locks
 *     before it is killed, because what is certified has to commit. Zero or less: never killed
 * @param retriesMax how often a group is tried again after lock waits and deadlocks before the applier gives up
 * @param positionInterval how often the position row is written when there are no foreign writesets to apply
 * @param closeWait how long {@link Applier#close} lets running groups finish
 * @param mask columns whose values are left out of messages
 */
public record ApplierSettings(
        int workers,
        int groupTransactionsMax,
        int groupBytesMax,
        Duration groupInterval,
        Duration lockWait,
        Duration blockerGrace,
        int retriesMax,
        Duration positionInterval,
        Duration closeWait,
        ColumnMask mask) {
    public static final ApplierSettings DEFAULTS = new ApplierSettings(
            2,
            256,
            1 << 20,
            Duration.ofMillis(20),
            Duration.ofSeconds(3),
            Duration.ofSeconds(1),
            100,
            Duration.ofSeconds(1),
            Duration.ofSeconds(5),
            ColumnMask.NONE);

    public ApplierSettings {
        require(workers >= 1 && workers <= 64, "workers", workers);
        require(groupTransactionsMax >= 1, "groupTransactionsMax", groupTransactionsMax);
        require(groupBytesMax >= 4096, "groupBytesMax", groupBytesMax);
        require(lockWait.toSeconds() >= 1, "lockWait", lockWait);
        require(retriesMax >= 1, "retriesMax", retriesMax);
    }

    private static void require(boolean holds, String name, Object value) {
        if (!holds) {
            throw new IllegalArgumentException(name + " can't be " + value);
        }
    }

    public ApplierSettings withWorkers(int value) {
        return new ApplierSettings(
                value,
                groupTransactionsMax,
                groupBytesMax,
                groupInterval,
                lockWait,
                blockerGrace,
                retriesMax,
                positionInterval,
                closeWait,
                mask);
    }

    public ApplierSettings withGroups(int transactionsMax, int bytesMax, Duration interval) {
        return new ApplierSettings(
                workers,
                transactionsMax,
                bytesMax,
                interval,
                lockWait,
                blockerGrace,
                retriesMax,
                positionInterval,
                closeWait,
                mask);
    }

    public ApplierSettings withLocks(Duration wait, Duration grace, int retries) {
        return new ApplierSettings(
                workers,
                groupTransactionsMax,
                groupBytesMax,
                groupInterval,
                wait,
                grace,
                retries,
                positionInterval,
                closeWait,
                mask);
    }

    public ApplierSettings withMask(ColumnMask value) {
        return new ApplierSettings(
                workers,
                groupTransactionsMax,
                groupBytesMax,
                groupInterval,
                lockWait,
                blockerGrace,
                retriesMax,
                positionInterval,
                closeWait,
                value);
    }
}
