// SPDX-License-Identifier: Apache-2.0
package io.quorate.capture;

import io.debezium.connector.mysql.MySqlConnector;
import io.debezium.embedded.Connect;
import io.debezium.engine.DebeziumEngine;
import io.debezium.relational.history.MemorySchemaHistory;
import io.quorate.core.ErrorCode;
import io.quorate.core.QuorateException;
import io.quorate.core.ServerTls;
import io.quorate.core.SessionSettings;
import java.io.IOException;
import java.time.Duration;
import java.util.Locale;
import java.util.Properties;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One Debezium engine with the stock MySQL connector, for one connection. It makes no records: no table is included,
 * and its tap sees the events.
 */
final class DebeziumSession {
    private static final Logger LOG = LoggerFactory.getLogger(DebeziumSession.class);
    private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(20);
    /** Each may have a connection with the server. */
    static final int LEFT_MAX = 16;

    /** Of engines that were closed and didn't end. */
    private static final Set<Thread> LEFT = ConcurrentHashMap.newKeySet();

    private final String id = "quorate-" + UUID.randomUUID();
    private final Tap tap;
    private final DebeziumEngine<?> engine;
    private final Thread runner;
    private volatile boolean over;

    /** @throws QuorateException when too many that were closed haven't ended */
    DebeziumSession(CaptureSettings settings, Tap tap) {
        LEFT.removeIf(thread -> !thread.isAlive());
        if (LEFT.size() >= LEFT_MAX) {
            throw new QuorateException(
                    ErrorCode.SERVER_UNREACHABLE,
                    LEFT.size() + " threads of former connections of Debezium's with the server don't end; there is no"
                            + " other connection before one of them has, or this service is restarted");
        }
        this.tap = tap;
        TapProvider.register(id, tap);
        engine = DebeziumEngine.create(Connect.class)
                .using(properties(settings, id))
                .using((boolean success, String message, Throwable error) -> {
                    over = true;
                    tap.failed(new QuorateException(
                            ErrorCode.SERVER_UNREACHABLE, "the Debezium engine ended: " + message, error));
                })
                .notifying(change -> {
                    // No table is included, so there are no records.
                })
                .build();
        runner = new Thread(this::run, "capture-engine-" + settings.port());
        runner.setDaemon(true);
        runner.start();
    }

    private void run() {
        try {
            engine.run();
        } catch (RuntimeException | Error e) {
            tap.failed(new QuorateException(ErrorCode.CAPTURE_FAILED, "the Debezium engine ended because of " + e, e));
        } finally {
            over = true;
            tap.failed(new QuorateException(ErrorCode.SERVER_UNREACHABLE, "the Debezium engine ended"));
        }
    }

    /** Ends it within a bound: after some server errors Debezium's close hangs, and is then left alone. */
    void close() throws InterruptedException {
        tap.stop();
        Thread closer = new Thread(this::closeEngine, runner.getName() + "-close");
        closer.setDaemon(true);
        closer.start();
        closer.join(CLOSE_TIMEOUT.toMillis());
        runner.join(CLOSE_TIMEOUT.toMillis());
        if (closer.isAlive() || runner.isAlive()) {
            LOG.warn("A Debezium engine did not end within {}; its threads are interrupted and left", CLOSE_TIMEOUT);
            leave(closer);
            leave(runner);
        }
        TapProvider.unregister(id);
    }

    static void leave(Thread thread) {
        thread.interrupt();
        LEFT.add(thread);
    }

    private void closeEngine() {
        long end = System.nanoTime() + CLOSE_TIMEOUT.toNanos();
        while (!over && System.nanoTime() < end) {
            try {
                engine.close();
                return;
            } catch (IOException | RuntimeException e) {
                // It can't be closed while tasks are starting, nor once it has ended.
                LOG.debug("Closing a Debezium engine", e);
                try {
                    Thread.sleep(50);
                } catch (InterruptedException interrupted) {
                    return;
                }
            }
        }
    }

    private static Properties properties(CaptureSettings settings, String id) {
        Properties p = new Properties();
        p.setProperty(TapProvider.TAP_PROPERTY, id);
        p.setProperty("name", id);
        p.setProperty("connector.class", MySqlConnector.class.getName());
        p.setProperty("offset.storage", FixedOffset.class.getName());
        p.setProperty("database.hostname", settings.host());
        p.setProperty("database.port", String.valueOf(settings.port()));
        p.setProperty("database.user", settings.user());
        p.setProperty("database.password", settings.password().value());
        p.setProperty("database.server.id", String.valueOf(settings.replicaId()));
        p.setProperty("driver." + SessionSettings.PROPERTY, SessionSettings.forCapture());
        setTls(p, settings.tls());
        p.setProperty(
                "connect.timeout.ms", String.valueOf(settings.connectTimeout().toMillis()));
        // Debezium gives up on a connection that nobody answers only after a minute, and leaves it and its thread then.
        p.setProperty("driver.socketTimeout", ServerConnection.socketTimeoutMillis(settings));
        // The client's heartbeat period is 0.8 of this. Its own reconnecting loses prepared transactions and stays off.
        p.setProperty("connect.keep.alive", "false");
        p.setProperty(
                "connect.keep.alive.interval.ms",
                String.valueOf(Math.max(1, settings.heartbeat().toMillis() * 10 / 8)));
        p.setProperty("errors.max.retries", "0");
        // No snapshot, and no lock taken for one.
        p.setProperty("snapshot.mode", "recovery");
        p.setProperty("snapshot.locking.mode", "none");
        // No records: no table matches, and no schema is kept.
        p.setProperty("table.include.list", "quorate\\.captures_no_table_by_records");
        p.setProperty("include.schema.changes", "false");
        p.setProperty("skipped.operations", "c,u,d,t");
        p.setProperty("schema.history.internal", MemorySchemaHistory.class.getName());
        p.setProperty("schema.history.internal.store.only.captured.tables.ddl", "true");
        p.setProperty("schema.history.internal.skip.unparseable.ddl", "true");
        return p;
    }

    /** Of Debezium's own connection beside the binlog's, which has {@link BinlogTls} where the server is verified. */
    private static void setTls(Properties p, ServerTls tls) {
        p.setProperty("database.ssl.mode", tls.mode().name().toLowerCase(Locale.ROOT));
        tls.driverProperties().forEach((name, value) -> p.setProperty("driver." + name, value));
        if (tls.keys() != null) {
            p.setProperty("database.ssl.keystore", tls.keys().file());
            p.setProperty("database.ssl.keystore.password", tls.keys().password());
        }
    }
}
