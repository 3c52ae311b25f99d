// SPDX-License-Identifier: Apache-2.0
package io.quorate.applier;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps the way free for the group that commits next. When it waits for a lock for longer than a moment, the holder is
 * looked up: a later group of ours is asked to yield at once, a client's session is killed after a grace, because what is
 * certified has to commit on every node and the client's transaction would fail certification anyway.
 */
final class LockWatch implements Runnable {
    private static final Logger log = LoggerFactory.getLogger(LockWatch.class);
    private static final Duration PERIOD = Duration.ofMillis(100);
    private static final int NO_SUCH_THREAD = 1094;

    private static final String ROW_LOCKS = """
            SELECT DISTINCT holder.PROCESSLIST_ID, holder.PROCESSLIST_USER, holder.PROCESSLIST_HOST,
              w.BLOCKING_ENGINE_TRANSACTION_ID
            FROM performance_schema.data_lock_waits w
            JOIN performance_schema.threads waiter ON waiter.THREAD_ID = w.REQUESTING_THREAD_ID
            LEFT JOIN performance_schema.threads holder ON holder.THREAD_ID = w.BLOCKING_THREAD_ID
            WHERE waiter.PROCESSLIST_ID = %d""";

    private static final String TABLE_LOCKS = """
            SELECT DISTINCT holder.PROCESSLIST_ID, holder.PROCESSLIST_USER, holder.PROCESSLIST_HOST, 0
            FROM performance_schema.metadata_locks pending
            JOIN performance_schema.threads waiter ON waiter.THREAD_ID = pending.OWNER_THREAD_ID
            JOIN performance_schema.metadata_locks granted ON granted.OBJECT_TYPE = pending.OBJECT_TYPE
              AND granted.OBJECT_SCHEMA <=> pending.OBJECT_SCHEMA AND granted.OBJECT_NAME <=> pending.OBJECT_NAME
              AND granted.LOCK_STATUS = 'GRANTED' AND granted.OWNER_THREAD_ID <> pending.OWNER_THREAD_ID
            JOIN performance_schema.threads holder ON holder.THREAD_ID = granted.OWNER_THREAD_ID
            WHERE pending.LOCK_STATUS = 'PENDING' AND pending.OBJECT_TYPE IN ('TABLE', 'SCHEMA')
              AND waiter.PROCESSLIST_ID = %d""";

    /** Who holds a lock; id 0 is an XA transaction whose session is gone. */
    private record Holder(long id, String account, long transaction) {}

    private final Pipeline pipeline;
    private final AuxiliaryConnection auxiliary;
    private final Counters counters;
    private final long graceNanos;
    private Group watched;
    private long watchedNanos;
    private String lastComplaint = "";

    LockWatch(Pipeline pipeline, AuxiliaryConnection auxiliary, Counters counters, Duration grace) {
        this.pipeline = pipeline;
        this.auxiliary = auxiliary;
        this.counters = counters;
        this.graceNanos = grace.toNanos();
    }

    @Override
    public void run() {
        try {
            while (!pipeline.awaitStop(PERIOD)) {
                try {
                    look();
                } catch (SQLException e) {
                    complain("can't look up who holds the locks that apply waits for: " + e.getMessage());
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Once for each complaint; the wait ends by its timeout and is tried again meanwhile. */
    private void complain(String what) {
        if (!what.equals(lastComplaint)) {
            lastComplaint = what;
            log.warn("{}", what);
        }
    }

    /** Looks for holders only when the same group was the head a period ago. */
    private void look() throws SQLException {
        Group head = pipeline.head();
        if (head == null || head != watched) {
            watched = head;
            watchedNanos = System.nanoTime();
            return;
        }
        long session = head.session();
        if (session == 0) {
            return;
        }
        List<Holder> holders = new ArrayList<>();
        auxiliary.run(connection -> {
            find(connection, ROW_LOCKS.formatted(session), holders);
            if (head.isBarrier()) {
                find(connection, TABLE_LOCKS.formatted(session), holders);
            }
        });
        for (Holder holder : holders) {
            if (pipeline.isRunning(holder.id())) {
                pipeline.yieldAllButHead();
            } else if (graceNanos > 0 && System.nanoTime() - watchedNanos >= graceNanos && pipeline.isHead(head)) {
                kill(holder, head);
            }
        }
    }

    private static void find(Connection connection, String sql, List<Holder> holders) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(sql)) {
            while (row.next()) {
                holders.add(new Holder(row.getLong(1), row.getString(2) + "@" + row.getString(3), row.getLong(4)));
            }
        }
    }

    private void kill(Holder holder, Group head) {
        if (holder.id() == 0) {
            complain("group " + head + " waits for the locks of InnoDB transaction " + holder.transaction()
                    + ", which has no session: a prepared XA transaction; see XA RECOVER");
            return;
        }
        try {
            auxiliary.run(connection -> {
                try (Statement statement = connection.createStatement()) {
                    statement.execute("KILL CONNECTION " + holder.id());
                }
            });
            counters.blockersKilled.increment();
            log.warn("killed session {} of {}: group {} waited for its locks", holder.id(), holder.account(), head);
        } catch (SQLException e) {
            if (e.getErrorCode() != NO_SUCH_THREAD) {
                complain("group " + head + " waits for the locks of session " + holder.id() + " of " + holder.account()
                        + ", which can't be killed (" + e.getMessage() + "); end it, or grant CONNECTION_ADMIN, and"
                        + " SYSTEM_USER where such accounts write");
            }
        }
    }
}
