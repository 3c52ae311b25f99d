// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.copy;

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

    /** Bytes given so far, compressed. */
    long bytes();

    /** How long rows were held back because this node had writesets to apply. */
    long heldMillis();
}
