// SPDX-License-Identifier: Apache-2.0
package io.quorate.core;

import static io.quorate.core.WriteSetCodec.require;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;

/**
 * A {@link Proposal} as bytes, little-endian: {@code "QRP1" | u64 u64 origin | i64 previous | i64 last | i64 lastSeen |
 * i32 undecided count | i64 each | i32 writeset count | writesets} as {@link WriteSetCodec} writes them.
 */
public final class ProposalCodec {
    private static final int MAGIC = 'Q' | 'R' << 8 | 'P' << 16 | '1' << 24;
    /** What all entries begin with, whatever their kind and version. */
    private static final int OURS = 0xffff;

    /**
     * How many transactions of one origin may be prepared and undecided at a time. A server has at most as many as
     * connections; a state with more isn't read.
     */
    public static final int UNDECIDED_MAX = 1 << 20;

    private static final int FIXED_BYTES = 4 + 16 + 8 + 8 + 8 + 4 + 4;

    private ProposalCodec() {}

    public static Entry encode(Proposal p) {
        List<ByteBuffer> parts = new ArrayList<>();
        int from = 0;
        for (int i = 0; i < p.writeSets().size(); i++) {
            if (p.writeSets().get(i).payload().heapBytes() == 0) {
                // Its payload is a part of its own, or empty.
                parts.add(array(p, from, i + 1));
                parts.add(p.writeSets().get(i).payload().buffer());
                from = i + 1;
            }
        }
        if (from == 0 || from < p.writeSets().size()) {
            parts.add(array(p, from, p.writeSets().size()));
        }
        return new Entry(parts);
    }

    /** The writesets from the one up to, but not with, the other; before the first the proposal's own fields. */
    private static ByteBuffer array(Proposal p, int from, int to) {
        int bytes = from == 0 ? FIXED_BYTES + 8 * p.undecided().length : 0;
        for (WriteSet w : p.writeSets().subList(from, to)) {
            bytes = Math.addExact(
                    bytes, WriteSetCodec.headBytes(w) + w.payload().heapBytes());
        }
        ByteBuffer out = ByteBuffer.allocate(bytes).order(ByteOrder.LITTLE_ENDIAN);
        if (from == 0) {
            encodeFields(p, out);
        }
        for (WriteSet w : p.writeSets().subList(from, to)) {
            WriteSetCodec.encodeHead(w, out);
            if (w.payload().heapBytes() > 0) {
                out.put(w.payload().buffer());
            }
        }
        return out.flip();
    }

    private static void encodeFields(Proposal p, ByteBuffer out) {
        out.putInt(MAGIC);
        out.putLong(p.origin().getMostSignificantBits()).putLong(p.origin().getLeastSignificantBits());
        out.putLong(p.previous()).putLong(p.last()).putLong(p.lastSeen());
        out.putInt(p.undecided().length);
        for (long number : p.undecided()) {
            out.putLong(number);
        }
        out.putInt(p.writeSets().size());
    }

    /**
     * Looks at the first bytes of a proposal.
     *
     * @return its origin
     * @throws QuorateException {@link ErrorCode#INCOMPATIBLE_PEER} for another version, {@link
     *     ErrorCode#MALFORMED_MESSAGE} for what isn't the beginning of any
     */
    public static UUID checkBeginning(ByteBuffer piece) {
        ByteBuffer in = piece.duplicate().order(ByteOrder.LITTLE_ENDIAN);
        require(in.remaining() >= FIXED_BYTES, "proposal cut short");
        int magic = in.getInt();
        require((magic & OURS) == (MAGIC & OURS), "entry starts with " + Integer.toHexString(magic));
        if (magic != MAGIC) {
            throw new QuorateException(ErrorCode.INCOMPATIBLE_PEER, "entry starts with " + Integer.toHexString(magic));
        }
        return new UUID(in.getLong(), in.getLong());
    }

    /**
     * Reads the whole of {@code entry}. Its first bytes alone tell the version of all that is in it; so an entry that
     * is of this version, and has a writeset of another one, is malformed.
     *
     * @throws QuorateException as {@link #checkBeginning} does
     */
    public static Proposal decode(ByteBuffer entry) {
        UUID origin = checkBeginning(entry);
        ByteBuffer in = entry.duplicate().order(ByteOrder.LITTLE_ENDIAN);
        in.position(in.position() + Integer.BYTES + 2 * Long.BYTES);
        long previous = in.getLong();
        long last = in.getLong();
        long lastSeen = in.getLong();
        int undecidedCount = in.getInt();
        require(
                undecidedCount >= 0 && undecidedCount <= UNDECIDED_MAX && 8L * undecidedCount + 4 <= in.remaining(),
                "proposal with " + undecidedCount + " undecided transactions");
        long[] undecided = new long[undecidedCount];
        for (int i = 0; i < undecidedCount; i++) {
            undecided[i] = in.getLong();
        }
        int count = in.getInt();
        require(
                count >= 0 && (long) count * WriteSetCodec.FIXED_BYTES <= in.remaining(),
                "proposal with " + count + " writesets");
        List<WriteSet> writeSets = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            writeSets.add(writeSet(in));
        }
        require(!in.hasRemaining(), in.remaining() + " bytes after a proposal");
        try {
            return new Proposal(origin, previous, last, lastSeen, undecided, writeSets);
        } catch (IllegalArgumentException e) {
            throw new QuorateException(ErrorCode.MALFORMED_MESSAGE, "proposal out of order: " + e.getMessage(), e);
        }
    }

    private static WriteSet writeSet(ByteBuffer in) {
        try {
            WriteSet read = WriteSetCodec.decode(in);
            // Only certification makes these, on each node for itself.
            require(read.kind() != WriteSet.Kind.VOID, "proposal with a verdict on definitions");
            return read;
        } catch (QuorateException e) {
            if (e.code() != ErrorCode.INCOMPATIBLE_PEER) {
                throw e;
            }
            throw new QuorateException(ErrorCode.MALFORMED_MESSAGE, "proposal of this version with a " + e.detail(), e);
        }
    }
}
