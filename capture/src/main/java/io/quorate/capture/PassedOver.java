// SPDX-License-Identifier: Apache-2.0
package io.quorate.capture;

import io.quorate.core.Difference;
import io.quorate.core.GtidSet;

/**
 * The transactions met whose GTIDs aren't of the server's own numbers, so that they can't be ordered.
 *
 * @param where what they changed on the server; null where they changed nothing that others have, too
 */
public record PassedOver(GtidSet gtids, Difference where) {
    public static final PassedOver NOTHING = new PassedOver(new GtidSet(), null);

    PassedOver and(GtidSet more) {
        return new PassedOver(new GtidSet().addAll(gtids).addAll(more), where);
    }

    PassedOver and(Difference there) {
        return new PassedOver(gtids, where == null ? there : where.and(there));
    }
}
