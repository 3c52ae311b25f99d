// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.server;

import io.quorate.applier.PositionTable.Position;
import io.quorate.applier.StaleSessions;
import io.quorate.core.ErrorCode;
import io.quorate.core.NodeEvent;
import io.quorate.core.QuorateException;
import io.quorate.core.TotalOrder;
import io.quorate.ist.RejoinCourse;
import io.quorate.node.config.NodeProperties;
import io.quorate.node.server.LinkSignals.Task;
import io.quorate.node.thread.FaultHandler;
import io.quorate.node.thread.MonotonicClock;
import io.quorate.node.thread.OwnedThread;
import io.quorate.transport.AdmissionPlan.Holds;
import java.io.IOException;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The node's link to its MySQL server. One thread tries for ever to have a {@link ServerSession}, as {@link LinkCourse}
 * says. When the server is lost, the session is ended and a new one is tried; the position row and the order ensure
 * that nothing is lost or applied twice. A fatal failure ends the node's work instead and leaves the server read-only.
 */
public final class ServerLink implements Server {
    private static final Logger log = LoggerFactory.getLogger(ServerLink.class);

    /** Long enough to end a session properly, including what the applier has under way. */
    private static final Duration CLOSE_GRACE = Duration.ofSeconds(20);

    private static final String SUPER_READ_ONLY = "super_read_only";

    private final ServerAccess access;
    private final NodeProperties properties;
    private final NodeProperties.MySql settings;
    private final Consumer<NodeEvent> events;
    private final FaultHandler faults;
    private final LinkSignals signals;
    private final Supplier<ServerSession> sessions;
    private final Refill refill;
    private final OwnedThread thread;
    private final Object idle = new Object();
    private final LinkCourse course;
    private final ServiceLock lock;
    private volatile ServerSession session;
    /** The present session, which may not be open yet, or hand over; null while there is none. The thread's own. */
    private ServerSession begun;

    /** Why the server was refused the last time; null when it wasn't. */
    private String refusal;
    /** What the server hasn't allowed this service's account; null when there is no such thing. The thread's own. */
    private LackingRight lacking;
    /** What this account was granted when the last session began. The thread's own. */
    private String granted = "";
    /** Why the server couldn't be closed the last time; null when it could. The thread's own. */
    private String notClosed;

    /** Whether the server was closed since there was a session, and waiting commits are settled. The thread's own. */
    private boolean settled;

    /** Guarded by {@link #idle}. */
    private boolean resting;

    /** @param sessions makes sessions, which are not open yet */
    public ServerLink(
            NodeProperties properties,
            ServerAccess access,
            Supplier<ServerSession> sessions,
            LinkSignals signals,
            Refill refill,
            Consumer<NodeEvent> events,
            FaultHandler faults) {
        this.access = access;
        this.properties = properties;
        this.settings = properties.mysql();
        this.sessions = sessions;
        this.signals = signals;
        this.refill = refill;
        this.events = events;
        this.faults = faults;
        this.lock = new ServiceLock(properties, access);
        this.course = new LinkCourse(settings.retry().toMillis());
        this.thread = OwnedThread.lasting("quorate-server", this::run, faults);
    }

    /**
     * Checks the server once, now. Wrong settings make this fail, with everything that is wrong. A server that can't be
     * reached is not a failure, because a node without its server still orders, votes and caches.
     */
    public static void checkNow(ServerAccess access, NodeProperties.Sst copies) {
        try (Connection connection = access.connect()) {
            ServerAccess.turnOffAgain(connection, SUPER_READ_ONLY);
            ServerCheck.require(connection);
            boolean accounts = !copies.without().contains(NodeProperties.Sst.Part.ACCOUNTS);
            AccountAdvice.findings(connection, accounts).forEach(finding -> log.warn("{}", finding));
            if (accounts) {
                try (Connection own = access.connectAlone()) {
                    AccountAdvice.notGrantable(own, ServerAccess.user(connection))
                            .forEach(finding -> log.warn("{}", finding));
                }
            }
        } catch (SQLException e) {
            log.warn("{}", access.unreachable(e).getMessage());
        }
    }

    @Override
    public boolean exists() {
        return true;
    }

    @Override
    public String address() {
        return settings.host() + ":" + settings.port();
    }

    @Override
    public Contents contents() throws IOException {
        try (Connection connection = access.connect()) {
            lock.require();
            if (session == null) {
                // A commit of an applier before this one may wait, and would come to the server afterwards.
                access.settleCommits(connection);
            }
            return contents(connection);
        } catch (SQLException e) {
            throw new IOException(access.unreachable(e).getMessage(), e);
        } catch (QuorateException e) {
            throw new IOException(e.getMessage(), e);
        }
    }

    private Contents contents(Connection connection) throws SQLException {
        Position position = ServerAccess.position(connection);
        if (position.seqno() > 0) {
            return new Contents(position, Holds.TABLES);
        }
        Holds holds = ServerAccess.holds(connection);
        if (holds != Holds.TABLES && !NodeIdentity.isKnown(properties) && !ServerAccess.isReadOnly(connection)) {
            log.info("nobody has made a table on this server, and nobody is to before it takes part");
            access.readOnly(connection, true);
            // Somebody may have, just before.
            holds = ServerAccess.holds(connection);
        }
        return new Contents(position, holds);
    }

    @Override
    public Holds holds() {
        try (Connection connection = access.connect()) {
            lock.require();
            return contents(connection).holds();
        } catch (SQLException | QuorateException e) {
            log.debug("whether there are tables isn't known: {}", e.toString());
            return null;
        }
    }

    @Override
    public boolean hasSameTables() {
        return properties.sameTables();
    }

    @Override
    public void beginWithNothing() throws IOException {
        NodeIdentity.beginWithNothing(properties.dataDir());
    }

    @Override
    public synchronized void start() {
        if (!thread.isStarted()) {
            thread.start();
        }
    }

    @Override
    public void writable(boolean value) {
        signals.writable(value);
    }

    @Override
    public void fence(boolean value) {
        signals.fenced(value);
    }

    @Override
    public void stopWorking() {
        signals.stop();
    }

    @Override
    public void suspend() throws InterruptedException {
        signals.suspend();
        synchronized (idle) {
            while (!resting && thread.isAlive()) {
                idle.wait(100);
            }
        }
    }

    @Override
    public void resume() {
        signals.resume();
    }

    @Override
    public void handOver() {
        course.handOver();
        signals.handOver();
    }

    @Override
    public boolean hasHandedOver() {
        return course.hasHandedOver();
    }

    @Override
    public String drain(Duration limit) throws InterruptedException {
        ServerSession s = session;
        if (s == null) {
            return "the service has no session with its server now; clients can't write there";
        }
        try (Connection connection = access.connect()) {
            access.drained(connection, true);
            return Drain.begin(connection, s, limit);
        } catch (SQLException e) {
            return access.unreachable(e).getMessage();
        }
    }

    @Override
    public boolean isDraining() {
        ServerSession s = session;
        return s != null && access.isDrained(s.started());
    }

    @Override
    public String drainNoMore() {
        try (Connection connection = access.connect()) {
            Drain.end(connection);
            access.drained(connection, false);
            return null;
        } catch (SQLException e) {
            return access.unreachable(e).getMessage();
        }
    }

    @Override
    public void quorumChanged(TotalOrder.Quorum quorum) {
        ServerSession s = session;
        if (s != null) {
            s.quorumChanged(quorum);
        }
    }

    private void run() throws InterruptedException {
        try {
            work();
        } catch (Throwable e) {
            // When this thread has failed, nobody else would keep clients from writing to the server.
            if (signals.task() != Task.CLOSED) {
                closeForWrites();
            }
            throw e;
        }
    }

    private void work() throws InterruptedException {
        try {
            for (Task task; (task = signals.task()) != Task.CLOSED; ) {
                boolean rests = task == Task.STOPPED || task == Task.SUSPENDED;
                if (rests && begun == null) {
                    rest(task);
                } else {
                    signals.await(task, serve(task));
                }
            }
        } finally {
            endSession();
        }
    }

    private void rest(Task task) throws InterruptedException {
        boolean closed = closeForWrites();
        resting(true);
        // While the server is given other data, it is not looked at; otherwise somebody may open it.
        boolean looks = task == Task.STOPPED || !closed;
        while (signals.await(task, looks ? settings.retry().toMillis() : LinkCourse.FOR_EVER) == task) {
            closed = closeForWrites();
            looks = task == Task.STOPPED || !closed;
        }
        resting(false);
    }

    private void resting(boolean now) {
        synchronized (idle) {
            resting = now;
            idle.notifyAll();
        }
    }

    /** Does what is next; how many milliseconds there is nothing to do after it. */
    private long serve(Task task) throws InterruptedException {
        try {
            return course.turn(new BySessions(), task);
        } catch (SQLException e) {
            endSession();
            refusal = null;
            events.accept(new NodeEvent.DatabaseDown(access.unreachable(e).getMessage()));
        } catch (QuorateException e) {
            endSession();
            onRefusal(e);
        } catch (RuntimeException e) {
            if (!faults.mayGoOn("the session with the server", e)) {
                throw e;
            }
            endSession();
            events.accept(new NodeEvent.DatabaseDown("the session with it failed: " + e + "; the log has more"));
        } catch (IOException e) {
            endSession();
            events.accept(new NodeEvent.Failed(new QuorateException(ErrorCode.DISK, e.toString(), e)));
        }
        tellLost();
        // It may be lost by now for a reason of its own, too.
        signals.await(signals.task(), settings.retry().toMillis());
        return 0;
    }

    private void endSession() {
        course.ended();
        settled = false;
        if (begun != null) {
            begun.close();
            begun = null;
        }
        session = null;
    }

    private void tellLost() {
        String why = signals.lostBecause();
        QuorateException refused = signals.refusal();
        if (refused != null) {
            lacking = new LackingRight(refused, granted, MonotonicClock.millis());
            onRefusal(refused);
        } else if (why != null) {
            events.accept(new NodeEvent.DatabaseDown(why));
        }
    }

    /** What the course has to be done. */
    private final class BySessions implements LinkCourse.Work {
        @Override
        public Task begin() {
            signals.begin();
            return signals.task();
        }

        @Override
        public void settleCommits() throws SQLException {
            lock.require();
            try (Connection connection = access.connect()) {
                access.settleCommits(connection);
                ServerAccess.turnOffAgain(connection, SUPER_READ_ONLY);
            }
            StaleSessions.end(access.workers());
        }

        @Override
        public boolean isCopyPending() {
            return refill.isPending();
        }

        @Override
        public void copy() throws SQLException, IOException, InterruptedException {
            refill.run();
            refusal = null;
        }

        @Override
        public void open() throws SQLException, IOException, InterruptedException {
            try (Connection connection = access.connect()) {
                granted = ServerAccess.grants(connection);
            }
            if (lacking != null) {
                lacking.requireOther(granted, MonotonicClock.millis());
                lacking = null;
            }
            begun = sessions.get();
            begun.open();
            session = begun;
        }

        @Override
        public void look(Task task) throws SQLException, IOException, InterruptedException {
            lock.require();
            begun.look(task);
        }

        @Override
        public boolean isUp() {
            return begun.isUp();
        }

        @Override
        public void openToHandOver() throws SQLException, IOException, InterruptedException {
            begun = sessions.get();
            begun.openToHandOver();
        }

        @Override
        public boolean handsOver() throws SQLException, IOException, InterruptedException {
            return begun.handsOver();
        }

        @Override
        public void close() {
            endSession();
            refusal = null;
            tellLost();
        }
    }

    private void onRefusal(QuorateException e) {
        if (e.code().isRetryable() && !RejoinCourse.mends(e)) {
            // It is tried again every second, perhaps all night.
            if (!e.getMessage().equals(refusal)) {
                log.error("{}", e.getMessage());
            }
            refusal = e.getMessage();
            events.accept(new NodeEvent.DatabaseDown(e.getMessage()));
        } else {
            events.accept(new NodeEvent.Failed(e));
        }
    }

    /** Whether the server is closed for clients. */
    private boolean closeForWrites() {
        try (Connection connection = access.connect()) {
            lock.require();
            if (!settled || !ServerAccess.isReadOnly(connection)) {
                access.readOnly(connection, true);
            }
            settled = true;
            if (signals.task() == Task.STOPPED) {
                shut(connection);
            }
            notClosed = null;
            return true;
        } catch (SQLException | QuorateException e) {
            String why = (e instanceof SQLException lost ? access.unreachable(lost) : e).getMessage();
            if (!why.equals(notClosed)) {
                log.error("the server could not be made read-only, which is tried again and again: {}", why);
            }
            notClosed = why;
            return false;
        }
    }

    /**
     * Also accounts that {@code read_only} doesn't keep out would be the only ones to have what they write. It is taken
     * back by the next session; where somebody else has set it since mysqld was started, it stays as he has set it.
     */
    private void shut(Connection connection) throws SQLException {
        NodeIdentity identity = NodeIdentity.read(properties.dataDir(), properties.cluster(), properties.node());
        if (identity != null
                && identity.server().equals(ServerAccess.uuid(connection))
                && !ServerAccess.isSetBySomebody(connection, SUPER_READ_ONLY)) {
            ServerAccess.turnOn(connection, SUPER_READ_ONLY);
        }
    }

    @Override
    public ServerSession session() {
        return session;
    }

    @Override
    public void close() {
        thread.expectEnd();
        signals.close();
        if (thread.isStarted()) {
            thread.close(CLOSE_GRACE);
        }
        lock.close();
    }
}
