// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.audit;

import io.quorate.core.answer.Difference;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Finds what differs between nodes in the same way at every one of several looks. A writeset that is on its way makes
 * nodes differ at one look, but not at all looks, if at each look the servers hold everything that any of them had at
 * the look before.
 *
 * <p>A look compares the versions of things at each node. The version of a table is its definition; that of a row is
 * its hash or, in a table without a key, how often the row is there.
 */
final class LastingDifferences {
    /** How often the same difference has to be seen before it counts. */
    static final int LOOKS = 3;

    private int looks;
    private Map<String, Map<String, String>> lasting;

    /** @param versions for each node, the version of each thing; every look must be at the same nodes */
    void look(Map<String, Map<String, String>> versions) {
        Map<String, Map<String, String>> now = differing(versions);
        if (lasting != null) {
            now.entrySet().retainAll(lasting.entrySet());
        }
        lasting = now;
        looks++;
    }

    /** Whether no other look is needed. */
    boolean isCertain() {
        return looks >= LOOKS || (looks > 0 && lasting.isEmpty());
    }

    /** For each thing that differs, its version by node. */
    Map<String, Map<String, String>> get() {
        if (!isCertain()) {
            throw new IllegalStateException("after " + looks + " looks nothing is certain");
        }
        return lasting;
    }

    /** What differs at this look. */
    private static Map<String, Map<String, String>> differing(Map<String, Map<String, String>> versions) {
        Set<String> all = new TreeSet<>();
        versions.values().forEach(each -> all.addAll(each.keySet()));
        Map<String, Map<String, String>> differing = new LinkedHashMap<>();
        for (String each : all) {
            Map<String, String> byNode = new TreeMap<>();
            versions.forEach((node, has) -> byNode.put(node, has.getOrDefault(each, Difference.ABSENT)));
            if (new HashSet<>(byNode.values()).size() > 1) {
                differing.put(each, byNode);
            }
        }
        return differing;
    }

    /** The difference for a table whose definition isn't the same on all nodes. */
    static Difference ofDefinitions(String table, Map<String, String> versions) {
        return new Difference(table, null, versions, majority(versions), Map.of(), null);
    }

    /** The difference for a row. */
    static Difference ofRow(
            String table, String identity, Map<String, String> versions, Map<String, Map<String, String>> rows) {
        return new Difference(table, identity, versions, majority(versions), rows, null);
    }

    /** The version that more than half of the nodes have; null when there is none. */
    static String majority(Map<String, String> versions) {
        return versions.values().stream()
                .filter(v -> 2 * versions.values().stream().filter(v::equals).count() > versions.size())
                .findFirst()
                .orElse(null);
    }
}
