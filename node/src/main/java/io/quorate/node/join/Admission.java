// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.join;

import io.quorate.node.member.MemberDesk;
import io.quorate.node.member.MemberQuestion;
import io.quorate.node.member.Members;
import io.quorate.node.member.Membership;
import io.quorate.node.member.Participation;
import io.quorate.node.order.PausableOrder;
import io.quorate.node.order.PausableOrder.Hold;
import io.quorate.transport.AdmissionPlan;
import io.quorate.transport.PeerChannels;
import io.quorate.transport.TransportSettings;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentSkipListMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** How a node takes part, as {@link AdmissionPlan} decides, and how it asks the others to be made a member. */
final class Admission {
    private static final Logger log = LoggerFactory.getLogger(Admission.class);
    private static final Duration ASK_OTHERS = Duration.ofSeconds(1);

    private final TransportSettings configured;
    private final String directory;
    private final MemberDesk desk;
    private final Members members;
    private final PeerChannels channels;
    private final PausableOrder order;
    private final Participation participation;
    private CompletableFuture<MemberDesk.Attempt> attempt;
    /** When the others were last asked for those who report to nobody; null if never. */
    private Long askedNanos;

    Admission(Join.Own own, Join.Others others) {
        this.configured = own.configured();
        this.directory = own.directory();
        this.desk = others.desk();
        this.members = others.members();
        this.channels = others.channels();
        this.order = own.order();
        this.participation = own.participation();
    }

    AdmissionPlan plan() {
        return new AdmissionPlan(
                configured.selfPeer(),
                configured.peers(),
                configured.wasMember() ? configured.knownMembers() : List.of(),
                configured.lastGeneration(),
                directory);
    }

    /** Takes part like that when the order is started next. */
    void decide(AdmissionPlan.Way way) {
        attempt = null;
        if (way instanceof AdmissionPlan.TakenOut out) {
            decideToJoin(out.generation());
        } else if (way instanceof AdmissionPlan.Joiner joiner) {
            log.info("{}; asking to be a member", joiner.why());
            decideToJoin(configured.freeGeneration(joiner.generation()));
        } else if (way instanceof AdmissionPlan.Member member) {
            participation.decide(configured.withPeers(member.members(), false));
        }
    }

    /** Is to ask to be a member, in that generation of its name. */
    private void decideToJoin(int generation) {
        participation.decide(configured.withPeers(List.of(configured.selfPeer().withGeneration(generation)), true));
    }

    /**
     * Is to ask to be a member again, after it was taken out. As a new one: what the order's log still says of the
     * former one is not about it.
     */
    void again() {
        attempt = null;
        decideToJoin(configured.lastGeneration() + 1);
    }

    /** Takes part alone, with what this node has; the order is started afterwards. */
    void alone() {
        participation.decide(configured.withPeers(List.of(participation.self()), false));
    }

    /** Leaves the order and takes part again, so long after that the leader has given up on this node. */
    void startAgain() throws InterruptedException {
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
        ConcurrentSkipListMap<String, String> silent = new ConcurrentSkipListMap<>();
        List<Membership> answers =
                desk.askAll(configured.peers(), (peer, why) -> silent.put(peer.name(), String.valueOf(why)));
        // Nobody reports to it yet, and it may need to know who has what: the leader waits until it has caught up.
        heard(answers);
        if (attempt == null) {
            if (answers.isEmpty()) {
                // One reason is enough; the others' are mostly the same.
                String why = silent.isEmpty() ? "" : ": " + silent.firstEntry().getValue();
                return new MemberDesk.Attempt("no other node answers" + why, false);
            }
            MemberQuestion.Join request = new MemberQuestion.Join(participation.self(), directory);
            attempt = desk.attemptAtOnce(request, configured.peers());
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
     * Of a node to which nobody reports, since it is no member, or none any more: asks them, not more often than once a
     * second. Any thread.
     */
    synchronized void hear() {
        long now = System.nanoTime();
        if (askedNanos == null || now - askedNanos > ASK_OTHERS.toNanos()) {
            heard(desk.askAll(configured.peers()));
            askedNanos = System.nanoTime();
        }
    }

    /** What they report is known from now on, of those that are in this node's life of the cluster. */
    void heard(List<Membership> answers) {
        answers.stream()
                .filter(answer -> answer.lives().equals(configured.lives()))
                .forEach(answer -> {
                    members.know(answer.members());
                    members.heard(answer.report());
                    // What it has to give can be asked for only of those that are known.
                    channels.more(answer.members());
                });
    }
}
