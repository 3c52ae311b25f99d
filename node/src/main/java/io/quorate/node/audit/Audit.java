// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.audit;

import io.quorate.core.ErrorCode;
import io.quorate.core.QuorateException;
import io.quorate.core.TableName;
import io.quorate.core.answer.Difference;
import io.quorate.node.audit.AuditHost.Stopped;
import io.quorate.node.config.NodeProperties;
import io.quorate.node.member.MemberReport;
import io.quorate.node.question.Questions;
import io.quorate.node.thread.FaultHandler;
import io.quorate.node.thread.OwnedThread;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;
import tools.jackson.databind.json.JsonMapper;

/**
 * Compares the servers of all nodes while clients write to them, on a thread of its own; {@link AuditCourse} says how.
 * There is one audit at a time; after a restart of this node it goes on where it was. The differences that an audit has
 * found can be repaired.
 */
public final class Audit implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(Audit.class);
    private static final Duration PAUSE = Duration.ofSeconds(1);
    private static final Duration SAVE = Duration.ofSeconds(1);

    private final NodeProperties properties;
    private final AuditedNodes nodes;
    private final Course host = new Course();
    private final AuditSchedule schedule;
    private final AuditFile file;
    private final OwnedThread thread;
    private volatile AuditState state;
    private volatile String waits = "";
    private volatile boolean stop;
    private volatile boolean closed;
    private long savedNanos;

    /** @param present what the other nodes report about themselves */
    public Audit(
            NodeProperties properties,
            Questions questions,
            Supplier<List<MemberReport>> present,
            JsonMapper json,
            FaultHandler faults)
            throws IOException {
        this.properties = properties;
        this.nodes = new AuditedNodes(properties.node(), questions, present);
        this.schedule = new AuditSchedule(
                properties.audit().interval(), properties.audit().share());
        this.file = new AuditFile(properties.dataDir(), json);
        this.thread = OwnedThread.lasting("quorate-audit", this::run, faults);
        this.state = file.read();
    }

    public void startThread() {
        thread.start();
    }

    /** The audit that is running, or that ran last on this node; null when there was none. */
    public AuditState state() {
        return state;
    }

    /** What the running audit waits for; empty while it works. */
    public String waits() {
        return waits;
    }

    /**
     * Begins an audit.
     *
     * @param only {@code schema.table}; null for all tables
     * @return why it can't begin; null when it has begun
     */
    public synchronized String start(String only) {
        if (!thread.isAlive()) {
            return "an arbitrator has no server to be compared; ask another node";
        }
        AuditState now = state;
        if (now != null && now.isRunning()) {
            return "an audit is running since " + now.started() + "; stop it first";
        }
        String table = null;
        if (only != null) {
            TableName named;
            try {
                named = TableName.parse(only);
            } catch (IllegalArgumentException e) {
                return e.getMessage();
            }
            if (named.refusal() != null) {
                return named.refusal();
            }
            table = named.toString();
        }
        stop = false;
        state = AuditState.begin(Instant.now().toString(), table);
        notifyAll();
        return null;
    }

    /** @return why there is nothing to stop; null when the audit is being stopped */
    public synchronized String stop() {
        AuditState now = state;
        if (now == null || !now.isRunning()) {
            return "no audit is running";
        }
        stop = true;
        notifyAll();
        return null;
    }

    private void run() throws InterruptedException {
        while (!closed) {
            if (awaitWork()) {
                workOrEnd();
            }
        }
    }

    /** Works on the audit. An error in the program ends the audit, but not the thread. */
    private void workOrEnd() throws InterruptedException {
        try {
            work();
        } catch (RuntimeException e) {
            if (closed) {
                log.debug("the audit goes on when this node is started again: {}", e.toString());
                return;
            }
            log.error("the audit ends at {}", state.table(), e);
            state = state.end(Instant.now().toString(), true);
            save();
        }
    }

    /** Waits for an audit to work on; false when there won't be one. */
    private synchronized boolean awaitWork() throws InterruptedException {
        while (!closed) {
            if (state != null && state.isRunning()) {
                return true;
            }
            if (schedule.isDue(state, Instant.now())) {
                start(null);
            } else {
                wait(PAUSE.toMillis());
            }
        }
        return false;
    }

    private void work() throws InterruptedException {
        long began = System.nanoTime();
        log.info("audit: {}", state.table() == null ? "begins" : "goes on at " + state.table());
        save();
        boolean stopped = false;
        try {
            new AuditCourse(properties.node(), nodes, properties.conflicts().mask(), host).run();
        } catch (Stopped e) {
            stopped = true;
        }
        waits = "";
        if (!stopped || !closed) {
            long seconds = TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - began);
            state = state.worked(seconds).end(Instant.now().toString(), stopped);
            log.atLevel(state.found() == 0 ? Level.INFO : Level.ERROR).log("audit {}", state.summary());
        }
        save();
    }

    private void save() {
        savedNanos = System.nanoTime();
        file.write(state);
    }

    /** The audit as its course sees it. */
    private final class Course implements AuditHost {
        @Override
        public AuditState state() {
            return state;
        }

        @Override
        public void change(AuditState next) {
            state = next;
        }

        @Override
        public void save() {
            Audit.this.save();
        }

        @Override
        public void waits(String why) {
            waits = why;
        }

        @Override
        public void pause() throws InterruptedException, Stopped {
            sleep(PAUSE.toMillis());
        }

        @Override
        public void rest(long workedNanos) throws InterruptedException, Stopped {
            if (System.nanoTime() - savedNanos > SAVE.toNanos()) {
                save();
            }
            sleep(schedule.restMillis(workedNanos));
        }

        private void sleep(long millis) throws InterruptedException, Stopped {
            check();
            Thread.sleep(millis);
            check();
        }

        @Override
        public void check() throws Stopped {
            if (stop || closed) {
                throw new Stopped();
            }
        }
    }

    /**
     * Repairs rows that the last audit found to differ.
     *
     * @param trusted the node whose rows are right; null for the rows of the majority
     * @param apply whether to repair them, or only to say what would be done
     * @return the differences, each with what became of it
     * @throws QuorateException AUDIT_REFUSED with the reason
     */
    public synchronized List<Difference> repair(String trusted, boolean apply) {
        AuditState now = state;
        if (now == null || now.isRunning()) {
            throw new QuorateException(
                    ErrorCode.AUDIT_REFUSED,
                    now == null ? "no audit was done by this node" : "the audit is still running");
        }
        List<Difference> told = new AuditRepair(nodes, trusted, apply).of(now.differences());
        if (apply) {
            state = now.repaired(told);
            save();
        }
        return told;
    }

    @Override
    public void close() {
        closed = true;
        thread.close();
        if (state != null && state.isRunning()) {
            save();
        }
        nodes.close();
    }
}
