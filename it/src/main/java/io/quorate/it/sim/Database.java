// SPDX-License-Identifier: Apache-2.0
package io.quorate.it.sim;

import io.quorate.core.GtidSet;
import io.quorate.core.LogPosition;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.UUID;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/**
 * A database server: rows with two-phase locking, a binlog, and the tables in which the applier keeps its position and
 * what it has undone. A crash takes back what was not committed; what was is durable.
 */
final class Database {
    /**
     * @param number GTID number; 0 for DDL that the applier ran
     * @param applied the position that came with it; -1 when a client committed or prepared it
     * @param snapshot what had been applied when it was begun, of one that is prepared; -1 of others
     * @param ddl the table whose definition it changed, null for rows
     * @param session the number of its client's connection; 0 where nobody asks
     */
    record Logged(
            long number, long applied, long snapshot, byte[] payload, List<Change> changes, Table ddl, long session) {
        Logged(long number, long applied, long snapshot, byte[] payload, List<Change> changes, Table ddl) {
            this(number, applied, snapshot, payload, changes, ddl, 0);
        }

        boolean byClient() {
            return applied < 0;
        }

        boolean isPrepared() {
            return snapshot >= 0;
        }

        /** Visible since it stands here, and nobody's but its client's. */
        boolean isOpenRows() {
            return byClient() && !isPrepared() && ddl == null;
        }
    }

    /**
     * What a commit found.
     *
     * @param done its changes, the latest first
     */
    private record Before(
            List<Change> done, long position, LogPosition positionLog, long visible, Map<Long, Long> undone) {}

    private final UUID uuid;
    private final Rows rows;
    private final Locks locks;
    private final Set<Transaction> transactions = new LinkedHashSet<>();
    private final List<Logged> binlog = new ArrayList<>();
    /** What is in the binlog, and what the tables kept that it lost. */
    private final List<Logged> journal = new ArrayList<>();

    private final Map<Long, Long> undone = new HashMap<>();
    private final Map<Table, Integer> versions = new HashMap<>();
    private final Set<Long> ddlDone = new HashSet<>();
    /** Definitions of which it is noted that they are void and were passed over. */
    private final Set<Long> passedOver = new HashSet<>();

    private final Map<Long, Transaction> prepared = new LinkedHashMap<>();
    /** In the database's own words: each prepared transaction that committed left a mark. */
    private final Set<Long> marks = new HashSet<>();

    /** For each entry of the binlog, as long as it may be lost; without one where all is forced. */
    private final List<Before> history = new ArrayList<>();
    /** Own GTIDs that only the tables have, and those given out to nobody. */
    private final GtidSet unlogged = new GtidSet();

    private final GtidSet reserved = new GtidSet();
    private boolean relaxed;
    /** Which of its lives it is in. */
    private long started = 1;

    /** Before this place in the binlog the tables are forced. */
    private int forcedTables;

    private long lastNumber;
    private long position;
    private LogPosition positionLog = LogPosition.START;
    private long visible;

    /** Through which commits go in mode after-sync; null in others. */
    private CommitQueue commits;

    private final Set<Long> connections = new HashSet<>();
    private long lastConnection;

    Database(UUID uuid, Rows rows) {
        this.uuid = uuid;
        this.rows = rows;
        this.locks = new Locks(rows);
    }

    /** A copy of another server, taken when it was at {@code position} and nothing was open there. */
    Database(
            UUID uuid,
            Rows rows,
            long position,
            LogPosition positionLog,
            Map<Table, Integer> versions,
            Set<Long> ddlDone) {
        this(uuid, rows);
        this.position = position;
        this.positionLog = positionLog;
        this.visible = position;
        this.versions.putAll(versions);
        this.ddlDone.addAll(ddlDone);
    }

    UUID uuid() {
        return uuid;
    }

    Rows rows() {
        return rows;
    }

    List<Logged> binlog() {
        return binlog;
    }

    /** The GTID number of what was written to the binlog last. */
    long loggedNumber() {
        return lastNumber;
    }

    List<Logged> journal() {
        return journal;
    }

    private void log(Logged entry) {
        binlog.add(entry);
        journal.add(entry);
    }

    /** The last one that is committed; what waits in its commit isn't. */
    long lastNumber() {
        return commits == null || commits.isEmpty() ? lastNumber : commits.firstNumber() - 1;
    }

    /** From now on commits go through a queue. */
    void queue(CommitQueue queue) {
        commits = queue;
    }

    /** Null but in mode after-sync. */
    CommitQueue commits() {
        return commits;
    }

    long position() {
        return position;
    }

    /** The place in the order's log that belongs to the position. */
    LogPosition positionLog() {
        return positionLog;
    }

    /** The furthest that a transaction had seen that was prepared here. */
    long snapshotMax() {
        return binlog.stream().mapToLong(Logged::snapshot).max().orElse(0);
    }

    /** The seqno up to which the rows are the order's; above the position after a prepared one has committed. */
    long visible() {
        return visible;
    }

    Map<Long, Long> undone() {
        return new LinkedHashMap<>(undone);
    }

    int version(Table table) {
        return table == Table.TAG ? (rows.isTagIndexed() ? 1 : 0) : versions.getOrDefault(table, 0);
    }

    Transaction begin(boolean client) {
        Transaction t = new Transaction(client);
        transactions.add(t);
        return t;
    }

    /**
     * Makes a change, if the locks are to be had.
     *
     * @return who holds them; empty when it is done
     */
    Set<Transaction> change(Transaction t, Change wanted) throws Rows.Misfit {
        Change c = rows.actual(wanted);
        Locks.Needed needed = locks.neededBy(wanted, c);
        Set<Transaction> holders = locks.holders(needed, t);
        transactions.stream().filter(d -> d.defines == c.table()).forEach(holders::add);
        if (!holders.isEmpty()) {
            return holders;
        }
        locks.take(needed, t);
        rows.apply(c);
        t.done.push(c);
        t.changes.add(c);
        return holders;
    }

    /** Takes the changes back and keeps the locks. */
    void rollbackToSavepoint(Transaction t) {
        while (!t.done.isEmpty()) {
            Change c = t.done.pop();
            try {
                rows.apply(c.inverse());
            } catch (Rows.Misfit e) {
                throw new IllegalStateException(e);
            }
        }
        t.changes.clear();
    }

    void rollback(Transaction t) {
        if (t.open && !t.isInCommit()) {
            rollbackToSavepoint(t);
            release(t);
        }
    }

    private void release(Transaction t) {
        t.open = false;
        prepared.remove(t.prepared);
        transactions.remove(t);
        locks.release(t);
    }

    void commitClient(Transaction t) {
        commitClient(t, () -> {});
    }

    /** @param committed what is to be done when it is let through */
    void commitClient(Transaction t, Runnable committed) {
        byte[] payload = Change.encode(t.changes);
        commit(t, new Logged(++lastNumber, -1, -1, payload, List.copyOf(t.changes), null, t.session), committed);
    }

    /** Writes a commit to the binlog, and carries it out when it is let through. */
    private void commit(Transaction t, Logged entry, Runnable effects) {
        int at = history.size();
        remember(List.of());
        log(entry);
        Runnable through = () -> {
            if (relaxed) {
                history.set(at, before(t.done));
            }
            effects.run();
            release(t);
        };
        if (commits != null && commits.isEnabled()) {
            commits.add(t, entry.number(), binlog.size(), through);
        } else {
            through.run();
            t.answer(true);
        }
    }

    /** A client has a connection; its number is given again after a restart. */
    long connect() {
        connections.add(++lastConnection);
        return lastConnection;
    }

    boolean isConnected(long session) {
        return connections.contains(session);
    }

    /** Whether a session waits for the end of this commit. */
    boolean isCommitting(long session, long number) {
        return transactions.stream().anyMatch(t -> t.session == session && t.committing == number);
    }

    /** Whether a session waits for the end of a commit. */
    boolean isCommitting(long session) {
        return transactions.stream().anyMatch(t -> t.session == session && t.isInCommit());
    }

    /** Ends a session, if there is one of that number. */
    void killSession(long session) {
        connections.remove(session);
        List.copyOf(transactions).stream()
                .filter(t -> t.client && t.session == session)
                .forEach(this::kill);
    }

    /** Ends a client's session: what it does is taken back, but not a commit that is in the binlog. */
    void kill(Transaction t) {
        connections.remove(t.session);
        rollback(t);
        t.answer(false);
    }

    /** Writes a client's transaction to the binlog; its rows stay unseen and its locks held until it is decided. */
    void prepare(Transaction t, long snapshot) {
        log(new Logged(++lastNumber, -1, snapshot, Change.encode(t.changes), List.copyOf(t.changes), null));
        t.prepared = lastNumber;
        prepared.put(lastNumber, t);
    }

    /** Commits a prepared transaction; false when it is none, or none any more. */
    boolean commitPrepared(long number, long seqno) {
        Transaction t = prepared.get(number);
        if (t == null) {
            return false;
        }
        log(new Logged(++lastNumber, position, -1, new byte[0], List.of(), null));
        marks.add(number);
        visible = Math.max(visible, seqno);
        release(t);
        return true;
    }

    /** Whether a prepared transaction was committed, rather than rolled back or lost. */
    boolean isMarked(long number) {
        return marks.contains(number);
    }

    /** False when there is nothing prepared by that number. */
    boolean rollbackPrepared(long number) {
        Transaction t = prepared.get(number);
        if (t != null) {
            rollback(t);
        }
        return t != null;
    }

    /** All of them. */
    void rollbackPrepared() {
        List.copyOf(prepared.values()).forEach(this::rollback);
    }

    /**
     * Commits for the applier, with its position.
     *
     * @param log the place in the order's log of what the position names
     * @param undoneNow GTID numbers that this takes back
     * @param undoneAt the position noted for them
     * @param settled up to where notes may be forgotten, once the position has passed theirs
     * @param committed what is to be done when it is let through
     */
    void commitApplied(
            Transaction t,
            long newPosition,
            LogPosition log,
            List<Long> undoneNow,
            long undoneAt,
            long settled,
            Runnable committed) {
        commit(t, new Logged(++lastNumber, newPosition, -1, new byte[0], List.of(), null), () -> {
            if (!undoneNow.isEmpty()) {
                undone.entrySet().removeIf(note -> note.getKey() <= settled && note.getValue() <= undoneAt);
            }
            for (long number : undoneNow) {
                if (undone.put(number, undoneAt) != null) {
                    throw new Violation("number " + number + " is undone twice");
                }
            }
            positionLog = newPosition > position ? log : positionLog;
            position = Math.max(position, newPosition);
            visible = Math.max(visible, position);
            committed.run();
        });
    }

    /** Puts the position of a copied server into its binlog, before what clients write. */
    void logPosition() {
        if (binlog.isEmpty() && position > 0) {
            remember(List.of());
            log(new Logged(++lastNumber, position, -1, new byte[0], List.of(), null));
        }
    }

    /** Whether somebody defines a table, for which nobody else can ask anything of it until that is committed. */
    boolean isBeingDefined(Table table) {
        return transactions.stream().anyMatch(t -> t.defines == table && !t.isLock());
    }

    /** Keeps clients from a table until it is rolled back; what it is like can be asked. */
    Transaction lock(Table table) {
        Transaction t = begin(false);
        t.defines = table;
        return t;
    }

    /** Who changes rows of a table, so that its definition can't be. */
    Set<Transaction> users(Table table) {
        return transactions.stream()
                .filter(t -> t.defines == table || t.changes.stream().anyMatch(c -> c.table() == table))
                .collect(Collectors.toCollection(LinkedHashSet::new));
    }

    /** @param t keeps others from the table until it is committed */
    void ddlByClient(Table table, Transaction t) {
        t.defines = table;
        versions.merge(table, 1, Integer::sum);
        forcedTables = binlog.size() + 1;
        commit(t, new Logged(++lastNumber, -1, -1, new byte[0], List.of(), table, t.session), () -> {});
    }

    /** A client adds the index of the tags, or drops it. */
    void indexTagsByClient(boolean added, Transaction t) {
        t.defines = Table.TAG;
        rows.indexTags(added);
        byte[] definition = Dispute.definition(added);
        commit(t, new Logged(++lastNumber, -1, -1, definition, List.of(), Table.TAG, t.session), () -> {});
    }

    /** Whether a definition's own GTID is used up. */
    boolean hasGtid(long seqno) {
        return ddlDone.contains(seqno);
    }

    /** Uses it up by what changes nothing. */
    void useUpGtid(long seqno) {
        ddlDone.add(seqno);
        log(new Logged(0, 0, -1, new byte[0], List.of(), Table.TAG));
    }

    void indexTagsApplied(boolean added, long seqno) {
        rows.indexTags(added);
        useUpGtid(seqno);
    }

    Set<Long> passedOver() {
        return passedOver;
    }

    /** Changes a row without the binlog, if nobody holds it; null for none. */
    boolean tamper(Table table, long id, Row row) {
        if (locks.isHeld(table.key(0, id))) {
            return false;
        }
        rows.tamper(table, id, row);
        return true;
    }

    /** Under a GTID of its own, so that it runs once. */
    void ddlApplied(Table table, long seqno) {
        if (ddlDone.add(seqno)) {
            remember(List.of());
            versions.merge(table, 1, Integer::sum);
            log(new Logged(0, 0, -1, new byte[0], List.of(), table));
            forcedTables = binlog.size();
        }
    }

    /** Whether a prepared transaction has changed rows of a table. */
    boolean isPrepared(Table table) {
        return prepared.values().stream().anyMatch(t -> t.changes.stream().anyMatch(c -> c.table() == table));
    }

    /** The rows without what open transactions have changed. */
    Rows committed() {
        Rows committed = rows.copy();
        for (Transaction t : transactions) {
            for (Change c : t.done) {
                try {
                    committed.apply(c.inverse());
                } catch (Rows.Misfit e) {
                    throw new IllegalStateException(e);
                }
            }
        }
        return committed;
    }

    /**
     * @param losing whether one that is prepared is lost with the rest: MySQL 8.0 was seen to
     */
    void crash(Predicate<Transaction> losing) {
        started++;
        if (commits != null) {
            commits.crash();
            connections.clear();
            lastConnection = 0;
        }
        for (Transaction t : List.copyOf(transactions)) {
            if (t.prepared == 0 || losing.test(t)) {
                rollback(t);
            }
        }
    }

    // A server that doesn't force its logs.

    /** From now on a crash may lose what was committed, but for DDL, which forces the tables. */
    void relax() {
        relaxed = true;
        forcedTables = binlog.size();
        binlog.forEach(entry -> history.add(new Before(List.of(), position, positionLog, visible, Map.of())));
    }

    boolean isRelaxed() {
        return relaxed;
    }

    private void remember(Collection<Change> done) {
        if (relaxed) {
            history.add(before(done));
        }
    }

    private Before before(Collection<Change> done) {
        return new Before(List.copyOf(done), position, positionLog, visible, Map.copyOf(undone));
    }

    /** A crash at which the binlog and the tables lose ends of their own. Answers how many commits either lost. */
    int loseTail(Random random) {
        crash(t -> true);
        int size = binlog.size();
        int oldest = Math.max(0, size - 1 - random.nextInt(30));
        int log = random.nextInt(3) > 0 ? size : oldest + random.nextInt(size - oldest + 1);
        int tables = Math.max(forcedTables, oldest + random.nextInt(size - oldest + 1));
        for (int i = size - 1; i >= tables; i--) {
            takeBack(history.get(i));
        }
        lastNumber = 0;
        for (int i = 0; i < Math.max(log, tables); i++) {
            long number = binlog.get(i).number();
            lastNumber = Math.max(lastNumber, number);
            if (i >= log && number > 0) {
                unlogged.add(uuid, number, number);
            }
        }
        lastNumber = Math.max(lastNumber, Math.max(reserved.last(uuid), unlogged.last(uuid)));
        journal.subList(journal.size() - (size - Math.max(log, tables)), journal.size())
                .clear();
        binlog.subList(log, size).clear();
        history.subList(log, size).clear();
        forcedTables = binlog.size();
        return size - Math.min(log, tables);
    }

    private void takeBack(Before before) {
        before.done.forEach(c -> rows.restore(c.inverse()));
        position = before.position;
        positionLog = before.positionLog;
        visible = before.visible;
        undone.clear();
        undone.putAll(before.undone);
    }

    /** When it was started, as it says itself. */
    long started() {
        return started;
    }

    /** What it says it has executed, with the DDL that was applied. */
    GtidSet executed(UUID ddlSource) {
        GtidSet all = purged();
        binlog.stream()
                .filter(entry -> entry.number() > 0)
                .forEach(entry -> all.add(uuid, entry.number(), entry.number()));
        ddlDone.forEach(seqno -> all.add(ddlSource, seqno, seqno));
        return all;
    }

    /** Of that, what its binlog lacks. */
    GtidSet purged() {
        return new GtidSet().addAll(unlogged).addAll(reserved);
    }

    /** Will never give these out. */
    void reserve(GtidSet gtids) {
        reserved.addAll(gtids);
        lastNumber = Math.max(lastNumber, gtids.last(uuid));
    }

    /**
     * In one transaction of the applier's: deletes what may be there, inserts what was, notes what failed as undone.
     */
    void takeBack(List<Change> deletes, List<Change> inserts, Map<Long, Long> failed) {
        List<Change> done = new ArrayList<>();
        for (Change c : deletes) {
            Row row = rows.get(c.table(), c.before().get(0));
            if (row != null) {
                done.add(0, rows.put(new Change(c.table(), 0, row, null)));
            }
        }
        for (Change c : inserts) {
            done.add(0, rows.put(c));
        }
        remember(done);
        failed.forEach(undone::putIfAbsent);
        log(new Logged(++lastNumber, position, -1, new byte[0], List.of(), null));
    }

    /** Whether a client's transaction holds something, and which. */
    List<Transaction> clients() {
        return transactions.stream().filter(t -> t.client).toList();
    }
}
