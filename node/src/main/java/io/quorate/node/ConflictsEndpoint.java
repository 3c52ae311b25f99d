// SPDX-License-Identifier: Apache-2.0
package io.quorate.node;

import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.Selector;
import org.springframework.stereotype.Component;

/**
 * {@code /actuator/conflicts}: the latest transactions that lost, without their rows; {@code /actuator/conflicts/SEQNO}: all
 * of one.
 */
@Component
@Endpoint(id = "conflicts")
class ConflictsEndpoint {
    private static final int LIMIT_DEFAULT = 50;
    private static final int LIMIT_MAX = 10_000;

    private final Node node;

    ConflictsEndpoint(Node node) {
        this.node = node;
    }

    /**
     * @param limit how many, 50 unless it says otherwise
     * @param full with the rows of both
     */
    @ReadOperation
    Map<String, Object> list(@Nullable Integer limit, @Nullable Boolean full) throws IOException {
        List<Map<String, Object>> conflicts = new ArrayList<>();
        int most = limit == null ? LIMIT_DEFAULT : Math.max(1, Math.min(limit, LIMIT_MAX));
        for (Conflict c : node.conflicts().latest(most)) {
            if (full != null && full) {
                conflicts.add(whole(c));
                continue;
            }
            Map<String, Object> line = new LinkedHashMap<>();
            line.put("seqno", c.seqno());
            line.put("verdict", c.verdict());
            line.put("met", c.met());
            line.put("loser", c.loser().gtid());
            line.put("committed", c.loser().committed());
            line.put("account", c.loser().account());
            line.put("rows", c.loser().rowCount());
            line.put("winnerSeqno", c.winner() == null ? null : c.winner().seqno());
            line.put("winner", c.winner() == null ? null : c.winner().gtid());
            line.put("undone", undone(c));
            conflicts.add(line);
        }
        return Map.of(
                "node",
                node.status().name(),
                "conflicts",
                conflicts,
                "mismatches",
                node.conflicts().mismatches());
    }

    /** All of one; nothing when there is no such. */
    @ReadOperation
    @Nullable
    Map<String, Object> show(@Selector long seqno) throws IOException {
        Conflict c = node.conflicts().find(seqno);
        return c == null ? null : whole(c);
    }

    private Map<String, Object> whole(Conflict c) {
        Map<String, Object> answer = new LinkedHashMap<>();
        answer.put("seqno", c.seqno());
        answer.put("verdict", c.verdict());
        answer.put("met", c.met());
        answer.put("undone", undone(c));
        answer.put("loser", c.loser());
        answer.put("winner", c.winner());
        return answer;
    }

    /** An own loser is undone with its winner's apply, at the latest in its own place in the order. */
    private String undone(Conflict c) {
        UUID self = node.stream().self();
        if (self == null || !c.loser().server().equals(self.toString())) {
            return "never applied here";
        }
        return c.seqno() <= node.progress().lastApplied() ? "undone here" : "to be undone here";
    }
}
