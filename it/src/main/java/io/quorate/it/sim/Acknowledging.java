// SPDX-License-Identifier: Apache-2.0
package io.quorate.it.sim;

import io.quorate.core.AckCourse;
import io.quorate.core.AckCourse.Cause;
import io.quorate.core.AckCourse.Ending;
import io.quorate.core.AckTurns;
import io.quorate.core.BinlogPosition;
import io.quorate.core.Gtid;
import io.quorate.core.OverdueCommits;
import io.quorate.core.OwnRegister;
import io.quorate.core.WriteSet;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Carries out the product's {@link AckCourse}, {@link AckTurns} and {@link OverdueCommits} in one session with the
 * server: the capture's connection, which is the server's semi-sync replica and may break, and what ends sessions and
 * acknowledges, of which each turn takes its time.
 */
final class Acknowledging implements OwnRegister.Listener {
    /** What the product waits for runs so much faster here, as all does. */
    static final int CLOCK = 50;

    private static final int RETRY_MILLIS = 100 / CLOCK;
    private static final int LOOK_MILLIS = 1000 / CLOCK;
    private static final int READ_MAX_MILLIS = 2000 / CLOCK;
    private static final int PAUSE_MICROS_MAX = 3000;
    private static final int HOLD_MAX_MILLIS = 500 / CLOCK;
    private static final int SLOWED_EVERY = 30;
    private static final int SLOW_PER_SECOND_MAX = 2000;
    private static final int SLOW_MILLIS_MAX = 40;
    private static final String FILE = "binlog.000001";

    private final Session session;
    private final World world;
    private final Node node;
    private final Database database;
    private final AckCourse course;
    private final AckTurns<Integer> turns;
    private final OverdueCommits overdue;

    private boolean connected;
    private int connections;
    private boolean busy;
    private int pauses;
    private long captured;

    Acknowledging(Session session) {
        this.session = session;
        this.world = session.world;
        this.node = session.node;
        this.database = node.database();
        this.course = new AckCourse(world.commitTimeoutMillis, HOLD_MAX_MILLIS);
        this.turns = new AckTurns<>(course, RETRY_MILLIS);
        this.overdue = new OverdueCommits(world.commitTimeoutMillis + READ_MAX_MILLIS);
        answered();
        if (!world.bugs.contains(Bug.OVERDUE_LEFT)) {
            look();
        }
    }

    /** Commits are about to wait, or didn't when this session began: whoever has committed by now has been answered. */
    void answered() {
        if (!world.bugs.contains(Bug.FORMER_SESSION_ENDED)) {
            course.answered(database.lastNumber());
        }
    }

    // The capture's connection.

    boolean isConnected() {
        return connected;
    }

    /** Has the binlog from a place on sent, when that may be asked for. */
    void connect(int from) {
        if (session.isClosed()) {
            return;
        }
        if (!turns.mayConnect() && !world.bugs.contains(Bug.CONNECTED_UNSETTLED)) {
            signal();
            world.after(1 + world.random.nextInt(300), () -> connect(from));
            return;
        }
        connected = true;
        turns.connected(++connections);
        database.commits().sends(from);
        signal();
        session.capture();
    }

    void disconnect() {
        connected = false;
        turns.disconnected();
        database.commits().replicaGone();
    }

    /** Whether the connection breaks before the next event is read; then there will be another one. */
    boolean breaks(int at) {
        if (!world.chance(world.faults.loss() / 3)) {
            return false;
        }
        world.trace(node.name() + " loses the connection of its capture");
        world.statistics.reconnected++;
        disconnect();
        world.after(1 + world.random.nextInt(PAUSE_MICROS_MAX), () -> connect(at));
        return true;
    }

    @Override
    public void captured(WriteSet w) {
        captured = Math.max(captured, w.gtid().number());
        course.captured(w.gtid().number(), w.session(), w.payload().size(), world.millis());
        if (world.slowing != null && world.slowing.nextInt(SLOWED_EVERY) == 0) {
            slow();
        }
    }

    /** Flow control slows this server's clients for a while: the promises don't depend on why, and how much. */
    private void slow() {
        int perSecond = world.slowing.nextInt(SLOW_PER_SECOND_MAX);
        long until = world.millis() + 1 + world.slowing.nextInt(SLOW_MILLIS_MAX);
        world.trace(node.name() + " slows its clients to " + perSecond + " a second");
        world.statistics.slowed++;
        course.slow(perSecond, world.millis(), until);
    }

    /** What ends there has been captured. */
    void read(int end, Database.Logged last) {
        course.read(new BinlogPosition(FILE, end), world.millis());
        boolean applied = world.bugs.contains(Bug.APPLIER_NOT_HELD_BACK) && !last.byClient();
        if (applied || world.bugs.contains(Bug.ACKNOWLEDGED_WHEN_CAPTURED)) {
            send(end);
        }
        signal();
    }

    // The order.

    @Override
    public void decided(Collection<Long> lost, long last) {
        course.decided(lost, last);
        signal();
    }

    // The thread.

    /** There may be something to do. */
    void signal() {
        if (!busy && !session.isClosed()) {
            busy = true;
            world.after(1 + world.random.nextInt(50), this::turn);
        }
    }

    private void turn() {
        if (session.isClosed()) {
            return;
        }
        AckTurns.Turn<Integer> next = turns.next(world.millis());
        if (next == null) {
            pause();
        } else if (next instanceof AckTurns.Acknowledgement<Integer> due) {
            send((int) due.ack().end().offset());
            then(1, () -> turns.acknowledged(due));
        } else if (next instanceof AckTurns.End<Integer> due) {
            if (world.bugs.contains(Bug.ENDED_AFTER_ACK)) {
                course.ended(due.ending().number());
            }
            then(1 + world.random.nextInt(world.faults.stepMicrosMax()), () -> end(due.ending()));
        }
    }

    /** Ends the sessions of commits that wait though nobody captures them. */
    private void look() {
        if (session.isClosed()) {
            return;
        }
        Map<Gtid, Long> waiting = new LinkedHashMap<>();
        database.clients().stream()
                .filter(client -> client.isInCommit() && !isInHand(client.number()))
                .forEach(client -> waiting.put(new Gtid(node.uuid(), client.number()), client.session));
        overdue.look(waiting, session.captured(), world.millis())
                .forEach(each -> world.after(1, () -> {
                    if (!session.isClosed() && database.isCommitting(each.getValue())) {
                        world.trace(node.name() + " ends the session of " + each.getKey() + ", which nobody captures");
                        world.statistics.endedOverdue++;
                        database.killSession(each.getValue());
                    }
                }));
        world.after(1000L * LOOK_MILLIS, this::look);
    }

    private boolean isInHand(long number) {
        return course.isInHand(number) || (world.bugs.contains(Bug.GROUP_NOT_ENDED) && number <= captured);
    }

    private void then(int micros, Runnable what) {
        world.after(micros, () -> {
            if (!session.isClosed()) {
                what.run();
                turn();
            }
        });
    }

    private void pause() {
        busy = false;
        int pause = ++pauses;
        world.after(1000 * turns.waitMillis(world.millis(), LOOK_MILLIS), () -> {
            if (pause == pauses) {
                signal();
            }
        });
    }

    private void send(int end) {
        int on = connections;
        world.after(1 + world.random.nextInt(100), () -> {
            if (connected && connections == on) {
                boolean whole = world.bugs.contains(Bug.GROUP_BOUNDARY_IGNORED);
                database.commits().acknowledge(whole ? database.commits().wholeGroup(end) : end);
            }
        });
    }

    private void end(Ending ending) {
        if (world.chance(world.faults.loss())) {
            turns.notEnded(world.millis());
            return;
        }
        boolean lost = ending.cause() == Cause.LOST;
        world.statistics.endedLost += lost ? 1 : 0;
        world.statistics.endedUndecided += lost ? 0 : 1;
        world.trace(node.name() + " ends the session of " + ending.number() + ": " + ending.cause());
        if (lost || !world.bugs.contains(Bug.TIMED_OUT_UNENDED)) {
            requireWaits(ending);
            database.killSession(ending.session());
        }
        turns.ended(ending);
    }

    /** Nobody's session is ended who has been answered, and is about something else by now. */
    private void requireWaits(Ending ending) {
        World.require(
                !database.isConnected(ending.session()) || database.isCommitting(ending.session(), ending.number()),
                () -> node.name() + " ends a session that doesn't wait for what it is ended for: " + ending);
    }

    @Override
    public String toString() {
        return (connected ? "connected, " : "not connected, ") + course.size() + " wait";
    }
}
