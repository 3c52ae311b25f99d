// SPDX-License-Identifier: Apache-2.0
package io.quorate.applier;

import io.quorate.core.Certified;
import io.quorate.core.PreparedWrites;
import io.quorate.core.WriteSetLog;
import java.io.IOException;
import java.time.Duration;

/** What a server has to apply after its position, one after the other, as the node's record has it. For one thread. */
public final class Feed implements AutoCloseable {
    private final WriteSetLog record;
    private final OwnWriteSets own;
    private final PreparedWrites prepared;
    private final long from;
    private WriteSetLog.Cursor cursor;

    /**
     * A writeset.
     *
     * @param duty what this node has to do for it
     */
    public record Due(Certified writeSet, Duty duty) {}

    /**
     * @param prepared is told of the server's own prepared transactions that are to be settled
     * @param from the first seqno that isn't applied
     */
    public Feed(WriteSetLog record, OwnWriteSets own, PreparedWrites prepared, long from) {
        this.record = record;
        this.own = own;
        this.prepared = prepared;
        this.from = from;
    }

    /** After a power failure the record may lack what the database has kept; the order hands it out again. */
    public boolean isThere() {
        return record.last() >= from - 1;
    }

    /** The next one, waiting so long for it; null when there is none, or the record isn't there. */
    public Due next(Duration wait) throws IOException, InterruptedException {
        if (cursor == null && isThere()) {
            cursor = record.read(from);
        }
        Certified next = cursor == null ? null : cursor.next(wait);
        if (next == null) {
            return null;
        }
        Duty duty = own.duty(next);
        if (duty == Duty.SETTLE) {
            prepared.prepared(next.writeSet());
        }
        return new Due(next, duty);
    }

    @Override
    public void close() {
        if (cursor != null) {
            cursor.close();
        }
    }
}
