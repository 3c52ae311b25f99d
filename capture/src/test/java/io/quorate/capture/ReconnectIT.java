// SPDX-License-Identifier: Apache-2.0
package io.quorate.capture;

import static org.assertj.core.api.Assertions.assertThat;

import io.quorate.core.ErrorCode;
import io.quorate.core.GtidSet;
import io.quorate.core.Keys;
import io.quorate.core.OriginPosition;
import io.quorate.core.QuorateException;
import io.quorate.core.WriteSet;
import io.quorate.sandbox.MySqlServer;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(600)
class ReconnectIT {
    private static final int WRITERS = 3;

    private static MySqlServer server;

    private final ExecutorService writers = Executors.newFixedThreadPool(WRITERS);
    private volatile boolean writing = true;

    @BeforeAll
    static void startServer() {
        server = MySqlServer.builder().start();
    }

    @AfterAll
    static void stopServer() {
        server.close();
    }

    @BeforeEach
    void start() {
        server.start();
        server.execute(
                "DROP DATABASE IF EXISTS load_test",
                // Of what a test before has broken or purged nothing is left.
                server.dialect().resetBinlogs(),
                "CREATE DATABASE load_test",
                "CREATE TABLE load_test.t (id BIGINT PRIMARY KEY AUTO_INCREMENT, writer INT, n BIGINT, KEY (writer))");
    }

    @AfterEach
    void stop() throws InterruptedException {
        writing = false;
        writers.shutdownNow();
        writers.awaitTermination(CaptureFixture.LIMIT.toSeconds(), TimeUnit.SECONDS);
    }

    /** Inserts until told to stop, through crashes of the server; returns how many it knows to be committed. */
    private long write(int writer) throws Exception {
        long committed = 0;
        while (writing) {
            try (Connection connection = server.connect();
                    PreparedStatement insert =
                            connection.prepareStatement("INSERT INTO load_test.t (writer, n) VALUES (?, ?)")) {
                while (writing) {
                    insert.setInt(1, writer);
                    insert.setLong(2, committed);
                    insert.executeUpdate();
                    committed++;
                }
            } catch (SQLException e) {
                Thread.sleep(50);
            }
        }
        return committed;
    }

    private List<Future<Long>> startWriters() {
        List<Future<Long>> futures = new ArrayList<>();
        for (int i = 0; i < WRITERS; i++) {
            int writer = i;
            futures.add(writers.submit(() -> write(writer)));
        }
        return futures;
    }

    /** Waits until it has captured some hundred transactions more. */
    private static void awaitMore(CaptureFixture fixture) throws InterruptedException {
        fixture.recorder.awaitEntries(fixture.recorder.entries().size() + 200, CaptureFixture.LIMIT);
    }

    /** What was read before goes on coming for a while after a connection has ended; so the next one is waited for. */
    private static void killConnection() throws InterruptedException {
        long deadline = System.nanoTime() + CaptureFixture.LIMIT.toNanos();
        while (DumpThreads.kill(server) == 0) {
            assertThat(System.nanoTime()).as("no connection reads the binlog").isLessThan(deadline);
            Thread.sleep(20);
        }
    }

    private void requireComplete(CaptureFixture fixture) throws InterruptedException {
        fixture.awaitAll();
        List<WriteSet> all = fixture.recorder.writeSets();
        long first = fixture.start.last() + 1;
        assertThat(all.stream().map(w -> w.gtid().number()).toList())
                .as("every GTID once, in order")
                .isEqualTo(java.util.stream.LongStream.rangeClosed(
                                first, CaptureFixture.present(server).last())
                        .boxed()
                        .toList());
        assertThat((long) all.size()).isEqualTo(server.queryLong("SELECT COUNT(*) FROM load_test.t"));
    }

    /** As behind a firewall that has forgotten a connection: nobody learns that it is gone. */
    @ParameterizedTest
    @ValueSource(ints = {2, 3, 4})
    void goesOnAfterAConnectionThatNobodyAnswers(int silent) throws Exception {
        try (SilencingProxy proxy = new SilencingProxy(server.port(), silent);
                CaptureFixture fixture = new CaptureFixture(
                        server,
                        CaptureFixture.present(server),
                        CaptureFixture.settings(server, proxy.port())
                                .withTimes(Duration.ofMillis(500), Duration.ofMillis(500)))) {
            server.execute("INSERT INTO load_test.t (writer, n) VALUES (1, 1)");
            requireComplete(fixture);
            assertThat(proxy.awaitLeft(CaptureFixture.LIMIT))
                    .as("it isn't left with its thread")
                    .isTrue();
        }
    }

    @Test
    void losesNothingWhenConnectionsAreKilledUnderLoad() throws Exception {
        try (CaptureFixture fixture = new CaptureFixture(server)) {
            List<Future<Long>> futures = startWriters();
            for (int i = 0; i < 6; i++) {
                // Each connection is in the middle of something.
                awaitMore(fixture);
                killConnection();
            }
            writing = false;
            for (Future<Long> f : futures) {
                f.get(CaptureFixture.LIMIT.toSeconds(), TimeUnit.SECONDS);
            }
            requireComplete(fixture);
            assertThat(fixture.capture.stats().restarts()).isGreaterThan(1);
        }
    }

    @Test
    void losesNothingWhenTheServerCrashesUnderLoad() throws Exception {
        try (CaptureFixture fixture = new CaptureFixture(server)) {
            startWriters();
            for (int i = 0; i < 2; i++) {
                awaitMore(fixture);
                server.kill9();
                long restarts = fixture.capture.stats().restarts();
                while (fixture.capture.stats().restarts() == restarts) {
                    Thread.sleep(20);
                }
                server.start();
            }
            awaitMore(fixture);
            writing = false;
            writers.shutdown();
            writers.awaitTermination(CaptureFixture.LIMIT.toSeconds(), TimeUnit.SECONDS);
            requireComplete(fixture);
        }
    }

    @Test
    void goesOnWhereAnEarlierCaptureEnded() throws Exception {
        startWriters();
        OriginPosition position = CaptureFixture.present(server);
        long total = 0;
        for (int i = 0; i < 4; i++) {
            try (CaptureFixture fixture = new CaptureFixture(server, position)) {
                awaitMore(fixture);
                fixture.capture.close();
                List<Recorder.Entry> entries = fixture.recorder.entries();
                if (!entries.isEmpty()) {
                    assertThat(entries.get(0).number()).isEqualTo(position.last() + 1);
                    assertThat(entries.get(entries.size() - 1).number()).isEqualTo(position.last() + entries.size());
                }
                total += entries.size();
                position = fixture.recorder.position(position);
            }
        }
        assertThat(total).isPositive();
    }

    @Test
    void waitsForASlowSinkWithoutTakingItForSilence() throws Exception {
        CaptureSettings s = CaptureFixture.settings(server);
        // Silence is 1.2 s then: less than what is waited below, more than a busy machine keeps a thread waiting.
        CaptureSettings fast = s.withTimes(Duration.ofMillis(300), s.connectTimeout());
        try (CaptureFixture fixture = new CaptureFixture(server, CaptureFixture.present(server), fast)) {
            server.execute("INSERT INTO load_test.t VALUES (1, 1, 1)");
            fixture.awaitAll();
            fixture.recorder.block(true);
            server.execute("INSERT INTO load_test.t VALUES (2, 1, 1)", "INSERT INTO load_test.t VALUES (3, 1, 1)");
            Thread.sleep(2000);
            fixture.recorder.block(false);
            assertThat(fixture.awaitAll()).hasSize(3);
            // Heartbeats alone keep it alive, too.
            Thread.sleep(1500);
            assertThat(fixture.capture.stats().restarts()).isZero();
            assertThat(fixture.capture.stats().connected()).isTrue();
        }
    }

    @Test
    void closesWhileTheSinkBlocksAndTakesTheSameTransactionLater() throws Exception {
        OriginPosition position = CaptureFixture.present(server);
        try (CaptureFixture fixture = new CaptureFixture(server)) {
            fixture.recorder.block(true);
            server.execute("INSERT INTO load_test.t VALUES (1, 1, 1)");
            fixture.recorder.awaitBlocked();
            fixture.capture.close();
            assertThat(fixture.recorder.entries()).isEmpty();
        }
        try (CaptureFixture fixture = new CaptureFixture(server, position)) {
            assertThat(fixture.awaitAll()).hasSize(1);
        }
    }

    @Test
    void noticesAServerThatFallsSilent() throws Exception {
        CaptureSettings fast = CaptureFixture.settings(server).withTimes(Duration.ofMillis(200), Duration.ofSeconds(2));
        try (CaptureFixture fixture = new CaptureFixture(server, CaptureFixture.present(server), fast)) {
            server.execute("INSERT INTO load_test.t VALUES (1, 1, 1)");
            fixture.awaitAll();
            new ProcessBuilder("kill", "-STOP", String.valueOf(server.pid()))
                    .start()
                    .waitFor();
            try {
                while (fixture.capture.stats().restarts() == 0) {
                    Thread.sleep(50);
                }
            } finally {
                new ProcessBuilder("kill", "-CONT", String.valueOf(server.pid()))
                        .start()
                        .waitFor();
            }
            server.execute("INSERT INTO load_test.t VALUES (2, 1, 1)");
            assertThat(fixture.awaitAll()).hasSize(2);
        }
    }

    @Test
    void waitsForAServerThatIsNotThere() throws Exception {
        CaptureSettings settings = CaptureFixture.settings(server);
        OriginPosition position = CaptureFixture.present(server);
        GtidSet executed = CaptureFixture.executed(server);
        Recorder recorder = new Recorder(position.last());
        server.stop();
        try (MySqlCapture capture = new MySqlCapture(
                settings, CapturePosition.after(settings.server(), position, executed), recorder, recorder::failed)) {
            capture.start();
            while (capture.stats().restarts() < 2) {
                Thread.sleep(50);
            }
            assertThat(capture.stats().connected()).isFalse();
            assertThat(capture.stats().lastError()).contains(ErrorCode.SERVER_UNREACHABLE.code());
            server.start();
            server.execute("INSERT INTO load_test.t VALUES (1, 1, 1)");
            recorder.await(CaptureFixture.present(server).last(), CaptureFixture.LIMIT);
        }
    }

    @Test
    void refusesWhatTheServerNoLongerHas() throws Exception {
        OriginPosition position = CaptureFixture.present(server);
        server.execute("INSERT INTO load_test.t VALUES (1, 1, 1)", "FLUSH BINARY LOGS");
        server.execute("PURGE BINARY LOGS BEFORE NOW() + INTERVAL 1 DAY");
        assertFailure(position, ErrorCode.BINLOG_PURGED);
        // Whether mysqld was started anew since is found out by somebody else.
        OriginPosition ahead = new OriginPosition(position.last() + 1000, 0, new long[0]);
        try (CaptureFixture fixture = new CaptureFixture(server, ahead)) {
            while (!String.valueOf(fixture.capture.stats().lastError()).contains(ErrorCode.BINLOG_LOST.code())) {
                Thread.sleep(20);
            }
        }
    }

    /** Later commits get the numbers in between. */
    @Test
    void noticesThatAClientGaveOutANumber() throws Exception {
        try (CaptureFixture fixture = new CaptureFixture(server)) {
            long last = fixture.start.last();
            server.execute(
                    "SET gtid_next = '" + server.uuid() + ":" + (last + 1000) + "'",
                    "INSERT INTO load_test.t VALUES (9001, 1, 1)",
                    "SET gtid_next = AUTOMATIC");
            QuorateException failure = fixture.recorder.awaitFailure(CaptureFixture.LIMIT);
            assertThat(failure.code()).isEqualTo(ErrorCode.GTID_OUT_OF_ORDER);
            assertThat(failure)
                    .hasMessageContaining(server.uuid() + ":" + (last + 1000) + " comes after")
                    .hasMessageContaining(server.uuid() + ":" + (last + 1) + "-" + (last + 999));
            // The tests after this one go on with numbers that follow one another.
            server.execute("SET GLOBAL gtid_purged = '+" + server.uuid() + ":" + (last + 1) + "-" + (last + 999) + "'");
        }
    }

    /** A dump that is restored may do so; there is nothing of this server in it. */
    @Test
    void goesOnWhereGtidsOfOthersWereAddedAsPurged() throws Exception {
        try (CaptureFixture fixture = new CaptureFixture(server)) {
            server.execute("SET GLOBAL gtid_purged = '+" + UUID.randomUUID() + ":1-7'");
            killConnection();
            server.execute("INSERT INTO load_test.t VALUES (9003, 1, 1)");
            fixture.awaitAll();
        }
    }

    /** It is added between the look at it and the request for the binlog, which the server refuses then. */
    @Test
    void goesOnWhereGtidsOfOthersAreAddedWhileItConnects() throws Exception {
        try (CaptureFixture fixture = new CaptureFixture(server)) {
            // Each takes a few milliseconds, so one of them meets the moment.
            for (int added = 0; added < 100 && fixture.capture.stats().restarts() == 0; added++) {
                server.execute("SET GLOBAL gtid_purged = '+" + UUID.randomUUID() + ":1-7'");
            }
            server.execute("INSERT INTO load_test.t VALUES (9004, 1, 1)");
            fixture.awaitAll();
        }
    }

    @Test
    void refusesAnotherServer() throws Exception {
        CaptureSettings s = CaptureFixture.settings(server);
        UUID other = UUID.randomUUID();
        Recorder recorder = new Recorder(0);
        try (MySqlCapture capture = new MySqlCapture(
                CaptureSettings.of(s.host(), s.port(), s.user(), s.password(), other, 999),
                CapturePosition.after(other, OriginPosition.NONE, CaptureFixture.executed(server)),
                recorder,
                recorder::failed)) {
            capture.start();
            assertThat(recorder.awaitFailure(CaptureFixture.LIMIT).code()).isEqualTo(ErrorCode.WRONG_SERVER);
        }
    }

    /** The server writes a TRUNCATE of its own then, which would empty the table on all nodes. */
    @Test
    void whatARestartEmptiesIsNotEmptiedElsewhere() throws Exception {
        server.execute(
                "CREATE TABLE load_test.m (a INT PRIMARY KEY) ENGINE=MEMORY",
                "INSERT INTO load_test.m VALUES (1), (2)");
        try (CaptureFixture fixture = new CaptureFixture(server)) {
            fixture.awaitAll();
            server.restart();
            assertThat(server.queryLong("SELECT COUNT(*) FROM load_test.m")).isZero();
            server.execute("INSERT INTO load_test.t (writer) VALUES (1)");
            fixture.awaitAll();
            assertThat(fixture.recorder.entries()).hasSize(2);
            assertThat(fixture.recorder.writeSets())
                    .singleElement()
                    .extracting(WriteSet::kind)
                    .isEqualTo(WriteSet.Kind.ROWS);
            server.execute("TRUNCATE TABLE load_test.m");
            fixture.awaitAll();
            assertThat(fixture.recorder.writeSets()).hasSize(2);
        }
    }

    @Test
    void noticesADamagedEvent() throws Exception {
        OriginPosition position = CaptureFixture.present(server);
        try (Connection connection = server.connect();
                Statement statement = connection.createStatement()) {
            statement.execute("INSERT INTO load_test.t VALUES (1, 1, 77777777777)");
        }
        String file = server.query(server.dialect().binlogStatus()).get(0).get(0);
        java.nio.file.Path path = server.dataDirectory().resolve(file);
        server.stop();
        byte[] bytes = java.nio.file.Files.readAllBytes(path);
        int at = new String(bytes, java.nio.charset.StandardCharsets.ISO_8859_1)
                .lastIndexOf(new String(littleEndian(77777777777L), java.nio.charset.StandardCharsets.ISO_8859_1));
        bytes[at]++;
        java.nio.file.Files.write(path, bytes);
        server.start();
        assertFailure(position, ErrorCode.CORRUPT_EVENT);
    }

    private static byte[] littleEndian(long value) {
        return java.nio.ByteBuffer.allocate(8)
                .order(java.nio.ByteOrder.LITTLE_ENDIAN)
                .putLong(value)
                .array();
    }

    private void assertFailure(OriginPosition position, ErrorCode code) throws InterruptedException {
        try (CaptureFixture fixture = new CaptureFixture(server, position)) {
            QuorateException failure = fixture.recorder.awaitFailure(CaptureFixture.LIMIT);
            assertThat(failure.code()).as(failure.getMessage()).isEqualTo(code);
        }
    }

    /** A file that a crash has ended doesn't name the next one. */
    @Test
    void rowsBeforeACrashDontHaveTheKeysOfADefinitionAfterIt() throws Exception {
        server.execute(
                "CREATE TABLE load_test.moved (id INT PRIMARY KEY, a INT)",
                "INSERT INTO load_test.moved VALUES (1, 1)");
        OriginPosition start = CaptureFixture.present(server);
        server.execute("UPDATE load_test.moved SET a = 2");
        server.kill9();
        server.start();
        server.execute(
                // CREATE_TIME says that it was before the row.
                "SET SESSION timestamp = UNIX_TIMESTAMP() - 100",
                "ALTER TABLE load_test.moved DROP PRIMARY KEY, ADD PRIMARY KEY (id, a)");
        try (CaptureFixture behind = new CaptureFixture(server, start)) {
            behind.awaitAll();
            assertThat(behind.recorder.writeSets().get(0).keys().contains(Keys.NO_ROWS_BEFORE))
                    .as("its keys aren't known, so it stands for the whole table")
                    .isTrue();
        }
    }
}
