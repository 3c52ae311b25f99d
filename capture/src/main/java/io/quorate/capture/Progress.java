// SPDX-License-Identifier: Apache-2.0
package io.quorate.capture;

import io.quorate.core.Difference;
import io.quorate.core.ErrorCode;
import io.quorate.core.Gtid;
import io.quorate.core.GtidSet;
import io.quorate.core.Keys;
import io.quorate.core.Payload;
import io.quorate.core.QuorateException;
import io.quorate.core.WriteSet;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.UUID;

/**
 * How far the binlog has been read, and the XA transactions that are prepared by then. A GTID counts as read when the
 * sink has covered its transaction, or when the transaction is set aside here. This object outlives connections; the
 * reader's thread owns it while one is open.
 */
final class Progress {
    /** A prepared XA transaction, with what it changes if it is committed. */
    record Prepared(long number, WriteSet.Kind kind, Keys keys, Payload payload) {}

    private static final long[] NO_NUMBERS = {};

    private final UUID server;
    private final GtidSet read = new GtidSet();
    private final Map<Xid, Prepared> prepared = new HashMap<>();

    /** The latest numbers of this server without a gap that are not yet in {@link #read}. */
    private long runFrom = 1;

    private long runTo;
    private long last;
    private long lastSeen;
    private long preparedBytes;
    private long[] undecided;

    private volatile PassedOver passedOver = PassedOver.NOTHING;

    /** Undecided at the start, and not sent again yet. */
    private final GtidSet awaited = new GtidSet();

    Progress(UUID server, CapturePosition start) {
        this.server = server;
        read.addAll(start.resume());
        last = start.origin().last();
        lastSeen = start.origin().lastSeen();
        undecided = start.origin().undecided();
        for (long number : undecided) {
            awaited.add(server, number, number);
        }
    }

    /** The GTIDs that the server need not send again. */
    GtidSet resume() {
        return new GtidSet().addAll(read).add(server, runFrom, runTo);
    }

    long last() {
        return last;
    }

    long lastSeen() {
        return lastSeen;
    }

    void seen(long seqno) {
        lastSeen = Math.max(lastSeen, seqno);
    }

    long[] undecided() {
        return undecided;
    }

    /** The undecided numbers with one added. */
    long[] undecidedWith(long number) {
        if (Arrays.binarySearch(undecided, number) >= 0) {
            return undecided;
        }
        long[] more = Arrays.copyOf(undecided, undecided.length + 1);
        more[undecided.length] = number;
        Arrays.sort(more);
        return more;
    }

    /** The undecided numbers without one. */
    long[] undecidedWithout(long number) {
        int i = Arrays.binarySearch(undecided, number);
        if (i < 0) {
            return undecided;
        }
        if (undecided.length == 1) {
            return NO_NUMBERS;
        }
        long[] fewer = Arrays.copyOf(undecided, undecided.length - 1);
        System.arraycopy(undecided, i + 1, fewer, i, fewer.length - i);
        return fewer;
    }

    Prepared prepared(Xid xid) {
        return prepared.get(xid);
    }

    /** Sets a prepared transaction aside. */
    void prepare(Xid xid, Prepared transaction) {
        preparedBytes += transaction.payload().size();
        Prepared before = prepared.put(xid, transaction);
        if (before != null) {
            preparedBytes -= before.payload().size();
        }
        undecided = undecidedWith(transaction.number());
        awaited.remove(new Gtid(server, transaction.number()));
    }

    /** What the prepared transactions but one change, in bytes. */
    long preparedBytesBeside(Xid xid) {
        Prepared one = prepared.get(xid);
        return preparedBytes - (one == null ? 0 : one.payload().size());
    }

    void decided(Xid xid) {
        Prepared transaction = prepared.remove(xid);
        if (transaction != null) {
            preparedBytes -= transaction.payload().size();
            undecided = undecidedWithout(transaction.number());
        }
    }

    /**
     * Fails unless the server's transaction with this number is due. The order knows a server's transactions by the
     * last of their numbers, so they must come without a gap. Undecided XA PREPAREs come first, once more.
     */
    void requireNext(long number) {
        if (number <= last) {
            if (!awaited.contains(new Gtid(server, number))) {
                throw outOfOrder(number, "the order would take it for an earlier one");
            }
            return;
        }
        if (number > last + 1) {
            GtidSet unused = new GtidSet().add(server, last + 1, number - 1).minus(resume());
            if (!unused.isEmpty()) {
                throw outOfOrder(number, "the next ones would get " + unused + ", and be taken for earlier ones");
            }
        }
        requireNothingAwaited();
    }

    private QuorateException outOfOrder(long number, String why) {
        return new QuorateException(
                ErrorCode.GTID_OUT_OF_ORDER,
                "transaction " + server + ":" + number + " comes after " + server + ":" + last + "; " + why);
    }

    /** Fails when the server goes on without having sent an undecided XA PREPARE again. */
    private void requireNothingAwaited() {
        if (awaited.count() > 0) {
            throw new QuorateException(
                    ErrorCode.BINLOG_PURGED, "the binlog no longer has the undecided XA PREPAREs " + awaited);
        }
    }

    /** A transaction of this server is complete. */
    void covered(long number) {
        last = Math.max(last, number);
        if (number == runTo + 1) {
            runTo = number;
            return;
        }
        read.add(server, runFrom, runTo);
        runFrom = number;
        runTo = number;
    }

    /** Transactions that aren't of this server's own numbers: it won't send them, or they need not be ordered. */
    void covered(GtidSet gtids) {
        read.addAll(gtids);
        passedOver = passedOver.and(gtids);
    }

    /** One of them has changed something, and isn't ordered all the same. */
    void passOver(Difference where) {
        passedOver = passedOver.and(where);
    }

    /** Any thread. */
    PassedOver passedOver() {
        return passedOver;
    }
}
