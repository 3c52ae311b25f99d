// SPDX-License-Identifier: Apache-2.0
package io.quorate.applier;

/**
 * Remembers whether the applier waits for a session that keeps everybody else from writing to a table or to the whole
 * server: a backup by FLUSH TABLES WITH READ LOCK or LOCK INSTANCE FOR BACKUP, LOCK TABLES, or an ALTER TABLE that runs
 * for long. Such a session isn't in anybody's way by mistake, and only whoever runs it knows for how long. The same is
 * a session whose commit waits for the order's verdict, and keeps its row locks until then. Thread-safe.
 */
final class Lockouts {
    /** Which of the metadata locks {@code granted} are meant. */
    static final String CONDITION = "granted.LOCK_STATUS = 'GRANTED'"
            + " AND ((granted.OBJECT_TYPE IN ('GLOBAL', 'COMMIT', 'BACKUP LOCK') AND granted.LOCK_TYPE = 'SHARED')"
            + " OR (granted.OBJECT_TYPE = 'TABLE' AND granted.LOCK_TYPE IN"
            + " ('SHARED_READ_ONLY', 'SHARED_NO_WRITE', 'SHARED_NO_READ_WRITE', 'EXCLUSIVE')))";

    /** The group that was last seen waiting for such a session; null for none. */
    private volatile Group waiting;

    /** A group, or who holds what it waits for, was seen waiting for such a session. */
    void seen(Group group) {
        waiting = group;
    }

    /**
     * Whether a group was seen waiting for such a session since this was last asked. A group that waits for other locks
     * isn't, whoever else is locked out meanwhile.
     */
    boolean takeAgainst(Group group) {
        boolean held = waiting == group;
        waiting = held ? null : waiting;
        return held;
    }
}
