// SPDX-License-Identifier: Apache-2.0
package io.quorate.applier;

import static org.assertj.core.api.Assertions.assertThat;

import io.quorate.core.Certified;
import io.quorate.core.QuorateException;
import io.quorate.core.WriteSet;
import io.quorate.sandbox.MySqlServer;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.function.LongUnaryOperator;
import java.util.stream.Collectors;
import javax.sql.DataSource;

/** A server to which an applier applies what an origin's binlog holds. */
final class Replica implements AutoCloseable {
    static final String INCARNATION = "11111111-2222-3333-4444-555555555555";
    static final ApplierSettings SETTINGS = ApplierSettings.DEFAULTS;

    final MySqlServer origin;
    final MySqlServer server;
    final MemoryLog log;
    private Applier.OwnWritesSource ownWrites = (seqno, undone, isHere) -> SharedOwnWrites.none();
    private Verdicts verdicts = Verdicts.NONE;
    private Runnable onApplied = () -> {};
    private Applier applier;
    private long applied;
    private long calls;
    private QuorateException failed;
    private SQLException lost;

    Replica(MySqlServer origin, MySqlServer server) {
        this(origin, server, new MemoryLog());
    }

    Replica(MySqlServer origin, MySqlServer server, MemoryLog log) {
        this.origin = origin;
        this.server = server;
        this.log = log;
    }

    /** Clients write to the server, and this says what. */
    void ownWrites(Applier.OwnWritesSource source) {
        ownWrites = source;
    }

    /** What the other nodes have found about definitions. */
    void verdicts(Verdicts found) {
        verdicts = found;
    }

    /** Done by the thread of the applier that says how far it is. */
    synchronized void onApplied(Runnable action) {
        onApplied = action;
    }

    DataSource source() {
        return ApplierDataSource.of(server.jdbcUrl(), "root", "");
    }

    Applier start(ApplierSettings settings) throws SQLException {
        return start(settings, source());
    }

    Applier start(ApplierSettings settings, DataSource source) throws SQLException {
        return start(settings, source, TakenBack.NONE);
    }

    Applier start(ApplierSettings settings, DataSource source, TakenBack takenBack) throws SQLException {
        synchronized (this) {
            failed = null;
            lost = null;
        }
        applier = new Applier(
                settings,
                source,
                log,
                UUID.fromString(server.uuid()),
                INCARNATION,
                ownWrites,
                verdicts,
                DefinitionTexts.UNREAD,
                new Listener());
        applier.start(takenBack);
        return applier;
    }

    /** Appends what is new in the origin's binlog. */
    void take(LongUnaryOperator dependsOn) {
        origin.execute("FLUSH BINARY LOGS");
        List<WriteSet> all = BinlogReader.writeSets(origin.dataDirectory());
        long have = log.last();
        append(Records.certified(all.subList((int) have, all.size()), have + 1, dependsOn));
    }

    void append(List<Certified> records) {
        log.append(records);
    }

    /** Waits until all of the record is applied; fails when the applier does or nothing moves for long. */
    synchronized void awaitApplied() throws InterruptedException {
        long last = log.last();
        long moved = System.nanoTime();
        long before = -1;
        while (applied < last) {
            if (failed != null) {
                throw failed;
            }
            if (lost != null) {
                throw new IllegalStateException(lost);
            }
            if (applied != before) {
                before = applied;
                moved = System.nanoTime();
            } else if (System.nanoTime() - moved > Duration.ofMinutes(3).toNanos()) {
                throw new AssertionError("stuck at " + applied + " of " + last + ": " + applier.stats());
            }
            wait(200);
        }
    }

    synchronized QuorateException awaitFailure() throws InterruptedException {
        while (failed == null) {
            wait(200);
        }
        return failed;
    }

    synchronized SQLException awaitLoss() throws InterruptedException {
        while (lost == null) {
            wait(200);
        }
        return lost;
    }

    synchronized void awaitApplied(long seqno) throws InterruptedException {
        while (applied < seqno) {
            if (failed != null) {
                throw failed;
            }
            wait(200);
        }
    }

    synchronized long calls() {
        return calls;
    }

    ApplierStats stats() {
        return applier.stats();
    }

    void stop() {
        if (applier != null) {
            applier.close();
        }
    }

    @Override
    public void close() {
        stop();
    }

    /** Fails with what differs between the two servers. */
    void assertSame(String schema) {
        List<String> here = contents(server, schema);
        List<String> there = contents(origin, schema);
        List<String> missing = new ArrayList<>(there);
        missing.removeAll(here);
        List<String> extra = new ArrayList<>(here);
        extra.removeAll(there);
        assertThat(missing).as("only at the origin; only here: %s", extra).isEmpty();
        assertThat(here).hasSameSizeAs(there);
    }

    /** Every table of a schema as text, exactly; tables and rows in a stable order. */
    static List<String> contents(MySqlServer server, String schema) {
        List<String> result = new ArrayList<>();
        try (Connection connection = server.connect();
                Statement statement = connection.createStatement()) {
            statement.execute("SET SESSION sql_mode = '', time_zone = '+00:00'");
            for (List<String> table : rows(
                    statement,
                    "SELECT table_name FROM information_schema.tables WHERE table_schema = '" + schema
                            + "' AND table_type = 'BASE TABLE' ORDER BY 1")) {
                String name = "`" + schema + "`.`" + table.get(0).replace("`", "``") + "`";
                String create =
                        rows(statement, "SHOW CREATE TABLE " + name).get(0).get(1);
                result.add(name + " " + create.replaceAll(" AUTO_INCREMENT=\\d+", ""));
                // With a multi-valued index the server's checksum changes from session to session on one and the same
                // table.
                String check = create.contains(" array") ? "CHECK TABLE " : "CHECKSUM TABLE ";
                result.add(name + rows(statement, check + name));
                String columns = rows(statement, "SHOW COLUMNS FROM " + name).stream()
                        .map(c -> "HEX(CONCAT(`" + c.get(0) + "`))")
                        .collect(Collectors.joining(","));
                rows(statement, "SELECT " + columns + " FROM " + name).stream()
                        .map(r -> name + " " + r)
                        .sorted()
                        .forEach(result::add);
            }
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
        return result;
    }

    private static List<List<String>> rows(Statement statement, String sql) throws SQLException {
        List<List<String>> rows = new ArrayList<>();
        try (ResultSet row = statement.executeQuery(sql)) {
            int columns = row.getMetaData().getColumnCount();
            while (row.next()) {
                List<String> values = new ArrayList<>();
                for (int i = 1; i <= columns; i++) {
                    values.add(row.getString(i));
                }
                rows.add(values);
            }
        }
        return rows;
    }

    private final class Listener implements ApplierListener {
        @Override
        public void applied(long seqno, int transactions, long originCommittedMicros) {
            synchronized (Replica.this) {
                onApplied.run();
                applied = seqno;
                calls++;
                Replica.this.notifyAll();
            }
        }

        @Override
        public void failed(QuorateException cause) {
            synchronized (Replica.this) {
                failed = cause;
                Replica.this.notifyAll();
            }
        }

        @Override
        public void databaseLost(SQLException cause) {
            synchronized (Replica.this) {
                lost = cause;
                Replica.this.notifyAll();
            }
        }
    }
}
