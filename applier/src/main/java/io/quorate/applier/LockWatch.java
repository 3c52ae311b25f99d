// SPDX-License-Identifier: Apache-2.0
package io.quorate.applier;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps the way free for the group that commits next. When that group waits for a lock for longer than a moment, this
 * looks up the holder, and then the session that the holder itself waits for. {@link Blockers} decides what is done
 * about them.
 */
final class LockWatch implements Runnable {
    private static final Logger log = LoggerFactory.getLogger(LockWatch.class);
    /** More than 100 ms: what {@code INNODB_TRX} says stays as it is while anybody asks again within that time. */
    private static final Duration PERIOD = Duration.ofMillis(150);
    /** While nothing was being applied at the last look. */
    private static final Duration IDLE_PERIOD = Duration.ofMillis(250);

    private static final Duration SWEEP = Duration.ofMillis(500);

    /**
     * By transactions: the thread that data_lock_waits names is the one that made the lock visible. For the implicit
     * lock of an inserted row that is the one that waits for it.
     */
    private static final String ROW_LOCKS = """
            SELECT waiter.trx_mysql_thread_id, COALESCE(holding.trx_mysql_thread_id, 0), t.PROCESSLIST_USER,
              t.PROCESSLIST_HOST, w.BLOCKING_ENGINE_TRANSACTION_ID,
              HEX(CONVERT(CONCAT_WS(' ', t.PROCESSLIST_COMMAND, t.PROCESSLIST_STATE, CONCAT('since ',
                t.PROCESSLIST_TIME, ' s:'), LEFT(s.SQL_TEXT, 300)) USING utf8mb4))
            FROM performance_schema.data_lock_waits w
            JOIN information_schema.INNODB_TRX waiter ON waiter.trx_id = w.REQUESTING_ENGINE_TRANSACTION_ID
            LEFT JOIN information_schema.INNODB_TRX holding ON holding.trx_id = w.BLOCKING_ENGINE_TRANSACTION_ID
            LEFT JOIN performance_schema.threads t ON t.PROCESSLIST_ID = holding.trx_mysql_thread_id
            LEFT JOIN performance_schema.events_statements_current s ON s.THREAD_ID = t.THREAD_ID
              AND s.NESTING_EVENT_LEVEL = 0""";

    private static final String METADATA_LOCKS = """
            SELECT waiter.PROCESSLIST_ID, holder.PROCESSLIST_ID, holder.PROCESSLIST_USER, holder.PROCESSLIST_HOST, 0,
              HEX(CONVERT(CONCAT_WS(' ', holder.PROCESSLIST_COMMAND, holder.PROCESSLIST_STATE, CONCAT('since ',
                holder.PROCESSLIST_TIME, ' s:'), LEFT(s.SQL_TEXT, 300)) USING utf8mb4))
            FROM performance_schema.metadata_locks pending
            JOIN performance_schema.threads waiter ON waiter.THREAD_ID = pending.OWNER_THREAD_ID
            JOIN performance_schema.metadata_locks granted ON granted.OBJECT_TYPE = pending.OBJECT_TYPE
              AND granted.OBJECT_SCHEMA <=> pending.OBJECT_SCHEMA AND granted.OBJECT_NAME <=> pending.OBJECT_NAME
              AND granted.LOCK_STATUS = 'GRANTED' AND granted.OWNER_THREAD_ID <> pending.OWNER_THREAD_ID
            JOIN performance_schema.threads holder ON holder.THREAD_ID = granted.OWNER_THREAD_ID
            LEFT JOIN performance_schema.events_statements_current s ON s.THREAD_ID = granted.OWNER_THREAD_ID
              AND s.NESTING_EVENT_LEVEL = 0
            WHERE pending.LOCK_STATUS = 'PENDING' AND\s""";

    private static final String TABLE_LOCKS = METADATA_LOCKS + "pending.OBJECT_TYPE IN ('TABLE', 'SCHEMA')";

    private static final String LOCKOUTS = METADATA_LOCKS + Lockouts.CONDITION;

    /**
     * The holder of a lock that {@code waiter} waits for; holder 0 is an XA transaction whose session is gone.
     *
     * @param doing what the session does, for how long, and its last statement
     */
    private record Holder(long waiter, long holder, String account, long transaction, String doing)
            implements Blockers.Wait {
        /** For people. */
        String who() {
            return holder == 0
                    ? "InnoDB transaction " + transaction + ", which has no session: a prepared XA transaction; see XA"
                            + " RECOVER"
                    : "session " + holder + (account == null ? "" : " of " + account);
        }

        /** It gives up its locks with the commit, killed or not. */
        boolean isCommitting() {
            return doing != null && Sessions.COMMITTING.stream().anyMatch(doing::contains);
        }
    }

    private final Pipeline pipeline;
    private final Settler settler;
    private final AuxiliaryConnection auxiliary;
    private final Counters counters;
    private final Lockouts seen;
    private final long graceNanos;
    private Group watched;
    private long watchedNanos;
    private long sweptNanos = System.nanoTime();
    private String lastComplaint = "";
    private volatile String blockedBy;

    LockWatch(
            Pipeline pipeline,
            Settler settler,
            AuxiliaryConnection auxiliary,
            Counters counters,
            Lockouts seen,
            Duration grace) {
        this.pipeline = pipeline;
        this.settler = settler;
        this.auxiliary = auxiliary;
        this.counters = counters;
        this.seen = seen;
        this.graceNanos = grace.toNanos();
    }

    @Override
    public void run() {
        try {
            while (!pipeline.awaitStop(watched == null ? IDLE_PERIOD : PERIOD)) {
                try {
                    look();
                    if (System.nanoTime() - sweptNanos > SWEEP.toNanos()) {
                        sweptNanos = System.nanoTime();
                        settler.sweep();
                    }
                } catch (SQLException e) {
                    complain("can't look up who holds the locks that apply waits for: " + e.getMessage());
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /**
     * The client session whose locks the next group in the order waits for, with its statement; null when none was
     * seen.
     */
    String blockedBy() {
        return blockedBy;
    }

    /** Logs each complaint once; the wait ends by its timeout and is tried again meanwhile. */
    private void complain(String what) {
        if (!what.equals(lastComplaint)) {
            lastComplaint = what;
            log.warn("{}", what);
        }
    }

    /** Looks for holders only if the same group was the head a period ago. */
    private void look() throws SQLException {
        Group head = pipeline.head();
        if (head == null || head != watched) {
            watched = head;
            watchedNanos = System.nanoTime();
            blockedBy = null;
            return;
        }
        long session = head.session();
        if (session == 0) {
            return;
        }
        List<Holder> all = new ArrayList<>();
        List<Holder> lockouts = new ArrayList<>();
        auxiliary.run(connection -> {
            find(connection, ROW_LOCKS, all);
            if (head.isBarrier()) {
                find(connection, TABLE_LOCKS, all);
            }
            find(connection, LOCKOUTS, lockouts);
        });
        boolean committing = all.stream().anyMatch(holder -> holder.waiter == session && holder.isCommitting());
        if (committing || lockouts.stream().anyMatch(holder -> isInTheWay(holder.waiter, session, all))) {
            seen.seen(head);
        }
        Optional<Holder> lockout =
                lockouts.stream().filter(holder -> holder.waiter == session).findFirst();
        blockedBy = lockout.or(() ->
                        all.stream().filter(holder -> holder.waiter == session).findFirst())
                .map(holder -> holder.who() + (holder.doing == null ? "" : ": " + holder.doing))
                .orElse(null);
        boolean graceIsOver = graceNanos > 0 && System.nanoTime() - watchedNanos >= graceNanos;
        if (graceIsOver && all.isEmpty()) {
            lockout.ifPresent(holder -> complain("apply waits for " + holder.who()
                    + ", which keeps others from writing: a backup, LOCK TABLES or ALTER TABLE"));
        }
        Blockers.Way way = Blockers.way(session, all, pipeline::isRunning, graceIsOver);
        if (way == Blockers.Way.OTHERS_YIELD) {
            pipeline.yieldAllButHead();
        } else if (way == Blockers.Way.ROLL_BACK_PREPARED && settler.rollBackAll() > 0) {
            log.info("rolled back what was prepared here and undecided: group {} waited for its locks", head);
        } else if (way != Blockers.Way.NOTHING && graceIsOver && pipeline.isHead(head)) {
            all.stream()
                    .filter(holder -> holder.waiter == session)
                    .map(Holder::holder)
                    .distinct()
                    .forEach(id -> kill(first(all, session, id), head));
        }
    }

    /** Whether it is the head's own session that waits, or one for which that is waiting. */
    private static boolean isInTheWay(long waiter, long session, List<Holder> all) {
        return waiter == session
                || all.stream().anyMatch(holder -> holder.waiter == session && holder.holder == waiter);
    }

    private static Holder first(List<Holder> all, long waiter, long id) {
        return all.stream()
                .filter(holder -> holder.waiter == waiter && holder.holder == id)
                .findFirst()
                .orElseThrow();
    }

    private static void find(Connection connection, String sql, List<Holder> holders) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(sql)) {
            while (row.next()) {
                String text = row.getString(6);
                holders.add(new Holder(
                        row.getLong(1),
                        row.getLong(2),
                        row.getString(3) == null ? null : row.getString(3) + "@" + row.getString(4),
                        row.getLong(5),
                        text == null ? null : SchemaCheck.unhex(text)));
            }
        }
    }

    private void kill(Holder holder, Group head) {
        if (holder.holder() == 0) {
            complain("group " + head + " waits for the locks of " + holder.who());
            return;
        }
        if (holder.isCommitting()) {
            complain("group " + head + " waits for the locks of session " + holder.holder() + " of " + holder.account()
                    + ", which waits in its commit for the order's verdict; ending it would not help");
            return;
        }
        try {
            auxiliary.run(connection -> {
                if (Sessions.kill(connection, holder.holder())) {
                    counters.blockersKilled.increment();
                    log.warn("killed {}: group {} waited for its locks; {}", holder.who(), head, holder.doing());
                }
            });
        } catch (SQLException e) {
            complain("group " + head + " waits for the locks of " + holder.who() + ", which can't be killed ("
                    + e.getMessage() + "); end it, or grant CONNECTION_ADMIN, and"
                    + " SYSTEM_USER where such accounts write");
        }
    }
}
