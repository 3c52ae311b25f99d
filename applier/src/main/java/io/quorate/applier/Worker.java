// SPDX-License-Identifier: Apache-2.0
package io.quorate.applier;

import io.quorate.applier.ApplyCourse.Happening;
import io.quorate.applier.ApplyCourse.Position;
import io.quorate.core.Certified;
import io.quorate.core.ErrorCode;
import io.quorate.core.LogPosition;
import io.quorate.core.OwnWrites.Doomed;
import io.quorate.core.QuorateException;
import io.quorate.core.TableName;
import io.quorate.core.WriteSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Carries out, on a connection of its own, what {@link ApplyCourse} decides about one group after the other. */
final class Worker implements Runnable {
    private static final Logger log = LoggerFactory.getLogger(Worker.class);

    private static final Duration CLOSED_WAIT = Duration.ofSeconds(2);
    private static final long CLOSED_PERIOD_MILLIS = 5;

    private final Context context;
    private final Session session;
    private final PositionRow positionRow;
    private final TableMaps tableMaps;
    private final Statements statements;
    private final LeftRows leftRows;
    private final Patience patience;
    private long definitions;
    /** Whether clients are being kept from writing for this worker's group. */
    private boolean held;
    /** For the definition that is next; null until it is needed. */
    private DdlSession ddl;
    /** Whether it has locked that one's tables. */
    private boolean locked;

    /** Whether clients have run here what the group's definition does. */
    private boolean repeated;

    /** What all workers of an applier share. */
    record Context(
            ApplierSettings settings,
            Pipeline pipeline,
            Counters counters,
            DdlSessions ddl,
            SchemaVersion schema,
            Verdicts verdicts,
            Undo undo,
            Settler settler,
            Stop stop,
            TableMaps.Check check,
            Lockouts lockouts,
            DefinitionTexts definitions) {}

    /** Opens connections for DDL. */
    interface DdlSessions {
        DdlSession open(Certified writeSet) throws SQLException;
    }

    /** How a worker ends the applier or keeps clients from writing. */
    interface Stop {
        boolean holdClients(boolean hold);

        void failed(QuorateException cause);

        void databaseLost(SQLException cause);
    }

    Worker(Context context, Session session, PositionRow positionRow) {
        this.context = context;
        this.session = session;
        this.positionRow = positionRow;
        this.leftRows = new LeftRows(session.connection(), context.settings().mask());
        this.tableMaps = new TableMaps(context.check());
        this.statements = new Statements(tableMaps, context.settings().groupBytesMax());
        this.patience = new Patience(context.settings().retriesMax());
    }

    /** Breaks the connection, whatever it is used for at the moment. Any thread may call this. */
    void abort() {
        session.abort();
    }

    @Override
    public void run() {
        try (session) {
            for (Group group; (group = context.pipeline().take()) != null; ) {
                apply(group);
            }
        } catch (InterruptedException e) {
            log.debug("stopped while waiting");
        } catch (QuorateException e) {
            context.stop().failed(e);
        } catch (SQLException e) {
            if (SqlErrors.of(e) == SqlErrors.CONNECTION) {
                context.stop().databaseLost(e);
            } else {
                context.stop().failed(ApplyErrors.failed(e));
            }
        } finally {
            closeDefinition();
        }
    }

    private void closeDefinition() {
        if (ddl != null) {
            ddl.close();
            ddl = null;
            locked = false;
        }
    }

    private void apply(Group group) throws SQLException, InterruptedException {
        group.session(session.id());
        repeated = false;
        // A void definition itself has its GTID used up.
        if (!group.isBarrier() && !group.isSettling()) {
            group.leaveOut(c -> c.passed() && context.verdicts().isVoid(c.seqno()));
        }
        SchemaVersion.Changes changes =
                group.isBarrier() ? null : context.schema().since(definitions);
        if (changes != null) {
            tableMaps.forget(changes.tables());
            definitions = changes.version();
        }
        ApplyCourse course =
                new ApplyCourse(group, context.undo().server(), context.undo().register(), new Place(group), patience);
        for (ApplyStep step; (step = course.next()) != ApplyStep.DONE; ) {
            long from = System.nanoTime();
            try {
                carryOut(step, course, group);
            } catch (SQLException e) {
                course.failed(e);
            }
            if (!step.waits()) {
                context.counters().busyNanos.add(System.nanoTime() - from);
            }
        }
        done(group, course.positionSaved());
    }

    private void carryOut(ApplyStep step, ApplyCourse course, Group group) throws SQLException, InterruptedException {
        switch (step) {
            case AWAIT_TURN -> course.answered(context.pipeline().awaitTurn(group));
            case LOCK_TABLES -> course.answered(lockTables(group, course.writeSet()));
            case LOOK, EXPLAIN -> course.answered(awaitCapture());
            case AWAIT_CAPTURE -> {
                if (held) {
                    awaitClosed();
                }
                course.answered(awaitCapture());
            }
            case SETTLE -> course.answered(context.settler().settle(course.writeSet()));
            case COMPARE -> compare(course);
            case RUN_ALONE -> course.answered(runAlone(group, course.writeSet()));
            case ASK_OTHERS -> course.answered(askOthers(course.writeSet().seqno(), course.refusal()));
            default -> {
                execute(step, course, group);
                course.done();
            }
        }
    }

    private void execute(ApplyStep step, ApplyCourse course, Group group) throws SQLException, InterruptedException {
        switch (step) {
            case PAUSE -> context.pipeline().pause(course.pauseMillis());
            case AWAIT_HEAD -> context.pipeline().awaitHead(group);
            case SET_SAVEPOINT -> {
                run(List.of(), course.position());
                session.execute("SAVEPOINT quorate");
            }
            case CLEAR_WAY -> context.settler().clearWay(course.writeSets());
            case TAKE_BACK -> takeBack(course);
            case NOTE_UNDONE -> noteUndone(course);
            case APPLY -> run(toApply(course), course.position());
            case COMMIT -> commit(course.losers(), course.undoneAt());
            case BACK_TO_SAVEPOINT -> {
                session.execute("ROLLBACK TO SAVEPOINT quorate");
                context.pipeline().pause(0);
            }
            case ROLL_BACK -> session.rollback();
            case CLEAR_PREPARED -> context.settler().rollBackAll();
            case SAVE_POSITION -> {
                run(List.of(), course.position());
                if (!course.losers().isEmpty()) {
                    noteUndone(course);
                }
                commit(course.losers(), course.undoneAt());
            }
            default -> throw new IllegalStateException(step + " is not to be carried out");
        }
    }

    /**
     * Waits until clients can't write any more. For a limited time: if they still can, what they commit before the
     * definition is run has to be undone after it.
     */
    private void awaitClosed() throws SQLException, InterruptedException {
        long end = System.nanoTime() + CLOSED_WAIT.toNanos();
        while (!session.isReadOnly() && System.nanoTime() < end) {
            context.pipeline().pause(CLOSED_PERIOD_MILLIS);
        }
    }

    /** Waits for the capture for a limited time; false when the capture hasn't read far enough by then. */
    private boolean awaitCapture() throws SQLException, InterruptedException {
        boolean captured = context.undo().awaitCapture(session);
        if (!captured) {
            context.pipeline().pause(0);
        }
        return captured;
    }

    /** Asks for a limited time; what follows from {@link Verdicts.Verdict#OPEN} is that it is asked again. */
    private Verdicts.Verdict askOthers(long seqno, String error) throws InterruptedException {
        context.verdicts().refusal(seqno, error);
        Verdicts.Verdict verdict = context.verdicts().onRefused(seqno);
        if (verdict == Verdicts.Verdict.OPEN) {
            context.pipeline().pause(0);
        }
        return verdict;
    }

    private void takeBack(ApplyCourse course) throws SQLException, InterruptedException {
        List<Doomed> losers = course.losers();
        List<WriteSet> writeSets = context.undo().writeSets(losers);
        List<Certified> inverses = context.undo().inverses(writeSets);
        session.forgetSettings();
        leftRows.require(writeSets);
        try {
            run(inverses, course.position());
        } catch (QuorateException e) {
            // The table was defined anew since they were written. It isn't the others that may be wrong.
            throw e.code() == ErrorCode.SCHEMA_MISMATCH
                    ? ApplyErrors.undo(context.undo().server(), losers, e)
                    : e;
        }
    }

    private void noteUndone(ApplyCourse course) throws SQLException {
        session.execute(UndoneTable.forget(context.undo().settledNumber(), course.undoneAt()));
        session.execute(UndoneTable.insert(course.losers(), course.undoneAt()));
    }

    /**
     * Finds the losers, definitions that clients have run here, of which nothing differs once the other definition is
     * run. None if that has been run already, because they may have come after it, or if it is void.
     */
    private void compare(ApplyCourse course) throws SQLException, InterruptedException {
        Certified definition = course.writeSet();
        List<Doomed> losers = course.losers();
        List<Doomed> alike = new ArrayList<>();
        repeated = false;
        List<WriteSet> writeSets = context.undo().writeSets(losers);
        for (int i = 0; i < losers.size(); i++) {
            DefinitionTexts.Likeness likeness = likeness(writeSets.get(i), definition.writeSet());
            if (likeness != DefinitionTexts.Likeness.NONE) {
                alike.add(losers.get(i));
                repeated |= likeness == DefinitionTexts.Likeness.SAME;
            }
        }
        if (alike.isEmpty() || context.verdicts().isVoid(definition.seqno()) || hasRun(definition)) {
            course.answered(List.of(), List.of());
        } else {
            course.answered(alike, context.undo().orderedLater(losers, writeSets, alike, definition.seqno()));
        }
    }

    private DefinitionTexts.Likeness likeness(WriteSet loser, WriteSet definition) {
        return loser.isDefinition() && definition.isDefinition()
                ? context.definitions().likeness(loser, definition)
                : DefinitionTexts.Likeness.NONE;
    }

    private boolean hasRun(Certified definition) throws SQLException {
        try (DdlSession asking = context.ddl().open(definition)) {
            return asking.hasRun();
        }
    }

    private List<Certified> toApply(ApplyCourse course) throws SQLException {
        if (course.childrenFirst()) {
            session.forgetSettings();
        }
        return course.childrenFirst()
                ? List.of(ChildrenFirst.of(
                        course.writeSet(), session.connection(), context.undo().spool()))
                : course.writeSets();
    }

    /** @param position the position to write before anything else; null when it is written already */
    private void run(List<Certified> writeSets, Position position) throws SQLException {
        byte[] update = position == null
                ? null
                : positionRow.update(position.seqno(), position.log(), System.currentTimeMillis() * 1000);
        statements.begin(writeSets, 0, positionRow, update);
        while (session.binlogNext(statements)) {
            context.counters().statements.increment();
        }
    }

    private void commit(List<Doomed> losers, long undoneAt) throws SQLException {
        session.commit();
        if (!losers.isEmpty()) {
            context.counters().undone.add(losers.size());
            log.info(
                    "undone at seqno {}: {}",
                    undoneAt,
                    ApplyErrors.names(context.undo().server(), losers));
        }
    }

    private boolean lockTables(Group group, Certified definition) throws SQLException {
        Set<TableName> tables = context.definitions().tables(definition.writeSet());
        if (tables == null || tables.isEmpty()) {
            return false;
        }
        closeDefinition();
        ddl = context.ddl().open(definition);
        try {
            group.session(ddl.id());
            locked = ddl.lock(tables);
        } finally {
            if (!locked) {
                group.session(session.id());
            }
        }
        return locked;
    }

    private boolean runAlone(Group group, Certified writeSet) throws SQLException {
        if (ddl == null) {
            ddl = context.ddl().open(writeSet);
        }
        try {
            group.session(ddl.id());
            if (group.isBarrier()) {
                context.counters().ddl.increment();
            }
            return DefinitionTurn.take(
                    writeSet, context.verdicts(), ddl.at(writeSet, repeated, this::separateStatements));
        } finally {
            if (!locked) {
                closeDefinition();
            }
            group.session(session.id());
        }
    }

    private Statements separateStatements(boolean existing) {
        return existing
                ? Statements.single(new TableMaps(context.check()))
                : new Statements(
                        new TableMaps(event -> null), context.settings().groupBytesMax());
    }

    private void done(Group group, boolean positionSaved) {
        if (group.isBarrier()) {
            WriteSet passed = group.definition();
            context.schema()
                    .changed(passed == null ? null : context.definitions().tables(passed));
        }
        Counters counters = context.counters();
        counters.groups.increment();
        counters.transactions.add(group.transactions());
        counters.bytes.add(group.bytes());
        context.pipeline().committed(group, positionSaved);
    }

    /** The place of a group among those that other workers have. */
    private final class Place implements ApplyCourse.Place {
        private final Group group;

        Place(Group group) {
            this.group = group;
        }

        @Override
        public boolean isHead() {
            return context.pipeline().isHead(group);
        }

        @Override
        public LogPosition committedPosition() {
            return context.pipeline().committedPosition();
        }

        @Override
        public boolean isLockedOut() {
            return context.lockouts().takeAgainst(group);
        }

        @Override
        public void othersYield() {
            context.pipeline().yieldAllButHead();
        }

        @Override
        public void holdClients(boolean hold) {
            held = context.stop().holdClients(hold) && hold;
        }

        @Override
        public void unlockTables() {
            closeDefinition();
        }

        @Override
        public void count(Happening what) {
            Counters counters = context.counters();
            switch (what) {
                case RETRIED -> counters.retries.increment();
                case YIELDED -> counters.yields.increment();
                case MET_LOCKS -> counters.lockWaits.increment();
                case MET_READ_ONLY -> counters.readOnlyWaits.increment();
                case CAPTURE_BEHIND -> counters.captureWaits.increment();
            }
        }
    }
}
