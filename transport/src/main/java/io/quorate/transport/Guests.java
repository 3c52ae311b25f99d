// SPDX-License-Identifier: Apache-2.0
package io.quorate.transport;

import java.util.function.Predicate;

/** Who may talk to this node although it is no member, because it is to become one. */
public interface Guests {
    /**
     * Asked on the event loop, only about nodes that have proven who they are.
     *
     * @param members says who is a member, as far as this node has heard
     */
    boolean isGuest(String node, Predicate<String> members);
}
