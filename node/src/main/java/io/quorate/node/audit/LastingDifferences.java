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
 * What isn't the same on all nodes, in the same way at every one of several looks. A writeset on its way makes nodes
 * differ at one look, not at all of them, when each look is at servers that hold all that any of them had at the look
 * before.
 *
 * <p>What is looked at are the versions of things at each node: of a table its definition, of a row its hash, of one
 * without a key how often it is there.
 */
final class LastingDifferences {
    /** In place of a version: it isn't there. */

    /** So often the same difference is seen before it is one. */
    static final int LOOKS = 3;

    private int looks;
    private Map<String, Map<String, String>> lasting;

    /** @param versions by node, and there by what they are of; each time of the same nodes */
    void look(Map<String, Map<String, String>> versions) {
        Map<String, Map<String, String>> now = differing(versions);
        if (lasting != null) {
            now.entrySet().retainAll(lasting.entrySet());
        }
        lasting = now;
        looks++;
    }

    /** Whether another look would not change anything. */
    boolean isCertain() {
        return looks >= LOOKS || (looks > 0 && lasting.isEmpty());
    }

    /** The versions by what they are of, and there by node. */
    Map<String, Map<String, String>> get() {
        if (!isCertain()) {
            throw new IllegalStateException("after " + looks + " looks nothing is certain");
        }
        return lasting;
    }

    /** What isn't the same at this look. */
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

    /** Of a table whose definition isn't the same on all nodes. */
    static Difference ofDefinitions(String table, Map<String, String> versions) {
        return new Difference(table, null, versions, majority(versions), Map.of(), null);
    }

    /** Of a row. */
    static Difference ofRow(
            String table, String identity, Map<String, String> versions, Map<String, Map<String, String>> rows) {
        return new Difference(table, identity, versions, majority(versions), rows, null);
    }

    /** The version that more than half of the nodes have, null when there is none. */
    static String majority(Map<String, String> versions) {
        return versions.values().stream()
                .filter(v -> 2 * versions.values().stream().filter(v::equals).count() > versions.size())
                .findFirst()
                .orElse(null);
    }
}
