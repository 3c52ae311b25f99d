// SPDX-License-Identifier: Apache-2.0
package io.quorate.capture;

import io.quorate.core.Gtid;
import io.quorate.core.GtidSet;
import io.quorate.core.OriginPosition;
import java.util.UUID;

/**
 * Where capture starts.
 *
 * @param resume the GTIDs the server must not send again: the origin's own up to {@code origin.last()} without its
 *     undecided XA PREPAREs, and all of every other source. Copied, never changed.
 * @param origin how far the total order has taken this origin
 */
public record CapturePosition(GtidSet resume, OriginPosition origin) {
    /**
     * The position at which capture continues the total order.
     *
     * @param server the server's UUID
     * @param origin how far the total order has taken it
     * @param known those of other sources, and tagged ones, that are known to be no concern of the order
     */
    public static CapturePosition after(UUID server, OriginPosition origin, GtidSet known) {
        GtidSet resume = known.ofOthers(server).addAll(known.tagged(server));
        resume.add(server, 1, origin.last());
        for (long number : origin.undecided()) {
            resume.remove(new Gtid(server, number));
        }
        return new CapturePosition(resume, origin);
    }
}
