// SPDX-License-Identifier: Apache-2.0
package io.quorate.capture;

import io.quorate.core.BinlogEvents;
import io.quorate.core.GtidSet;
import io.quorate.core.KeyType;
import io.quorate.core.Keys;
import io.quorate.core.OriginPosition;
import io.quorate.core.Spool;
import io.quorate.core.WriteSet;
import io.quorate.sandbox.MySqlServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;

/** A capture of a real server that begins at its present, and what it has taken since. */
final class CaptureFixture implements AutoCloseable {
    /** Long, for it is only waited out when something is wrong, and machines may be slow. */
    static final Duration LIMIT = Duration.ofMinutes(3);

    /** A server ends the connection of a replica when another one of its number connects, which then does the same. */
    private static final AtomicInteger REPLICAS = new AtomicInteger(999);

    final MySqlServer server;
    final Recorder recorder;
    final MySqlCapture capture;
    final OriginPosition start;

    CaptureFixture(MySqlServer server) {
        this(server, present(server));
    }

    CaptureFixture(MySqlServer server, OriginPosition start) {
        this(server, start, settings(server));
    }

    CaptureFixture(MySqlServer server, OriginPosition start, CaptureSettings settings) {
        this(server, start, settings, null);
    }

    /** Is the server's semi-sync replica besides. */
    CaptureFixture(MySqlServer server, SemiSyncReplica replica) {
        this(server, present(server), settings(server), replica);
    }

    private CaptureFixture(
            MySqlServer server, OriginPosition start, CaptureSettings settings, SemiSyncReplica replica) {
        this.server = server;
        this.start = start;
        recorder = new Recorder(start.last());
        UUID uuid = UUID.fromString(server.uuid());
        capture = new MySqlCapture(
                settings,
                CapturePosition.after(uuid, start, executed(server)),
                Spool.HEAP,
                recorder,
                recorder::failed,
                replica);
        capture.start();
    }

    static CaptureSettings settings(MySqlServer server) {
        return settings(server, server.port());
    }

    static CaptureSettings settings(MySqlServer server, int port) {
        return CaptureSettings.of(
                "127.0.0.1", port, "root", "", UUID.fromString(server.uuid()), REPLICAS.getAndIncrement());
    }

    /** The type that a key has among these; null if it isn't there. */
    static KeyType type(Keys keys, long hash) {
        for (int i = 0; i < keys.size(); i++) {
            if (keys.hash(i) == hash) {
                return keys.type(i);
            }
        }
        return null;
    }

    static OriginPosition present(MySqlServer server) {
        return new OriginPosition(executed(server).last(UUID.fromString(server.uuid())), 0, new long[0]);
    }

    static GtidSet executed(MySqlServer server) {
        return GtidSet.parse(server.queryOne("SELECT @@GLOBAL.gtid_executed"));
    }

    /** Waits until all that the server has executed is covered,. */
    List<Recorder.Entry> awaitAll() throws InterruptedException {
        return recorder.await(present(server).last(), LIMIT);
    }

    /** Runs statements in one session and returns the writesets they made. */
    List<WriteSet> capture(String... statements) throws InterruptedException {
        awaitAll();
        recorder.clear();
        server.execute(statements);
        awaitAll();
        return recorder.writeSets();
    }

    /** Runs statements in one session and returns the one writeset they made. */
    WriteSet captureOne(String... statements) throws InterruptedException {
        List<WriteSet> captured = capture(statements);
        if (captured.size() != 1) {
            throw new AssertionError(captured + " from " + List.of(statements));
        }
        return captured.get(0);
    }

    /** The types of the events in a payload. */
    static List<Integer> types(WriteSet w) {
        List<Integer> types = new ArrayList<>();
        byte[] p = w.payload().toArray();
        for (int at = 0; at < p.length; at += BinlogEvents.length(p, at)) {
            types.add(BinlogEvents.type(p, at));
        }
        return types;
    }

    @Override
    public void close() {
        capture.close();
    }
}
