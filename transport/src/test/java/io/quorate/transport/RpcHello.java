// SPDX-License-Identifier: Apache-2.0
package io.quorate.transport;

import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.UUID;

/** A greeting at the port of the Ratis servers, byte by byte, as somebody else would write it. */
final class RpcHello {
    static final byte WELCOME = 2;

    private static final byte HELLO = 1;

    private RpcHello() {}

    static byte[] of(Nodes nodes, String caller, String meant) throws IOException {
        return of(RaftSettings.groupId(nodes.settings(meant), Lives.FIRST).getUuid(), caller, meant);
    }

    /** For cluster "test". */
    static byte[] of(String caller, String meant) throws IOException {
        return of(UUID.nameUUIDFromBytes("io.quorate/test".getBytes(StandardCharsets.UTF_8)), caller, meant);
    }

    static byte[] of(UUID group, String caller, String meant) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        DataOutputStream out = new DataOutputStream(bytes);
        out.writeBytes("QRTR");
        out.writeShort(1);
        out.writeLong(group.getMostSignificantBits());
        out.writeLong(group.getLeastSignificantBits());
        out.writeUTF(caller);
        out.writeUTF(meant);
        return frame(HELLO, bytes.toByteArray());
    }

    static byte[] frame(byte type, byte[] body) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        DataOutputStream out = new DataOutputStream(bytes);
        out.writeInt(1 + 8 + body.length);
        out.writeByte(type);
        out.writeLong(1);
        out.write(body);
        return bytes.toByteArray();
    }
}
