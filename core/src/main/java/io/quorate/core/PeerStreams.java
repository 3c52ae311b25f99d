// SPDX-License-Identifier: Apache-2.0
package io.quorate.core;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;

/** The port to the other nodes outside the order: one node asks, another answers with a stream of bytes. */
public interface PeerStreams {
    /**
     * Asks a peer. Reading waits for what the peer sends; not reading holds the peer back.
     *
     * @return ends where the peer's answer is complete; fails with {@link IOException} when the peer is gone before
     *     that, and with the peer's own {@link QuorateException} when the peer refuses
     * @throws IOException when the peer can't be reached
     */
    InputStream open(String peer, byte[] request) throws IOException;

    /** The answering side. */
    @FunctionalInterface
    interface Server {
        /**
         * Answers, on a thread of its own. Writing waits for the peer to read.
         *
         * @throws QuorateException is passed on to the peer as it is
         * @throws IOException when the peer is gone, or what it asked for can't be read
         */
        void serve(String peer, byte[] request, OutputStream answer) throws IOException;
    }
}
