// SPDX-License-Identifier: Apache-2.0
package io.quorate.it.sim;

import io.quorate.core.Verdict;
import java.util.EnumMap;
import java.util.Map;

/** Counts of a run, to see that what is to be proved did happen. */
final class Statistics {
    private final Map<Verdict, Long> verdicts = new EnumMap<>(Verdict.class);
    long committed;
    long prepared;
    long acknowledged;
    long reapplied;
    long heard;
    long endedLost;
    long endedUndecided;
    long putOut;
    long unheard;
    long jointCommits;
    long reconnected;
    long slowed;
    long limited;
    long endedOverdue;
    long byStrangers;
    long undone;
    long rounds;
    long killed;
    long yields;
    long crashes;
    long ddl;
    long transfers;
    long transferred;
    long brokenOff;
    long disksLost;
    long joined;
    long stuck;
    long arbitrators;
    long takenBack;
    long tailsRefused;
    long tailsRepaired;
    long lostCommits;
    long tailsLost;
    long left;
    long emptied;
    long refused;
    long cameBack;
    long forgotten;
    long recoveries;
    long copies;
    long replaced;
    long pieces;
    long readAgain;
    long readAnew;
    long copiesRead;
    long ballots;
    long indexed;
    long repeated;
    long orderedLater;
    long voided;
    long stood;
    long tampered;
    long differed;
    long healed;
    long rebuilt;

    void decided(Verdict verdict) {
        verdicts.merge(verdict, 1L, Long::sum);
    }

    long of(Verdict verdict) {
        return verdicts.getOrDefault(verdict, 0L);
    }

    void add(Statistics that) {
        that.verdicts.forEach((verdict, count) -> verdicts.merge(verdict, count, Long::sum));
        committed += that.committed;
        prepared += that.prepared;
        acknowledged += that.acknowledged;
        reapplied += that.reapplied;
        heard += that.heard;
        endedLost += that.endedLost;
        endedUndecided += that.endedUndecided;
        putOut += that.putOut;
        unheard += that.unheard;
        jointCommits += that.jointCommits;
        reconnected += that.reconnected;
        slowed += that.slowed;
        limited += that.limited;
        endedOverdue += that.endedOverdue;
        byStrangers += that.byStrangers;
        undone += that.undone;
        rounds += that.rounds;
        killed += that.killed;
        yields += that.yields;
        crashes += that.crashes;
        ddl += that.ddl;
        transfers += that.transfers;
        transferred += that.transferred;
        brokenOff += that.brokenOff;
        disksLost += that.disksLost;
        joined += that.joined;
        stuck += that.stuck;
        arbitrators += that.arbitrators;
        takenBack += that.takenBack;
        tailsRefused += that.tailsRefused;
        tailsRepaired += that.tailsRepaired;
        lostCommits += that.lostCommits;
        tailsLost += that.tailsLost;
        left += that.left;
        emptied += that.emptied;
        refused += that.refused;
        cameBack += that.cameBack;
        forgotten += that.forgotten;
        recoveries += that.recoveries;
        copies += that.copies;
        replaced += that.replaced;
        pieces += that.pieces;
        readAgain += that.readAgain;
        readAnew += that.readAnew;
        copiesRead += that.copiesRead;
        ballots += that.ballots;
        indexed += that.indexed;
        repeated += that.repeated;
        orderedLater += that.orderedLater;
        voided += that.voided;
        stood += that.stood;
        tampered += that.tampered;
        differed += that.differed;
        healed += that.healed;
        rebuilt += that.rebuilt;
    }

    @Override
    public String toString() {
        return committed + " transactions of clients, " + prepared + " prepared, of those " + acknowledged
                + " acknowledged and " + reapplied + " rolled back before and applied; in mode after-sync " + heard
                + " heard OK, " + endedLost + " sessions were ended that lost and " + endedUndecided
                + " undecided ones, " + putOut + " put out, " + unheard + " in crashes; " + jointCommits
                + " commits in groups, " + reconnected + " connections of captures lost, " + slowed
                + " times clients were slowed, " + limited + " questions of captures came to their limit, "
                + endedOverdue + " sessions were ended that nobody captured in time, " + byStrangers
                + " acknowledgements of strangers; verdicts " + verdicts + "; "
                + undone + " undone, " + rounds
                + " further rounds, " + killed + " clients in the way, " + yields + " groups yielded; " + crashes
                + " crashes, " + ddl + " DDL; "
                + transfers + " transfers of " + transferred + " writesets, broken off " + brokenOff + " times, "
                + disksLost + " caches or checkpoints lost; "
                + emptied + " directories lost, " + left + " nodes taken out, " + joined + " nodes made members; "
                + recoveries
                + " forced recoveries that lost " + forgotten + " writesets, then " + cameBack + " nodes let in and "
                + refused + " refused; " + copies + " copies, " + replaced + " servers of members replaced; "
                + copiesRead + " copies read by stream in " + pieces
                + " pieces, " + readAgain + " of them again, " + readAnew + " begun anew after DDL; "
                + indexed + " indexes added or dropped, " + repeated + " of them twice at once (" + orderedLater
                + " kept until they came again), about which " + ballots
                + " ballots made " + voided
                + " void and "
                + stood + " stand; " + tampered + " rows changed without the binlog; " + differed
                + " times a server differed, " + healed + " of them got a copy and " + rebuilt
                + " were rebuilt by a person; " + arbitrators + " runs with an arbitrator; " + tailsLost
                + " servers lost up to " + lostCommits
                + " commits, " + tailsRepaired + " were repaired by taking back "
                + takenBack + ", " + tailsRefused + " refused; "
                + stuck + " runs ended with nobody left to copy from";
    }
}
