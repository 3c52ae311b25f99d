// SPDX-License-Identifier: Apache-2.0
package io.quorate.core.answer;

import java.util.List;

/**
 * {@code /actuator/recovery}: what would be lost by going on without the majority.
 *
 * @param node name of the node asked
 * @param cluster its cluster's name, which has to be repeated to have it go on alone
 * @param life of the cluster, by name
 * @param majority whether there is one; then nothing has to be forced
 * @param ordered seqno up to which the node asked holds the order
 * @param logEnd {@code TERM:INDEX} of the last entry of its log
 * @param unconfirmedEntries how many entries at the end of its log no majority has confirmed to it; null while it takes
 *     no part in the order
 * @param furthestHeard the highest seqno that any of the missing members had when it was heard last, 0 when none was
 *     heard
 * @param present names of the other members that are there
 * @param missing the other members that are not
 */
public record RecoveryAnswer(
        String node,
        String cluster,
        String life,
        boolean majority,
        long ordered,
        String logEnd,
        Long unconfirmedEntries,
        long furthestHeard,
        List<String> present,
        List<Missing> missing) {
    public RecoveryAnswer {
        node = LeftOut.orEmpty(node);
        cluster = LeftOut.orEmpty(cluster);
        life = LeftOut.orEmpty(life);
        logEnd = LeftOut.orEmpty(logEnd);
        present = LeftOut.orEmpty(present);
        missing = LeftOut.orEmpty(missing);
    }

    /**
     * A member that isn't there.
     *
     * @param heardSecondsAgo how long ago it was heard last; null when it has not been heard since the node asked
     *     started
     * @param ordered last seqno the order had handed to it then, null likewise
     */
    public record Missing(String name, Long heardSecondsAgo, Long ordered) {
        public Missing {
            name = LeftOut.orEmpty(name);
        }
    }
}
