// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.question;

import io.quorate.core.PeerStreams;
import io.quorate.core.QuorateException;
import java.io.IOException;
import java.io.InputStream;
import tools.jackson.databind.json.JsonMapper;

/** Asks other nodes questions, and this node too. */
public final class Questions {
    private final String self;
    private final Answers own;
    private final PeerStreams peers;
    private final QuestionCodec codec;

    /** A way to a node, which need not be a member. */
    @FunctionalInterface
    public interface Channel {
        /** As {@link PeerStreams#open}. */
        InputStream open(byte[] request) throws IOException;
    }

    /** @param own answers questions to {@code self}, without a network */
    public Questions(String self, Answers own, PeerStreams peers, JsonMapper json) {
        this.self = self;
        this.own = own;
        this.peers = peers;
        this.codec = new QuestionCodec(json);
    }

    /**
     * Asks a member.
     *
     * @throws QuorateException when the peer refuses; MALFORMED_MESSAGE when its answer isn't understood
     * @throws IOException when the peer can't be reached
     */
    public <A> A ask(String node, Question<A> question) throws IOException {
        return node.equals(self) ? own.here(self, question) : ask(node, request -> peers.open(node, request), question);
    }

    /** As above, but asks a node at the end of a channel. */
    public <A> A ask(String node, Channel channel, Question<A> question) throws IOException {
        try (InputStream in = channel.open(codec.encode(question))) {
            return codec.readAnswer(question, node, in);
        }
    }

    /** Asks another member for a stream; returns when the head of the answer is here. */
    public <H> StreamedAnswer<H> open(String node, StreamedQuestion<H> question) throws IOException {
        InputStream in = peers.open(node, codec.encode(question));
        try {
            return codec.readHead(question, node, in);
        } catch (IOException | RuntimeException e) {
            in.close();
            throw e;
        }
    }
}
