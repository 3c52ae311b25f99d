// SPDX-License-Identifier: Apache-2.0
package io.quorate.applier;

import io.quorate.core.ErrorCode;
import io.quorate.core.GtidSet;
import io.quorate.core.QuorateException;
import io.quorate.core.Transitions;
import java.io.IOException;
import java.sql.SQLException;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The course of finding out what a mysqld that was started anew has lost at its end (its lost tail), and of repairing
 * that before anything commits on it. It has steps, because most of them wait for the order:
 *
 * <ol>
 *   <li>A probe comes through the order: now this node's knowledge of its own origin is current.
 *   <li>A server that forces its logs and lacks no ordered GTID is as it was left. Otherwise all GTIDs that it may have
 *       lost are reserved, before it gives them out again: the order would take new transactions for those it has.
 *   <li>Transactions that are in its binlog and not in the order are captured and ordered.
 *   <li>{@link TailRepair}: the rows go back to the position on disk, and from there everything is applied from the
 *       order.
 * </ol>
 *
 * <p>The server counts as examined only at the end ({@link ServerLife}): whatever interrupts or refuses the course, the
 * next one begins anew. This class only decides: statements, the order and the disk are behind ports, and time and
 * random numbers come in as arguments.
 */
public final class TailCourse {
    private static final Logger log = LoggerFactory.getLogger(TailCourse.class);
    /** More own transactions than can be on their way to the order: the server may have lost them too. */
    private static final long MARGIN = 10_000;

    private static final long PROBE_AGAIN_MILLIS = 1000;

    /** What has to happen next. */
    public enum Step {
        /** Wait for the probe. */
        PROBE,
        /** Compare what the server has with what the order has, and reserve what may be lost. */
        COMPARE,
        /** Capture what the binlog has, until the order has it too. */
        CAPTURE,
        /** Take back the transactions that may or may not be in the tables. */
        REPAIR,
        /** The server is this node's own again: the applier may start. */
        DONE;

        static final Transitions<Step> NEXT = Transitions.of(Map.of(
                PROBE, Set.of(COMPARE),
                COMPARE, Set.of(CAPTURE, DONE),
                CAPTURE, Set.of(REPAIR),
                REPAIR, Set.of(CAPTURE, DONE),
                DONE, Set.of()));
    }

    /** The server beside this node. */
    public interface Server {
        /** The GTIDs it has executed. */
        GtidSet executed() throws SQLException;

        /** The executed GTIDs that its binlog doesn't have. */
        GtidSet purged() throws SQLException;

        /** Whether it forces its binlog at each commit. */
        boolean forcesBinlog() throws SQLException;

        /** Whether it forces InnoDB's redo log at each commit. */
        boolean forcesRedoLog() throws SQLException;

        /** Reserves these, so that the server never gives them out. */
        void reserve(GtidSet gtids) throws SQLException;

        /**
         * Like {@link TailRepair#run}.
         *
         * @return what is no longer there; null when something else was committed meanwhile, which has to be ordered
         *     first
         */
        TakenBack repair(long ordered, GtidSet executed, GtidSet reserved)
                throws SQLException, IOException, InterruptedException;

        private boolean isDurable() throws SQLException {
            return forcesBinlog() && forcesRedoLog();
        }
    }

    /** The order, from this node's view. */
    public interface Order {
        boolean hasMajority();

        /** Sends an entry that changes nothing on any node; it may be lost. */
        void probe(int nonce);

        /** Whether the probe with this nonce was the last to come through. */
        boolean isProbed(int nonce);

        /** Whether the order has ever taken anything of this server. */
        boolean isKnown();

        /** The last GTID number of this server that it has taken, 0 for none. */
        long last();
    }

    /** Keeps what was found out. */
    @FunctionalInterface
    public interface Note {
        /** Writes it durably before it returns. */
        void keep(ServerLife life) throws IOException;
    }

    private final UUID server;
    private final long baseline;
    private final long started;
    private final Order order;
    private final Note note;
    private final int nonce;
    private ServerLife kept;
    private Step step;
    private boolean probing;
    private long probedMillis;
    /** The last own GTID number that must be ordered before anything is taken back. */
    private long awaited;

    /**
     * @param server the server's UUID
     * @param baseline the last GTID number of its own that was not to be ordered
     * @param kept what {@code note} has
     * @param started when mysqld was started
     * @param nonce distinguishes this course's probe from those of earlier ones, which may still come
     */
    public TailCourse(UUID server, long baseline, ServerLife kept, long started, Order order, Note note, int nonce) {
        this.server = server;
        this.baseline = baseline;
        this.kept = kept;
        this.started = started;
        this.order = order;
        this.note = note;
        this.nonce = nonce;
        this.step = kept.started() == started ? Step.DONE : Step.PROBE;
    }

    public Step at() {
        return step;
    }

    /** Own transactions that the database lacks. */
    public TakenBack takenBack() {
        return kept.takenBack();
    }

    /** GTIDs of this server that no transaction ever had, or only one that it lost: its binlog doesn't have them. */
    public GtidSet reserved(Server here) throws SQLException {
        return kept.reservedOf(here.purged());
    }

    /**
     * The last own GTID number that was ordered when it was found out what the database lacks. A node whose own store
     * has lost its end doesn't know that any more; until the order says it again, transactions that were taken back
     * would look open.
     */
    public long orderedThen(Server here) throws SQLException {
        TakenBack lacked = kept.takenBack();
        if (lacked.equals(TakenBack.NONE)) {
            return 0;
        }
        GtidSet had = here.executed().minus(reserved(here));
        return had.minus(had.above(server, lacked.upTo())).last(server);
    }

    /** Records it when the server has stopped forcing its logs; called regularly. */
    public void compareSettings(Server here) throws SQLException, IOException {
        if (step == Step.DONE && kept.durable() && !here.isDurable()) {
            keep(new ServerLife(started, false, kept.reserved(), new GtidSet(), kept.takenBack()));
        }
    }

    /**
     * Goes on as far as it can, and returns the step it has reached: {@link Step#PROBE}, {@link Step#CAPTURE} or {@link
     * Step#DONE}.
     */
    public Step step(Server here, long nowMillis) throws SQLException, IOException, InterruptedException {
        if (step == Step.PROBE && isCurrent(nowMillis)) {
            go(Step.COMPARE);
        }
        if (step == Step.COMPARE) {
            go(compare(here));
        }
        if (step == Step.CAPTURE && ordered() >= awaited) {
            go(Step.REPAIR);
        }
        if (step == Step.REPAIR) {
            go(repair(here));
        }
        return step;
    }

    private void go(Step next) {
        step = Step.NEXT.step(step, next);
    }

    /** Whether a probe has come through the order: then this node's knowledge of its own origin is current. */
    public boolean isCurrent(long nowMillis) {
        if (!order.hasMajority()) {
            return false;
        }
        if (!probing || nowMillis - probedMillis > PROBE_AGAIN_MILLIS) {
            probing = true;
            probedMillis = nowMillis;
            order.probe(nonce);
        }
        return order.isProbed(nonce);
    }

    /** Up to which of this server's GTIDs the order, or the common beginning of all nodes, has taken them. */
    private long ordered() {
        return Math.max(baseline, order.last());
    }

    private Step compare(Server here) throws SQLException, IOException {
        long ordered = ordered();
        GtidSet executed = here.executed();
        GtidSet purged = here.purged();
        boolean durable = here.isDurable();
        GtidSet missing = new GtidSet().add(server, baseline + 1, ordered).minus(executed);
        boolean isNew = kept.isNone() && !order.isKnown();
        GtidSet reserved = kept.reservedOf(purged);
        if (isNew || (durable && kept.durable() && missing.isEmpty())) {
            keep(new ServerLife(started, durable, reserved, new GtidSet(), TakenBack.NONE));
            return Step.DONE;
        }
        GtidSet unlogged = purged.above(server, ordered).minus(reserved);
        if (!unlogged.isEmpty() && !here.forcesBinlog()) {
            throw new QuorateException(
                    ErrorCode.BINLOG_SHORT,
                    "the binlog lost " + unlogged + ", which were never ordered, and the tables did not");
        }
        awaited = executed.minus(reserved).last(server);
        long from = Math.max(ordered, executed.last(server)) + 1;
        GtidSet next = new GtidSet().addAll(missing).add(server, from, from + MARGIN - 1);
        // Recorded first: if the server were told and this node had no record, these could not be told from what the
        // server lost.
        keep(kept.reserving(reserved, next));
        here.reserve(next);
        log.info(
                "mysqld was started anew, {}; the order has its transactions up to {}, it has them up to {}{}",
                durable ? "and lacks some" : "and does not force its logs at each commit",
                ordered,
                awaited,
                missing.isEmpty() ? "" : " and lost " + missing);
        return Step.CAPTURE;
    }

    private Step repair(Server here) throws SQLException, IOException, InterruptedException {
        GtidSet reserved = reserved(here);
        GtidSet executed = here.executed();
        long last = executed.minus(reserved).last(server);
        if (last > awaited) {
            awaited = last;
            return Step.CAPTURE;
        }
        TakenBack takenBack = here.repair(ordered(), executed, reserved);
        if (takenBack == null) {
            return Step.CAPTURE;
        }
        keep(new ServerLife(started, here.isDurable(), reserved, new GtidSet(), takenBack));
        return Step.DONE;
    }

    private void keep(ServerLife life) throws IOException {
        note.keep(life);
        kept = life;
    }
}
