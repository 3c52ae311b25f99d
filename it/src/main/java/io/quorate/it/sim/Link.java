// SPDX-License-Identifier: Apache-2.0
package io.quorate.it.sim;

import io.quorate.applier.TailCourse;
import io.quorate.core.NodeEvent;
import io.quorate.core.QuorateException;
import io.quorate.node.server.LinkCourse;
import io.quorate.node.server.LinkSignals;
import io.quorate.node.server.LinkSignals.Task;
import io.quorate.node.server.SessionCourse;
import java.io.IOException;
import java.sql.SQLException;

/**
 * A node's link to its server. When there is a session, and for what, the product's {@link LinkCourse} decides, and
 * what comes next in it the product's {@link SessionCourse}; here is what is done in it. Any step may find that the
 * session is lost.
 */
final class Link implements LinkCourse.Work, SessionCourse.Work {
    private final Node node;
    private final World world;
    /** Whether its server is open for clients; null but in mode after-sync. */
    private final Opening opening;

    private LinkSignals signals = new LinkSignals();
    private LinkCourse links = new LinkCourse(0);
    private boolean started;

    // Of the present session; null while there is none.
    private SessionCourse course;
    private LostTail tail;
    /** Null before anything is captured or applied. */
    private Session session;

    Link(Node node) {
        this.node = node;
        this.world = node.world;
        this.opening = world.mode == Mode.AFTER_SYNC ? new Opening(node) : null;
    }

    /** Null before anything is captured or applied. */
    Session session() {
        return session;
    }

    boolean isWritable() {
        return (session == null || !session.isHolding()) && (opening == null || opening.isOpen());
    }

    /** Another service has come, and won't work on the server before it is told to. */
    void serviceStarts() {
        signals = new LinkSignals();
        links = new LinkCourse(0);
        started = false;
    }

    // What it is told.

    void start() {
        started = true;
    }

    void writable(boolean writable) {
        signals.writable(writable);
    }

    void suspend() {
        signals.suspend();
        close();
    }

    void resume() {
        signals.resume();
    }

    void handOver() {
        links.handOver();
        signals.handOver();
    }

    boolean hasHandedOver() {
        return links.hasHandedOver() || world.bugs.contains(Bug.COPIED_UNHANDED);
    }

    void quorumChanged(boolean primary) {
        if (session != null) {
            session.quorumChanged(primary);
        }
    }

    /** The session ends, if there is one. */
    @Override
    public void close() {
        links.ended();
        course = null;
        tail = null;
        if (session != null) {
            session.close();
            session = null;
        }
        node.happened(new NodeEvent.DatabaseDown("away"));
    }

    // The sessions.

    /** Now and then. */
    void look() {
        if (node.databaseUp && started) {
            turn();
        }
        if (session != null) {
            session.feed();
        }
    }

    private void turn() {
        try {
            links.turn(this, signals.task());
        } catch (LostTail.BrokenOff e) {
            close();
        } catch (QuorateException e) {
            close();
            node.missing(e);
        } catch (SQLException | IOException | InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    public Task begin() {
        return signals.task();
    }

    /** Nothing waits any more that could come to the server after it is asked. */
    @Override
    public void settleCommits() {
        if (opening != null) {
            opening.found();
        }
    }

    /** The same, while there is no session. */
    void settleUnlessUsed() {
        if (course == null && node.databaseUp && !world.bugs.contains(Bug.ASKED_AMONG_COMMITS)) {
            settleCommits();
        }
    }

    @Override
    public boolean isCopyPending() {
        return node.replacement().isWanted();
    }

    @Override
    public void copy() {
        node.joining().copying("a copy of another server");
    }

    @Override
    public void open() throws SQLException, IOException, InterruptedException {
        openToHandOver();
        node.meetServer();
        course.begin(this, signals.task(), tail.isReady());
    }

    @Override
    public void look(Task task) throws SQLException, IOException, InterruptedException {
        if (opening == null || opening.goOn()) {
            course.look(this, task, world.millis() * Joining.CLOCK);
        }
    }

    @Override
    public boolean isUp() {
        return course.isUp();
    }

    @Override
    public void openToHandOver() {
        tail = new LostTail(node);
        course = new SessionCourse();
    }

    @Override
    public boolean handsOver() throws SQLException, IOException, InterruptedException {
        return course.hasHandedOver(this);
    }

    // What is done in a session.

    @Override
    public boolean staysOpen() {
        return false;
    }

    @Override
    public void restoreRest() {}

    /** Nobody else opens or closes it. */
    @Override
    public SessionCourse.Closed closed() {
        return course.isClosed() ? SessionCourse.Closed.BY_SERVICE : SessionCourse.Closed.BY_NOBODY;
    }

    @Override
    public void openForClients() {
        if (opening != null) {
            opening.open();
        }
    }

    @Override
    public void noteAnswered() {
        if (opening != null && session != null) {
            session.acknowledging().answered();
        }
    }

    @Override
    public void holdCommits() {
        if (opening != null) {
            opening.hold();
        }
    }

    @Override
    public void closeForClients() {
        if (opening != null) {
            opening.beginToClose(course.isUp());
        }
    }

    @Override
    public TailCourse.Step recover() throws SQLException, IOException, InterruptedException {
        try {
            return tail.step();
        } catch (QuorateException e) {
            world.statistics.tailsRefused++;
            node.replacement().need(e.getMessage());
            throw new LostTail.BrokenOff();
        }
    }

    @Override
    public boolean isCurrent() {
        return tail.isCurrent();
    }

    @Override
    public boolean hasPassedOver() {
        return true;
    }

    @Override
    public long ownOrdered() {
        return node.stream().own().last();
    }

    @Override
    public long ownExecuted() {
        return node.database().lastNumber();
    }

    @Override
    public void captureAlone() {
        session = new Session(node, true);
        session.startCapture();
    }

    @Override
    public void apply() {
        if (session != null) {
            session.close();
        }
        node.database().logPosition();
        session = new Session(node, false);
    }

    @Override
    public boolean mayCapture() throws SQLException {
        return session.mayCapture(world.order().isPrimary(node), tail.orderedThen());
    }

    @Override
    public void capture() {
        session.startCapture();
    }

    @Override
    public boolean isCaptureUp() {
        return session.isCapturing();
    }

    @Override
    public void check() {
        // Nobody changes a server's settings here.
    }

    @Override
    public void vote(boolean synced) {
        if (world.dispute != null) {
            session.voting.answer(session.applied(), synced);
        }
    }

    @Override
    public void up() {
        node.happened(new NodeEvent.DatabaseUp());
    }

    @Override
    public void lost(String why) {
        close();
    }

    // What must hold.

    /** Whoever waits for OK gets an answer soon, while there is somebody who could give it. */
    void requireAnswers(long quietSince) {
        if (session == null || opening == null || !node.databaseUp) {
            return;
        }
        for (Transaction client : node.database().clients()) {
            long since = Math.max(client.waitsSince(), Math.max(quietSince, session.since()));
            World.require(
                    client.waitsSince() < 0 || world.now() - since <= world.answerMicrosMax(),
                    () -> node.name() + ":" + client.number() + " has waited for OK since " + client.waitsSince() + ", "
                            + node);
        }
    }

    /** Whether it has applied and captured everything. */
    boolean isIdle(long lastSeqno) {
        return session != null && course.applies() && session.isIdle() && session.applied() == lastSeqno;
    }

    @Override
    public String toString() {
        return signals.task() + " " + session;
    }
}
