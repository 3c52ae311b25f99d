// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.question;

import java.io.IOException;
import java.io.OutputStream;

/** Where the answer to a {@link StreamedQuestion} is written. */
@FunctionalInterface
public interface StreamedReply<H> {
    /**
     * Sends the head at once. To be called once.
     *
     * @return takes what follows the head; writing waits for the peer to read
     */
    OutputStream begin(H head) throws IOException;
}
