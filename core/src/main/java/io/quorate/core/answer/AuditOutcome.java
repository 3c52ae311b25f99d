// SPDX-License-Identifier: Apache-2.0
package io.quorate.core.answer;

import java.util.List;

/**
 * The answer to a POST to {@code /actuator/audit}: an {@link Outcome}, and for a repair what became of each row.
 *
 * @param differences everything that the last audit found, each with its outcome; null when nothing was to be repaired,
 *     or it was refused
 * @param done whether it was done
 * @param refusal why not, for people; null when it was
 */
public record AuditOutcome(List<Difference> differences, boolean done, String refusal) {
    /** @param refusal null when it was done */
    public static AuditOutcome of(String refusal) {
        return new AuditOutcome(null, refusal == null, refusal);
    }

    public static AuditOutcome repaired(List<Difference> differences) {
        return new AuditOutcome(differences, true, null);
    }
}
