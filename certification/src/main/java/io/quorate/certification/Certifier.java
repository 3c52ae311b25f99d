// SPDX-License-Identifier: Apache-2.0
package io.quorate.certification;

import io.quorate.certification.Certification.Link;
import io.quorate.core.Ballot;
import io.quorate.core.Certified;
import io.quorate.core.Keys;
import io.quorate.core.LogPosition;
import io.quorate.core.Matrix;
import io.quorate.core.OrderedFirst;
import io.quorate.core.OriginPosition;
import io.quorate.core.Proposal;
import io.quorate.core.Verdict;
import io.quorate.core.WriteSet;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;

/**
 * Certification: gives every writeset of the total order its seqno, its verdict and the seqno it must wait for. Every
 * node feeds it the same proposals in the same order, and nothing else enters a decision, so every node decides alike.
 *
 * <p><b>Verdict.</b> First committer wins: a writeset fails when one of its keys conflicts ({@link Matrix}) with a
 * passed writeset of another origin that its own origin had not applied when it committed ({@code found.seqno >
 * lastSeen}). All keys are checked before any is entered. {@link Keys#EVERYTHING} taken EXCLUSIVE conflicts with
 * everything foreign and unseen, in either direction.
 *
 * <p><b>Snapshot isolation.</b> A {@link WriteSet.Kind#PREPARED} writeset fails when anybody, its own origin included,
 * wrote its keys after its snapshot: waiting for a lock doesn't help a transaction that has read before. In the other
 * direction it counts as foreign to its own origin, because that may have to roll it back to let an earlier one pass,
 * and then applies it at its place like any other.
 *
 * <p><b>Failed writesets.</b> A failed writeset takes a seqno and enters no keys. Its origin has committed it already
 * and will undo it. What the origin committed before the undo and on top of it names it ({@link WriteSet#builtOn}), and
 * fails too. This follows Galera's rule that an aborted transaction counts for its own node, but is exact: on a row
 * that is written all the time, one failure does not bring down all later transactions. Nothing can be built on a
 * transaction that was only prepared.
 *
 * <p><b>dependsOn</b> is the highest seqno that the keys met, including those of its own origin, and at least the
 * {@link #cut()} and the seqno of the last DDL statement. A DDL statement waits for everything before it.
 *
 * <p><b>Purge.</b> The index forgets the oldest generation of seqnos when it holds more than an eighth of {@code
 * keysMax}, and every origin's last reported lastSeen has passed what others wrote in that generation. Beyond {@code
 * keysMax} it forgets the generation anyway. An origin that has missed something forgotten, because it is gone or far
 * behind, isn't waited for until it has caught up. The cut rises with all this. A writeset whose lastSeen is below the
 * cut fails as {@link Verdict#TOO_OLD}, unless no passed writeset of another origin is between the two. An origin takes
 * part from its first proposal on; so a node that starts sends one (empty, if it has nothing else) before its clients
 * write.
 *
 * <p><b>Void definitions.</b> A definition that passed may still be refused by the servers that have to run it. What
 * becomes of it then is decided by the nodes' ballots ({@link Votes}), which are entries of the order too. The verdict
 * that it is void takes a seqno of its own and goes to every node as a writeset does ({@link WriteSet#voids}). What
 * servers that had run it wrote on top of it is void with it, by the same verdict; what they write before they have met
 * the verdict fails as built on it.
 *
 * <p><b>Ordered first.</b> A definition that no server has run yet ({@link OrderedFirst}) is run at its place on every
 * server. So it has seen everything before it, whatever its lastSeen, and fails against nothing. Its origin is no
 * server, and the purge doesn't wait for it.
 *
 * <p><b>Restart.</b> The state is what all proposals up to one place in the log made of it, and only that. The owner
 * writes it out ({@link #writeTo}) together with the {@code resumeAfter} of the last entry delivered, at a moment when
 * that covers all entries delivered so far, after forcing the writeset cache; it lets the log discard entries up to
 * that place and no further. After a crash it reads the state back and has the log deliver again from that place.
 * Certifying these entries once more gives the same seqnos, verdicts and dependsOn as before, so the cache leaves out
 * those that it still holds. The cache alone can't replace the log here: it says nothing of proposals that carried only
 * a position.
 *
 * <p>Not thread-safe, except for {@link #stats}.
 */
public final class Certifier {
    private static final long KEYS_MAX_LIMIT = 1L << 30;
    private static final int KEPT_SHARE = 8;

    private final long keysMax;
    private final Origins origins = new Origins();
    private final Generations generations;
    private final KeyIndex index;
    /** The latest of all writesets that passed, for {@link Keys#EVERYTHING}. */
    private final Latest passed = new Latest();

    private final Votes votes = new Votes(origins);

    private long lastSeqno;
    private long lastBarrier;

    private long passedCount;
    private long conflictCount;
    private long builtOnFailedCount;
    private long tooOldCount;
    private long refusedCount;
    private volatile CertifierStats stats;

    /**
     * @param keysMax bound of the index in entries, 64 to 2^30. It enters decisions, so it must be the same on every
     *     node
     */
    public Certifier(long keysMax) {
        if (keysMax < Generations.GENERATIONS_MAX || keysMax > KEYS_MAX_LIMIT) {
            throw new IllegalArgumentException("keysMax " + keysMax);
        }
        this.keysMax = keysMax;
        this.generations = new Generations(keysMax);
        this.index = new KeyIndex(generations, keysMax);
        publishStats();
    }

    /**
     * Takes the next entry of the order.
     *
     * @param resumeAfter what the entry was delivered with; it is noted in what is certified and decides nothing
     */
    public Certification certify(Proposal proposal, LogPosition resumeAfter) {
        Link link = link(proposal);
        if (link != Link.TAKEN) {
            refusedCount++;
            publishStats();
            return Certification.refused(link);
        }
        int known = origins.find(proposal.origin());
        int origin = known == Origins.UNKNOWN ? origins.add(proposal.origin()) : known;
        List<WriteSet> fresh = after(origins.position(origin).last(), proposal.writeSets());
        List<Certified> certified = new ArrayList<>(fresh.size());
        for (int i = 0; i < fresh.size(); i++) {
            certified.add(certify(fresh.get(i), origin, resumeAfter, i == fresh.size() - 1));
        }
        origins.move(origin, new OriginPosition(proposal.last(), proposal.lastSeen(), proposal.undecided()));
        votes.settle(generations.cut());
        while (generations.entries() > keysMax / KEPT_SHARE
                && generations.oldestIsSeen(origins.lastSeen(), origins.size())) {
            generations.dropOldest(lastSeqno);
        }
        publishStats();
        return new Certification(Link.TAKEN, certified);
    }

    /**
     * Takes the next entry of the order, which is a ballot.
     *
     * @param resumeAfter as for a proposal
     * @return the verdict that a definition is void; null when the ballot doesn't lead to one
     */
    public Certified vote(Ballot ballot, LogPosition resumeAfter) {
        long definition = ballot.seqno() <= lastSeqno ? votes.take(ballot, lastSeqno + 1) : 0;
        if (definition == 0) {
            return null;
        }
        long seqno = ++lastSeqno;
        lastBarrier = seqno;
        publishStats();
        WriteSet verdict = WriteSet.voids(definition, votes.builtOn(definition), ballot.micros());
        return new Certified(seqno, Verdict.PASSED, 0, seqno - 1, resumeAfter, true, verdict);
    }

    /**
     * Whether the nodes have found that the definition at {@code seqno} is void, or one on which the writeset at {@code
     * seqno} was built.
     */
    public boolean isVoid(long seqno) {
        return votes.isVoid(seqno);
    }

    /** Seqnos of the definitions of which it is open whether they stand, and of what was built on them. */
    public long[] unsettled() {
        return votes.unsettled();
    }

    /** The seqno of the last verdict that a definition is void, 0 when there was none. */
    public long lastVoid() {
        return votes.lastVoid();
    }

    /** Whether the nodes have found that the definition at {@code seqno} stands, though some servers refuse it. */
    public boolean stands(long seqno) {
        return votes.answer(seqno) == Votes.Answer.STANDS;
    }

    /** Whether some servers refuse the definition at {@code seqno}, and the nodes haven't found what becomes of it. */
    public boolean isDoubted(long seqno) {
        return votes.answer(seqno) == Votes.Answer.OPEN;
    }

    /**
     * Whether a definition that clients of this server have run is void, among those after {@code seqno}: then the
     * server holds what nobody is to have.
     */
    public boolean hasVoidDefinition(UUID server, long seqno) {
        return votes.hasVoid(server, seqno);
    }

    /** Seqnos of the definitions about which others ask and this server hasn't answered, rising. */
    public long[] unanswered(UUID server) {
        return votes.unanswered(server);
    }

    /** How many servers vote on definitions: those that hold what the order says, as far as the order was told. */
    public int voters() {
        return votes.voters();
    }

    /** How many of these nodes' servers vote. A node that was just taken out may still be among {@link #voters()}. */
    public int voters(Set<String> nodes) {
        return votes.voters(nodes);
    }

    /** The server of this node, if it votes on definitions; otherwise null. */
    public UUID voter(String node) {
        return votes.voter(node);
    }

    /** Whether the server of this node votes on definitions. */
    public boolean isVoter(String node, UUID server) {
        return votes.isVoter(node, server);
    }

    private Link link(Proposal proposal) {
        int origin = origins.find(proposal.origin());
        long last = origins.position(origin).last();
        if (proposal.previous() > last) {
            return Link.GAP;
        }
        if (origin == Origins.UNKNOWN ? proposal.last() < last : proposal.last() <= last) {
            return Link.DUPLICATE;
        }
        boolean possible =
                isPossible(proposal.lastSeen()) && (origin != Origins.UNKNOWN || origins.size() < Entry.ORIGINS_MAX);
        for (WriteSet w : proposal.writeSets()) {
            possible &= w.gtid().number() <= last || isPossible(w.lastSeen());
        }
        return possible ? Link.TAKEN : Link.IMPOSSIBLE;
    }

    private boolean isPossible(long lastSeen) {
        return lastSeen >= 0 && lastSeen <= lastSeqno;
    }

    private static List<WriteSet> after(long number, List<WriteSet> writeSets) {
        int from = 0;
        while (from < writeSets.size() && writeSets.get(from).gtid().number() <= number) {
            from++;
        }
        return writeSets.subList(from, writeSets.size());
    }

    private Certified certify(WriteSet w, int origin, LogPosition position, boolean lastOfEntry) {
        long seqno = ++lastSeqno;
        boolean touchesEverything = w.keys().touchEverything();
        int asks = w.isPrepared() ? Entry.NOBODY : origin;
        // What is run at its place on every server has seen everything before it.
        long lastSeen = OrderedFirst.is(w) ? seqno - 1 : w.lastSeen();
        index.meet(w.keys(), asks, lastSeen);
        long conflictsWith = index.conflictsWith();
        if (touchesEverything && passed.foreignTo(asks) > lastSeen) {
            conflictsWith = passed.foreignTo(asks);
        }
        long dependsOn = w.isBarrier() || touchesEverything
                ? seqno - 1
                : Math.max(index.dependsOn(), Math.max(generations.cut(), lastBarrier));
        Failures failures = origins.failures(origin);
        long failedBelow = Math.max(failures.under(w), votes.voidUnder(w, index));
        Verdict verdict = Verdict.PASSED;
        if (w.keys().contains(Keys.NOT_REPEATABLE)) {
            verdict = Verdict.NOT_REPEATABLE;
            conflictsWith = 0;
        } else if (conflictsWith > 0) {
            verdict = Verdict.CONFLICT;
            conflictCount++;
        } else if (failedBelow > 0) {
            verdict = Verdict.BUILT_ON_FAILED;
            conflictsWith = failedBelow;
            builtOnFailedCount++;
        } else if (generations.droppedForeignTo(asks) > lastSeen || failures.mayHide(w)) {
            verdict = Verdict.TOO_OLD;
            tooOldCount++;
        }
        if (verdict == Verdict.PASSED) {
            votes.note(w, seqno, index);
            if (w.isDefinition()) {
                boolean unseen = index.unseen() > 0 || (touchesEverything && passed.foreignTo(asks) > lastSeen);
                votes.passed(seqno, w, !unseen);
                origins.definitions(origin).add(seqno);
            }
            pass(w, w.isPrepared() ? Entry.FOREIGN_TO_ALL : origin, seqno);
        } else if (!w.isPrepared()) {
            failures.add(w.gtid().number(), seqno);
        }
        return new Certified(seqno, verdict, conflictsWith, dependsOn, position, lastOfEntry, w);
    }

    private void pass(WriteSet w, int origin, long seqno) {
        passedCount++;
        passed.add(seqno, origin);
        if (w.isBarrier()) {
            lastBarrier = seqno;
        }
        int keys = w.keys().size();
        if (keys > keysMax) {
            generations.dropAllAnd(seqno, origin);
            return;
        }
        while (generations.entries() + keys > keysMax) {
            generations.dropOldest(seqno - 1);
        }
        index.put(w.keys(), origin, seqno);
        generations.passed(seqno, origin, keys);
    }

    /** How far the order has taken this origin's binlog; {@link OriginPosition#NONE} when it was never heard of. */
    public OriginPosition position(UUID origin) {
        return origins.position(origins.find(origin));
    }

    /** The positions of all origins heard of, in the order in which they appeared. A copy. */
    public Map<UUID, OriginPosition> positions() {
        return origins.all();
    }

    /** The seqnos of this origin's failed writesets, as long as something that was built on them may still come. */
    public long[] failures(UUID origin) {
        int number = origins.find(origin);
        return number == Origins.UNKNOWN
                ? new long[0]
                : origins.failures(number).seqnos();
    }

    /** The seqnos of this origin's definitions that passed, as long as its server may not have come to their places. */
    public long[] definitions(UUID origin) {
        int number = origins.find(origin);
        return number == Origins.UNKNOWN
                ? new long[0]
                : origins.definitions(number).seqnos();
    }

    /** Seqno of the last writeset certified, 0 before the first. */
    public long lastSeqno() {
        return lastSeqno;
    }

    /** The seqno up to which the index has dropped everything. */
    public long cut() {
        return generations.cut();
    }

    public long keysMax() {
        return keysMax;
    }

    /** The statistics as of the last proposal. Any thread. */
    public CertifierStats stats() {
        return stats;
    }

    private void publishStats() {
        stats = new CertifierStats(
                lastSeqno,
                generations.cut(),
                generations.entries(),
                index.bytes(),
                generations.size(),
                passedCount,
                conflictCount,
                builtOnFailedCount,
                tooOldCount,
                refusedCount);
    }

    /**
     * A digest of the whole state, settings included; equal on nodes that have taken the same proposals. Needs no scan,
     * whatever the size of the index.
     */
    public long digest() {
        long h = Mix.of(Mix.of(Mix.of(State.MAGIC, keysMax), lastSeqno), lastBarrier);
        return votes.digest(generations.digest(passed.digest(origins.digest(h))));
    }

    /**
     * Writes the state in its canonical form: equal states give equal bytes. Big-endian: {@code "QRC6" | i64 keysMax |
     * i64 lastSeqno | i64 lastBarrier | latest passed | origins | votes | generations | i64 entries | entries, 16 bytes
     * each | i64 digest}.
     */
    public void writeTo(DataOutput out) throws IOException {
        out.writeInt(State.MAGIC);
        out.writeLong(keysMax);
        out.writeLong(lastSeqno);
        out.writeLong(lastBarrier);
        passed.writeTo(out);
        origins.writeTo(out);
        votes.writeTo(out);
        generations.writeTo(out);
        index.writeTo(out);
        out.writeLong(digest());
    }

    /**
     * Reads the beginning of what {@link #writeTo} wrote: how many keys that state may know. Memory is set aside for
     * so many, so somebody else's state is to be asked first.
     */
    public static long keysMaxOf(DataInput in) throws IOException {
        State.require(in.readInt() == State.MAGIC, "state of an unknown form");
        long keysMax = in.readLong();
        State.require(
                keysMax >= Generations.GENERATIONS_MAX && keysMax <= KEYS_MAX_LIMIT, "state with keysMax " + keysMax);
        return keysMax;
    }

    /**
     * Reads what {@link #writeTo} wrote.
     *
     * @throws io.quorate.core.QuorateException {@link io.quorate.core.ErrorCode#STATE_DIVERGED} when it can't be a
     *     state, or its digest is another
     */
    public static Certifier readFrom(DataInput in) throws IOException {
        Certifier c = new Certifier(keysMaxOf(in));
        c.lastSeqno = in.readLong();
        c.lastBarrier = in.readLong();
        State.require(c.lastSeqno >= 0 && c.lastSeqno <= Entry.SEQNO_MAX, "state at seqno " + c.lastSeqno);
        c.passed.readFrom(in);
        c.origins.readFrom(in);
        c.votes.readFrom(in);
        c.generations.readFrom(in);
        c.index.readFrom(in, c.origins.size(), c.lastSeqno);
        long digest = in.readLong();
        State.require(digest == c.digest(), "state fails its digest");
        c.publishStats();
        return c;
    }
}
