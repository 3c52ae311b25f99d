// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.copy;

import io.quorate.core.Difference;
import io.quorate.core.QuorateException;
import io.quorate.core.TableName;
import io.quorate.node.config.NodeProperties;
import io.quorate.sst.CopyProgress;
import java.io.IOException;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The copy of another server's data that this node's server may get. An arbitrator gets none: {@link #NONE}. */
public interface ServerCopy {
    /** Whether this node may replace its server's data by a copy. */
    boolean isAllowed();

    /** Whether a server without any data gets a copy even where a transfer from the others' caches would do. */
    boolean isPreferred();

    /** Whether a copy is to be made or to be finished. */
    boolean isPending();

    /**
     * A copy that is wanted of a SYNCED server, while nothing was done for it yet.
     *
     * @param from it has to reach at least to this seqno
     * @param where where this server differs; never {@link Difference#ANYWHERE}
     */
    record Wish(long from, Difference where) {}

    /** What is wanted of a SYNCED server, and nothing was done for yet; null when it is nothing, or everything. */
    @Nullable
    Wish wish();

    /**
     * Says that a copy is needed, which has to reach at least to seqno {@code from}, where this node's cache begins.
     * Only to be called while the link has no session.
     */
    default void want(long from) throws IOException {
        want(from, Difference.ANYWHERE);
    }

    /**
     * Those of the tables that there are neither on this server nor on a donor's, so that nothing could be copied.
     *
     * @throws QuorateException when that can't be found out now
     */
    List<TableName> unknown(Set<TableName> tables, String donor);

    /**
     * Says that a copy is needed of whatever concerns a difference between this server and the order: of some tables if
     * it is known which, otherwise of everything. For the rest as {@link #want(long)}.
     */
    void want(long from, Difference where) throws IOException;

    /** As {@link #want(long, Difference)}, of any place; servers that wait for a copy themselves may give it, too. */
    void wantOfWaiting(Difference where) throws IOException;

    /**
     * While this server waits for a copy, with all that its clients have committed in the order, and no session works
     * on it: gives copies of the tables in which it doesn't differ, to others that wait too.
     */
    void offer(Difference where);

    /** Gives none any more. */
    void withhold();

    /** The tables of which a waiting server can't give a copy; null when it gives none. */
    List<TableName> notGiven();

    /**
     * Whether a waiting server's own definitions of the tables that it can't give may stand; null when it doesn't wait.
     */
    @Nullable
    Boolean mayKeep();

    /** Has them stand, if what others have written to these tables fits. For the rest as {@link #want(long)}. */
    void keepOwn() throws IOException;

    /**
     * Says that this server's tables are right where it differs; nowhere in particular means where it is known to
     * differ already. For the rest as {@link #want(long)}.
     *
     * @return why that can't be; null when it is so
     */
    String trust(long from, Difference where) throws IOException;

    /**
     * Gives up a copy that was not necessary, because the server still has everything that it had. Only to be called
     * while the link has no session.
     *
     * @return false when the server's data may be gone already
     */
    boolean forget() throws IOException;

    /** How far the copy is; null while nothing is copied. */
    CopyProgress look();

    /** By which method the copy is made; null while that isn't known. */
    NodeProperties.Sst.Method method();

    /** Name of the node whose server is copied; empty while that isn't known, null without a copy. */
    String donor();

    /** What the copy waits for; null when it doesn't wait. */
    String obstacle();

    /**
     * Makes the copy fetch nothing more, or lets it go on. Forgotten when the service ends.
     *
     * @return why that isn't possible, or null
     */
    String pause(boolean value);

    /** What the copy may take of the network, and whether it is paused. */
    ByteBudget budget();

    ServerCopy NONE = new ServerCopy() {
        @Override
        public boolean isAllowed() {
            return false;
        }

        @Override
        public boolean isPreferred() {
            return false;
        }

        @Override
        public boolean isPending() {
            return false;
        }

        @Override
        public @Nullable Wish wish() {
            return null;
        }

        @Override
        public String trust(long from, Difference where) {
            throw new IllegalStateException("an arbitrator has no server that could be right");
        }

        @Override
        public void want(long from, Difference where) {
            throw new IllegalStateException("an arbitrator has no server that could get a copy");
        }

        @Override
        public List<TableName> unknown(Set<TableName> tables, String donor) {
            throw new IllegalStateException("an arbitrator has no server that could get a copy");
        }

        @Override
        public void wantOfWaiting(Difference where) {
            throw new IllegalStateException("an arbitrator has no server that could get a copy");
        }

        @Override
        public void offer(Difference where) {
            // It has nothing to give.
        }

        @Override
        public void withhold() {
            // Likewise.
        }

        @Override
        public List<TableName> notGiven() {
            return null;
        }

        @Override
        public Boolean mayKeep() {
            return null;
        }

        @Override
        public void keepOwn() {
            throw new IllegalStateException("an arbitrator has no server with definitions of its own");
        }

        @Override
        public boolean forget() {
            return false;
        }

        @Override
        public CopyProgress look() {
            return null;
        }

        @Override
        public NodeProperties.Sst.Method method() {
            return null;
        }

        @Override
        public String donor() {
            return null;
        }

        @Override
        public String obstacle() {
            return null;
        }

        @Override
        public String pause(boolean value) {
            return "an arbitrator has no server that could get a copy";
        }

        @Override
        public ByteBudget budget() {
            return new ByteBudget(0);
        }
    };
}
