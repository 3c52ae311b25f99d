// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.join;

import io.quorate.applier.PositionTable.Position;
import io.quorate.core.ErrorCode;
import io.quorate.core.NodeEvent;
import io.quorate.core.QuorateException;
import io.quorate.core.Retry;
import io.quorate.ist.HistoryCheck;
import io.quorate.node.copy.ServerCopy;
import io.quorate.node.member.MemberDesk;
import io.quorate.node.member.MemberQuestion;
import io.quorate.node.member.MemberWord;
import io.quorate.node.member.Members;
import io.quorate.node.member.Membership;
import io.quorate.node.member.Participation;
import io.quorate.node.member.Standing;
import io.quorate.node.order.PausableOrder;
import io.quorate.node.order.PausableOrder.Hold;
import io.quorate.node.server.Server;
import io.quorate.node.thread.FaultHandler;
import io.quorate.node.thread.OwnedThread;
import io.quorate.transport.AdmissionPlan;
import io.quorate.transport.PeerChannels;
import io.quorate.transport.TransportSettings;
import io.quorate.transport.TransportSettings.Peer;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Has this node take part in the order, as {@link AdmissionPlan} decides: asks the others where that takes their word, and asks to be
 * made a member until it is one.
 */
public final class Admission implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(Admission.class);
    private static final Duration AGAIN = Duration.ofSeconds(1);
    private static final Retry.Policy ASK_HOW = Retry.Policy.unbounded(
                    "nodes that begin together wait for one another, and are started by hand", Duration.ofMillis(200))
            .telling(0, 300);
    private static final Retry.Policy ASK =
            Retry.Policy.unbounded("without the others it can't take part, and they may be away for any time", AGAIN);

    private static final long STUCK_NANOS = Duration.ofSeconds(12).toNanos();

    private final TransportSettings configured;
    private final String directory;
    private final MemberDesk desk;
    private final Members members;
    private final PausableOrder order;
    private final Server server;
    private final ServerCopy copy;
    private final LongSupplier held;
    private final HistoryCheck history;
    private final Rejoin rejoin;
    private final PeerChannels channels;
    private final Participation participation;
    private final Consumer<NodeEvent> events;
    private final FaultHandler faults;
    private volatile OwnedThread thread;

    /**
     * @param configured with the peers of the configuration
     * @param history compares what this node holds with the others
     * @param held last seqno of the order that this node holds
     * @param rejoin begins a full copy where the server needs one
     */
    public Admission(
            TransportSettings configured,
            String directory,
            MemberDesk desk,
            Members members,
            PausableOrder order,
            Server server,
            ServerCopy copy,
            LongSupplier held,
            HistoryCheck history,
            Rejoin rejoin,
            PeerChannels channels,
            Participation participation,
            Consumer<NodeEvent> events,
            FaultHandler faults) {
        this.configured = configured;
        this.directory = directory;
        this.desk = desk;
        this.members = members;
        this.order = order;
        this.server = server;
        this.copy = copy;
        this.held = held;
        this.history = history;
        this.rejoin = rejoin;
        this.channels = channels;
        this.participation = participation;
        this.events = events;
        this.faults = faults;
    }

    private AdmissionPlan plan() {
        return new AdmissionPlan(
                configured.selfPeer(),
                configured.peers(),
                configured.wasMember() ? configured.knownMembers() : List.of(),
                configured.lastGeneration(),
                directory);
    }

    /**
     * Decides how this node takes part, if its own directory can tell; else the others have to be asked, which
     * {@link #start} does.
     */
    public void decide() {
        AdmissionPlan.Way way = plan().ofDirectory();
        if (way instanceof AdmissionPlan.TakenOut out) {
            String name = configured.self();
            events.accept(new NodeEvent.Left(
                    new QuorateException(ErrorCode.NOT_A_MEMBER, name + " was taken out of the cluster").getMessage()));
            participation.decide(joining(configured.selfPeer().withGeneration(out.generation())));
            order.pause(Hold.LEFT);
        } else if (way instanceof AdmissionPlan.Joiner joiner) {
            log.info("{}; asking to be replaced", joiner.why());
            participation.decide(joining(configured.selfPeer().withGeneration(joiner.generation())));
        } else if (way instanceof AdmissionPlan.Member member) {
            participation.decide(configured.withPeers(member.members(), false));
        }
    }

    /** Asks the others until it can be told how this node takes part. */
    private void askHow() throws InterruptedException {
        Retry retry = new Retry(ASK_HOW, System.nanoTime());
        while (!participation.isDecided()) {
            List<MemberWord> words = MemberWord.all(desk.askAll(configured.peers()));
            takeOverLives(AdmissionPlan.authority(words));
            AdmissionPlan.Way way = plan().ofWords(words);
            if (way instanceof AdmissionPlan.Member member) {
                participation.decide(configured.withPeers(member.members(), false));
            } else if (way instanceof AdmissionPlan.Joiner joiner) {
                log.info("{}; asking to be a member", joiner.why());
                participation.decide(
                        joining(configured.selfPeer().withGeneration(configured.freeGeneration(joiner.generation()))));
            } else if (way instanceof AdmissionPlan.Wait wait) {
                events.accept(new NodeEvent.Joining(wait.why()));
                Retry.Next next = retry.failed(wait.why(), System.nanoTime());
                if (next.tell()) {
                    log.info("{}", wait.why());
                }
                Thread.sleep(next.pauseMillis());
            }
        }
    }

    /** Before it can be told which generations its directory is free for. */
    private void takeOverLives(AdmissionPlan.Word word) {
        if (word != null && !configured.lives().equals(word.lives())) {
            configured.takeOver(word.lives());
            channels.lives(word.lives());
        }
    }

    private TransportSettings joining(Peer self) {
        return configured.withPeers(List.of(self), true);
    }

    /** Starts the node's work: at once where it is a member, else once it has been made one. */
    public void start() {
        if (participation.isDecided() && !participation.isJoining()) {
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
    public synchronized void join() {
        if (thread == null) {
            if (!participation.toStart().joining() && !order.holds(Hold.LEFT)) {
                throw new QuorateException(ErrorCode.CONFIGURATION, "this node is a member already");
            }
            if (!participation.isJoining()) {
                participation.decide(joining(participation.self().withGeneration(configured.lastGeneration() + 1)));
            }
            events.accept(new NodeEvent.Left(null));
            begin();
        }
    }

    /** Takes part alone, with what this node has; the order is started afterwards. */
    void alone() {
        participation.decide(configured.withPeers(List.of(participation.self()), false));
    }

    /** Asks to be a member, as a new one, of a cluster whose order goes on from what this node holds. */
    void joinAnew(List<Membership> answers) {
        close();
        beginAnew(answers);
    }

    private synchronized void beginAnew(List<Membership> answers) {
        int next = plan().generationAnew(MemberWord.all(answers));
        participation.decide(joining(configured.selfPeer().withGeneration(configured.freeGeneration(next))));
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
            if (!participation.isJoining()) {
                events.accept(new NodeEvent.Joining(null));
                takePart();
                return;
            }
            events.accept(new NodeEvent.Joining("asking the other nodes to be a member"));
            requireData();
            order.resume(Hold.START);
            order.resume(Hold.LEFT);
            MemberQuestion.Join request = new MemberQuestion.Join(participation.self(), directory);
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
            log.info("{} is a member now", participation.self());
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
        while (held.getAsLong() == 0 && server.exists() && !copy.isPending()) {
            List<Membership> answers = desk.askAll(configured.peers());
            String obstacle = "no other node answers";
            if (!answers.isEmpty()) {
                try {
                    Server.Contents contents = server.contents();
                    if (isDataDecided(answers, contents)) {
                        return;
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

    /** Whether it is settled with what the server begins; false while none of those that answer can tell. */
    private boolean isDataDecided(List<Membership> answers, Server.Contents contents)
            throws IOException, InterruptedException {
        Position position = contents.position();
        switch (AdmissionPlan.data(position.seqno(), contents.empty(), copy.isPreferred(), MemberWord.all(answers))) {
            case ITS_OWN -> requireSameHistory(answers, position);
            case ORDER -> {
                // It receives what all others did.
            }
            case COPY -> {
                heard(answers);
                if (!rejoin.beginWithCopy()) {
                    throw new QuorateException(
                            ErrorCode.COPY_NEEDED,
                            "the cluster began with data that was never ordered, this server has none of it, and"
                                    + " quorate.sst.method is none");
                }
            }
            case REFUSED ->
                throw new QuorateException(
                        ErrorCode.COPY_NEEDED,
                        "this server has tables of its own, and nothing of the cluster's; they are not overwritten");
            case UNTOLD -> {
                return false;
            }
        }
        return true;
    }

    /** What its server holds must be the beginning of what the others do. Where no majority was ever forced it can't be otherwise. */
    private void requireSameHistory(List<Membership> answers, Position position) throws IOException {
        try {
            List<Membership> ofThisLife = answers.stream()
                    .filter(a -> a.lives().equals(configured.lives()))
                    .toList();
            history.require(
                    Standing.offers(ofThisLife),
                    position.seqno(),
                    position.log(),
                    TimeUnit.NANOSECONDS.toMillis(System.nanoTime()));
        } catch (QuorateException e) {
            if (e.code() != ErrorCode.CACHE_PASSED || !configured.lives().ids().isEmpty()) {
                throw e;
            }
        }
    }

    @Override
    public void close() {
        OwnedThread running = thread;
        if (running != null) {
            running.close();
        }
    }
}
