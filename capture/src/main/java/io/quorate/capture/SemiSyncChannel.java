// SPDX-License-Identifier: Apache-2.0
package io.quorate.capture;

import com.github.shyiko.mysql.binlog.BinaryLogClient;
import com.github.shyiko.mysql.binlog.network.protocol.PacketChannel;
import com.github.shyiko.mysql.binlog.network.protocol.command.QueryCommand;
import io.quorate.core.BinlogPosition;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.Field;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;

/**
 * The semi-sync replica's part of a binlog connection, of which the client knows nothing. A session that has set a
 * certain variable when it asks for the binlog is taken for a semi-sync replica. From then on each event comes with a
 * prefix of two bytes, {@code EF} and a flag; what is flagged needn't be heeded, because acknowledgements are taken
 * unasked. An acknowledgement is a packet of its own. (MySQL's {@code plugin/semisync}; the chapter "Semisynchronous
 * Replication" of its manual.)
 */
final class SemiSyncChannel implements SemiSyncReplica.Acknowledger {
    private static final int MAGIC = 0xef;
    private static final int PACKET_HEADER_BYTES = 4;
    private static final int ERROR = 0xff;
    private static final String REGISTER = "SET @rpl_semi_sync_replica = 1";

    private final PacketChannel channel;

    private SemiSyncChannel(PacketChannel channel) {
        this.channel = channel;
    }

    /** Has the server take this client for a semi-sync replica, before it asks for the binlog. */
    static SemiSyncChannel register(BinaryLogClient client) throws IOException {
        PacketChannel channel = channel(client);
        channel.write(new QueryCommand(REGISTER));
        byte[] answer = channel.read();
        if (answer.length == 0 || (answer[0] & 0xff) == ERROR) {
            throw new IOException("the server refuses " + REGISTER);
        }
        return new SemiSyncChannel(channel);
    }

    /** The client's connection, which it shows to its subclasses only; the client itself is made by Debezium. */
    private static PacketChannel channel(BinaryLogClient client) throws IOException {
        try {
            Field field = BinaryLogClient.class.getDeclaredField("channel");
            field.setAccessible(true);
            return (PacketChannel) field.get(client);
        } catch (ReflectiveOperationException e) {
            throw new IOException("this version of the binlog client keeps its connection elsewhere", e);
        }
    }

    /**
     * Reads what comes before each event. A server that is stopping may send its last events without it, or a part of
     * it; whoever connects again gets them whole.
     *
     * @return whether the server asks for an acknowledgement of the event
     */
    static boolean readPrefix(InputStream in) throws IOException {
        int magic = in.read();
        int flag = in.read();
        if (magic != MAGIC || flag < 0) {
            throw new EOFException("an event without the prefix of semi-sync; the server may be stopping");
        }
        return flag == 1;
    }

    @Override
    public void acknowledge(BinlogPosition position) throws IOException {
        byte[] file = position.file().getBytes(StandardCharsets.UTF_8);
        int length = 1 + Long.BYTES + file.length;
        ByteBuffer packet = ByteBuffer.allocate(PACKET_HEADER_BYTES + length).order(ByteOrder.LITTLE_ENDIAN);
        packet.putInt(length); // The fourth byte is the packet's number, 0.
        packet.put((byte) MAGIC).putLong(position.offset()).put(file);
        channel.getOutputStream().write(packet.array());
        channel.getOutputStream().flush();
    }
}
