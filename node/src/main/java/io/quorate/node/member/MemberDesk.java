// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.member;

import io.quorate.certification.OrderedStream;
import io.quorate.core.Ballot;
import io.quorate.core.BallotCodec;
import io.quorate.core.ErrorCode;
import io.quorate.core.FromOutside;
import io.quorate.core.QuorateException;
import io.quorate.core.Retry;
import io.quorate.core.answer.NodeStatus;
import io.quorate.node.member.MemberQuestion.Change;
import io.quorate.node.member.MemberQuestion.Changed;
import io.quorate.node.member.MemberQuestion.HowAreYou;
import io.quorate.node.member.MemberQuestion.Join;
import io.quorate.node.member.MemberQuestion.Lead;
import io.quorate.node.member.MemberQuestion.Leave;
import io.quorate.node.member.MemberQuestion.WhoIsMember;
import io.quorate.node.order.PausableOrder;
import io.quorate.node.question.Answers;
import io.quorate.node.question.Questions;
import io.quorate.transport.PeerChannels;
import io.quorate.transport.RatisTotalOrder;
import io.quorate.transport.TransportSettings.Peer;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BiConsumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Answers who is a member and, on the leader, changes that, and who leads. Asks other nodes for both. */
public final class MemberDesk {
    private static final Logger log = LoggerFactory.getLogger(MemberDesk.class);
    /** More time than a new member takes to catch up with what the order's log holds. */
    private static final Duration CHANGE_MAX = Duration.ofSeconds(10);
    /** For more time than an election takes. */
    private static final Retry.Policy BY_LEADER = Retry.Policy.within(Duration.ofSeconds(15), Duration.ofMillis(250));

    /** Whoever is there answers in less, also on a busy machine. */
    private static final Duration ANSWER_MAX = Duration.ofSeconds(10);

    private static final Retry.Policy VOTE = Retry.Policy.within(Duration.ofSeconds(5), Duration.ofMillis(250));

    private final String self;
    private final OrderedStream stream;
    private final PausableOrder order;
    private final Supplier<Membership> about;
    private final Supplier<NodeStatus> status;
    private final Members members;
    private final Questions questions;
    private final PeerChannels channels;

    /**
     * @param about who is a member, as this node knows it
     * @param status the state of this node
     * @param channels by which nodes can be reached that are no members, too
     */
    public MemberDesk(
            String self,
            OrderedStream stream,
            PausableOrder order,
            Supplier<Membership> about,
            Supplier<NodeStatus> status,
            Members members,
            Questions questions,
            PeerChannels channels) {
        this.self = self;
        this.stream = stream;
        this.order = order;
        this.about = about;
        this.status = status;
        this.members = members;
        this.questions = questions;
        this.channels = channels;
    }

    public void register(Answers answers) {
        answers.on(WhoIsMember.class, question -> about.get());
        answers.on(HowAreYou.class, question -> status.get());
        answers.from(Join.class, this::join);
        answers.on(Leave.class, this::carryOut);
        answers.on(Lead.class, this::carryOut);
        answers.requireAll(MemberQuestion.class);
    }

    /** Nobody is made a member by another node: it would be replaced under its name. */
    private Changed join(String peer, Join join) {
        String wrong = Plausible.wrong(join.member());
        if (wrong != null || !join.name().equals(peer) || !Plausible.isDirectory(join.directory())) {
            throw new QuorateException(
                    ErrorCode.MALFORMED_MESSAGE,
                    FromOutside.oneLine(peer) + " asks to be made a member as what it can't be: "
                            + (wrong == null ? "another node" : wrong));
        }
        return carryOut(join);
    }

    private Changed carryOut(Change change) {
        String refusal = refusal(change);
        return new Changed(self, order.quorum().leader(), refusal);
    }

    /** Carries out the change, as the leader; null when it is done, otherwise why not. */
    private String refusal(Change change) {
        RatisTotalOrder running = order.running();
        if (running == null) {
            return self + " takes no part in the order now";
        }
        if (change instanceof Lead && member(change.name(), running) == null) {
            return change.name() + " is no member";
        }
        if (isDone(change, running)) {
            return null;
        }
        String closes = change instanceof Leave leave && !leave.force()
                ? LastServer.refusal(leave.name(), about.get(), members)
                : null;
        if (closes != null) {
            return closes;
        }
        try {
            begin(change, running).get(CHANGE_MAX.toMillis(), TimeUnit.MILLISECONDS);
            if (change instanceof Join join) {
                members.directory(join.name(), join.member().generation(), join.directory());
                members.keep();
            } else if (change instanceof Leave) {
                endVote(change.name());
            }
            return null;
        } catch (ExecutionException e) {
            // Without the advice of its code, which is for whoever writes.
            return asItIs(change, running, e.getCause() instanceof QuorateException q ? q.detail() : "" + e.getCause());
        } catch (TimeoutException e) {
            return asItIs(change, running, "it isn't done after " + CHANGE_MAX.toSeconds() + " s");
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return "interrupted";
        }
    }

    private boolean isDone(Change change, RatisTotalOrder running) {
        if (change instanceof Lead) {
            return change.name().equals(order.quorum().leader());
        }
        Peer there = member(change.name(), running);
        return !running.isChangingMembers()
                && (change instanceof Join join ? join.member().equals(there) : there == null);
    }

    private static @Nullable Peer member(String name, RatisTotalOrder running) {
        return running.members().stream()
                .filter(m -> m.name().equals(name))
                .findFirst()
                .orElse(null);
    }

    /** What has become of a change that was refused or has not been confirmed: the members are looked at again. */
    private @Nullable String asItIs(Change change, RatisTotalOrder running, String why) {
        return isDone(change, running) ? null : why + underWay(running);
    }

    private static String underWay(@Nullable RatisTotalOrder running) {
        return running == null || !running.isChangingMembers()
                ? ""
                : "; a change of the members is BEGUN and can't be taken back: until a majority of those before it and"
                        + " of those after it are up, nothing is ordered";
    }

    private static CompletableFuture<Void> begin(Change change, RatisTotalOrder running) {
        if (change instanceof Join join) {
            return running.add(join.member());
        }
        return change instanceof Leave leave
                ? running.remove(leave.name(), leave.force())
                : running.lead(change.name());
    }

    /**
     * Says in the order that the server of a node which was taken out has no vote any more. The node itself can't, for
     * the order is closed to it; a leader that takes itself out because it was asked itself leaves it unsaid.
     */
    private void endVote(String node) {
        UUID server = node.equals(self) ? null : stream.ask(certifier -> certifier.voter(node));
        if (server == null) {
            return;
        }
        Retry retry = new Retry(VOTE, System.nanoTime());
        while (stream.ask(certifier -> certifier.isVoter(node, server))) {
            long micros = System.currentTimeMillis() * 1000;
            var unused = order.submit(BallotCodec.encode(new Ballot(Ballot.Kind.NO_VOTER, node, server, 0, micros)));
            Retry.Next next = retry.failed("the order doesn't say so yet", System.nanoTime());
            if (!next.again()) {
                log.warn("{} has left, but votes on definitions still wait for its server for ten seconds each", node);
                return;
            }
            try {
                Thread.sleep(next.pauseMillis());
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return;
            }
        }
    }

    /** Asks one peer, which need not be a member. */
    private <A> A ask(Peer peer, MemberQuestion<A> question) throws IOException {
        return questions.ask(peer.name(), request -> channels.open(peer, request), question);
    }

    /**
     * Asks a node what it says of itself.
     *
     * @return null when it doesn't answer
     */
    public CompletableFuture<@Nullable NodeStatus> status(String node) {
        Members.Heard heard = members.all().get(node);
        if (!node.equals(self) && (heard == null || !heard.isFresh())) {
            // Whom nobody hears wouldn't answer, but might keep the one who asks waiting.
            return CompletableFuture.completedFuture(null);
        }
        return questions
                .<@Nullable NodeStatus>atOnce(() -> {
                    try {
                        return questions.ask(node, new HowAreYou());
                    } catch (IOException | QuorateException e) {
                        return null;
                    }
                })
                .exceptionally(e -> null);
    }

    /** The answers of all peers that can be asked, after ten seconds at most. */
    public List<Membership> askAll(List<Peer> peers) {
        return askAll(peers, (peer, why) -> {});
    }

    /** @param failed hears, on any thread, why a peer doesn't answer */
    public List<Membership> askAll(List<Peer> peers, BiConsumer<Peer, String> failed) {
        List<CompletableFuture<Membership>> asked = new ArrayList<>();
        for (Peer peer : peers) {
            if (!peer.name().equals(self)) {
                asked.add(questions
                        .atOnce(() -> membership(peer, failed))
                        .completeOnTimeout(null, ANSWER_MAX.toMillis(), TimeUnit.MILLISECONDS)
                        .exceptionally(e -> silent(peer, e.getMessage(), failed)));
            }
        }
        return asked.stream()
                .map(CompletableFuture::join)
                .filter(answer -> answer != null)
                .toList();
    }

    private @Nullable Membership membership(Peer peer, BiConsumer<Peer, String> failed) {
        try {
            return Plausible.membership(peer.name(), ask(peer, new WhoIsMember()));
        } catch (IOException | QuorateException e) {
            return silent(peer, e.getMessage(), failed);
        }
    }

    private static @Nullable Membership silent(Peer peer, String why, BiConsumer<Peer, String> failed) {
        failed.accept(peer, why);
        return null;
    }

    /** {@link #attempt}, on a thread of its own. */
    public CompletableFuture<Attempt> attemptAtOnce(Change change, List<Peer> peers) {
        return questions.atOnce(() -> attempt(change, peers));
    }

    /**
     * Makes the leader, wherever it is, carry out a change; waits while a leader is being elected.
     *
     * @param peers the nodes that can be asked who the leader is
     * @return null when the change is done, otherwise why it isn't
     */
    public String byLeader(Change change, List<Peer> peers) {
        Retry retry = new Retry(BY_LEADER, System.nanoTime());
        while (true) {
            Attempt attempt = attempt(change, peers);
            if (attempt.byLeader()) {
                if (change instanceof Leave && attempt.refusal() == null) {
                    // A leader that took itself out couldn't say so.
                    endVote(change.name());
                }
                return attempt.refusal();
            }
            Retry.Next next = retry.failed(attempt.refusal(), System.nanoTime());
            if (!next.again()) {
                return attempt.refusal() + underWay(order.running());
            }
            try {
                Thread.sleep(next.pauseMillis());
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return attempt.refusal() + "; interrupted";
            }
        }
    }

    /**
     * The result of asking once.
     *
     * @param refusal why the change isn't done; null when it is
     * @param byLeader whether the leader says so; otherwise there may be a leader in a moment
     */
    public record Attempt(String refusal, boolean byLeader) {}

    /** Asks once. The leader is the one that this node knows or, if it knows none, the one that others know. */
    public Attempt attempt(Change change, List<Peer> peers) {
        List<Peer> all = peers;
        String leader = order.quorum().leader();
        if (leader == null) {
            Membership answer = askAll(all).stream()
                    .filter(a -> a.leader() != null)
                    .findFirst()
                    .orElse(null);
            if (answer == null) {
                return new Attempt(
                        "nobody leads the order, as far as " + self + " and those that it reaches know; a majority of"
                                + " the members has to be up for that (quorate status)",
                        false);
            }
            leader = answer.leader();
            all = answer.members();
        }
        if (leader.equals(self)) {
            return attempt(carryOut(change));
        }
        String name = leader;
        Peer at = all.stream().filter(m -> m.name().equals(name)).findFirst().orElse(null);
        if (at == null) {
            return new Attempt("nobody knows where the leader, " + leader + ", is", false);
        }
        try {
            return attempt(ask(at, change));
        } catch (IOException | QuorateException e) {
            return new Attempt(leader + ": " + e.getMessage(), false);
        }
    }

    private static Attempt attempt(Changed answer) {
        return new Attempt(
                answer.refusal(), answer.refusal() == null || answer.node().equals(answer.leader()));
    }
}
