// SPDX-License-Identifier: Apache-2.0
package io.quorate.capture;

import io.quorate.core.CertifiedXid;
import io.quorate.core.binlog.EventReader;
import java.util.HexFormat;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * An XA transaction's identifier, as the binlog writes it in {@code XA START X'61',X'',1} and in XA_PREPARE events.
 *
 * @param global gtrid in lower-case hex
 * @param branch bqual in lower-case hex
 * @param format formatID
 */
record Xid(String global, String branch, long format) {
    private static final Pattern TEXT =
            Pattern.compile("X'((?:\\p{XDigit}{2}){0,64})',X'((?:\\p{XDigit}{2}){0,64})',(\\d{1,10})");

    /** The identifier in a statement's text; empty when it has none. */
    static Optional<Xid> in(String statement) {
        Matcher m = TEXT.matcher(statement);
        return m.find()
                ? Optional.of(new Xid(lower(m.group(1)), lower(m.group(2)), Long.parseLong(m.group(3))))
                : Optional.empty();
    }

    /** Reads it from an XA_PREPARE event, after the one-phase flag. */
    static Xid read(EventReader in) {
        long format = in.u32();
        int globalBytes = (int) in.u32();
        int branchBytes = (int) in.u32();
        HexFormat hex = HexFormat.of();
        int from = in.skip(globalBytes);
        String global = hex.formatHex(in.bytes, from, from + globalBytes);
        from = in.skip(branchBytes);
        return new Xid(global, hex.formatHex(in.bytes, from, from + branchBytes), format);
    }

    /** The request in it to be certified before the commit, if there is one. */
    Optional<CertifiedXid> certified() {
        HexFormat hex = HexFormat.of();
        return CertifiedXid.of(hex.parseHex(global), hex.parseHex(branch), format);
    }

    private static String lower(String hex) {
        return HexFormat.of().formatHex(HexFormat.of().parseHex(hex));
    }

    @Override
    public String toString() {
        return "X'" + global + "',X'" + branch + "'," + format;
    }
}
