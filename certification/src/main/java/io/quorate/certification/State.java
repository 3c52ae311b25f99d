// SPDX-License-Identifier: Apache-2.0
package io.quorate.certification;

import io.quorate.core.ErrorCode;
import io.quorate.core.QuorateException;

/** The serialized form: its magic number, and the refusal of one that can't be right. */
final class State {
    /** "QRC6" */
    static final int MAGIC = 0x51524336;

    private State() {}

    static void require(boolean holds, String otherwise) {
        if (!holds) {
            throw new QuorateException(ErrorCode.STATE_DIVERGED, "certification " + otherwise);
        }
    }
}
