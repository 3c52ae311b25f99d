// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.join;

import io.quorate.applier.PositionTable.Position;
import io.quorate.core.ErrorCode;
import io.quorate.core.QuorateException;
import io.quorate.ist.HistoryCheck;
import io.quorate.ist.WriteSetCache;
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
import io.quorate.transport.AdmissionPlan;
import io.quorate.transport.PeerChannels;
import io.quorate.transport.TransportSettings;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The turns of a node that is to be a member, as {@link AdmissionPlan} decides: it asks the others how it takes part,
 * settles with what data its server begins, and asks to be made a member.
 */
final class Admission {
    private static final Logger log = LoggerFactory.getLogger(Admission.class);
    private static final Duration ASK_OTHERS = Duration.ofSeconds(1);

    private final TransportSettings configured;
    private final String directory;
    private final MemberDesk desk;
    private final Members members;
    private final PausableOrder order;
    private final Server server;
    private final ServerCopy copy;
    private final WriteSetCache cache;
    private final HistoryCheck history;
    private final Rejoin rejoin;
    private final PeerChannels channels;
    private final Participation participation;
    private CompletableFuture<MemberDesk.Attempt> attempt;
    /** When the others were last asked for those who report to nobody; null if never. */
    private Long askedNanos;

    /**
     * @param history compares what this node holds with the others
     * @param rejoin begins a full copy where the server needs one
     */
    Admission(Join.Own own, Join.Others others, Server server, ServerCopy copy, HistoryCheck history, Rejoin rejoin) {
        this.configured = own.configured();
        this.directory = own.directory();
        this.desk = others.desk();
        this.members = others.members();
        this.order = own.order();
        this.server = server;
        this.copy = copy;
        this.cache = own.stores().cache();
        this.history = history;
        this.rejoin = rejoin;
        this.channels = others.channels();
        this.participation = own.participation();
    }

    private AdmissionPlan plan() {
        return new AdmissionPlan(
                configured.selfPeer(),
                configured.peers(),
                configured.wasMember() ? configured.knownMembers() : List.of(),
                configured.lastGeneration(),
                directory);
    }

    /** Decides how this node takes part, if its own directory can tell; else the others have to be asked. */
    AdmissionPlan.Way decide() {
        AdmissionPlan.Way way = plan().ofDirectory();
        if (way instanceof AdmissionPlan.TakenOut out) {
            decideToJoin(out.generation());
        } else if (way instanceof AdmissionPlan.Joiner joiner) {
            log.info("{}; asking to be replaced", joiner.why());
            decideToJoin(joiner.generation());
        } else if (way instanceof AdmissionPlan.Member member) {
            participation.decide(configured.withPeers(member.members(), false));
        }
        return way;
    }

    /**
     * Asks the others how this node takes part.
     *
     * @return why it can't be told yet; null when it is decided
     */
    String findPlace() {
        List<MemberWord> words = MemberWord.all(desk.askAll(configured.peers()));
        takeOverLives(AdmissionPlan.authority(words));
        AdmissionPlan.Way way = plan().ofWords(words);
        if (way instanceof AdmissionPlan.Wait wait) {
            return wait.why();
        }
        if (way instanceof AdmissionPlan.Member member) {
            participation.decide(configured.withPeers(member.members(), false));
        } else if (way instanceof AdmissionPlan.Joiner joiner) {
            log.info("{}; asking to be a member", joiner.why());
            decideToJoin(configured.freeGeneration(joiner.generation()));
        }
        return null;
    }

    /** Before it can be told which generations its directory is free for. */
    private void takeOverLives(AdmissionPlan.Word word) {
        if (word != null && !configured.lives().equals(word.lives())) {
            configured.takeOver(word.lives());
            channels.lives(word.lives());
        }
    }

    /** Whether this node asks to be a member, once that is decided. */
    boolean isJoining() {
        return participation.isJoining();
    }

    /** Is to ask to be a member, in that generation of its name. */
    private void decideToJoin(int generation) {
        participation.decide(configured.withPeers(List.of(configured.selfPeer().withGeneration(generation)), true));
    }

    /** Is to ask to be a member again, after it was taken out. */
    void again() {
        attempt = null;
        if (!participation.isJoining()) {
            decideToJoin(configured.lastGeneration() + 1);
        }
    }

    /** Takes part alone, with what this node has; the order is started afterwards. */
    void alone() {
        participation.decide(configured.withPeers(List.of(participation.self()), false));
    }

    /** Is to ask to be a member, as a new one, of a cluster whose order goes on from what this node holds. */
    void anew(List<Membership> answers) {
        attempt = null;
        int next = plan().generationAnew(MemberWord.all(answers));
        decideToJoin(configured.freeGeneration(next));
    }

    /** Takes part in the order, to hear what is ordered while it asks to be a member. */
    void takePart() {
        order.resume(Hold.START);
        order.resume(Hold.LEFT);
    }

    /** Leaves the order and takes part again, so long after that the leader has given up on this node. */
    void startAgain() throws InterruptedException {
        log.info("the leader doesn't come to an end with this node; starting again");
        order.pause(Hold.START);
        Thread.sleep(4 * configured.timeoutMax().toMillis());
        order.resume(Hold.START);
    }

    /**
     * Asks to be a member, or goes on with that.
     *
     * @param answered run once there is an answer, on any thread
     * @return what came of it; null while there is no answer, for the leader brings this node up to date first
     */
    MemberDesk.Attempt ask(Runnable answered) {
        if (attempt != null && attempt.isDone()) {
            return answer();
        }
        List<Membership> answers = desk.askAll(configured.peers());
        // Nobody reports to it yet, and it may need to know who has what: the leader waits until it has caught up.
        heard(answers);
        if (attempt == null) {
            if (answers.isEmpty()) {
                return new MemberDesk.Attempt("no node of " + configured.peers() + " answers", false);
            }
            MemberQuestion.Join request = new MemberQuestion.Join(participation.self(), directory);
            attempt = CompletableFuture.supplyAsync(() -> desk.attempt(request, configured.peers()));
            CompletableFuture<?> unused = attempt.whenComplete((done, failed) -> answered.run());
        }
        return null;
    }

    private MemberDesk.Attempt answer() {
        try {
            MemberDesk.Attempt answer = attempt.join();
            if (answer.refusal() == null) {
                log.info("{} is a member now", participation.self());
            }
            return answer;
        } catch (CompletionException e) {
            return new MemberDesk.Attempt(e.getCause().toString(), false);
        } finally {
            attempt = null;
        }
    }

    /**
     * Of a node to which nobody reports, since it is no member: asks them, not more often than once a second. Any
     * thread.
     */
    synchronized void hear() {
        long now = System.nanoTime();
        if (askedNanos == null || now - askedNanos > ASK_OTHERS.toNanos()) {
            heard(desk.askAll(configured.peers()));
            askedNanos = System.nanoTime();
        }
    }

    private void heard(List<Membership> answers) {
        answers.stream()
                .filter(answer -> answer.lives().equals(configured.lives()))
                .forEach(answer -> members.heard(answer.report()));
    }

    /**
     * Settles with what data the server begins. One that nothing was ever applied to can begin from the order alone
     * only where the cluster did.
     *
     * @return why that can't be told yet; null when it is settled
     * @throws QuorateException COPY_NEEDED when it has to be another server's, and can't
     */
    String settleData() throws InterruptedException {
        if (cache.last() > 0 || !server.exists() || copy.isPending()) {
            return null;
        }
        List<Membership> answers = desk.askAll(configured.peers());
        if (answers.isEmpty()) {
            return "no other node answers";
        }
        try {
            return isDataDecided(answers, server.contents())
                    ? null
                    : "none of those that answer knows with what the cluster began";
        } catch (IOException e) {
            return e.getMessage();
        } catch (QuorateException e) {
            if (!e.code().isRetryable()) {
                throw e;
            }
            return e.detail();
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

    /**
     * What its server holds must be the beginning of what the others do. Where no majority was ever forced it can't be
     * otherwise.
     */
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
}
