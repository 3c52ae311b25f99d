// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.join;

import io.quorate.certification.OrderedStream;
import io.quorate.core.Difference;
import io.quorate.core.WriteSetLog;
import java.io.IOException;

/**
 * What is known of this node's server, which holds something else than the order says.
 *
 * @param where where that is
 * @param log the node's record
 * @param position asks the server up to which seqno it holds everything
 */
public record OddServer(Difference where, OrderedStream stream, WriteSetLog log, Position position)
        implements CopyRule.Server {
    /** Asks the server for its position. */
    @FunctionalInterface
    public interface Position {
        /** @throws IOException when it can't be reached */
        long seqno() throws IOException;
    }

    @Override
    public boolean hasVoidDefinition() throws IOException {
        long applied = position.seqno();
        return stream.ask(certifier -> certifier.hasVoidDefinition(stream.self(), applied));
    }

    @Override
    public boolean hasRunAhead() throws IOException, InterruptedException {
        return RanAhead.of(where, stream.self(), log, position.seqno(), log.last());
    }
}
