// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.question;

import java.io.Closeable;
import java.io.DataInputStream;
import java.io.IOException;

/**
 * The answer to a {@link StreamedQuestion}, while it is still coming. Closing it breaks the answer off.
 *
 * @param rest everything after the head; reading waits for what the peer sends, and fails as {@link
 *     io.quorate.core.PeerStreams#open} says
 */
public record StreamedAnswer<H>(H head, DataInputStream rest) implements Closeable {
    @Override
    public void close() throws IOException {
        rest.close();
    }
}
