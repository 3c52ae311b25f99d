// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.trace;

import io.quorate.core.Gtid;
import java.util.HexFormat;

/**
 * The ids of a transaction's trace, a pure function of its GTID. So all nodes sample the same transactions, and their
 * spans meet in one trace without anything in the writeset. The function must stay as it is: nodes of two versions in
 * one cluster would otherwise have two traces.
 *
 * @param high the first half of the trace's id
 * @param low its second half
 * @param root id of the span that all others belong to
 */
record TraceIds(long high, long low, long root) {
    private static final long SAMPLE = mix(0, 1);
    private static final long HIGH = mix(0, 2);
    private static final long LOW = mix(0, 3);
    private static final long ROOT = mix(0, 4);

    static TraceIds of(Gtid gtid) {
        return new TraceIds(id(hash(HIGH, gtid)), id(hash(LOW, gtid)), id(hash(ROOT, gtid)));
    }

    /** Whether it is the one of so many that has a trace. What is sampled by 1000 is sampled by 100, too. */
    static boolean isSampled(Gtid gtid, int oneOf) {
        return oneOf == 1 || Long.remainderUnsigned(hash(SAMPLE, gtid), oneOf) == 0;
    }

    /** The id of the span with this name; each has one of its own within the trace. */
    long span(String name) {
        long h = root;
        for (int i = 0; i < name.length(); i++) {
            h = mix(h, name.charAt(i));
        }
        return id(h);
    }

    /** The trace's id as OpenTelemetry writes it. */
    String trace() {
        return hex(high) + hex(low);
    }

    static String hex(long id) {
        return HexFormat.of().toHexDigits(id);
    }

    private static long hash(long salt, Gtid gtid) {
        long h = mix(salt, gtid.source().getMostSignificantBits());
        h = mix(h, gtid.source().getLeastSignificantBits());
        return mix(h, gtid.number());
    }

    /** The finalizer of MurmurHash3. */
    private static long mix(long seed, long value) {
        long h = (seed ^ value) + 0x9E3779B97F4A7C15L;
        h = (h ^ (h >>> 33)) * 0xFF51AFD7ED558CCDL;
        h = (h ^ (h >>> 33)) * 0xC4CEB9FE1A85EC53L;
        return h ^ (h >>> 33);
    }

    /** Ids are never zero: zero stands for none. */
    private static long id(long hash) {
        return hash == 0 ? 1 : hash;
    }
}
