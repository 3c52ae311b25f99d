// SPDX-License-Identifier: Apache-2.0
package io.quorate.applier;

import io.quorate.core.GtidSet;

/**
 * What a node keeps of the life of its mysqld, from a start of it to the next. As long as it is of an earlier life than the
 * server is in, what the server lost at its end has not been found out.
 *
 * @param started when mysqld was started, 0 for none that was looked at
 * @param durable whether it forced its logs then
 * @param reserved GTIDs that the server was told never to give out, because transactions with these numbers are or may be
 *     in the order, and the server lost them
 * @param reserving further ones that it was to be told next
 * @param takenBack own transactions that were not in its database when that life was looked at
 */
public record ServerLife(long started, boolean durable, GtidSet reserved, GtidSet reserving, TakenBack takenBack) {
    /** No life of the server was ever looked at. */
    public static final ServerLife NONE = new ServerLife(0, true, new GtidSet(), new GtidSet(), TakenBack.NONE);

    public boolean isNone() {
        return started == 0;
    }

    /**
     * What the server will never give out, of what it was told.
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

    /** The same, once it has been decided which numbers it is to be told next, and before it is told. */
    ServerLife reserving(GtidSet before, GtidSet next) {
        return new ServerLife(started, durable, before, next, takenBack);
    }
}
