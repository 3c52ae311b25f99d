// SPDX-License-Identifier: Apache-2.0
package io.quorate.transport.rpc;

import java.io.DataInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.UUID;
import org.apache.ratis.thirdparty.com.google.protobuf.CodedInputStream;
import org.apache.ratis.thirdparty.com.google.protobuf.CodedOutputStream;
import org.apache.ratis.thirdparty.com.google.protobuf.ExtensionRegistryLite;
import org.apache.ratis.thirdparty.com.google.protobuf.MessageLite;
import org.apache.ratis.thirdparty.com.google.protobuf.Parser;
import org.apache.ratis.thirdparty.com.google.protobuf.UnsafeByteOperations;

/**
 * The messages between Ratis servers. Each is a length (4 bytes, without itself), a type (1 byte), a call (8 bytes) and
 * a body; numbers are big-endian, texts a length (2 bytes) and UTF-8. Bodies of requests and replies are Ratis' own
 * messages (protobuf).
 *
 * <pre>
 * HELLO                            caller -> server   magic "QRTR" (4), version (2), group (16), caller, server meant
 * WELCOME                          server -> caller   nothing
 * REFUSED                          server -> caller   why; the connection is closed after it
 * VOTE, APPEND, SNAPSHOT, ELECTION caller -> server   a request
 * REPLY                            server -> caller   its reply, under the same call
 * FAILED                           server -> caller   why there is no reply to it
 * </pre>
 *
 * Until the greeting nothing longer than {@link #GREETING_BYTES_MAX} is read. Memory for a message is taken as it
 * arrives, and not for a length that is only claimed.
 */
final class RpcWire {
    static final int MAGIC = 0x51525452;
    static final short VERSION = 1;
    static final int GREETING_BYTES_MAX = 1024;

    static final byte HELLO = 1;
    static final byte WELCOME = 2;
    static final byte REFUSED = 3;
    static final byte VOTE = 4;
    static final byte APPEND = 5;
    static final byte SNAPSHOT = 6;
    static final byte ELECTION = 7;
    static final byte REPLY = 8;
    static final byte FAILED = 9;

    private static final int HEAD_BYTES = 4 + 1 + 8;
    private static final int TEXT_BYTES_MAX = 500;
    private static final int CHUNK_BYTES = 64 << 10;

    record Frame(byte type, long call, byte[] body) {}

    /** @param meant the id of the server that the caller wants to reach */
    record Hello(UUID group, String caller, String meant) {}

    private RpcWire() {}

    static byte[] frame(byte type, long call, MessageLite message) {
        int size = message.getSerializedSize();
        byte[] bytes = new byte[HEAD_BYTES + size];
        head(bytes, type, call);
        CodedOutputStream out = CodedOutputStream.newInstance(bytes, HEAD_BYTES, size);
        try {
            message.writeTo(out);
            out.checkNoSpaceLeft();
        } catch (IOException e) {
            throw new UncheckedIOException(e); // The array has just this size.
        }
        return bytes;
    }

    static byte[] frame(byte type, long call, String text) {
        byte[] utf = utf(text);
        byte[] bytes = new byte[HEAD_BYTES + 2 + utf.length];
        text(head(bytes, type, call), utf);
        return bytes;
    }

    /** Makes it the message of that call. */
    static void setCall(byte[] frame, long call) {
        ByteBuffer.wrap(frame).putLong(4 + 1, call);
    }

    static byte[] hello(Hello hello) {
        byte[] caller = utf(hello.caller);
        byte[] meant = utf(hello.meant);
        byte[] bytes = new byte[HEAD_BYTES + 4 + 2 + 16 + 2 + caller.length + 2 + meant.length];
        ByteBuffer out = head(bytes, HELLO, 0).putInt(MAGIC).putShort(VERSION);
        out.putLong(hello.group.getMostSignificantBits()).putLong(hello.group.getLeastSignificantBits());
        text(text(out, caller), meant);
        return bytes;
    }

    /** @throws IOException when it is not such a greeting, or one of another version */
    static Hello readHello(Frame frame) throws IOException {
        ByteBuffer in = ByteBuffer.wrap(frame.body);
        if (frame.type != HELLO || in.remaining() < 6 || in.getInt() != MAGIC) {
            throw new IOException("a greeting that is not Quorate's");
        }
        short version = in.getShort();
        if (version != VERSION) {
            throw new IOException("version " + version + " of the protocol, where this node speaks " + VERSION);
        }
        if (in.remaining() < 16) {
            throw new IOException("a greeting cut short");
        }
        return new Hello(new UUID(in.getLong(), in.getLong()), readText(in), readText(in));
    }

    static String readText(Frame frame) throws IOException {
        return readText(ByteBuffer.wrap(frame.body));
    }

    /** Waits for the next message. */
    static Frame read(DataInputStream in, int bytesMax) throws IOException {
        int length = in.readInt();
        if (length < 1 + 8 || length > bytesMax) {
            throw new IOException("a message of " + length + " bytes, where 9 to " + bytesMax + " are allowed");
        }
        byte type = in.readByte();
        long call = in.readLong();
        return new Frame(type, call, readBody(in, length - 9));
    }

    private static byte[] readBody(DataInputStream in, int length) throws IOException {
        byte[] body = new byte[Math.min(length, CHUNK_BYTES)];
        int read = 0;
        while (true) {
            in.readFully(body, read, body.length - read);
            read = body.length;
            if (read == length) {
                return body;
            }
            body = Arrays.copyOf(body, (int) Math.min(length, 2L * read));
        }
    }

    /** Reads a message; the byte strings in it are parts of the frame and no copies. */
    static <T> T parse(Frame frame, Parser<T> parser) throws IOException {
        CodedInputStream in = UnsafeByteOperations.unsafeWrap(frame.body).newCodedInput();
        in.enableAliasing(true);
        return parser.parseFrom(in, ExtensionRegistryLite.getEmptyRegistry());
    }

    private static ByteBuffer head(byte[] bytes, byte type, long call) {
        return ByteBuffer.wrap(bytes).putInt(bytes.length - 4).put(type).putLong(call);
    }

    private static byte[] utf(String text) {
        byte[] utf = text.getBytes(StandardCharsets.UTF_8);
        return utf.length <= TEXT_BYTES_MAX ? utf : Arrays.copyOf(utf, TEXT_BYTES_MAX);
    }

    private static ByteBuffer text(ByteBuffer out, byte[] utf) {
        return out.putShort((short) utf.length).put(utf);
    }

    private static String readText(ByteBuffer in) throws IOException {
        int length = in.remaining() < 2 ? Integer.MAX_VALUE : in.getShort() & 0xffff;
        if (length > in.remaining()) {
            throw new IOException("a message cut short");
        }
        byte[] utf = new byte[length];
        in.get(utf);
        return new String(utf, StandardCharsets.UTF_8);
    }
}
