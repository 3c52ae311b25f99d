// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.copy;

import io.quorate.certification.OrderedStream;
import io.quorate.node.config.NodeProperties;
import io.quorate.node.question.Answers;
import io.quorate.node.server.ApplyProgress;
import io.quorate.node.server.ServerAccess;
import io.quorate.node.server.ServerSession;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/** How much of its server's data this node has given to other nodes by method {@code stream}. */
public interface GivenCopies {
    /** For a node without a server. */
    GivenCopies NONE = new GivenCopies() {
        @Override
        public long bytes() {
            return 0;
        }

        @Override
        public long heldMillis() {
            return 0;
        }
    };

    /**
     * Gives copies to nodes that ask for them, by both methods.
     *
     * @param session the session with the server; null while there is none
     * @param synced whether this node's server holds what the order says
     * @param copy the one that its own server may get
     */
    static GivenCopies open(
            NodeProperties properties,
            ServerAccess access,
            Supplier<ServerSession> session,
            OrderedStream stream,
            ApplyProgress progress,
            BooleanSupplier synced,
            Copying copy,
            Answers answers) {
        new ClonedSource(properties, access, synced).register(answers);
        StreamSource source = new StreamSource(properties, access, session, stream, progress, synced, copy::offered);
        source.register(answers);
        answers.requireAll(CopyQuestion.class);
        return source;
    }

    /** Bytes given so far, compressed. */
    long bytes();

    /** How long rows were held back because this node had writesets to apply. */
    long heldMillis();
}
