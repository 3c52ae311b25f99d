// SPDX-License-Identifier: Apache-2.0
package io.quorate.transport;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.handler.codec.LengthFieldBasedFrameDecoder;
import io.quorate.core.ErrorCode;
import io.quorate.core.FromOutside;
import io.quorate.core.QuorateException;
import java.nio.charset.StandardCharsets;

/**
 * The channel's messages. Each is a length (4 bytes, without itself), a type (1 byte) and a body; numbers are
 * big-endian, texts a length (2 bytes) and UTF-8.
 *
 * <pre>
 * HELLO    node -> leader   magic "QRTE" (4), protocol version (2), cluster, its lives, node, node meant
 * WELCOME  leader -> node   protocol version (2), node
 * REFUSED  leader -> node   number of the error code (4), reason; the connection is closed after it
 * ENTRY    node -> leader   request (8), an {@link EntryFrame}
 * ANSWER   leader -> node   request (8), status (1), detail
 * REPORT   node -> peer     what the node says of itself, opaque here
 * FETCH    node -> peer     a request, opaque here; nothing else is sent on that connection
 * DATA     peer -> node     part of the answer to it
 * END      peer -> node     nothing: the answer is complete. REFUSED instead when it won't be
 * </pre>
 *
 * Where nodes have certificates, all of it goes over TLS. A connection begins with HELLO and its answer. Until then
 * nothing longer than {@link #GREETING_BYTES_MAX} is accepted, and from who only fetches nothing longer than {@link
 * #REQUEST_BYTES_MAX}. Whatever is not as described closes the connection with {@link ErrorCode#MALFORMED_MESSAGE}.
 */
final class Wire {
    static final short VERSION = 4;
    static final int MAGIC = 0x51525445;
    static final int GREETING_BYTES_MAX = 1024;
    static final int FRAME_BYTES_MAX = RaftSettings.ENTRY_BYTES_MAX;
    /** A request or a report. */
    static final int REQUEST_BYTES_MAX = 64 << 10;

    static final int DETAIL_BYTES_MAX = 1000;

    static final byte HELLO = 1;
    static final byte WELCOME = 2;
    static final byte REFUSED = 3;
    static final byte ENTRY = 4;
    static final byte ANSWER = 5;
    static final byte REPORT = 6;
    static final byte FETCH = 7;
    static final byte DATA = 8;
    static final byte END = 9;

    /** @param lives as {@link Lives} writes them, or {@link Lives#ANY} */
    record Hello(int version, String cluster, String lives, String node, String meant) {}

    record Refused(int code, String reason) {}

    private Wire() {}

    static ByteBuf hello(ByteBufAllocator alloc, String cluster, String lives, String node, String meant) {
        ByteBuf out = begin(alloc, HELLO).writeInt(MAGIC).writeShort(VERSION);
        return end(text(text(text(text(out, cluster), lives), node), meant));
    }

    static ByteBuf welcome(ByteBufAllocator alloc, String node) {
        return end(text(begin(alloc, WELCOME).writeShort(VERSION), node));
    }

    static ByteBuf refused(ByteBufAllocator alloc, ErrorCode code, String reason) {
        return end(text(begin(alloc, REFUSED).writeInt(number(code)), reason));
    }

    /** Length and header of an entry, followed by its bytes without a copy. */
    static ByteBuf entry(ByteBufAllocator alloc, long request, byte[] frame) {
        ByteBuf head = alloc.buffer(4 + 1 + 8);
        head.writeInt(1 + 8 + frame.length).writeByte(ENTRY).writeLong(request);
        return alloc.compositeBuffer(2).addComponent(true, head).addComponent(true, Unpooled.wrappedBuffer(frame));
    }

    static ByteBuf answer(ByteBufAllocator alloc, long request, Answer answer) {
        ByteBuf out = begin(alloc, ANSWER)
                .writeLong(request)
                .writeByte(answer.status().ordinal());
        return end(text(out, answer.detail()));
    }

    /** A message that consists of some bytes only. */
    static ByteBuf bytes(ByteBufAllocator alloc, byte type, byte[] bytes, int from, int length) {
        return alloc.buffer(5 + length).writeInt(1 + length).writeByte(type).writeBytes(bytes, from, length);
    }

    static byte[] readBytes(ByteBuf in) {
        byte[] bytes = new byte[in.readableBytes()];
        in.readBytes(bytes);
        return bytes;
    }

    static byte[] readReport(ByteBuf in) {
        if (in.readableBytes() > REQUEST_BYTES_MAX) {
            throw malformed("a report of " + in.readableBytes() + " bytes");
        }
        return readBytes(in);
    }

    /** The body of HELLO, its type already read. */
    static Hello readHello(ByteBuf in) {
        need(in, 6);
        if (in.readInt() != MAGIC) {
            throw malformed("a greeting that is not Quorate's");
        }
        int version = in.readShort();
        if (version != VERSION) {
            return new Hello(version, "", "", "", ""); // what follows may be laid out otherwise
        }
        return new Hello(version, readText(in), readText(in), readText(in), readText(in));
    }

    static Refused readRefused(ByteBuf in) {
        need(in, 4);
        return new Refused(in.readInt(), FromOutside.oneLine(readText(in)));
    }

    static Answer readAnswer(ByteBuf in) {
        need(in, 1);
        int status = in.readByte();
        if (status < 0 || status >= Answer.Status.values().length) {
            throw malformed("an answer of status " + status);
        }
        return new Answer(Answer.Status.values()[status], readText(in));
    }

    static long readRequest(ByteBuf in) {
        need(in, 8);
        return in.readLong();
    }

    static byte readType(ByteBuf in) {
        need(in, 1);
        return in.readByte();
    }

    static String readText(ByteBuf in) {
        need(in, 2);
        int length = in.readUnsignedShort();
        need(in, length);
        return in.readCharSequence(length, StandardCharsets.UTF_8).toString();
    }

    static QuorateException malformed(String what) {
        return new QuorateException(ErrorCode.MALFORMED_MESSAGE, "the node-to-node channel received " + what);
    }

    static LengthFieldBasedFrameDecoder frames(int bytesMax) {
        return new LengthFieldBasedFrameDecoder(bytesMax, 0, 4, 0, 4);
    }

    /** After the greeting longer messages come. */
    static void accept(Channel channel, int bytesMax) {
        channel.pipeline().replace(LengthFieldBasedFrameDecoder.class, "frames", frames(bytesMax));
    }

    /** The code with that number, MALFORMED_MESSAGE when this version has none. */
    static ErrorCode code(int number) {
        for (ErrorCode code : ErrorCode.values()) {
            if (number(code) == number) {
                return code;
            }
        }
        return ErrorCode.MALFORMED_MESSAGE;
    }

    private static int number(ErrorCode code) {
        return Integer.parseInt(code.code().substring("QRT-".length()));
    }

    private static ByteBuf begin(ByteBufAllocator alloc, byte type) {
        return alloc.buffer().writeInt(0).writeByte(type);
    }

    private static ByteBuf end(ByteBuf out) {
        return out.setInt(0, out.readableBytes() - 4);
    }

    private static ByteBuf text(ByteBuf out, String text) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        int length = Math.min(bytes.length, DETAIL_BYTES_MAX);
        return out.writeShort(length).writeBytes(bytes, 0, length);
    }

    private static void need(ByteBuf in, int bytes) {
        if (in.readableBytes() < bytes) {
            throw malformed("a message cut short");
        }
    }
}
