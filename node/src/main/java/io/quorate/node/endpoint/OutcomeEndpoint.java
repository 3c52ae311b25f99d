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
        Certified failed = stream.failure(gtid);
        if (failed != null) {
            return undone(gtid, failed.seqno(), failed.verdict().name());
        }
        Conflict conflict = journal.find(gtid);
        if (conflict != null) {
            return undone(gtid, conflict.seqno(), conflict.verdict());
        }
        return isOrdered
                ? new OutcomeAnswer(gtid.toString(), Kind.ORDERED, 0, "it is on every node, or on its way there")
                : new OutcomeAnswer(
                        gtid.toString(),
                        Kind.UNKNOWN,
                        0,
                        "not ordered as far as this node knows; it will be, if its server comes back with it");
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
