// SPDX-License-Identifier: Apache-2.0
package io.quorate.core.answer;

import java.util.List;
import java.util.Map;

/**
 * The answer of {@code /actuator/definition}: how far the latest definition is that this node was asked to have ordered
 * first.
 *
 * @param node name of the node that answers
 * @param number which request it is, counted since the service began; 0 before the first
 * @param statement the beginning of its text
 * @param phase what it is waiting for, for people; "done" in the end
 * @param outcome null until it is done
 * @param seqno its place in the order; 0 while it has none
 * @param ran names of the nodes whose servers have run it
 * @param behind the other nodes with servers, each with the reason
 * @param message what the servers said, or why it wasn't ordered; null where nothing is to be said
 */
public record DefinitionAnswer(
        String node,
        long number,
        String statement,
        String phase,
        Outcome outcome,
        long seqno,
        List<String> ran,
        Map<String, String> behind,
        String message) {
    /** What has become of it. */
    public enum Outcome {
        /** It is ordered, and stands. */
        RAN,
        /** It is ordered, and the servers refuse it: nothing has happened on any of them. */
        REFUSED,
        /** It isn't ordered: nothing has happened. */
        NOT_ORDERED,
        /** Nobody knows yet whether it will be ordered. */
        UNKNOWN
    }

    /** Whether it is known what has become of it. */
    public boolean known() {
        return outcome != null;
    }
}
