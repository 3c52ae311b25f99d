// SPDX-License-Identifier: Apache-2.0
package io.quorate.capture;

import com.github.shyiko.mysql.binlog.BinaryLogClient;
import com.github.shyiko.mysql.binlog.event.Event;
import com.github.shyiko.mysql.binlog.event.EventHeaderV4;
import com.github.shyiko.mysql.binlog.event.EventType;
import com.github.shyiko.mysql.binlog.event.deserialization.ChecksumType;
import com.github.shyiko.mysql.binlog.event.deserialization.EventDeserializer;
import com.github.shyiko.mysql.binlog.io.ByteArrayInputStream;
import io.quorate.core.BinlogEvents;
import io.quorate.core.BinlogPosition;
import io.quorate.core.ErrorCode;
import io.quorate.core.QuorateException;
import java.io.EOFException;
import java.io.IOException;
import java.net.Socket;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;

/**
 * A second semi-sync connection of the capture, which reads the binlog and drops it. The server gives OK when as many
 * replicas have acknowledged a commit as {@code rpl_semi_sync_source_wait_for_replica_count} says, whoever they are. It
 * is 2: a replica that somebody else connects can't give OK alone, from its first moment on, and both of the capture's
 * can without it.
 */
final class Witness implements SemiSyncReplica.Acknowledger, AutoCloseable {
    /** What tells its server id from the capture's. */
    private static final long ITS_OWN = 0x2000_0000L;

    private final BinaryLogClient client;
    private final Consumer<QuorateException> lost;
    private volatile SemiSyncChannel channel;
    private volatile boolean closed;

    private Witness(CaptureSettings settings, String resume, Consumer<QuorateException> lost) {
        this.lost = lost;
        client = new BinaryLogClient(
                settings.host(),
                settings.port(),
                settings.user(),
                settings.password().value());
        client.setServerId(settings.replicaId() ^ ITS_OWN);
        client.setKeepAlive(false);
        client.setHeartbeatInterval(settings.heartbeat().toMillis());
        client.setBinlogFilename("");
        client.setGtidSet(resume);
        client.setEventDeserializer(new Dropping());
        client.registerLifecycleListener(new Ending());
        client.setSocketFactory(() -> {
            Socket socket = new Socket();
            socket.setTcpNoDelay(true);
            return socket;
        });
        BinlogTls.apply(settings, client);
    }

    /**
     * Connects it.
     *
     * @param resume GTIDs that the server must not send: everything that is settled
     * @param lost is told when the connection ends before it is closed
     * @throws QuorateException {@link ErrorCode#SERVER_UNREACHABLE}
     */
    static Witness connect(CaptureSettings settings, String resume, Consumer<QuorateException> lost) {
        Witness witness = new Witness(settings, resume, lost);
        try {
            witness.client.connect(settings.connectTimeout().toMillis());
            if (witness.channel == null) {
                throw new IOException("it was not taken for a semi-sync replica; binlog_checksum has to be CRC32");
            }
            return witness;
        } catch (IOException | TimeoutException | IllegalStateException e) {
            witness.close();
            throw new QuorateException(
                    ErrorCode.SERVER_UNREACHABLE,
                    "the second connection to the binlog of " + settings + " can't be had: " + e.getMessage(),
                    e);
        }
    }

    @Override
    public void acknowledge(BinlogPosition position) throws IOException {
        channel.acknowledge(position);
    }

    @Override
    public void close() {
        closed = true;
        try {
            client.disconnect();
        } catch (IOException e) {
            // It has ended either way.
        }
    }

    private void lost(Exception why) {
        if (!closed) {
            lost.accept(new QuorateException(
                    ErrorCode.SERVER_UNREACHABLE, "the second binlog connection was lost: " + why.getMessage(), why));
        }
    }

    /** Takes events from the connection without looking at them. */
    private final class Dropping extends EventDeserializer {
        private final byte[] header = new byte[BinlogEvents.HEADER_BYTES];
        private final Event dropped;

        Dropping() {
            EventHeaderV4 ignored = new EventHeaderV4();
            ignored.setEventType(EventType.IGNORABLE);
            dropped = new Event(ignored, null);
        }

        @Override
        @Deprecated
        public void setChecksumType(ChecksumType type) {
            super.setChecksumType(type);
            try {
                channel = SemiSyncChannel.register(client);
            } catch (IOException e) {
                lost(e);
            }
        }

        @Override
        public Event nextEvent(ByteArrayInputStream in) throws IOException {
            if (closed) {
                throw new EOFException("closed");
            }
            SemiSyncChannel.readPrefix(in);
            in.fill(header, 0, header.length);
            for (long left = (long) BinlogEvents.length(header, 0) - header.length; left > 0; ) {
                long skipped = in.skip(left);
                if (skipped <= 0) {
                    throw new EOFException("within an event");
                }
                left -= skipped;
            }
            return dropped;
        }
    }

    private final class Ending implements BinaryLogClient.LifecycleListener {
        @Override
        public void onConnect(BinaryLogClient connected) {
            // Nothing to do.
        }

        @Override
        public void onCommunicationFailure(BinaryLogClient broken, Exception e) {
            lost(e);
        }

        @Override
        public void onEventDeserializationFailure(BinaryLogClient broken, Exception e) {
            lost(e);
        }

        @Override
        public void onDisconnect(BinaryLogClient disconnected) {
            lost(new EOFException("disconnected"));
        }
    }
}
