// SPDX-License-Identifier: Apache-2.0
package io.quorate.core;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;

/** The port to the other nodes outside the order: one asks, another answers with a stream of bytes. */
public interface PeerStreams {
    /**
     * Asks a peer. Reading waits for what the peer sends, and holds it back by not reading.
     *
     * @return ends where the peer's answer is complete; fails with {@link IOException} when the peer is gone before, and with
     *     the peer's own {@link QuorateException} when it refuses
     * @throws IOException when the peer can't be reached
     */
    InputStream open(String peer, byte[] request) throws IOException;

    /** The other end. */
    @FunctionalInterface
    interface Server {
        /**
         * Answers, on a thread of its own. Writing waits for the peer to read.
         *
         * @throws QuorateException told to the peer as it is
         * @throws IOException when the peer is gone, or what it asked for can't be read
         */
        void serve(String peer, byte[] request, OutputStream answer) throws IOException;
    }
}
