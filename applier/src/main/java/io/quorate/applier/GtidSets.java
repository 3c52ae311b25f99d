// SPDX-License-Identifier: Apache-2.0
package io.quorate.applier;

import io.quorate.core.GtidSet;

/** Parses GTIDs that the server prints in other forms than plain sets. */
public final class GtidSets {
    private GtidSets() {}

    /** {@code @@gtid_owned}: uuid:number#thread; several of one source are uuid:number#thread:number#thread. */
    public static GtidSet owned(String text) {
        return GtidSet.parse(text.replaceAll("#\\d+", ""));
    }
}
