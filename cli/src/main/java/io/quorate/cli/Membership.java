// SPDX-License-Identifier: Apache-2.0
package io.quorate.cli;

import java.util.Map;

/** Asks nodes to change the membership of their cluster. */
public final class Membership {
    static final String PATH = "/actuator/members";

    private Membership() {}

    /**
     * Takes a member out.
     *
     * @param node any member
     * @param member name of the member to be taken out
     * @param force also where nobody could write without it
     * @throws CommandException with the node's own words when it refuses
     */
    public static void leave(AskedNode node, String member, boolean force) {
        node.post(PATH, Map.of("action", "leave", "member", member, "force", Boolean.toString(force)));
    }

    /**
     * Lets a node ask to be a member, once.
     *
     * @param asked any member
     * @param node name of a node that is none
     */
    public static void admit(AskedNode asked, String node) {
        asked.post(PATH, Map.of("action", "admit", "member", node));
    }

    /**
     * Has a member lead.
     *
     * @param node any member
     * @throws CommandException with the node's own words when it doesn't come about
     */
    public static void lead(AskedNode node, String member) {
        node.post(PATH, Map.of("action", "lead", "member", member));
    }

    /** @param action {@code join}, {@code desync} or {@code resync}, for the node at that address */
    static void change(AskedNode node, String action) {
        node.post(PATH, Map.of("action", action));
    }
}
