// SPDX-License-Identifier: Apache-2.0
package io.quorate.transport;

import io.quorate.core.Entry;
import io.quorate.core.ErrorCode;
import io.quorate.core.QuorateException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/**
 * The form in which an entry, or a fragment of one, is in the log: version (1 byte), submitter's name (length byte,
 * UTF-8), stream (8), sequence (8), index (4), count (4), then the bytes. The stream is drawn anew each time the
 * submitter starts, and the sequence counts its entries; so a fragment left over from an abandoned or an earlier
 * submission is never taken for one of the next.
 *
 * @param submitter the node that submitted it
 * @param index which fragment, from 0
 * @param count how many fragments, 1 for a whole entry
 * @param body this fragment's bytes, a view
 */
record EntryFrame(String submitter, long stream, long sequence, int index, int count, ByteBuffer body) {
    private static final byte VERSION = 1;
    private static final int FIXED_BYTES = 1 + 1 + 8 + 8 + 4 + 4;

    /** The bytes to log for {@code entry[from, from + length)}. */
    static byte[] encode(
            byte[] submitter, long stream, long sequence, int index, int count, Entry entry, int from, int length) {
        ByteBuffer out = ByteBuffer.allocate(FIXED_BYTES + submitter.length + length);
        out.put(VERSION).put((byte) submitter.length).put(submitter);
        out.putLong(stream).putLong(sequence).putInt(index).putInt(count);
        entry.copy(from, length, out);
        return out.array();
    }

    /** A frame that ends whatever entry the submitter has open, and is nothing by itself. */
    static byte[] abandonment(String submitter, long stream) {
        byte[] name = submitter.getBytes(StandardCharsets.UTF_8);
        ByteBuffer out = ByteBuffer.allocate(FIXED_BYTES + name.length);
        out.put(VERSION).put((byte) name.length).put(name);
        // The second piece, of two, of an entry that nobody has begun.
        out.putLong(~stream).putLong(0).putInt(1).putInt(2);
        return out.array();
    }

    /** The submitter's name; no name if these bytes are no frame. */
    static String submitter(ByteBuffer bytes) {
        ByteBuffer in = bytes.duplicate();
        if (in.remaining() < 2 || in.get() != VERSION) {
            return "";
        }
        byte[] name = new byte[Math.min(in.get() & 0xff, in.remaining())];
        in.get(name);
        return new String(name, StandardCharsets.UTF_8);
    }

    static EntryFrame decode(ByteBuffer bytes) {
        ByteBuffer in = bytes.duplicate();
        if (in.remaining() < FIXED_BYTES) {
            throw malformed("only " + in.remaining() + " bytes");
        }
        byte version = in.get();
        if (version != VERSION) {
            throw new QuorateException(
                    ErrorCode.INCOMPATIBLE_PEER,
                    "the log holds an entry of format " + version + ", this node knows up to " + VERSION);
        }
        byte[] name = new byte[in.get() & 0xff];
        if (in.remaining() < name.length + FIXED_BYTES - 2) {
            throw malformed("a submitter's name of " + name.length + " bytes");
        }
        in.get(name);
        String submitter = new String(name, StandardCharsets.UTF_8);
        if (!TransportSettings.isName(submitter)) {
            throw malformed("a submitter that is no node"); // it becomes the name of a file
        }
        long stream = in.getLong();
        long sequence = in.getLong();
        int index = in.getInt();
        int count = in.getInt();
        if (count < 1 || index < 0 || index >= count) {
            throw malformed("piece " + index + " of " + count);
        }
        return new EntryFrame(submitter, stream, sequence, index, count, in.slice());
    }

    private static QuorateException malformed(String what) {
        return new QuorateException(ErrorCode.MALFORMED_MESSAGE, "the log holds something that is no entry: " + what);
    }
}
