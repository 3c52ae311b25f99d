// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.endpoint;

import io.quorate.certification.OrderedStream;
import io.quorate.core.ErrorCode;
import io.quorate.core.Verdict;
import io.quorate.core.answer.ConflictAnswer;
import io.quorate.core.answer.ConflictsAnswer;
import io.quorate.node.conflict.Conflict;
import io.quorate.node.conflict.ConflictJournal;
import io.quorate.node.member.Standing;
import io.quorate.node.server.ApplyProgress;
import java.io.IOException;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.Selector;
import org.springframework.stereotype.Component;

/**
 * {@code /actuator/conflicts}: the latest transactions that lost, without their rows; {@code
 * /actuator/conflicts/SEQNO}: everything about one of them.
 */
@Component
@Endpoint(id = "conflicts")
class ConflictsEndpoint {
    private static final int LIMIT_DEFAULT = 50;
    private static final int LIMIT_MAX = 10_000;

    private final ConflictJournal conflicts;
    private final Standing standing;
    private final OrderedStream stream;
    private final ApplyProgress progress;

    ConflictsEndpoint(ConflictJournal conflicts, Standing standing, OrderedStream stream, ApplyProgress progress) {
        this.conflicts = conflicts;
        this.standing = standing;
        this.stream = stream;
        this.progress = progress;
    }

    /**
     * @param limit how many conflicts, 50 if it is left out
     * @param full whether to show the rows of both transactions
     */
    @ReadOperation
    ConflictsAnswer list(@Nullable Integer limit, @Nullable Boolean full) throws IOException {
        int most = limit == null ? LIMIT_DEFAULT : Math.max(1, Math.min(limit, LIMIT_MAX));
        List<Conflict> latest = conflicts.latest(most);
        List<ConflictsAnswer.Mismatch> mismatches = conflicts.mismatches();
        String self = standing.status().name();
        if (full != null && full) {
            return new ConflictsAnswer.Full(
                    self, latest.stream().map(this::whole).toList(), mismatches);
        }
        return new ConflictsAnswer.Brief(self, latest.stream().map(this::line).toList(), mismatches);
    }

    /** Everything about one conflict; nothing when there is none at this seqno. */
    @ReadOperation
    @Nullable
    ConflictAnswer show(@Selector long seqno) throws IOException {
        Conflict c = conflicts.find(seqno);
        return c == null ? null : whole(c);
    }

    private ConflictsAnswer.Line line(Conflict c) {
        return new ConflictsAnswer.Line(
                c.seqno(),
                c.verdict(),
                c.met(),
                c.loser().gtid(),
                c.loser().committed(),
                c.loser().account(),
                c.loser().rowCount(),
                c.winner() == null ? null : c.winner().seqno(),
                c.winner() == null ? null : c.winner().gtid(),
                undone(c));
    }

    private ConflictAnswer whole(Conflict c) {
        return new ConflictAnswer(c.seqno(), c.verdict(), c.met(), undone(c), c.loser(), c.winner());
    }

    /**
     * What became of the loser on this node. An own loser is undone when its winner is applied, at the latest at its
     * own place in the order. What can't be undone goes with a full copy.
     */
    private String undone(Conflict c) {
        UUID self = stream.self();
        if (self == null || !c.loser().server().equals(self.toString())) {
            return "never applied here";
        }
        if (c.verdict().equals(Conflict.VOID)) {
            return "acknowledged here, and lost: the others refuse the definition. This server gets a copy of theirs";
        }
        if (c.verdict().equals(Verdict.NOT_REPEATABLE.name())) {
            return ErrorCode.DEFINITION_NOT_REPEATABLE.code() + ": " + ErrorCode.DEFINITION_NOT_REPEATABLE.remedy();
        }
        return c.seqno() <= progress.lastApplied() ? "undone here" : "to be undone here";
    }
}
