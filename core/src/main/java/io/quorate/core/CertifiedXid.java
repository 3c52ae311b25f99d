// SPDX-License-Identifier: Apache-2.0
package io.quorate.core;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The xid by which an XA transaction asks to be certified before it commits. The node then decides it; the client that
 * prepared it waits.
 *
 * <p>As text: gtrid {@code slot.count.secret}, bqual the snapshot, formatID {@value #FORMAT}, so that {@code XA RECOVER
 * CONVERT XID} can be read. The transaction must write its mark into {@code quorate.certified}, {@code count} at {@code
 * slot}: after a crash the mark says whether the transaction was committed.
 *
 * @param slot of the session that prepares; one transaction at a time
 * @param count rises with each transaction of the slot
 * @param secret letters and digits; whoever knows it could decide the transaction
 * @param snapshot the seqno up to which the order was in the database before the first statement
 */
public record CertifiedXid(long slot, long count, String secret, long snapshot) {
    /** "QRT1". */
    public static final long FORMAT = 0x51525431L;

    private static final Pattern GLOBAL = Pattern.compile("(\\d{1,18})\\.(\\d{1,18})\\.([0-9A-Za-z]{1,28})");
    private static final Pattern BRANCH = Pattern.compile("\\d{1,18}");

    /** Reads the parts of an xid; empty when it isn't one of ours. */
    public static Optional<CertifiedXid> of(byte[] global, byte[] branch, long format) {
        Matcher g = GLOBAL.matcher(new String(global, StandardCharsets.ISO_8859_1));
        String b = new String(branch, StandardCharsets.ISO_8859_1);
        if (format != FORMAT || !g.matches() || !BRANCH.matcher(b).matches()) {
            return Optional.empty();
        }
        return Optional.of(new CertifiedXid(
                Long.parseLong(g.group(1)), Long.parseLong(g.group(2)), g.group(3), Long.parseLong(b)));
    }

    /**
     * Of a writeset that is {@link WriteSet.Kind#PREPARED}: its payload ends with the XA_PREPARE event.
     *
     * @throws QuorateException {@link ErrorCode#MALFORMED_MESSAGE} when it does not
     */
    public static CertifiedXid of(WriteSet w) {
        Payload.Events last = w.payload().events();
        boolean any = false;
        while (last.next()) {
            any = true;
        }
        WriteSetCodec.require(
                any && last.type() == BinlogEvents.XA_PREPARE,
                "writeset " + w.gtid() + " was prepared, but has no XA_PREPARE event");
        // One phase or not, format, two lengths, and the two parts.
        ByteBuffer event = BinlogEvents.littleEndian(last.bytes());
        int at = last.offset() + BinlogEvents.HEADER_BYTES + 1;
        byte[] global = new byte[event.getInt(at + 4)];
        byte[] branch = new byte[event.getInt(at + 8)];
        event.get(at + 12, global).get(at + 12 + global.length, branch);
        return of(global, branch, event.getInt(at) & 0xffff_ffffL)
                .orElseThrow(() -> new QuorateException(
                        ErrorCode.MALFORMED_MESSAGE, "writeset " + w.gtid() + " was prepared under another's xid"));
    }

    /** The xid as it is written after XA START, XA COMMIT and the like. */
    public String sql() {
        return "'" + slot + "." + count + "." + secret + "','" + snapshot + "'," + FORMAT;
    }

    /** The statement that leaves the mark. */
    public String mark() {
        return "REPLACE INTO quorate.certified (slot, count) VALUES (" + slot + ", " + count + ")";
    }
}
