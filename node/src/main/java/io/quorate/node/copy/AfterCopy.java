// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.copy;

import io.quorate.applier.Applier;
import io.quorate.applier.ApplierListener;
import io.quorate.applier.SharedOwnWrites;
import io.quorate.applier.TakenBack;
import io.quorate.applier.Verdicts;
import io.quorate.core.OwnWrites;
import io.quorate.core.QuorateException;
import io.quorate.core.WriteSetLog;
import io.quorate.node.server.LinkSignals;
import io.quorate.node.server.ServerAccess;
import java.io.IOException;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicReference;

/**
 * Applies what was ordered since a copy was made, once it is here, until the whole server is at one place in the order.
 * No client writes meanwhile, so nothing is captured.
 */
final class AfterCopy {
    private static final long POLL_MILLIS = 250;

    private final Copying owner;
    private final Copying.Ports ports;
    private final ServerAccess access;
    private final LinkSignals signals;

    AfterCopy(Copying owner, Copying.Ports ports, ServerAccess access, LinkSignals signals) {
        this.owner = owner;
        this.ports = ports;
        this.access = access;
        this.signals = signals;
    }

    /**
     * Applies up to {@code upTo}.
     *
     * @param record what was ordered
     * @param server whose own transactions the tables hold
     * @param back those of them that were taken back
     * @return false when the link has something else to do
     */
    boolean run(WriteSetLog record, UUID server, TakenBack back, long upTo)
            throws SQLException, IOException, InterruptedException {
        try (Connection connection = owner.reach()) {
            access.readOnly(connection, true);
        }
        AtomicReference<Exception> failure = new AtomicReference<>();
        Applier applier = new Applier(
                ports.properties().applierSettings(),
                access.workers(),
                record,
                server,
                ports.incarnation(),
                (applied, undone, isHere) -> {
                    SharedOwnWrites register = new SharedOwnWrites(new OwnWrites(applied, undone, isHere));
                    ports.stream().tell(register, server);
                    register.covered(Long.MAX_VALUE, 0);
                    return register;
                },
                new Asked(),
                new Listener(failure));
        try {
            applier.start(back);
            owner.waits(null);
            while (applier.appliedSeqno() < upTo
                    && failure.get() == null
                    && signals.task().serves()) {
                owner.tell("it is here; applying what was ordered meanwhile, " + (upTo - applier.appliedSeqno())
                        + " writesets to go");
                owner.pause(POLL_MILLIS);
            }
        } finally {
            applier.close();
        }
        if (failure.get() instanceof SQLException e) {
            throw e;
        } else if (failure.get() instanceof QuorateException e) {
            throw e;
        }
        return applier.appliedSeqno() >= upTo;
    }

    private final class Asked implements Verdicts {
        @Override
        public boolean isVoid(long seqno) {
            return ports.stream().isVoid(seqno);
        }

        @Override
        public Verdict onRefused(long seqno) {
            // Then the copy is no good.
            return Verdict.STANDS;
        }
    }

    private record Listener(AtomicReference<Exception> failure) implements ApplierListener {
        @Override
        public void applied(long seqno, int transactions, long originCommittedMicros) {}

        @Override
        public void failed(QuorateException cause) {
            failure.compareAndSet(null, cause);
        }

        @Override
        public void databaseLost(SQLException cause) {
            failure.compareAndSet(null, cause);
        }
    }
}
