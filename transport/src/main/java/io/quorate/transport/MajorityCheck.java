// SPDX-License-Identifier: Apache-2.0
package io.quorate.transport;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/**
 * Decides whether a majority is left when a member is taken out. Raft needs a majority of the members before and of
 * those after to make the change, so that a change without the second one is begun, and then hangs together with all
 * writes. It only decides.
 */
public final class MajorityCheck {
    private MajorityCheck() {}

    /**
     * Why that member can't be taken out; null when it can.
     *
     * @param leaving its name
     * @param members the names of the present members
     * @param present those of them that answer
     */
    public static String refusal(String leaving, Collection<String> members, Set<String> present) {
        Set<String> staying = new TreeSet<>(members);
        staying.remove(leaving);
        List<String> away = new ArrayList<>(staying);
        away.removeAll(present);
        int needed = staying.size() / 2 + 1;
        if (staying.size() - away.size() >= needed) {
            return null;
        }
        return "without " + leaving + " NOBODY COULD WRITE: " + needed + " of the " + staying.size()
                + " members that are left have to take part in the order, and " + String.join(", ", away)
                + (away.size() == 1 ? " doesn't" : " don't") + " answer; start " + (away.size() == 1 ? "it" : "them")
                + " first, or take " + (away.size() == 1 ? "it" : "one of them")
                + " out first (--force does it all the same)";
    }
}
