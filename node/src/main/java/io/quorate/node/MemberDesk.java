// SPDX-License-Identifier: Apache-2.0
package io.quorate.node;

import io.quorate.core.ErrorCode;
import io.quorate.core.QuorateException;
import io.quorate.transport.PeerChannels;
import io.quorate.transport.RatisTotalOrder;
import io.quorate.transport.TransportSettings.Peer;
import java.io.IOException;
import java.io.OutputStream;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import tools.jackson.databind.json.JsonMapper;

/** Answers who is a member, and as the leader changes it; asks others for the same. */
final class MemberDesk {
    /** Longer than a new member takes to catch up with what the order's log holds. */
    private static final Duration CHANGE_MAX = Duration.ofSeconds(10);
    /** Longer than an election. */
    private static final Duration LEADER_MAX = Duration.ofSeconds(15);

    private static final Duration AGAIN = Duration.ofMillis(250);

    private final String self;
    private final PausableOrder order;
    private final Function<String, MemberRequest.Answer> about;
    private final Members members;
    private final JsonMapper json;
    private PeerChannels channels;

    /**
     * @param about makes this node's answer, with a refusal or null
     */
    MemberDesk(
            String self,
            PausableOrder order,
            Function<String, MemberRequest.Answer> about,
            Members members,
            JsonMapper json) {
        this.self = self;
        this.order = order;
        this.about = about;
        this.members = members;
        this.json = json;
    }

    /** By which it asks others. Before anything else. */
    void through(PeerChannels peers) {
        channels = peers;
    }

    /** Answers a peer. */
    void serve(byte[] request, OutputStream answer) throws IOException {
        answer.write(json.writeValueAsBytes(carryOut(MemberRequest.decode(request, json))));
    }

    private MemberRequest.Answer carryOut(MemberRequest request) {
        if (request.what() == MemberRequest.What.LIST) {
            return about.apply(null);
        }
        RatisTotalOrder running = order.running();
        if (running == null) {
            return about.apply(self + " takes no part in the order now");
        }
        CompletableFuture<Void> change;
        if (request.what() == MemberRequest.What.JOIN) {
            Peer there = running.members().stream()
                    .filter(m -> m.name().equals(request.member().name()))
                    .findFirst()
                    .orElse(null);
            if (request.member().equals(there)) {
                return about.apply(null);
            }
            change = running.add(request.member());
        } else {
            if (running.members().stream()
                    .noneMatch(m -> m.name().equals(request.member().name()))) {
                return about.apply(null);
            }
            change = running.remove(request.member().name());
        }
        try {
            change.get(CHANGE_MAX.toMillis(), TimeUnit.MILLISECONDS);
            if (request.what() == MemberRequest.What.JOIN) {
                members.directory(request.member().name(), request.member().generation(), request.directory());
            }
            return about.apply(null);
        } catch (ExecutionException e) {
            return about.apply(e.getCause().getMessage());
        } catch (TimeoutException e) {
            return about.apply("it isn't done after " + CHANGE_MAX.toSeconds() + " s; it may still be");
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return about.apply("interrupted");
        }
    }

    /** Asks one peer. */
    MemberRequest.Answer ask(Peer peer, MemberRequest request) throws IOException {
        return MemberRequest.answer(channels.open(peer, request.encode(json)), json);
    }

    /** What all of them that can be asked answer. */
    List<MemberRequest.Answer> askAll(List<Peer> peers) {
        MemberRequest request = new MemberRequest(MemberRequest.What.LIST, null, null);
        List<CompletableFuture<MemberRequest.Answer>> asked = new ArrayList<>();
        for (Peer peer : peers) {
            if (!peer.name().equals(self)) {
                asked.add(CompletableFuture.supplyAsync(() -> {
                    try {
                        return ask(peer, request);
                    } catch (IOException | QuorateException e) {
                        return null;
                    }
                }));
            }
        }
        return asked.stream()
                .map(CompletableFuture::join)
                .filter(answer -> answer != null)
                .toList();
    }

    /**
     * Has the leader carry out a change, wherever it is; while an election is held, waits for its end.
     *
     * @param peers who can be asked for it
     * @return null when it is done, else why not
     */
    String byLeader(MemberRequest request, List<Peer> peers) {
        long start = System.nanoTime();
        while (true) {
            Attempt attempt = attempt(request, peers);
            if (attempt.byLeader() || System.nanoTime() - start > LEADER_MAX.toNanos()) {
                return attempt.refusal();
            }
            try {
                Thread.sleep(AGAIN.toMillis());
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return attempt.refusal() + "; interrupted";
            }
        }
    }

    /**
     * What came of asking once.
     *
     * @param refusal null when it is done
     * @param byLeader whether it is the leader's word; else there may be one in a moment
     */
    record Attempt(String refusal, boolean byLeader) {}

    /** Asks whoever leads by this node's knowledge or, where it has none, by the others'. */
    Attempt attempt(MemberRequest request, List<Peer> peers) {
        List<Peer> all = peers;
        String leader = order.quorum().leader();
        if (leader == null) {
            MemberRequest.Answer answer = askAll(all).stream()
                    .filter(a -> a.leader() != null)
                    .findFirst()
                    .orElse(null);
            if (answer == null) {
                return new Attempt(
                        new QuorateException(ErrorCode.NO_QUORUM, "nobody knows of a leader").getMessage(), false);
            }
            leader = answer.leader();
            all = answer.members();
        }
        if (leader.equals(self)) {
            return attempt(carryOut(request));
        }
        String name = leader;
        Peer at = all.stream().filter(m -> m.name().equals(name)).findFirst().orElse(null);
        if (at == null) {
            return new Attempt("nobody knows where the leader, " + leader + ", is", false);
        }
        try {
            return attempt(ask(at, request));
        } catch (IOException | QuorateException e) {
            return new Attempt(leader + ": " + e.getMessage(), false);
        }
    }

    private static Attempt attempt(MemberRequest.Answer answer) {
        return new Attempt(
                answer.refusal(), answer.refusal() == null || answer.node().equals(answer.leader()));
    }
}
