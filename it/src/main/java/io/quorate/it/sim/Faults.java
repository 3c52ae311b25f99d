// SPDX-License-Identifier: Apache-2.0
package io.quorate.it.sim;

import java.util.List;

/**
 * What may go wrong, as probabilities and numbers.
 *
 * @param loss of a message; a donor's answer breaks off twice as often
 * @param duplicate of a message
 * @param crashes of services and databases
 * @param cuts of a node from the others
 * @param elections that nobody needed
 * @param delayMicrosMax of a message
 * @param captureMicrosMax from commit to capture
 * @param stepMicrosMax of a statement
 * @param logEntriesMax what a node keeps of the order's log for one that is away
 * @param cacheBytesMax what a node keeps of certified writesets for others
 * @param diskLoss of the cache or the newest checkpoint, at the crash of a service
 * @param powerLosses of servers that don't force their logs; without any, they do
 * @param departures of a node, with its directory or of its own will, while others may be cut off
 * @param recoveries from the loss of all nodes but one
 * @param disputes above 0 where rows stand against definitions; so many servers less one are tampered with
 */
record Faults(
        double loss,
        double duplicate,
        int crashes,
        int cuts,
        int elections,
        int delayMicrosMax,
        int captureMicrosMax,
        int stepMicrosMax,
        int logEntriesMax,
        long cacheBytesMax,
        double diskLoss,
        int powerLosses,
        int departures,
        int recoveries,
        int disputes) {
    static final int ALL_ENTRIES = Integer.MAX_VALUE;
    static final long ALL_BYTES = 1L << 30;
    static final Faults NONE = new Faults(0, 0, 0, 0, 0, 2000, 300, 200, ALL_ENTRIES, ALL_BYTES, 0, 0, 0, 0, 0);
    /** What there is to leave out. */
    static final List<String> KINDS = List.of(
            "crashes", "cuts", "elections", "loss", "purges", "disks", "power", "departures", "recoveries", "disputes");

    /** Of servers that don't force their logs; with it, nodes keep their directories and no recovery is forced. */
    Faults withPowerLosses(int count) {
        return new Faults(
                loss,
                duplicate,
                crashes,
                cuts,
                elections,
                delayMicrosMax,
                captureMicrosMax,
                stepMicrosMax,
                logEntriesMax,
                cacheBytesMax,
                0,
                count,
                0,
                0,
                0);
    }

    /** With which no recovery is forced, and no cache is lost. */
    Faults withDisputes(int count) {
        return new Faults(
                loss,
                duplicate,
                crashes,
                cuts,
                elections,
                delayMicrosMax,
                captureMicrosMax,
                stepMicrosMax,
                logEntriesMax,
                cacheBytesMax,
                0,
                0,
                departures,
                0,
                count);
    }

    Faults without(String what) {
        boolean purges = !what.equals("purges");
        return new Faults(
                what.equals("loss") ? 0 : loss,
                what.equals("loss") ? 0 : duplicate,
                what.equals("crashes") ? 0 : crashes,
                what.equals("cuts") ? 0 : cuts,
                what.equals("elections") ? 0 : elections,
                delayMicrosMax,
                captureMicrosMax,
                stepMicrosMax,
                purges ? logEntriesMax : ALL_ENTRIES,
                purges ? cacheBytesMax : ALL_BYTES,
                what.equals("disks") ? 0 : diskLoss,
                what.equals("power") ? 0 : powerLosses,
                what.equals("departures") ? 0 : departures,
                what.equals("recoveries") ? 0 : recoveries,
                what.equals("disputes") ? 0 : disputes);
    }
}
