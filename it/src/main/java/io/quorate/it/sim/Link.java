// SPDX-License-Identifier: Apache-2.0
package io.quorate.it.sim;

import io.quorate.applier.TailCourse;
import io.quorate.core.NodeEvent;
import io.quorate.core.QuorateException;
import io.quorate.node.server.LinkSignals;
import io.quorate.node.server.LinkSignals.Task;
import io.quorate.node.server.SessionCourse;
import java.io.IOException;
import java.sql.SQLException;

/**
 * A node's link to its server. It has one session after the other, each of which takes the product's {@link
 * SessionCourse}; here is what is done in it. Any step may find that the session is lost.
 */
final class Link implements SessionCourse.Work {
    private final Node node;
    private final World world;
    /** Whether its server is open for clients; null but in mode after-sync. */
    private final Opening opening;

    private LinkSignals signals = new LinkSignals();
    private boolean started;
    private boolean handedOver;

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
        if (signals.task() == Task.HAND_OVER) {
            close();
        }
        signals.resume();
    }

    /** The link does nothing but have the order get what clients have committed. */
    void handOver() {
        handedOver = false;
        signals.handOver();
    }

    boolean hasHandedOver() {
        return handedOver || world.bugs.contains(Bug.COPIED_UNHANDED);
    }

    void quorumChanged(boolean primary) {
        if (session != null) {
            session.quorumChanged(primary);
        }
    }

    /** The session ends, if there is one. */
    void close() {
        course = null;
        tail = null;
        if (session != null) {
            session.close();
            session = null;
        }
        node.happened(new NodeEvent.DatabaseDown("away"));
    }

    // The sessions.

    /** Now and then: begins a session when there is one to be had, and goes on with it. */
    void look() {
        Task task = signals.task();
        boolean handing = task == Task.HAND_OVER;
        if (!node.databaseUp || !started || !task.serves() || (handing && handedOver)) {
            return;
        }
        if (course == null && !handing && node.lacksCopy()) {
            return;
        }
        try {
            if (course == null) {
                begin(task);
            }
            if (handing) {
                handOn();
            } else if (opening == null || opening.goOn()) {
                course.look(this, task, world.millis() * Joining.CLOCK);
            }
        } catch (LostTail.BrokenOff e) {
            close();
        } catch (SQLException | IOException | InterruptedException e) {
            throw new IllegalStateException(e);
        }
        if (session != null) {
            session.look();
        }
    }

    private void begin(Task task) throws SQLException, IOException, InterruptedException {
        settle();
        tail = new LostTail(node);
        course = new SessionCourse();
        if (task != Task.HAND_OVER) {
            node.meetServer();
            course.begin(this, task, tail.isReady());
        }
    }

    private void handOn() throws SQLException, IOException, InterruptedException {
        if (course.hasHandedOver(this)) {
            handedOver = true;
            close();
        }
    }

    /** While there is no session: nothing waits any more that could come to the server after it is asked. */
    void settleCommits() {
        if (course == null && node.databaseUp && !world.bugs.contains(Bug.ASKED_AMONG_COMMITS)) {
            settle();
        }
    }

    private void settle() {
        if (opening != null) {
            opening.found();
        }
    }

    // What is done in a session.

    @Override
    public boolean staysOpen() {
        return false;
    }

    @Override
    public void openForClients() {
        if (opening != null) {
            tellAnswered();
            opening.open();
        }
    }

    private void tellAnswered() {
        if (session != null) {
            session.acknowledging().answered();
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
            node.needsCopy(e.getMessage());
            throw new LostTail.BrokenOff();
        }
    }

    @Override
    public boolean isCurrent() {
        return tail.isCurrent();
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
        if (opening != null) {
            tellAnswered();
            opening.hold();
        }
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
