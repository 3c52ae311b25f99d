// SPDX-License-Identifier: Apache-2.0
package io.quorate.applier;

import io.quorate.core.GtidSet;

/**
 * What a node records about one run of its mysqld, until the next start. As long as the record is of an earlier run
 * than the present one, it has not been found out what the server lost at its end.
 *
 * @param started when mysqld was started, 0 when no run was ever examined
 * @param durable whether it forced its logs then
 * @param reserved GTIDs that the server was told never to give out, because transactions with these numbers are or may
 *     be in the order, and the server lost them
 * @param reserving further ones that it was to be told next
 * @param takenBack own transactions that were not in its database when that run was examined
 */
public record ServerLife(long started, boolean durable, GtidSet reserved, GtidSet reserving, TakenBack takenBack) {
    /** No run of the server was ever examined. */
    public static final ServerLife NONE = new ServerLife(0, true, new GtidSet(), new GtidSet(), TakenBack.NONE);

    public boolean isNone() {
        return started == 0;
    }

    /**
     * The GTIDs that the server was told never to give out, and won't.
     *
     * @param purged what the server has executed and its binlog doesn't have
     */
    public GtidSet reservedOf(GtidSet purged) {
        GtidSet all = new GtidSet().addAll(reserved);
        if (reserving.minus(purged).isEmpty()) {
            all.addAll(reserving);
        }
        return all.and(purged);
    }

    /** The same record with the numbers that have been chosen to be reserved next, before the server is told. */
    ServerLife reserving(GtidSet before, GtidSet next) {
        return new ServerLife(started, durable, before, next, takenBack);
    }
}
