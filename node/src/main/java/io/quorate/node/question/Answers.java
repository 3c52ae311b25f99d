// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.question;

import io.quorate.core.ErrorCode;
import io.quorate.core.FromOutside;
import io.quorate.core.QuorateException;
import java.io.IOException;
import java.io.OutputStream;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.stream.Stream;
import tools.jackson.databind.json.JsonMapper;

/**
 * Finds who answers a question at this node. Each room registers for the questions that it answers. A question for
 * which nobody has registered is refused with its name, as is one that only a newer node knows.
 */
public final class Answers {
    private final QuestionCodec codec;
    private final Predicate<String> isMember;
    private final Map<String, Registered<?>> registered = new ConcurrentHashMap<>();

    /** Answers a question. May be called for any number of questions at once, each on a thread of its own. */
    @FunctionalInterface
    public interface Handler<Q, A> {
        /** @throws QuorateException the peer gets it as it is */
        A answer(Q question) throws IOException;
    }

    /** Answers a question for which it matters who asks. */
    @FunctionalInterface
    public interface PeerHandler<Q, A> {
        /**
         * @param peer name of the node that asks, this node's own too
         * @throws QuorateException the peer gets it as it is
         */
        A answer(String peer, Q question) throws IOException;
    }

    /** Answers a question with a stream. */
    @FunctionalInterface
    public interface Streamer<Q, H> {
        /** @throws QuorateException the peer gets it as it is, even after a part of the answer */
        void answer(Q question, StreamedReply<H> reply) throws IOException;
    }

    /** @param handler null for a question that is answered with a stream */
    private record Registered<Q>(Class<Q> type, PeerHandler<Q, ?> handler, Server<Q> server) {
        boolean isForJoiners() {
            return type.isAnnotationPresent(Question.OfJoiners.class);
        }
    }

    @FunctionalInterface
    private interface Server<Q> {
        void serve(String peer, Q question, OutputStream answer) throws IOException;
    }

    /** @param isMember whether a node of that name is a member; others are answered only what joiners need */
    public Answers(JsonMapper json, Predicate<String> isMember) {
        this.codec = new QuestionCodec(json);
        this.isMember = isMember;
    }

    /** Registers who answers questions of this type from now on. */
    public <A, Q extends Question<A>> Answers on(Class<Q> type, Handler<Q, A> handler) {
        return from(type, (peer, question) -> handler.answer(question));
    }

    /** As {@link #on}, where it matters who asks. */
    public <A, Q extends Question<A>> Answers from(Class<Q> type, PeerHandler<Q, A> handler) {
        return register(new Registered<>(
                type, handler, (peer, question, answer) -> codec.writeAnswer(answer(handler, peer, question), answer)));
    }

    /** Registers who answers questions of this type from now on, with a stream. */
    public <H, Q extends StreamedQuestion<H>> Answers streamed(Class<Q> type, Streamer<Q, H> streamer) {
        return register(new Registered<>(
                type,
                null,
                (peer, question, answer) -> streamer.answer(question, head -> codec.writeHead(head, answer))));
    }

    private Answers register(Registered<?> one) {
        String name = QuestionCodec.name(one.type());
        if (registered.putIfAbsent(name, one) != null) {
            throw new IllegalStateException("the question " + name + " is answered by two");
        }
        return this;
    }

    /** Registers a refusal for all questions of a sealed family. */
    public void refuse(Class<?> family, Supplier<QuorateException> refusal) {
        members(family).forEach(type -> refused(type, refusal));
    }

    private <Q> void refused(Class<Q> type, Supplier<QuorateException> refusal) {
        PeerHandler<Q, ?> refusing = (peer, question) -> {
            throw refusal.get();
        };
        register(new Registered<>(type, refusing, (peer, question, answer) -> refusing.answer(peer, question)));
    }

    /** @throws IllegalStateException when nobody answers one of the questions of a sealed family */
    public void requireAll(Class<?> family) {
        List<String> missing = members(family)
                .map(QuestionCodec::name)
                .filter(name -> !registered.containsKey(name))
                .toList();
        if (!missing.isEmpty()) {
            throw new IllegalStateException("nobody answers " + missing);
        }
    }

    private static Stream<Class<?>> members(Class<?> family) {
        return family.isSealed()
                ? Arrays.stream(family.getPermittedSubclasses()).flatMap(Answers::members)
                : Stream.of(family);
    }

    /** Whether these bytes, of which only the beginning matters, are a question. */
    public static boolean isQuestion(byte[] bytes) {
        return QuestionCodec.isQuestion(bytes);
    }

    /**
     * Answers a peer.
     *
     * @param peer its name
     * @throws QuorateException when the handler refuses; MALFORMED_MESSAGE when nobody answers this question here;
     *     MEMBERS_ONLY when the peer is no member, and the question none that joiners ask
     * @throws IOException when the peer is gone, or when what it asked for can't be read
     */
    public void serve(String peer, byte[] bytes, OutputStream answer) throws IOException {
        QuestionCodec.Named asked = QuestionCodec.named(bytes);
        Registered<?> one = find(asked.name());
        if (!one.isForJoiners() && !isMember.test(peer)) {
            throw new QuorateException(
                    ErrorCode.MEMBERS_ONLY,
                    "the question " + asked.name() + " is answered to members alone, and " + FromOutside.oneLine(peer)
                            + " is none");
        }
        serve(peer, asked, one, answer);
    }

    private <Q> void serve(String peer, QuestionCodec.Named asked, Registered<Q> one, OutputStream answer)
            throws IOException {
        one.server().serve(peer, codec.decode(asked, one.type()), answer);
    }

    /**
     * Answers a question of this node itself, without a network.
     *
     * @param self its name
     */
    @SuppressWarnings("unchecked") // registered with the type of the question, which determines the type of the answer
    <A> A here(String self, Question<A> question) throws IOException {
        String name = QuestionCodec.name(question.getClass());
        PeerHandler<Question<A>, A> handler =
                (PeerHandler<Question<A>, A>) find(name).handler();
        if (handler == null) {
            throw new IllegalArgumentException(name + " is answered with a stream");
        }
        return answer(handler, self, question);
    }

    private static <Q, A> A answer(PeerHandler<Q, A> handler, String peer, Q question) throws IOException {
        return Objects.requireNonNull(handler.answer(peer, question), "an answer");
    }

    private Registered<?> find(String name) {
        Registered<?> one = registered.get(name);
        if (one == null) {
            throw QuestionCodec.malformed("this node doesn't know the question " + name);
        }
        return one;
    }
}
