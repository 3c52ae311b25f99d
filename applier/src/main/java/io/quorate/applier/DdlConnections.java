// SPDX-License-Identifier: Apache-2.0
package io.quorate.applier;

import java.sql.SQLException;
import java.time.Duration;
import javax.sql.DataSource;

/**
 * Connections for writesets that are run by themselves. The last one is kept for the next: definitions come in numbers,
 * and to connect takes more statements than to run one.
 */
final class DdlConnections implements AutoCloseable {
    /** Somebody may change privileges or global variables, which count for whoever connects after it. */
    static final Duration AGE_MAX = Duration.ofSeconds(1);

    private final DataSource source;
    private final Duration lockWait;
    private final long ageNanosMax;
    private Session kept;
    private boolean closed;

    DdlConnections(DataSource source, Duration lockWait, Duration ageMax) {
        this.source = source;
        this.lockWait = lockWait;
        this.ageNanosMax = ageMax.toNanos();
    }

    /**
     * A connection that is as new, or has the default schema that it is going to have.
     *
     * @param statementBytesMax the size of the largest statement
     * @param schema its name as statements have it; null for none
     */
    Session take(long statementBytesMax, String schema) throws SQLException {
        Session session = takeKept();
        if (session != null) {
            if (suits(session, statementBytesMax, schema)) {
                return session;
            }
            session.close();
        }
        return Session.open(source, lockWait, statementBytesMax);
    }

    private static boolean suits(Session session, long statementBytesMax, String schema) {
        try {
            return LargePackets.takes(session.connection(), statementBytesMax) && session.suits(schema);
        } catch (SQLException e) {
            // If the server is gone, opening another one says so.
            return false;
        }
    }

    private synchronized Session takeKept() {
        Session session = kept;
        kept = null;
        if (session != null && session.ageNanos() > ageNanosMax) {
            session.close();
            session = null;
        }
        return session;
    }

    /** Ends whatever its session has, as its locks. One in which something has failed isn't tried again. */
    void giveBack(Session session) {
        if (session.hasFailed()) {
            session.close();
            return;
        }
        try {
            session.reset();
        } catch (SQLException | RuntimeException e) {
            session.close();
            return;
        }
        Session other;
        synchronized (this) {
            other = closed ? session : kept;
            kept = closed ? null : session;
        }
        if (other != null) {
            other.close();
        }
    }

    @Override
    public synchronized void close() {
        closed = true;
        if (kept != null) {
            kept.close();
            kept = null;
        }
    }
}
