// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.question;

import java.io.IOException;
import java.io.OutputStream;

/** Where a {@link StreamedQuestion} is answered. */
@FunctionalInterface
public interface StreamedReply<H> {
    /**
     * Sends the head at once. Call it once.
     *
     * @return takes what follows; writing waits for the peer to read
     */
    OutputStream begin(H head) throws IOException;
}
