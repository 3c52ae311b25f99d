// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.join;

import io.quorate.core.Certified;
import io.quorate.core.Difference;
import io.quorate.core.Keys;
import io.quorate.core.OrderedFirst;
import io.quorate.core.TableName;
import io.quorate.core.WriteSet;
import io.quorate.core.WriteSetLog;
import io.quorate.core.binlog.TableMap;
import java.io.IOException;
import java.util.Collections;
import java.util.HashSet;
import java.util.Set;
import java.util.UUID;

/**
 * Finds out whether a server can't take something because its own clients have defined a table anew, and what it can't
 * take was ordered before that; or because somebody has chosen another server's tables since ({@link
 * OrderedFirst#isTrust}). Then it is this server that is the odd one, and not the others that may be wrong.
 */
final class RanAhead {

    private final Difference where;
    private final UUID server;
    /** The keys of what can't be taken. */
    private final Set<Long> met = new HashSet<>();

    private RanAhead(Difference where, UUID server) {
        this.where = where;
        this.server = server;
    }

    /**
     * Looks through what is ordered and not applied here.
     *
     * @param log the node's record
     * @param position the seqno up to which the order is applied on this server
     * @param upTo the last seqno of the record; what this server has committed is ordered by then
     */
    static boolean of(Difference where, UUID server, WriteSetLog log, long position, long upTo)
            throws IOException, InterruptedException {
        if (where.mayBeAnywhere() || position >= upTo || log.first() > position + 1) {
            return false;
        }
        RanAhead search = new RanAhead(where, server);
        return log.find(position + 1, upTo, search::isAhead) != null;
    }

    private boolean isAhead(Certified c) {
        WriteSet w = c.writeSet();
        if (c.passed() && OrderedFirst.isTrust(w)) {
            return !OrderedFirst.trusts(w, server);
        }
        if (w.isDefinition() && w.gtid().source().equals(server)) {
            return !met.isEmpty() && (w.keys().touchEverything() || touchesMet(w.keys()));
        }
        if (c.passed() && isConcerned(c)) {
            for (int i = 0; i < w.keys().size(); i++) {
                met.add(w.keys().hash(i));
            }
        }
        return false;
    }

    private boolean touchesMet(Keys keys) {
        for (int i = 0; i < keys.size(); i++) {
            if (!Keys.isReserved(keys.hash(i)) && met.contains(keys.hash(i))) {
                return true;
            }
        }
        return false;
    }

    private boolean isConcerned(Certified c) {
        Set<TableName> tables = where.tables();
        return where.seqnos().contains(c.seqno())
                || where.writeSets().contains(c.writeSet().gtid())
                || (!tables.isEmpty()
                        && c.writeSet().kind() == WriteSet.Kind.ROWS
                        && !Collections.disjoint(
                                tables, TableMap.tables(c.writeSet().payload())));
    }
}
