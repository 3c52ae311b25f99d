// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.scheduler;

import io.quorate.core.QuorateException;
import io.quorate.node.member.MemberReport;
import io.quorate.node.server.ServerAccess;
import io.quorate.node.thread.FaultHandler;
import io.quorate.node.thread.OwnedThread;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Collection;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sees to it that events (CREATE EVENT) run on one server of the cluster and not on each, by the server's own variable
 * {@code event_scheduler} ({@link SchedulerRule}). All servers have the same events, switched on; what they write comes
 * to the other servers as rows.
 *
 * <p>It is persisted as OFF by this service on every server, so that a mysqld which is started again runs no events
 * before its service knows where they run. A scheduler that somebody else has switched off, or that was off when mysqld
 * started, is left as it is. While another node takes over from one that is gone, an event that is due may be run by
 * both or by none.
 */
public final class EventScheduler implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(EventScheduler.class);
    private static final String VARIABLE = "event_scheduler";
    private static final long LOOK_MILLIS = 1000;
    private static final Duration ANSWER_MAX = Duration.ofSeconds(10);

    private final String node;
    private final ServerAccess access;
    private final BooleanSupplier ours;
    private final BooleanSupplier synced;
    private final Supplier<? extends Collection<MemberReport>> others;
    private final OwnedThread thread;
    private @Nullable Connection connection;
    /**
     * Whether the last look said that it is to be switched on here. One look alone may rest on a report that another
     * node sent before it became SYNCED, as all do at the same moment after an election; by the next one it has sent
     * more.
     */
    private boolean wasToTakeOver;

    private volatile @Nullable Boolean on;

    /**
     * @param ours whether the server is this node's, or is to be; otherwise its scheduler is left alone
     * @param synced whether the server holds what the order says
     * @param others the reports of the other nodes that are present
     */
    public EventScheduler(
            String node,
            ServerAccess access,
            BooleanSupplier ours,
            BooleanSupplier synced,
            Supplier<? extends Collection<MemberReport>> others,
            FaultHandler faults) {
        this.node = node;
        this.access = access;
        this.ours = ours;
        this.synced = synced;
        this.others = others;
        this.thread =
                OwnedThread.lasting("quorate-scheduler", this::run, faults).start();
    }

    /** Whether it is on; null when it isn't known, or somebody else has switched it off. */
    public @Nullable Boolean isOn() {
        return on;
    }

    private void run() throws InterruptedException {
        while (true) {
            Thread.sleep(LOOK_MILLIS);
            try {
                if (ours.getAsBoolean()) {
                    look();
                }
            } catch (SQLException | QuorateException e) {
                log.debug("the event scheduler can't be looked at: {}", e.toString());
                disconnect();
            }
        }
    }

    private void look() throws SQLException {
        boolean takesOverIfStill = wasToTakeOver;
        wasToTakeOver = false;
        if (connection == null) {
            connection = access.connectAlone(ANSWER_MAX);
        }
        String before = ServerAccess.ask(connection, "SELECT @@GLOBAL." + VARIABLE);
        boolean isOn = before.equals("ON");
        if (!isOn && !Boolean.FALSE.equals(on)) {
            on = isOffByThisService(connection) ? Boolean.FALSE : null;
        } else {
            on = isOn;
        }
        if (on == null) {
            return;
        }
        if (isOn && !isPersistedOff(connection)) {
            persistOff(connection);
            ServerAccess.set(connection, VARIABLE, "ON");
        }
        boolean here = new SchedulerRule(node, others.get()).isHere(synced.getAsBoolean(), isOn);
        wasToTakeOver = here && !isOn;
        if (wasToTakeOver && takesOverIfStill) {
            // Somebody else may have switched it off since, which nobody sees who only looks at its value.
            on = isOffByThisService(connection) ? Boolean.TRUE : null;
            if (on != null) {
                ServerAccess.set(connection, VARIABLE, "ON");
                log.info("events run on this node's server now");
            }
        } else if (!here && isOn) {
            switchOff(connection);
        }
    }

    private void switchOff(Connection connection) throws SQLException {
        persistOff(connection);
        on = false;
        log.info("events don't run on this node's server: they run on one SYNCED node of the cluster");
    }

    /** Off now, and when mysqld starts. */
    private static void persistOff(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute("SET PERSIST " + VARIABLE + " = OFF");
        }
    }

    private static boolean isPersistedOff(Connection connection) throws SQLException {
        return ServerAccess.ask(
                        connection,
                        "SELECT COUNT(*) FROM performance_schema.persisted_variables WHERE VARIABLE_NAME = '" + VARIABLE
                                + "' AND VARIABLE_VALUE = 'OFF'")
                .equals("1");
    }

    /** Whether it is off because a service with this account has switched it off. */
    private static boolean isOffByThisService(Connection connection) throws SQLException {
        return ServerAccess.ask(
                        connection,
                        "SELECT COUNT(*) FROM performance_schema.variables_info WHERE VARIABLE_NAME = '" + VARIABLE
                                + "' AND VARIABLE_SOURCE IN ('DYNAMIC', 'PERSISTED')"
                                + " AND SET_USER = SUBSTRING_INDEX(USER(), '@', 1)"
                                + " AND @@GLOBAL." + VARIABLE + " = 'OFF'")
                .equals("1");
    }

    private void disconnect() {
        on = null;
        if (connection != null) {
            try {
                connection.close();
            } catch (SQLException e) {
                log.debug("the connection of the event scheduler was lost before: {}", e.toString());
            }
            connection = null;
        }
    }

    /** A node that ends leaves it to the others. */
    @Override
    public void close() {
        thread.close();
        if (connection != null && Boolean.TRUE.equals(on)) {
            try {
                switchOff(connection);
            } catch (SQLException e) {
                log.info("the event scheduler can't be switched off: {}", e.getMessage());
            }
        }
        disconnect();
    }
}
