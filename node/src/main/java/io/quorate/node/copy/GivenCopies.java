// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.copy;

/** What this node has given to others of its server's rows, by stream. */
public interface GivenCopies {
    /** Of a node without a server. */
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

    /** Given so far, compressed. */
    long bytes();

    /** For how long it was held back for the sake of what this node has to apply. */
    long heldMillis();
}
