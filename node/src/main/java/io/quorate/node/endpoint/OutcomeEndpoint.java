// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.endpoint;

import io.quorate.certification.OrderedStream;
import io.quorate.core.Certified;
import io.quorate.core.Gtid;
import io.quorate.core.answer.OutcomeAnswer;
import io.quorate.core.answer.OutcomeAnswer.Kind;
import io.quorate.node.conflict.Conflict;
import io.quorate.node.conflict.ConflictJournal;
import java.io.IOException;
import java.time.Duration;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.Selector;
import org.springframework.stereotype.Component;

/** {@code /actuator/outcome/GTID}: what became of a transaction whose client got no answer. Any node can be asked. */
@Component
@Endpoint(id = "outcome")
class OutcomeEndpoint {
    private static final Duration JOURNAL_MAX = Duration.ofSeconds(3);

    private final OrderedStream stream;
    private final ConflictJournal journal;

    OutcomeEndpoint(OrderedStream stream, ConflictJournal journal) {
        this.stream = stream;
        this.journal = journal;
    }

    /** @return null for what isn't a GTID */
    @ReadOperation
    @Nullable
    OutcomeAnswer outcome(@Selector String gtid) throws IOException, InterruptedException {
        Gtid named = parse(gtid);
        return named == null ? null : outcome(named);
    }

    private OutcomeAnswer outcome(Gtid gtid) throws IOException, InterruptedException {
        // In this sequence: whatever is ordered meanwhile can only be found to be ordered.
        boolean isOrdered = stream.positionOf(gtid.source()).hasDecided(gtid.number());
        boolean isWritten = journal.awaitWritten(stream.lastOrdered(), JOURNAL_MAX);
        boolean isUnsettled = stream.isUnsettled(gtid);
        Certified failed = stream.failure(gtid);
        if (failed != null) {
            return undone(gtid, failed.seqno(), failed.verdict().name());
        }
        Conflict conflict = journal.find(gtid);
        if (conflict != null) {
            return undone(gtid, conflict.seqno(), conflict.verdict());
        }
        if (!isOrdered) {
            return unknown(gtid, "not ordered as far as this node knows; it will be, if its server comes back with it");
        }
        if (isUnsettled) {
            return unknown(
                    gtid,
                    "ordered, but it is open whether a definition stands that it is, or was built on; ask again in"
                            + " some seconds");
        }
        if (!isWritten) {
            return unknown(gtid, "ordered, but this node is still writing down what failed; ask again");
        }
        if (journal.isBefore(gtid)) {
            return unknown(
                    gtid,
                    "decided, but too long ago: this node's journal of what failed begins later. Ask another node, or"
                            + " look for its rows");
        }
        return new OutcomeAnswer(gtid.toString(), Kind.ORDERED, 0, "it is on every node, or on its way there");
    }

    private static OutcomeAnswer unknown(Gtid gtid, String why) {
        return new OutcomeAnswer(gtid.toString(), Kind.UNKNOWN, 0, why);
    }

    private static OutcomeAnswer undone(Gtid gtid, long seqno, String verdict) {
        return new OutcomeAnswer(
                gtid.toString(),
                Kind.UNDONE,
                seqno,
                "it failed at seqno " + seqno + " (" + verdict + "), quorate conflicts show " + seqno + " says why");
    }

    private static Gtid parse(String text) {
        int colon = text.lastIndexOf(':');
        try {
            return new Gtid(UUID.fromString(text.substring(0, colon)), Long.parseLong(text.substring(colon + 1)));
        } catch (IllegalArgumentException | IndexOutOfBoundsException e) {
            return null;
        }
    }
}
