// SPDX-License-Identifier: Apache-2.0
package io.quorate.certification;

import io.quorate.core.Certified;
import java.util.List;

/**
 * What became of one proposal.
 *
 * @param link whether it continued what is known of its origin
 * @param certified its writesets with their verdicts, by rising seqno; empty unless {@link Link#TAKEN}, and also when
 *     it brought only a position
 */
public record Certification(Link link, List<Certified> certified) {
    /** How a proposal relates to what the order has already taken from its origin. */
    public enum Link {
        /** It continued that, perhaps after its known beginning was trimmed. */
        TAKEN,
        /** All of it is known already. Nothing changed. */
        DUPLICATE,
        /**
         * Something before it is missing. Nothing changed; the origin must send the missing part and this one again.
         */
        GAP,
        /**
         * It claims to have seen what is not ordered yet, so its origin has another history. Nothing changed; the
         * origin must stop, because nothing that it sends can be certified.
         */
        IMPOSSIBLE
    }

    static Certification refused(Link link) {
        return new Certification(link, List.of());
    }
}
