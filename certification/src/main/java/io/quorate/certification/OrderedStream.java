// SPDX-License-Identifier: Apache-2.0
package io.quorate.certification;

import io.quorate.core.Ballot;
import io.quorate.core.BallotCodec;
import io.quorate.core.Certified;
import io.quorate.core.Entry;
import io.quorate.core.ErrorCode;
import io.quorate.core.Gtid;
import io.quorate.core.LogPosition;
import io.quorate.core.NodeEvent;
import io.quorate.core.OrderListener;
import io.quorate.core.OrderedFirst;
import io.quorate.core.OriginPosition;
import io.quorate.core.OwnOrder;
import io.quorate.core.OwnRegister;
import io.quorate.core.Proposal;
import io.quorate.core.ProposalCodec;
import io.quorate.core.ProposalListener;
import io.quorate.core.QuorateException;
import io.quorate.core.TotalOrder;
import io.quorate.core.Verdict;
import io.quorate.core.WriteSet;
import io.quorate.core.WriteSetLog;
import io.quorate.core.binlog.PayloadCheck;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What happens on the thread that hands out the order: an entry is decoded, certified and appended to the writeset
 * cache. It does nothing else, and waits for nothing but this node's disk.
 *
 * <p>After a restart certification starts from its checkpoint, and the order hands out again what came after it. That
 * gives the same seqnos and verdicts as before; the cache compares them with what it still holds.
 *
 * <p>Entries and checkpoints come on one thread; any thread may ask. The answer to where the order stands with an
 * origin never includes a transaction that the cache doesn't have yet.
 */
public class OrderedStream implements OrderListener, OwnOrder {
    private static final Logger log = LoggerFactory.getLogger(OrderedStream.class);

    /**
     * GTID numbers that no origin ever reaches: a proposal that claims to continue from there is left out, and shows
     * only that it came.
     */
    private static final long PROBES_FROM = 1L << 62;

    /** So many transactions may be prepared on a server, a multiple of the clients that it can have. */
    private static final int UNDECIDED_MAX = 1 << 17;

    /** Guards which certifier is used, what it knows, and that the cache has what it decided. */
    private final Object lock = new Object();

    private volatile Certifier certifier;
    private final WriteSetLog cache;
    private final Checkpoints checkpoints;
    private final Consumer<NodeEvent> events;
    private final Consumer<TotalOrder.Quorum> quorumListener;
    private final Failures failures;

    private LogPosition position;
    private volatile long lastOrdered;
    private final LongAdder ordered = new LongAdder();
    private final LongAdder malformed = new LongAdder();
    private volatile UUID self;
    private volatile Servers servers = Servers.UNKNOWN;
    /** Where the order stands with our own origin; null until it has heard of it. */
    private volatile OriginPosition own;

    private volatile ProposalListener proposer;
    private volatile OwnRegister register;
    private volatile long cachedBefore;
    private volatile long probed;
    /** The seqno of the last verdict that a definition is void. */
    private volatile long lastVoid;

    /** Where the certification state and the position it belongs to are kept. */
    public interface Checkpoints {
        /** Keeps both, durably; answers up to where the order may discard its log. */
        LogPosition write(LogPosition position, Certifier certifier) throws IOException;
    }

    /** Which server is beside which node, as far as the others say. */
    public interface Servers {
        /** Nobody has said anything. */
        Servers UNKNOWN = new Servers() {
            @Override
            public String otherOf(UUID server, String node) {
                return null;
            }

            @Override
            public UUID of(String node) {
                return null;
            }
        };

        /** The node that a server is known to be beside, if that is another one than {@code node}; otherwise null. */
        String otherOf(UUID server, String node);

        /** The server that a node says is beside it; null while it hasn't said so. */
        UUID of(String node);
    }

    /** Is told of every writeset that failed, or by which others are void, once it is in the cache. Must not block. */
    public interface Failures {
        Failures NOBODY = new Failures() {
            @Override
            public void failed(long seqno) {}

            @Override
            public void lookBack(long seqno) {}
        };

        /** This one failed. */
        void failed(long seqno);

        /** There may be more up to this one, which came in another way. */
        void lookBack(long seqno);
    }

    /**
     * @param certifier what certification knows, at {@code position}
     * @param cache the node's record, which may have more than that, or less
     * @param events is told of failures after which this node can't go on
     */
    public OrderedStream(
            Certifier certifier,
            LogPosition position,
            WriteSetLog cache,
            Checkpoints checkpoints,
            Consumer<NodeEvent> events,
            Consumer<TotalOrder.Quorum> quorumListener,
            Failures failures) {
        this.certifier = certifier;
        this.position = position;
        this.cache = cache;
        this.checkpoints = checkpoints;
        this.events = events;
        this.quorumListener = quorumListener;
        this.failures = failures;
        this.lastOrdered = certifier.lastSeqno();
        this.lastVoid = certifier.lastVoid();
        this.cachedBefore = cache.last();
    }

    /** From now on entries of other nodes are checked against this. */
    public void servers(Servers known) {
        servers = known;
    }

    /**
     * From now on the deliveries of this origin are ours. Call it before the order is started, or under {@link
     * #attach}.
     */
    public void self(UUID server) {
        synchronized (lock) {
            self = server;
            own = certifier.positions().get(server);
        }
    }

    /** The server beside this node, null while it isn't known. */
    public UUID self() {
        return self;
    }

    @Override
    public OriginPosition attach(ProposalListener next) {
        synchronized (lock) {
            proposer = next;
            return ownOrNone();
        }
    }

    @Override
    public void attach(OwnRegister next) throws IOException, InterruptedException {
        synchronized (lock) {
            register = next;
            tell(next, self);
        }
    }

    /** Tells {@code register}, once, what has become of an origin's transactions. */
    public void tell(OwnRegister register, UUID origin) throws IOException, InterruptedException {
        synchronized (lock) {
            // A transaction that isn't in the cache yet is reported when it is.
            List<Certified> told = new ArrayList<>();
            for (long seqno : certifier.failures(origin)) {
                if (seqno < cache.first()) {
                    register.failedUnknown(seqno);
                } else if (seqno <= cache.last()) {
                    told.add(cached(seqno));
                }
            }
            for (long seqno : certifier.definitions(origin)) {
                if (seqno >= cache.first() && seqno <= cache.last()) {
                    told.add(cached(seqno));
                }
            }
            told.sort(Comparator.comparingLong(Certified::seqno));
            OriginPosition at = positionOf(origin);
            register.ordered(told, at.last(), at.lastSeen());
        }
    }

    /**
     * The first own writeset of which a register would be told: one that failed, or a definition. If there is none, the
     * next seqno.
     */
    public long oldestOwnTold() {
        synchronized (lock) {
            long next = certifier.lastSeqno() + 1;
            return self == null
                    ? next
                    : Math.min(firstOr(certifier.failures(self), next), firstOr(certifier.definitions(self), next));
        }
    }

    private static long firstOr(long[] seqnos, long otherwise) {
        return seqnos.length == 0 ? otherwise : seqnos[0];
    }

    /**
     * The failed writeset with this GTID; null when there is none, or when it failed so long ago that nothing that was
     * built on it can come any more.
     */
    public Certified failure(Gtid gtid) throws IOException, InterruptedException {
        for (long seqno : ask(state -> state.failures(gtid.source()))) {
            if (seqno >= cache.first() && seqno <= cache.last()) {
                Certified failed = cached(seqno);
                if (failed != null && failed.writeSet().gtid().equals(gtid)) {
                    return failed;
                }
            }
        }
        return null;
    }

    /** Whether it has passed and may turn out void: as a definition on which servers vote, or as built on one. */
    public boolean isUnsettled(Gtid gtid) throws IOException, InterruptedException {
        for (long seqno : ask(Certifier::unsettled)) {
            if (seqno >= cache.first() && seqno <= cache.last()) {
                Certified passed = cached(seqno);
                if (passed != null && passed.writeSet().gtid().equals(gtid)) {
                    return true;
                }
            }
        }
        return false;
    }

    private Certified cached(long seqno) throws IOException, InterruptedException {
        try (WriteSetLog.Cursor cursor = cache.read(seqno)) {
            return cursor.next(Duration.ZERO);
        }
    }

    @Override
    public boolean isCurrent(long applied) {
        return lastOrdered >= Math.max(cachedBefore, applied);
    }

    /**
     * An entry that changes nothing on any node. Once it is {@link #isProbed} here, so is everything that was ordered
     * before it was submitted: then this node knows of the order what the order knew at that time.
     *
     * @param nonce distinguishes it from earlier ones
     */
    public Entry probe(int nonce) {
        long number = PROBES_FROM + nonce;
        return ProposalCodec.encode(new Proposal(self, number, number, 0, new long[0], List.of()));
    }

    /** Whether {@link #probe} with this nonce has been handed out. */
    public boolean isProbed(int nonce) {
        return probed == PROBES_FROM + nonce;
    }

    private OriginPosition ownOrNone() {
        return own == null ? OriginPosition.NONE : own;
    }

    @Override
    public LogPosition resumeAfter() {
        synchronized (lock) {
            return position;
        }
    }

    /**
     * Continues from what another node knew at its checkpoint; everything up to there is in the cache. Allowed only
     * while this node takes no part in the order and has no session with its server.
     */
    public void install(Certifier received, LogPosition at) {
        synchronized (lock) {
            certifier = received;
            position = at;
            own = self == null ? null : received.positions().get(self);
            proposer = null;
            register = null;
            // Before it is said to be ordered, as with what comes one by one.
            failures.lookBack(received.lastSeqno());
            lastOrdered = received.lastSeqno();
            lastVoid = received.lastVoid();
            cachedBefore = cache.last();
        }
    }

    @Override
    public void deliver(LogPosition resumeAfter, ByteBuffer entry) {
        Ballot ballot = null;
        Proposal proposal = null;
        try {
            if (BallotCodec.isBallot(entry)) {
                ballot = BallotCodec.decode(entry);
            } else {
                proposal = ProposalCodec.decode(entry);
            }
        } catch (QuorateException e) {
            if (e.code() != ErrorCode.MALFORMED_MESSAGE) {
                throw e; // It may be one that a newer version takes.
            }
            leaveOut(resumeAfter, e);
            return;
        }
        if (ballot != null) {
            vote(ballot, resumeAfter);
        } else {
            take(proposal, resumeAfter);
        }
    }

    @Override
    public void check(String submitter, ByteBuffer entry) {
        if (BallotCodec.isBallot(entry)) {
            requireOwn(submitter, BallotCodec.decode(entry));
        } else {
            Proposal proposal = ProposalCodec.decode(entry);
            requireOwn(submitter, proposal.origin());
            requirePossible(submitter, proposal);
            proposal.writeSets().forEach(w -> require(submitter, w));
        }
    }

    @Override
    public void checkBeginning(String submitter, ByteBuffer piece) {
        // A ballot is never so large that it comes in pieces.
        requireOwn(submitter, ProposalCodec.checkBeginning(piece));
    }

    /** Every node remembers which transactions a server has prepared. */
    private static void requirePossible(String submitter, Proposal proposal) {
        long[] undecided = proposal.undecided();
        boolean rising =
                undecided.length == 0 || (undecided[0] > 0 && undecided[undecided.length - 1] <= proposal.last());
        for (int i = 1; i < undecided.length; i++) {
            rising &= undecided[i] > undecided[i - 1];
        }
        if (!rising || undecided.length > UNDECIDED_MAX) {
            throw new QuorateException(
                    ErrorCode.MALFORMED_MESSAGE,
                    submitter + " says that " + undecided.length + " transactions are prepared which can't be");
        }
    }

    private void require(String submitter, WriteSet writeSet) {
        PayloadCheck.require(writeSet);
        if (OrderedFirst.isTrust(writeSet)) {
            UUID own = servers.of(submitter);
            if (own == null || !OrderedFirst.trusts(writeSet, own)) {
                throw notOwn(submitter, "that the tables of a server are right which isn't beside it");
            }
        }
    }

    /** That a node has no vote any more others say of it, too: those who take it out. */
    private void requireOwn(String submitter, Ballot ballot) {
        if (ballot.kind() != Ballot.Kind.NO_VOTER) {
            if (!ballot.node().equals(submitter)) {
                throw notOwn(submitter, "the ballot of " + ballot.node());
            }
            requireOwn(submitter, ballot.server());
        }
    }

    private void requireOwn(String submitter, UUID server) {
        String other = servers.otherOf(server, submitter);
        if (other != null || server.equals(self)) {
            throw notOwn(
                    submitter,
                    "what the server " + server + " has committed, which is beside "
                            + (other == null ? "the leader" : other));
        }
    }

    private static QuorateException notOwn(String submitter, String what) {
        return new QuorateException(ErrorCode.MALFORMED_MESSAGE, submitter + " sends " + what);
    }

    /** All nodes have the same bytes, so all of them leave it out. */
    private void leaveOut(LogPosition resumeAfter, QuorateException why) {
        synchronized (lock) {
            position = resumeAfter;
        }
        malformed.increment();
        log.error(
                "what is in the order's log before {} is no entry and is left out: {}", resumeAfter, why.getMessage());
    }

    private void take(Proposal proposal, LogPosition resumeAfter) {
        Certification result;
        synchronized (lock) {
            result = certify(certifier, proposal, resumeAfter);
            position = resumeAfter;
            // First append, and only then tell that the order has an origin's transactions: whoever is told looks for
            // them in the cache.
            append(result.certified());
            if (proposal.origin().equals(self)) {
                // A proposal that isn't taken, such as a probe, doesn't make the origin known.
                own = result.link() == Certification.Link.TAKEN ? certifier.position(self) : own;
                tellProposer(result.link());
            }
        }
        if (result.link() == Certification.Link.IMPOSSIBLE) {
            impossible(proposal);
        }
        if (proposal.previous() >= PROBES_FROM && proposal.origin().equals(self)) {
            probed = proposal.previous();
        }
        OwnRegister told = register;
        if (told != null && own != null && proposal.origin().equals(self)) {
            told.ordered(result.certified(), own.last(), own.lastSeen());
        }
    }

    private void vote(Ballot ballot, LogPosition resumeAfter) {
        synchronized (lock) {
            Certified verdict = vote(certifier, ballot, resumeAfter);
            position = resumeAfter;
            if (ballot.kind() == Ballot.Kind.REFUSED) {
                log.warn("the server of {} refuses the definition at seqno {}", ballot.node(), ballot.seqno());
            }
            if (verdict != null) {
                log.warn(
                        "the definition at seqno {} is void by seqno {}, and so are {} writesets that were built on it",
                        ballot.seqno(),
                        verdict.seqno(),
                        verdict.writeSet().voidsBuilt().length);
                append(List.of(verdict));
                // Whoever passes over the definition has to find this after a loss of power too, before he goes on.
                force();
                lastVoid = verdict.seqno();
            }
        }
    }

    /**
     * Whether the writeset at {@code seqno} passed and is void all the same: as a definition, or because it was built
     * on one. Once a server has passed over a definition, all that this will ever say of earlier seqnos is known.
     */
    public boolean isVoid(long seqno) {
        return seqno < lastVoid && ask(certifier -> certifier.isVoid(seqno));
    }

    /** Asks certification something; it may not be kept. */
    public <T> T ask(Function<Certifier, T> question) {
        synchronized (lock) {
            return question.apply(certifier);
        }
    }

    /** Decides an entry. Certification alone does that; a subclass may observe the decision, or spoil it on purpose. */
    protected Certification certify(Certifier state, Proposal proposal, LogPosition at) {
        return state.certify(proposal, at);
    }

    /** Takes a ballot; open like {@link #certify}. */
    protected Certified vote(Certifier state, Ballot ballot, LogPosition at) {
        return state.vote(ballot, at);
    }

    private void tellProposer(Certification.Link link) {
        ProposalListener p = proposer;
        if (p == null) {
            return;
        }
        if (link == Certification.Link.GAP) {
            p.gap();
        } else {
            p.delivered(ownOrNone());
        }
    }

    private void append(List<Certified> certified) {
        if (certified.isEmpty()) {
            return;
        }
        try {
            cache.append(certified);
        } catch (IOException e) {
            throw new QuorateException(ErrorCode.DISK, "the writeset cache can't be written: " + e, e);
        }
        for (Certified c : certified) {
            if (c.verdict() != Verdict.PASSED) {
                log.debug("{} is seqno {}: {} with seqno {}", c.writeSet(), c.seqno(), c.verdict(), c.conflictsWith());
                failures.failed(c.seqno());
            } else if (c.writeSet().voidsDefinition() > 0) {
                failures.failed(c.seqno());
            }
        }
        lastOrdered = certified.get(certified.size() - 1).seqno();
        ordered.add(certified.size());
    }

    private void force() {
        try {
            cache.force();
        } catch (IOException e) {
            throw new QuorateException(ErrorCode.DISK, "the writeset cache can't be written: " + e, e);
        }
    }

    private void impossible(Proposal proposal) {
        String what = "server " + proposal.origin() + " claims to have applied seqno " + proposal.lastSeen()
                + ", the order is at " + certifier.lastSeqno();
        if (proposal.origin().equals(self)) {
            events.accept(new NodeEvent.Failed(new QuorateException(ErrorCode.STATE_DIVERGED, what)));
        } else {
            log.error("left out a proposal: {}", what);
        }
    }

    @Override
    public LogPosition checkpoint() {
        try {
            cache.force();
            // Whoever asks doesn't wait for that. Meanwhile nothing changes: entries come on this thread, too.
            LogPosition at;
            Certifier state;
            synchronized (lock) {
                at = position;
                state = certifier;
            }
            return checkpoints.write(at, state);
        } catch (IOException e) {
            throw new QuorateException(ErrorCode.DISK, "no checkpoint can be written: " + e, e);
        }
    }

    @Override
    public void quorumChanged(TotalOrder.Quorum quorum) {
        quorumListener.accept(quorum);
    }

    @Override
    public void orderFailed(QuorateException cause) {
        events.accept(new NodeEvent.Failed(cause));
    }

    /** Seqno of the last writeset ordered. */
    public long lastOrdered() {
        return lastOrdered;
    }

    /** Writesets ordered since the start. */
    public long ordered() {
        return ordered.sum();
    }

    /** Entries left out since the start, because they were none. */
    public long malformed() {
        return malformed.sum();
    }

    @Override
    public boolean isKnown() {
        return own != null;
    }

    @Override
    public OriginPosition own() {
        synchronized (lock) {
            return ownOrNone();
        }
    }

    /** Where the order stands with an origin. */
    public OriginPosition positionOf(UUID origin) {
        synchronized (lock) {
            OriginPosition at = certifier.position(origin);
            return at == null ? OriginPosition.NONE : at;
        }
    }

    public CertifierStats stats() {
        return certifier.stats();
    }
}
