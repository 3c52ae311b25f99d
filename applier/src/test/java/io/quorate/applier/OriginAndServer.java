// SPDX-License-Identifier: Apache-2.0
package io.quorate.applier;

import static org.assertj.core.api.Assertions.assertThat;

import io.quorate.sandbox.MySqlServer;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;

/** An applier of a real server, with the binlog of another one as its source. */
abstract class OriginAndServer {
    private static final AtomicInteger SCHEMAS = new AtomicInteger();
    private static final Duration LIMIT = Duration.ofMinutes(3);
    static MySqlServer origin;
    static MySqlServer server;
    static String serverUuid;

    Replica replica;
    String schema;

    @BeforeAll
    static void startServers() {
        origin = MySqlServer.builder().relaxed().start();
        server = MySqlServer.builder().serverId(2).relaxed().start();
        serverUuid = server.uuid();
    }

    @AfterAll
    static void stopServers() {
        origin.close();
        server.close();
    }

    /** Both servers start each test with an empty binlog and an empty schema. */
    @BeforeEach
    void begin() {
        schema = "s" + SCHEMAS.incrementAndGet();
        server.execute(
                "SET GLOBAL read_only = 0",
                "DROP DATABASE IF EXISTS quorate",
                server.dialect().resetBinlogs());
        origin.execute(origin.dialect().resetBinlogs());
        both("CREATE DATABASE " + schema);
        replica = new Replica(origin, server);
    }

    @AfterEach
    void end() {
        replica.close();
    }

    /** On both servers, and in no binlog. */
    static void both(String... statements) {
        List<String> unlogged = new ArrayList<>(List.of("SET SESSION sql_log_bin = 0"));
        unlogged.addAll(List.of(statements));
        for (MySqlServer each : List.of(origin, server)) {
            each.execute(unlogged.toArray(String[]::new));
        }
    }

    static void await(BooleanSupplier condition) throws InterruptedException {
        long end = System.nanoTime() + LIMIT.toNanos();
        while (!condition.getAsBoolean()) {
            assertThat(System.nanoTime()).as("it comes within %s", LIMIT).isLessThan(end);
            Thread.sleep(10);
        }
    }

    /** A session in a transaction that may be killed. */
    record Client(Connection connection) implements AutoCloseable {
        Client(MySqlServer server) throws SQLException {
            this(server, "root");
        }

        Client(MySqlServer server, String user) throws SQLException {
            this(server.connect(user, "", ""));
            connection.setAutoCommit(false);
        }

        @Override
        public void close() throws SQLException {
            connection.abort(Runnable::run);
        }
    }
}
