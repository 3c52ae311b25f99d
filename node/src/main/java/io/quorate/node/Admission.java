// SPDX-License-Identifier: Apache-2.0
package io.quorate.node;

import io.quorate.applier.PositionTable.Position;
import io.quorate.core.ErrorCode;
import io.quorate.core.NodeEvent;
import io.quorate.core.QuorateException;
import io.quorate.core.Retry;
import io.quorate.ist.HistoryCheck;
import io.quorate.node.PausableOrder.Hold;
import io.quorate.transport.PeerChannels;
import io.quorate.transport.TransportSettings;
import io.quorate.transport.TransportSettings.Peer;
import java.io.IOException;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * How a node comes to take part when it starts. Most often it is a member and goes on as one. With a new directory it asks the
 * peers it is configured with: if none of them is part of a cluster, they begin one together; if they are and have never
 * heard of it, although they count on it, it begins with them; otherwise it asks to be made a member. So does one whose
 * address has changed, or that lost its directory: it is replaced under its name, as another server in the eyes of Raft,
 * because it may have promised and acknowledged what it doesn't remember.
 */
final class Admission implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(Admission.class);
    private static final Duration AGAIN = Duration.ofSeconds(1);
    private static final Retry.Policy ASK_HOW = Retry.Policy.unbounded(
                    "nodes that begin together wait for one another, and are started by hand", Duration.ofMillis(200))
            .telling(0, 300);
    private static final Retry.Policy ASK = Retry.Policy.unbounded(
            "without the others it can't take part, and they may be away for any time", AGAIN);

    private static final long STUCK_NANOS = Duration.ofSeconds(12).toNanos();

    private final TransportSettings configured;
    private final String directory;
    private final MemberDesk desk;
    private final Members members;
    private final PausableOrder order;
    private final Server server;
    private final LongSupplier held;
    private final HistoryCheck history;
    private final Rejoin rejoin;
    private final PeerChannels channels;
    private final Consumer<NodeEvent> events;
    private final FaultHandler faults;
    private volatile OwnedThread thread;
    /** What it takes part as; null while the others have to be asked. */
    private volatile TransportSettings settings;

    /**
     * @param configured with the peers of the configuration
     * @param history compares what this node holds with the others
     * @param held last seqno of the order that this node holds
     * @param rejoin begins a full copy where the server needs one
     */
    Admission(
            TransportSettings configured,
            String directory,
            MemberDesk desk,
            Members members,
            PausableOrder order,
            Server server,
            LongSupplier held,
            HistoryCheck history,
            Rejoin rejoin,
            PeerChannels channels,
            Consumer<NodeEvent> events,
            FaultHandler faults) {
        this.configured = configured;
        this.directory = directory;
        this.desk = desk;
        this.members = members;
        this.order = order;
        this.server = server;
        this.held = held;
        this.history = history;
        this.rejoin = rejoin;
        this.channels = channels;
        this.events = events;
        this.faults = faults;
    }

    /** What the order is to be started with now. */
    static TransportSettings now(TransportSettings settings) {
        List<Peer> known = settings.knownMembers();
        boolean member = known.contains(settings.selfPeer());
        return member && settings.wasMember()
                ? settings.withPeers(known, false)
                : settings.withPeers(
                        settings.joining() ? List.of(settings.selfPeer()) : settings.peers(), settings.joining());
    }

    /**
     * Decides how this node takes part, if its own directory can tell; else the others have to be asked, which
     * {@link #start} does.
     */
    void decide() {
        Peer self = configured.selfPeer();
        if (configured.wasMember()) {
            List<Peer> known = configured.knownMembers();
            Peer before = known.stream()
                    .filter(m -> m.name().equals(self.name()))
                    .findFirst()
                    .orElse(null);
            if (before == null) {
                events.accept(new NodeEvent.Left(
                        new QuorateException(ErrorCode.NOT_A_MEMBER, self.name() + " was taken out of the cluster")
                                .getMessage()));
                settings = joining(self.withGeneration(configured.lastGeneration() + 1));
                order.pause(Hold.LEFT);
            } else if (!before.isAt(self)) {
                log.info("the address has changed from {} to {}; asking to be replaced", before, self);
                settings = joining(self.withGeneration(before.generation() + 1));
            } else {
                settings = configured.withPeers(known, false);
            }
        } else if (configured.peers().size() == 1) {
            settings = configured; // There is nobody to ask.
        }
    }

    /**
     * How a node with a new directory takes part. It doesn't begin without a majority's word that it isn't known by another
     * directory: what that one has acknowledged it could help to forget. Null while that can't be told.
     */
    private TransportSettings ofNew(List<Membership> answers) {
        Peer self = configured.selfPeer();
        Membership answer = answers.stream()
                .filter(a -> a.leader() != null && !a.members().isEmpty())
                .max(Comparator.comparingInt(a -> a.lives().ids().size()))
                .orElse(null);
        if (answer == null) {
            return isMajority(answers) && answers.stream().allMatch(a -> expects(a, self)) ? configured : null;
        }
        if (!configured.lives().equals(answer.lives())) {
            configured.takeOver(answer.lives());
            channels.lives(answer.lives());
        }
        Peer there = answer.member(self.name());
        int next = configured.freeGeneration(Members.generation(answers, self.name()) + 1);
        if (there == null) {
            return joining(self.withGeneration(next));
        }
        boolean expected = !Members.elsewhere(answers, there, directory);
        if (expected && there.isAt(self)) {
            return configured.withPeers(answer.members(), false);
        }
        log.info(
                "{} took part {}; asking to be replaced",
                self.name(),
                expected ? "at another address" : "with another data directory");
        return joining(self.withGeneration(Math.max(next, there.generation() + 1)));
    }

    /** Asks the others until it can be told how this node takes part. */
    private void askHow() throws InterruptedException {
        Retry retry = new Retry(ASK_HOW, System.nanoTime());
        while (settings == null) {
            List<Membership> answers = desk.askAll(configured.peers());
            settings = ofNew(answers);
            if (settings == null) {
                String why = waitsFor(answers);
                events.accept(new NodeEvent.Joining(why));
                Retry.Next next = retry.failed(why, System.nanoTime());
                if (next.tell()) {
                    log.info("{}", why);
                }
                Thread.sleep(next.pauseMillis());
            }
        }
    }

    private boolean isMajority(List<Membership> answers) {
        return 2 * (answers.size() + 1) > configured.peers().size();
    }

    /** Whether who answers is new itself or counts on this very node. */
    private boolean expects(Membership answer, Peer self) {
        return answer.lives().ids().isEmpty()
                && (answer.members().isEmpty() || self.equals(answer.member(self.name())))
                && !Members.elsewhere(List.of(answer), self, directory);
    }

    private String waitsFor(List<Membership> answers) {
        if (isMajority(answers)) {
            return "there is a cluster already; waiting until it has a majority that takes this node in";
        }
        String known = answers.stream().map(Membership::node).collect(Collectors.joining(", "));
        return "the data directory is new; waiting until a majority of the configured nodes says whether there is a"
                + " cluster already" + (known.isEmpty() ? "" : ", so far " + known);
    }

    private TransportSettings joining(Peer self) {
        return configured.withPeers(List.of(self), true);
    }

    TransportSettings settings() {
        return settings;
    }

    /** Starts the node's work: at once where it is a member, else once it has been made one. */
    void start() {
        if (settings != null && !settings.joining()) {
            takePart();
        } else if (!order.holds(Hold.LEFT)) {
            begin();
        }
    }

    private void takePart() {
        order.resume(Hold.START);
        server.start();
    }

    /** Asks to be a member again, of a node that was taken out. */
    synchronized void join() {
        if (thread == null) {
            if (!now(settings).joining() && !order.holds(Hold.LEFT)) {
                throw new QuorateException(ErrorCode.CONFIGURATION, "this node is a member already");
            }
            if (!settings.joining()) {
                settings = joining(settings.selfPeer().withGeneration(configured.lastGeneration() + 1));
            }
            events.accept(new NodeEvent.Left(null));
            begin();
        }
    }

    /** Takes part alone, with what this node has; the order is started afterwards. */
    void alone() {
        settings = configured.withPeers(List.of(settings.selfPeer()), false);
    }

    /** Asks to be a member, as a new one, of a cluster whose order goes on from what this node holds. */
    void joinAnew(List<Membership> answers) {
        close();
        beginAnew(answers);
    }

    private synchronized void beginAnew(List<Membership> answers) {
        Peer self = configured.selfPeer();
        int next = Math.max(Members.generation(answers, self.name()), configured.lastGeneration()) + 1;
        settings = joining(self.withGeneration(configured.freeGeneration(next)));
        events.accept(new NodeEvent.Left(null));
        begin();
    }

    private synchronized void begin() {
        if (thread == null) {
            thread = OwnedThread.task("quorate-admission", this::run, faults).start();
        }
    }

    private void run() throws InterruptedException {
        try {
            askHow();
            if (!settings.joining()) {
                events.accept(new NodeEvent.Joining(null));
                takePart();
                return;
            }
            events.accept(new NodeEvent.Joining("asking the other nodes to be a member"));
            requireData();
            order.resume(Hold.START);
            order.resume(Hold.LEFT);
            MemberQuestion.Join request = new MemberQuestion.Join(settings.selfPeer(), directory);
            Retry retry = new Retry(ASK, System.nanoTime());
            long moved = System.nanoTime();
            long there = held.getAsLong();
            for (String refusal; (refusal = ask(request)) != null; ) {
                if (held.getAsLong() > there) {
                    there = held.getAsLong();
                    moved = System.nanoTime();
                } else if (System.nanoTime() - moved > STUCK_NANOS) {
                    startAgain();
                    moved = System.nanoTime();
                }
                events.accept(new NodeEvent.Joining("asking to be a member: " + refusal));
                Retry.Next next = retry.failed(refusal, System.nanoTime());
                if (next.tell()) {
                    log.info("not a member yet: {}", refusal);
                }
                Thread.sleep(next.pauseMillis());
            }
            log.info("{} is a member now", settings.selfPeer());
            events.accept(new NodeEvent.Joining(null));
            server.start();
            server.resume();
        } catch (QuorateException e) {
            events.accept(new NodeEvent.Failed(e));
        } finally {
            over();
        }
    }

    private synchronized void over() {
        thread = null;
    }

    /**
     * A leader may wait for ever for a joiner that has all it needs: Ratis' bootstrapping also waits for an answer about a
     * snapshot, which may be lost. It gives up on one that is silent for three election timeouts, and takes it anew.
     */
    private void startAgain() throws InterruptedException {
        log.info("the leader doesn't come to an end with this node; starting again");
        order.pause(Hold.START);
        Thread.sleep(4 * configured.timeoutMax().toMillis());
        order.resume(Hold.START);
    }

    private String ask(MemberQuestion.Join request) throws InterruptedException {
        List<Membership> answers = desk.askAll(configured.peers());
        heard(answers);
        if (answers.isEmpty()) {
            return "no node of " + configured.peers() + " answers";
        }
        CompletableFuture<MemberDesk.Attempt> attempt =
                CompletableFuture.supplyAsync(() -> desk.attempt(request, configured.peers()));
        while (true) {
            try {
                return attempt.get(AGAIN.toMillis(), TimeUnit.MILLISECONDS).refusal();
            } catch (TimeoutException e) {
                // Nobody reports to it yet, and it may need to know who has what: the leader waits until it has caught
                // up.
                heard(desk.askAll(configured.peers()));
            } catch (ExecutionException e) {
                return e.getCause().toString();
            }
        }
    }

    private void heard(List<Membership> answers) {
        answers.stream()
                .filter(answer -> answer.lives().equals(configured.lives()))
                .forEach(answer -> members.heard(answer.report()));
    }

    /** A server that nothing was ever applied to can begin from the order alone only where the cluster did. */
    private void requireData() throws InterruptedException {
        Retry retry = new Retry(ASK, System.nanoTime());
        while (held.getAsLong() == 0 && server.exists() && !server.copy().isPending()) {
            List<Membership> answers = desk.askAll(configured.peers());
            String obstacle = "no other node answers";
            if (!answers.isEmpty()) {
                try {
                    Server.Contents contents = server.contents();
                    if (contents.position().seqno() > 0) {
                        requireSameHistory(answers, contents.position());
                        return;
                    }
                    Boolean beginning = isBeginning(answers, contents.empty());
                    if (server.copy().isPreferred()) {
                        beginning = Boolean.FALSE;
                    }
                    if (Boolean.TRUE.equals(beginning)) {
                        return;
                    }
                    if (Boolean.FALSE.equals(beginning)) {
                        heard(answers);
                        if (rejoin.beginWithCopy()) {
                            return;
                        }
                        throw new QuorateException(
                                ErrorCode.COPY_NEEDED,
                                "the cluster began with data that was never ordered, this server has none of it, and"
                                        + " quorate.sst.method is none");
                    }
                    obstacle = "none of those that answer knows with what the cluster began";
                } catch (IOException e) {
                    obstacle = e.getMessage();
                } catch (QuorateException e) {
                    if (!e.code().isRetryable()) {
                        throw e;
                    }
                    obstacle = e.detail();
                }
            }
            events.accept(new NodeEvent.Joining("before it asks to be a member: " + obstacle));
            Retry.Next next = retry.failed(obstacle, System.nanoTime());
            if (next.tell()) {
                log.info("not asking to be a member yet: {}", obstacle);
            }
            Thread.sleep(next.pauseMillis());
        }
    }

    /** What its server holds must be the beginning of what the others do. Where no majority was ever forced it can't be otherwise. */
    private void requireSameHistory(List<Membership> answers, Position position) throws IOException {
        try {
            List<Membership> ofThisLife = answers.stream()
                    .filter(a -> a.lives().equals(configured.lives()))
                    .toList();
            history.require(Standing.offers(ofThisLife), position.seqno(), position.log());
        } catch (QuorateException e) {
            if (e.code() != ErrorCode.CACHE_PASSED || !configured.lives().ids().isEmpty()) {
                throw e;
            }
        }
    }

    /** Whether a server that nothing was applied to is what the cluster began with; null when nobody there can tell. */
    private static Boolean isBeginning(List<Membership> answers, boolean empty) {
        if (!empty) {
            throw new QuorateException(
                    ErrorCode.COPY_NEEDED,
                    "this server has tables of its own, and nothing of the cluster's; they are not overwritten");
        }
        List<Boolean> founded = answers.stream()
                .map(Membership::foundedEmpty)
                .filter(Objects::nonNull)
                .toList();
        return founded.isEmpty() ? null : founded.contains(true);
    }

    @Override
    public void close() {
        OwnedThread running = thread;
        if (running != null) {
            running.close();
        }
    }
}
