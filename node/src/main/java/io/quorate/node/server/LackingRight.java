// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.server;

import io.quorate.core.QuorateException;
import java.util.concurrent.TimeUnit;

/**
 * What the server has refused to this service's account for want of a right. There is no use in a session that would
 * meet the same again, and each takes connections and lines of the log. So the next one begins when the account has
 * been granted something else; or after a minute, because a role or a setting may give the right, too.
 */
final class LackingRight {
    private static final long AGAIN_MILLIS = TimeUnit.MINUTES.toMillis(1);

    private final QuorateException refusal;
    private final String grants;
    private final long sinceMillis;

    /**
     * @param grants what the account had been granted when the refused session began; whoever grants something right
     *     after the refusal isn't to wait
     * @param nowMillis on a clock that only goes forward
     */
    LackingRight(QuorateException refusal, String grants, long nowMillis) {
        this.refusal = refusal;
        this.grants = grants;
        this.sinceMillis = nowMillis;
    }

    /**
     * @param now all that the account is granted by now
     * @throws QuorateException the refusal, as long as there is nothing new
     */
    void requireOther(String now, long nowMillis) {
        if (grants.equals(now) && nowMillis - sinceMillis < AGAIN_MILLIS) {
            throw refusal;
        }
    }
}
