// SPDX-License-Identifier: Apache-2.0
package io.quorate.applier;

import io.quorate.core.Certified;
import java.util.Map;
import java.util.UUID;

/**
 * Which writesets of this server its database holds already: all, because they were captured after they were committed,
 * but for those that a crash or {@link TailRepair} took from it. What failed and was taken back counts as there and undone.
 */
final class OwnWriteSets {
    private final UUID server;
    private final TakenBack takenBack;
    private final Map<Long, Long> undone;

    OwnWriteSets(UUID server, TakenBack takenBack, Map<Long, Long> undone) {
        this.server = server;
        this.takenBack = takenBack;
        this.undone = undone;
    }

    boolean isOwn(Certified writeSet) {
        return writeSet.writeSet().gtid().source().equals(server);
    }

    /** Whether an own writeset is in the database, or was and is undone. */
    boolean isHere(Certified own) {
        long number = own.writeSet().gtid().number();
        return !takenBack.contains(number) || (!own.passed() && undone.containsKey(number));
    }
}
