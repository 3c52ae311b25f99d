// SPDX-License-Identifier: Apache-2.0
package io.quorate.capture;

import com.github.shyiko.mysql.binlog.BinaryLogClient;
import com.github.shyiko.mysql.binlog.event.Event;
import com.github.shyiko.mysql.binlog.network.ServerException;
import io.quorate.core.BinlogEvents;
import io.quorate.core.BinlogPosition;
import io.quorate.core.ErrorCode;
import io.quorate.core.QuorateException;
import io.quorate.core.SessionSettings;
import io.quorate.core.binlog.Bytes;
import java.io.EOFException;
import java.io.IOException;
import java.net.Socket;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Listens on the binlog client of one Debezium engine: it sees each event first, on the reader's thread, and knows when
 * the connection has ended. The first reason for the end counts; after that nothing more reaches the transactions.
 */
final class Tap implements BinaryLogClient.EventListener, BinaryLogClient.LifecycleListener {
    private static final int BINLOG_READ_FATAL = 1236;

    private final CaptureSettings settings;
    private final String resume;
    private final TransactionReader transactions;
    private final Counters counters;
    private final SemiSyncReplica replica;
    private final CompletableFuture<QuorateException> end = new CompletableFuture<>();
    private final CompletableFuture<Void> readerGone = new CompletableFuture<>();

    private volatile BinaryLogClient client;
    private volatile Socket socket;
    private volatile Thread reader;
    private volatile long lastEventNanos = System.nanoTime();
    private volatile boolean delivering;
    private volatile String file = "";
    private SemiSyncChannel semiSync;
    private volatile Witness witness;

    /** @param replica null when this connection is not its server's semi-sync replica */
    Tap(
            CaptureSettings settings,
            String resume,
            TransactionReader transactions,
            Counters counters,
            SemiSyncReplica replica) {
        this.settings = settings;
        this.resume = resume;
        this.transactions = transactions;
        this.counters = counters;
        this.replica = replica;
    }

    /** GTIDs that the server must not send. */
    String resume() {
        return resume;
    }

    String file() {
        return file;
    }

    /** Connects the second semi-sync connection, without which nobody gets OK. Before this one asks for the binlog. */
    void witnessed() {
        if (replica != null) {
            witness = Witness.connect(settings, resume, this::failed);
        }
    }

    private SemiSyncReplica.Acknowledger both(SemiSyncReplica.Acknowledger first) {
        Witness second = witness;
        return position -> {
            first.acknowledge(position);
            second.acknowledge(position);
        };
    }

    /** Takes over the client before it connects. */
    void attach(BinaryLogClient newClient) {
        client = newClient;
        newClient.setEventDeserializer(new RawEventDeserializer(this));
        newClient.registerEventListener(this);
        newClient.registerLifecycleListener(this);
        newClient.setSocketFactory(this::connecting);
        newClient.setNetWriteTimeout(SessionSettings.NET_SECONDS);
        BinlogTls.apply(settings, newClient);
    }

    /**
     * The last moment before the client asks for the binlog. Debezium has merged the purged GTIDs into its request,
     * which would silently skip missing transactions; with the exact set the server refuses instead.
     *
     * <p>The socket sends each acknowledgement at once. Otherwise one that follows another would stay here until the
     * server's system confirms that one, which takes 40 ms while the server has no event to send (Nagle's algorithm and
     * delayed acknowledgements of TCP, RFC 1122 4.2.3).
     */
    private Socket connecting() throws SocketException {
        client.setGtidSet(resume);
        Socket created = new Socket();
        created.setTcpNoDelay(true);
        socket = created;
        return created;
    }

    /** The last moment before the client asks for the binlog at which the session can be given something to know. */
    void agreeing() throws IOException {
        if (replica != null) {
            semiSync = SemiSyncChannel.register(client);
        }
    }

    /** Whether events come in the form that semi-sync replicas get. */
    boolean isSemiSync() {
        return semiSync != null;
    }

    @Override
    public void onEvent(Event event) {
        if (end.isDone() || !(event instanceof RawEvent raw)) {
            return;
        }
        byte[] bytes = raw.bytes();
        lastEventNanos = System.nanoTime();
        counters.events.increment();
        counters.bytes.add(bytes.length);
        counters.lastEventMillis = System.currentTimeMillis();
        delivering = true;
        try {
            if (BinlogEvents.type(bytes, 0) == EventType.ROTATE) {
                int name = BinlogEvents.HEADER_BYTES + 8;
                file = new String(bytes, name, bytes.length - name, StandardCharsets.UTF_8);
                transactions.file(file);
            }
            transactions.event(bytes, 0, bytes.length);
            if (replica != null && transactions.hasEndedWith(bytes)) {
                replica.read(new BinlogPosition(file, Bytes.u32(bytes, TransactionReader.END_OFFSET)), raw.endsGroup());
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            failed(new QuorateException(ErrorCode.CAPTURE_FAILED, "interrupted", e));
        } catch (QuorateException e) {
            failed(new QuorateException(e.code(), "at " + where(bytes) + ": " + e.detail(), e, e.difference()));
        } catch (IndexOutOfBoundsException | UnsupportedOperationException e) {
            failed(new QuorateException(
                    ErrorCode.UNSUPPORTED_EVENT,
                    "can't read the event of type " + BinlogEvents.type(bytes, 0) + " at " + where(bytes),
                    e));
        } catch (RuntimeException | Error e) {
            failed(new QuorateException(ErrorCode.CAPTURE_FAILED, "at " + where(bytes), e));
        } finally {
            lastEventNanos = System.nanoTime();
            delivering = false;
        }
    }

    private String where(byte[] event) {
        return file + ", the event that ends at " + Bytes.u32(event, TransactionReader.END_OFFSET);
    }

    /** Ends reading as soon as the client asks for the next event. */
    void requireOpen() throws EOFException {
        if (end.isDone()) {
            throw new EOFException("capture ended this connection");
        }
    }

    /** The connection has ended for this reason, unless it already had for another. */
    void failed(QuorateException e) {
        end.complete(e);
    }

    /** Waits for the connection to end; null while it hasn't. */
    QuorateException awaitEnd(Duration timeout) throws InterruptedException {
        try {
            return end.get(timeout.toMillis(), TimeUnit.MILLISECONDS);
        } catch (TimeoutException e) {
            return null;
        } catch (ExecutionException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Whether nothing came for longer than heartbeats take, although the sink isn't holding the reader back. */
    boolean isSilentFor(Duration limit) {
        return reader != null && !delivering && System.nanoTime() - lastEventNanos > limit.toNanos();
    }

    /** Ends the connection from outside: closes the socket, and wakes the reader if it waits. */
    void stop() {
        failed(new QuorateException(ErrorCode.CAPTURE_FAILED, "capture was stopped"));
        Witness second = witness;
        if (second != null) {
            second.close();
        }
        Socket open = socket;
        if (open != null) {
            try {
                open.close();
            } catch (IOException e) {
                // The socket is closed either way.
            }
        }
        Thread waiting = reader;
        if (waiting != null && !readerGone.isDone()) {
            waiting.interrupt();
        }
    }

    /** Whether no thread will call the transactions any more. */
    boolean awaitReaderGone(Duration timeout) throws InterruptedException {
        Thread last = reader;
        if (last == null) {
            return true;
        }
        try {
            readerGone.get(timeout.toMillis(), TimeUnit.MILLISECONDS);
            return true;
        } catch (TimeoutException e) {
            return !last.isAlive(); // It may have ended without a word.
        } catch (ExecutionException e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    public void onConnect(BinaryLogClient connected) {
        reader = Thread.currentThread();
        lastEventNanos = System.nanoTime();
        if (replica != null) {
            if (semiSync == null) {
                failed(new QuorateException(
                        ErrorCode.SERVER_SETTINGS,
                        "binlog_checksum is NONE, must be CRC32 for commit-mode after-sync"));
                return;
            }
            replica.connected(both(semiSync));
        }
        counters.connected = true;
    }

    @Override
    public void onCommunicationFailure(BinaryLogClient broken, Exception e) {
        failed(reason(e));
    }

    @Override
    public void onEventDeserializationFailure(BinaryLogClient broken, Exception e) {
        failed(new QuorateException(ErrorCode.CAPTURE_FAILED, "can't read an event of " + file, e));
    }

    @Override
    public void onDisconnect(BinaryLogClient disconnected) {
        counters.connected = false;
        failed(new QuorateException(ErrorCode.SERVER_UNREACHABLE, "the binlog connection was lost"));
        readerGone.complete(null);
    }

    private static QuorateException reason(Exception e) {
        String message = String.valueOf(e.getMessage());
        if (e instanceof ServerException server && server.getErrorCode() == BINLOG_READ_FATAL) {
            if (message.contains("purged") || message.contains("first log file")) {
                return new QuorateException(ErrorCode.BINLOG_PURGED, message, e);
            }
            if (message.contains("more GTIDs")) {
                return new QuorateException(ErrorCode.BINLOG_LOST, message, e);
            }
        }
        return new QuorateException(ErrorCode.SERVER_UNREACHABLE, "the binlog connection was lost: " + message, e);
    }
}
