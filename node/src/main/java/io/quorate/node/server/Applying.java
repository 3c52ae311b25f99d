// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.server;

import io.quorate.applier.Applier;
import io.quorate.applier.ApplierListener;
import io.quorate.applier.ApplierStats;
import io.quorate.applier.DefinitionTexts;
import io.quorate.applier.TakenBack;
import io.quorate.applier.Verdicts;
import io.quorate.capture.DefinedTables;
import io.quorate.core.NodeEvent;
import io.quorate.core.QuorateException;
import io.quorate.core.TableName;
import io.quorate.core.WriteSet;
import io.quorate.core.WriteSetLog;
import io.quorate.node.config.NodeProperties;
import io.quorate.node.trace.Traces;
import java.sql.SQLException;
import java.util.Set;
import java.util.UUID;
import java.util.function.Consumer;

/**
 * Applies the order to the server, and passes on what the applier tells. Started by the link's thread; any thread may
 * read the statistics.
 */
final class Applying implements AutoCloseable {
    /** What every applier of this node works with. */
    record Ports(
            NodeProperties properties,
            String incarnation,
            WriteSetLog cache,
            ApplyProgress progress,
            Traces traces,
            Consumer<NodeEvent> events) {}

    private final Applier applier;

    /**
     * @param defined says which tables a definition names
     * @param register makes the register of what clients of this server commit
     * @param verdicts what the nodes have found about definitions that some servers refuse
     */
    Applying(
            Ports ports,
            ServerAccess access,
            LinkSignals signals,
            UUID server,
            DefinedTables defined,
            Applier.OwnWritesSource register,
            Verdicts verdicts) {
        applier = new Applier(
                ports.properties().applierSettings(),
                access.workers(),
                ports.cache(),
                server,
                ports.incarnation(),
                register,
                verdicts,
                new Texts(defined),
                new Telling(ports, access, signals));
    }

    /** @param takenBack own transactions that the database lacks after its position */
    void start(TakenBack takenBack) throws SQLException {
        applier.start(takenBack);
    }

    long appliedSeqno() {
        return applier.appliedSeqno();
    }

    ApplierStats stats() {
        return applier.stats();
    }

    /** The client session whose locks the applier is waiting for; null when there is none. */
    String blockedBy() {
        return applier.blockedBy();
    }

    @Override
    public void close() {
        applier.close();
    }

    private record Texts(DefinedTables defined) implements DefinitionTexts {
        @Override
        public Set<TableName> tables(WriteSet definition) {
            return defined.of(definition);
        }

        @Override
        public Likeness likeness(WriteSet loser, WriteSet definition) {
            if (defined.doTheSame(loser, definition)) {
                return Likeness.SAME;
            }
            return defined.overwrites(loser, definition) ? Likeness.OVERWRITTEN : Likeness.NONE;
        }
    }

    /** Passes on the applier's messages, on the applier's threads. */
    private record Telling(Ports ports, ServerAccess access, LinkSignals signals) implements ApplierListener {
        @Override
        public void applied(long seqno, int transactions, long originCommittedMicros) {
            ports.progress().applied(seqno, transactions, originCommittedMicros);
            ports.traces().applied(seqno);
        }

        @Override
        public boolean holdClients(boolean hold) {
            signals.held(hold);
            return true;
        }

        @Override
        public void failed(QuorateException cause) {
            if (cause.code().isRetryable()) {
                signals.refused(cause);
            } else {
                ports.events().accept(new NodeEvent.Failed(cause));
            }
        }

        @Override
        public void databaseLost(SQLException cause) {
            signals.lost(access.unreachable(cause).getMessage());
        }
    }
}
