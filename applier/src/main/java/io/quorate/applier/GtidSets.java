// SPDX-License-Identifier: Apache-2.0
package io.quorate.applier;

import io.quorate.core.GtidSet;

/** What the server prints of GTIDs beside plain sets. */
final class GtidSets {
    private GtidSets() {}

    /** {@code @@gtid_owned}: uuid:number#thread, and several of one source as uuid:number#thread:number#thread. */
    static GtidSet owned(String text) {
        return GtidSet.parse(text.replaceAll("#\\d+", ""));
    }
}
