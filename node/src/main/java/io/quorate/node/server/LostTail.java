// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.server;

import io.quorate.applier.TailCourse;
import io.quorate.applier.TailRepair;
import io.quorate.applier.TakenBack;
import io.quorate.certification.OrderedStream;
import io.quorate.core.GtidSet;
import io.quorate.core.TotalOrder;
import io.quorate.core.WriteSetLog;
import io.quorate.node.config.NodeProperties;
import io.quorate.node.thread.MonotonicClock;
import java.io.IOException;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;

/**
 * Finds out, for a session, which of its last transactions the server has lost, and repairs it: {@link TailCourse}
 * decides, this class asks the server, the order and the disk. Used by the session's thread.
 */
final class LostTail {
    private static final Duration LOCK_WAIT = Duration.ofSeconds(3);

    /** What is needed to find out what a server lost. */
    record Ports(
            NodeProperties properties, String incarnation, WriteSetLog cache, OrderedStream stream, TotalOrder order) {}

    private final Ports ports;
    private final ServerAccess access;
    private final NodeIdentity identity;
    private final TailCourse course;

    LostTail(Ports ports, ServerAccess access, NodeIdentity identity, Connection connection) throws SQLException {
        this.ports = ports;
        this.access = access;
        this.identity = identity;
        Path directory = ports.properties().dataDir();
        this.course = new TailCourse(
                identity.server(),
                identity.baseline().last(identity.server()),
                ServerLifeFile.read(directory),
                ServerAccess.started(connection),
                new OfStream(),
                life -> ServerLifeFile.write(directory, life),
                (int) (System.nanoTime() & 0x3fff_ffff));
    }

    boolean isReady() {
        return course.at() == TailCourse.Step.DONE;
    }

    /** Whether this node doesn't know yet all that the order knew when the session began. */
    boolean isProbing() {
        return course.at() == TailCourse.Step.PROBE;
    }

    /** Own transactions that the database lacks. */
    TakenBack takenBack() {
        return course.takenBack();
    }

    /** As {@link TailCourse#reserved}. */
    GtidSet reserved(Connection connection) throws SQLException {
        return course.reserved(new ByConnection(connection));
    }

    /** As {@link TailCourse#orderedThen}. */
    long orderedThen(Connection connection) throws SQLException {
        return course.orderedThen(new ByConnection(connection));
    }

    /** As {@link TailCourse#compareSettings}. */
    void compareSettings(Connection connection) throws SQLException, IOException {
        course.compareSettings(new ByConnection(connection));
    }

    /** As {@link TailCourse#step}. */
    TailCourse.Step step(Connection connection) throws SQLException, IOException, InterruptedException {
        return course.step(new ByConnection(connection), MonotonicClock.millis());
    }

    /** As {@link TailCourse#isCurrent}. */
    boolean isCurrent() {
        return course.isCurrent(MonotonicClock.millis());
    }

    private final class OfStream implements TailCourse.Order {
        @Override
        public boolean hasMajority() {
            return ports.order().quorum().primary();
        }

        @Override
        public void probe(int nonce) {
            // Whether this succeeds is seen when the probe is delivered.
            var unused = ports.order().submit(ports.stream().probe(nonce));
        }

        @Override
        public boolean isProbed(int nonce) {
            return ports.stream().isProbed(nonce);
        }

        @Override
        public boolean isKnown() {
            return ports.stream().isKnown();
        }

        @Override
        public long last() {
            return ports.stream().own().last();
        }
    }

    private final class ByConnection implements TailCourse.Server {
        private final Connection connection;

        ByConnection(Connection connection) {
            this.connection = connection;
        }

        @Override
        public GtidSet executed() throws SQLException {
            return ServerAccess.executed(connection);
        }

        @Override
        public GtidSet purged() throws SQLException {
            return ServerAccess.purged(connection);
        }

        @Override
        public boolean forcesBinlog() throws SQLException {
            return ServerAccess.forcesBinlog(connection);
        }

        @Override
        public boolean forcesRedoLog() throws SQLException {
            return ServerAccess.forcesRedoLog(connection);
        }

        @Override
        public void reserve(GtidSet gtids) throws SQLException {
            ServerAccess.reserve(connection, gtids);
        }

        @Override
        public TakenBack repair(long ordered, GtidSet executed, GtidSet reserved)
                throws SQLException, IOException, InterruptedException {
            return new TailRepair(
                            new TailRepair.Access(access.workers(), LOCK_WAIT),
                            ports.cache(),
                            identity.server(),
                            ports.incarnation())
                    .run(ordered, executed, reserved);
        }
    }
}
