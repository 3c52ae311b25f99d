// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.copy;

import io.quorate.node.config.NodeProperties;
import io.quorate.sst.CopyProgress;
import java.io.IOException;

/** The full copy of another server's data that this node's server may get. An arbitrator gets none: {@link #NONE}. */
public interface ServerCopy {
    /** Whether this node may replace its server's data by a copy. */
    boolean isAllowed();

    /** Whether a server that has nothing gets one also where the others' caches would do. */
    boolean isPreferred();

    /** Whether there is one to be made or to be finished. */
    boolean isPending();

    /**
     * A copy is needed that ends after seqno {@code from}, where this node's cache begins. While the link has no
     * session.
     */
    void want(long from) throws IOException;

    /**
     * Gives up one that was not necessary, for the server has all that it had. While the link has no session.
     *
     * @return false when the server's data may be gone already
     */
    boolean forget() throws IOException;

    /** How far it is, null while nothing is copied. */
    CopyProgress look();

    /** By which method it is made, null while that isn't known. */
    NodeProperties.Sst.Method method();

    /** Whose server is copied, empty while that isn't known; null without a copy. */
    String donor();

    /** What it waits for, null when it doesn't. */
    String obstacle();

    /**
     * Has nothing more come, or lets it go on. Until the service ends.
     *
     * @return why not, or null
     */
    String pause(boolean value);

    /** What it may take of the network, and whether it goes on. */
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
        public void want(long from) {
            throw new IllegalStateException("an arbitrator has no server that could get a copy");
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
