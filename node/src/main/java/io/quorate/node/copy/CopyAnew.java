// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.copy;

import io.quorate.core.Difference;
import io.quorate.node.copy.DifferingTables.NotByTables;
import java.io.IOException;
import java.sql.Connection;
import java.sql.SQLException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** How a copy of some tables begins anew that can't be made as it was begun: with more tables, or of everything. */
final class CopyAnew {
    private static final Logger log = LoggerFactory.getLogger(CopyAnew.class);
    private static final long AGAIN_MILLIS = 5000;

    private final Copying owner;
    private final StreamedCopy streamed;
    private final TrustedTables trustedTables;
    private final CopyStart start;
    private final Copying.Ports ports;

    CopyAnew(Copying owner, StreamedCopy streamed, TrustedTables trustedTables, CopyStart start, Copying.Ports ports) {
        this.owner = owner;
        this.streamed = streamed;
        this.trustedTables = trustedTables;
        this.start = start;
        this.ports = ports;
    }

    /** Notes with what it begins. */
    void begin(NotByTables why) throws SQLException, IOException, InterruptedException {
        if (owner.note().step() == CopyNote.Step.KEEPING) {
            log.warn("this server's own definitions can't stand: {}", why.getMessage());
            owner.keep(owner.note().again());
        } else if (owner.note().isTrust()) {
            trustMore(why);
        } else {
            more(why);
        }
    }

    /**
     * Takes more tables for right: those that differ too, and those that can't be taken back. If it isn't that, it
     * waits for another server that can give it a copy of everything, because somebody has chosen that one.
     */
    private void trustMore(NotByTables why) throws SQLException, IOException, InterruptedException {
        try (Connection connection = owner.reach()) {
            Difference wider = owner.note().where().and(trustedTables.more(connection, why.besides));
            if (!wider.equals(owner.note().where()) && !wider.mayBeAnywhere()) {
                log.warn("more than these tables is taken for right: {}", why.getMessage());
                owner.keep(CopyNote.trusting(owner.note().from(), wider));
            } else if (start.donor() != null) {
                everything(why.getMessage());
            } else {
                owner.waits("its tables can't be taken for right: " + why.getMessage()
                        + "; see docs/architecture.md#all-servers-differ");
                owner.pause(AGAIN_MILLIS);
            }
        }
    }

    /** Copies more tables, if it is known where else the server differs or can't be taken back, or everything. */
    private void more(NotByTables why) throws IOException {
        CopyPlan copied = streamed.plan();
        if (copied == null || copied.objects() || why.besides == null) {
            everything(why.getMessage());
            return;
        }
        // It may be at a place in the order by now after which nothing tells that these were copied.
        Difference before = owner.note().where().and(Difference.in(copied.tables()));
        Difference wider = before.and(why.besides);
        if (wider.mayBeAnywhere() || wider.equals(before)) {
            everything(why.getMessage());
            return;
        }
        log.warn("more tables are copied: {}", why.getMessage());
        CopyPlan.delete(ports.properties().dataDir());
        owner.forgetWanted();
        owner.keep(owner.note().wider(wider));
    }

    private void everything(String why) throws IOException {
        log.warn("single tables won't do, everything is copied: {}", why);
        CopyPlan.delete(ports.properties().dataDir());
        owner.keep(owner.note().everything());
    }
}
