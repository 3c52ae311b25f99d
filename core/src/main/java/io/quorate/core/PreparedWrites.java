// SPDX-License-Identifier: Apache-2.0
package io.quorate.core;

import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeSet;

/**
 * The own transactions that are prepared and undecided. It answers one question: which of them are in the way of a
 * writeset that is about to be applied? A prepared transaction that conflicts with that writeset had not seen it and
 * fails, so it can be rolled back before the verdict. One that wrote to a table which the writeset defines anew holds a
 * lock that the definition needs. If one is rolled back that passes after all, nothing is lost: it is then applied at
 * its place.
 *
 * <p>Thread-safe. Lives as long as a session with the server, as {@link OwnWrites} does.
 */
public final class PreparedWrites {
    private final Map<Long, OwnTransaction> open = new HashMap<>();
    private final Map<Long, CertifiedXid> xids = new HashMap<>();
    private final OwnKeys keys = new OwnKeys();

    /** The binlog, or the record, has a prepared transaction. */
    public synchronized void prepared(WriteSet w) {
        if (open.containsKey(w.gtid().number())) {
            return;
        }
        OwnTransaction own = new OwnTransaction(w);
        own.writeSet = null;
        open.put(own.number, own);
        xids.put(own.number, CertifiedXid.of(w));
        keys.add(own);
    }

    /** Whether nothing has decided it, as far as is known. */
    public synchronized boolean isOpen(long number) {
        return open.containsKey(number);
    }

    /** It is committed or rolled back for good. */
    public synchronized void settled(long number) {
        OwnTransaction own = open.remove(number);
        if (own != null) {
            xids.remove(number);
            keys.remove(own);
        }
    }

    /** Those that conflict with one of these writesets, or hold a lock that it needs, by GTID number. */
    public synchronized Map<Long, CertifiedXid> inTheWayOf(Collection<Certified> group) {
        if (open.isEmpty()) {
            return Map.of();
        }
        TreeSet<Long> inTheWay = new TreeSet<>();
        for (Certified c : group) {
            if (c.passed()) {
                keys.addLosers(c.writeSet().keys(), open.values(), inTheWay);
                keys.addWritersTo(c.writeSet().keys(), open.values(), inTheWay);
            }
        }
        Map<Long, CertifiedXid> result = new LinkedHashMap<>();
        inTheWay.forEach(number -> result.put(number, xids.get(number)));
        return result;
    }
}
