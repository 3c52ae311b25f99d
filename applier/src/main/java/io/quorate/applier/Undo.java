// SPDX-License-Identifier: Apache-2.0
package io.quorate.applier;

import io.quorate.core.Certified;
import io.quorate.core.Difference;
import io.quorate.core.ErrorCode;
import io.quorate.core.Keys;
import io.quorate.core.LogPosition;
import io.quorate.core.OwnWrites.Doomed;
import io.quorate.core.OwnWrites.Losers;
import io.quorate.core.QuorateException;
import io.quorate.core.Spool;
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
import java.util.Set;
import java.util.UUID;

/**
 * Undoes this server's own transactions that lose: reads what they wrote, takes it back, and knows whether all that may
 * lose is known. A group is committed only when every transaction that conflicts with it, and was committed here before
 * the group took its locks, is undone in the same database transaction ({@link ApplyCourse}). Whoever commits later had
 * to wait for the group's locks or touched other rows.
 */
final class Undo {
    private static final Duration CAPTURE_WAIT = Duration.ofSeconds(5);
    private static final Duration ORDER_WAIT = Duration.ofSeconds(1);

    private final SharedOwnWrites own;
    private final UUID server;
    private final WriteSetLog writeSets;
    private final Cascades cascades;
    private final Engines engines;
    private final OrderedLater later;

    Undo(
            SharedOwnWrites own,
            UUID server,
            WriteSetLog writeSets,
            Cascades cascades,
            Engines engines,
            DefinitionTexts texts) {
        this.own = own;
        this.server = server;
        this.writeSets = writeSets;
        this.cascades = cascades;
        this.engines = engines;
        this.later = new OrderedLater(server, texts);
    }

    /** Waits until the capture has read what the server has committed by now; false when the time is over. */
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
            if (w.isUpkeep()) {
                continue;
            }
            requireRepeatable(w);
            try {
                cascades.require(w);
                engines.require(w);
                WriteSet inverse = new WriteSet(
                        w.gtid(),
                        w.lastSeen(),
                        w.committedMicros(),
                        WriteSet.Kind.ROWS,
                        w.keys(),
                        Inverse.of(w.payload(), writeSets.spool()));
                inverses.add(new Certified(0, Verdict.PASSED, 0, 0, LogPosition.START, false, inverse));
            } catch (QuorateException e) {
                throw new QuorateException(
                        e.code(),
                        w.gtid() + " (" + ApplyErrors.what(w.payload()) + "): " + e.detail(),
                        e,
                        Difference.of(Set.of(w.gtid())));
            }
        }
        return inverses;
    }

    private static void requireRepeatable(WriteSet w) {
        if (w.isDefinition() && w.keys().contains(Keys.NOT_REPEATABLE)) {
            throw new QuorateException(
                    ErrorCode.DEFINITION_NOT_REPEATABLE,
                    w.gtid() + " (" + ApplyErrors.what(w.payload()) + ") can't be had by other servers:"
                            + " it would do something else on each, or is too large for them",
                    null,
                    Difference.of(Set.of(w.gtid())));
        }
    }

    /** The register without the definitions that stay until the order brings them again. */
    ApplyCourse.Register register() {
        return new ApplyCourse.Register() {
            @Override
            public Losers toUndo(Collection<Certified> group, Collection<Doomed> chosen) {
                return later.without(own.toUndo(group, chosen), group);
            }

            @Override
            public void undoing(Collection<Doomed> losers, long seqno) {
                own.undoing(losers, seqno);
            }

            @Override
            public void notUndone(Collection<Doomed> losers) {
                own.notUndone(losers);
            }
        };
    }

    /** As {@link OrderedLater#among}. Waits for a moment for what is being ordered. */
    List<Doomed> orderedLater(List<Doomed> losers, List<WriteSet> theirs, List<Doomed> alike, long seqno)
            throws InterruptedException {
        if (losers.size() == alike.size()) {
            return List.of();
        }
        try (WriteSetLog.Cursor cursor = writeSets.read(seqno + 1)) {
            return later.among(losers, theirs, alike, seqno, () -> cursor.next(ORDER_WAIT));
        } catch (IOException e) {
            throw new QuorateException(ErrorCode.DISK, "can't read the writeset cache: " + e.getMessage(), e);
        }
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

    /** GTID numbers up to here need not be remembered as undone any more. */
    long settledNumber() {
        return own.settledNumber();
    }

    /** Where large payloads are put. */
    Spool spool() {
        return writeSets.spool();
    }

    /** Whose transactions are undone. */
    UUID server() {
        return server;
    }

    SharedOwnWrites own() {
        return own;
    }
}
