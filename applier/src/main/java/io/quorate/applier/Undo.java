// SPDX-License-Identifier: Apache-2.0
package io.quorate.applier;

import io.quorate.core.Certified;
import io.quorate.core.ErrorCode;
import io.quorate.core.Gtid;
import io.quorate.core.LogPosition;
import io.quorate.core.OwnWrites;
import io.quorate.core.OwnWrites.Doomed;
import io.quorate.core.OwnWrites.Losers;
import io.quorate.core.QuorateException;
import io.quorate.core.Verdict;
import io.quorate.core.WriteSet;
import io.quorate.core.WriteSetLog;
import io.quorate.core.binlog.Inverse;
import java.io.IOException;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.UUID;

/**
 * Undoes this server's own transactions that lose. A group is committed only when every transaction that conflicts with
 * it, and was committed here before the group took its locks, is undone in the same database transaction. To know
 * these, the worker executes the group, reads what the server has committed by then, waits until the capture has read
 * that far, and asks {@link OwnWrites}. Whoever commits later had to wait for the group's locks or touched other rows.
 */
final class Undo {
    private static final Duration CAPTURE_WAIT = Duration.ofSeconds(5);

    private final SharedOwnWrites own;
    private final UUID server;
    private final WriteSetLog writeSets;
    private final Cascades cascades;

    Undo(SharedOwnWrites own, UUID server, WriteSetLog writeSets, Cascades cascades) {
        this.own = own;
        this.server = server;
        this.writeSets = writeSets;
        this.cascades = cascades;
    }

    /** What has to be undone before these writesets can be applied, as far as it is known now; the latest first. */
    Losers losers(Collection<Certified> group) {
        return own.toUndo(group, List.of());
    }

    /** The same, with {@code losers} in any case. */
    Losers losers(Collection<Certified> group, List<Doomed> losers) {
        return own.toUndo(group, losers);
    }

    /** Whether anything that the server has committed by now is in the way. */
    enum Outlook {
        /** Everything that is in the way of the group is undone. */
        CLEAR,
        /** There is more to undo. */
        MORE,
        /** The capture, or the order, is too far behind to tell. */
        UNKNOWN
    }

    /** Called with the group executed and its locks held: is everything that is in its way among {@code undone}? */
    Outlook outlook(Session session, Collection<Certified> group, List<Doomed> undone)
            throws SQLException, InterruptedException {
        if (!own.awaitCovered(session.lastGtid(server), CAPTURE_WAIT)) {
            return Outlook.UNKNOWN;
        }
        Losers now = own.toUndo(group, undone);
        if (!now.certain()) {
            return Outlook.UNKNOWN;
        }
        return now.doomed().size() > undone.size() ? Outlook.MORE : Outlook.CLEAR;
    }

    /** Whether there are others to undo besides these. */
    boolean hasMore(Collection<Certified> group, List<Doomed> losers) {
        return own.toUndo(group, losers).doomed().size() > losers.size();
    }

    /**
     * Waits, without locks, until the capture has read what the server has committed by now; false when the time is
     * over.
     */
    boolean awaitCapture(Session session) throws SQLException, InterruptedException {
        return own.awaitCovered(session.lastGtid(server), CAPTURE_WAIT);
    }

    /** What the losers wrote. */
    List<WriteSet> writeSets(List<Doomed> losers) throws InterruptedException {
        List<WriteSet> all = new ArrayList<>(losers.size());
        for (Doomed loser : losers) {
            all.add(loser.writeSet() == null ? recorded(loser) : loser.writeSet());
        }
        return all;
    }

    /** Writesets that undo the losers. */
    List<Certified> inverses(List<WriteSet> losers) throws SQLException {
        List<Certified> inverses = new ArrayList<>(losers.size());
        for (WriteSet w : losers) {
            try {
                cascades.require(w);
                WriteSet inverse = new WriteSet(
                        w.gtid(),
                        w.lastSeen(),
                        w.committedMicros(),
                        WriteSet.Kind.ROWS,
                        w.keys(),
                        Inverse.of(w.payload()));
                inverses.add(new Certified(0, Verdict.PASSED, 0, 0, LogPosition.START, false, inverse));
            } catch (QuorateException e) {
                throw new QuorateException(e.code(), w.gtid() + ": " + e.getMessage(), e);
            }
        }
        return inverses;
    }

    private WriteSet recorded(Doomed loser) throws InterruptedException {
        try (WriteSetLog.Cursor cursor = writeSets.read(loser.failedAt())) {
            Certified c = cursor.next(CAPTURE_WAIT);
            if (c == null || c.writeSet().gtid().number() != loser.number()) {
                throw new IllegalStateException("seqno " + loser.failedAt() + " is not " + server + ":" + loser.number()
                        + " in the record, but " + c);
            }
            return c.writeSet();
        } catch (IOException e) {
            throw new QuorateException(ErrorCode.DISK, "can't read the writeset cache: " + e.getMessage(), e);
        }
    }

    /** The commit that undoes them is about to happen. */
    void committing(List<Doomed> losers, long seqno) {
        own.undoing(losers, seqno);
    }

    /** That commit failed. */
    void failed(List<Doomed> losers) {
        own.notUndone(losers);
    }

    long settledNumber() {
        return own.settledNumber();
    }

    /** The GTIDs of some losers, for messages. */
    String names(List<Doomed> losers) {
        StringBuilder names = new StringBuilder();
        for (Doomed loser : losers.subList(0, Math.min(losers.size(), 10))) {
            names.append(names.isEmpty() ? "" : ", ").append(new Gtid(server, loser.number()));
        }
        return names + (losers.size() > 10 ? " and " + (losers.size() - 10) + " more" : "");
    }
}
