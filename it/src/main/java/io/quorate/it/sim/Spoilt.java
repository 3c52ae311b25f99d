// SPDX-License-Identifier: Apache-2.0
package io.quorate.it.sim;

import io.quorate.core.Certified;
import io.quorate.core.Gtid;
import io.quorate.core.KeyType;
import io.quorate.core.Keys;
import io.quorate.core.Proposal;
import io.quorate.core.WriteSet;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;

/** What {@link Bug}s make of proposals and records. */
final class Spoilt {
    private Spoilt() {}

    /** Nothing of what it wrote can be met; as if the index had forgotten it. */
    static Proposal withoutKeys(Proposal p) {
        List<WriteSet> stripped = new ArrayList<>();
        for (WriteSet w : p.writeSets()) {
            Keys none =
                    w.isBarrier() ? w.keys() : new Keys(new long[] {5}, new byte[] {(byte) KeyType.SHARED.ordinal()});
            stripped.add(new WriteSet(
                    w.gtid(), w.lastSeen(), w.committedMicros(), w.kind(), none, w.payload(), w.builtOn(), 0));
        }
        return new Proposal(p.origin(), p.previous(), p.last(), p.lastSeen(), p.undecided(), stripped);
    }

    /** The same as of an origin that nobody knows. */
    static Proposal renamed(Proposal p, int index) {
        UUID stranger = new UUID(7, index);
        List<WriteSet> writeSets = new ArrayList<>();
        for (WriteSet w : p.writeSets()) {
            writeSets.add(new WriteSet(
                    new Gtid(stranger, w.gtid().number()), p.lastSeen(), 0, w.kind(), w.keys(), w.payload()));
        }
        return new Proposal(stranger, p.previous(), p.last(), p.lastSeen(), new long[0], writeSets);
    }

    /** Its last change is missing. */
    static Certified torn(Certified c) {
        List<Change> changes = Change.decode(c.writeSet().payload());
        WriteSet w = c.writeSet();
        WriteSet torn = new WriteSet(
                w.gtid(),
                w.lastSeen(),
                0,
                w.kind(),
                w.keys(),
                Change.encode(changes.subList(0, changes.size() - 1)),
                w.builtOn(),
                0);
        return new Certified(
                c.seqno(), c.verdict(), c.conflictsWith(), c.dependsOn(), c.position(), c.lastOfEntry(), torn);
    }
}
