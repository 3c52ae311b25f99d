// SPDX-License-Identifier: Apache-2.0
package io.quorate.core.answer;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;

/**
 * Which servers give out the same AUTO_INCREMENT numbers: {@code auto_increment_offset}, and from there on in steps of
 * {@code auto_increment_increment}. Written {@code increment/offset}.
 */
public final class SameNumbers {
    /** Both are at most 65535 in MySQL. */
    public static final Pattern FORM = Pattern.compile("[0-9]{1,5}/[0-9]{1,5}");

    private SameNumbers() {}

    /**
     * Advice for people.
     *
     * @param servers what each gives out, by the node
     * @return empty when no two give out the same
     */
    public static List<String> advice(Map<String, String> servers) {
        Map<String, String> all = new TreeMap<>(servers);
        TreeSet<String> same = new TreeSet<>();
        all.forEach((node, numbers) -> all.forEach((other, others) -> {
            if (node.compareTo(other) < 0 && meet(numbers, others)) {
                same.add(node);
                same.add(other);
            }
        }));
        if (same.isEmpty()) {
            return List.of();
        }
        return List.of("The servers of " + String.join(", ", same) + " give out the same AUTO_INCREMENT numbers: where"
                + " clients of several nodes insert into one table, one of two transactions loses. Set"
                + " auto_increment_increment to " + Math.max(servers.size(), 3)
                + " or more on all of them, and auto_increment_offset to another number on each, up to that (SET"
                + " PERSIST; sessions that are open keep theirs)");
    }

    private static boolean meet(String one, String other) {
        return FORM.matcher(one).matches()
                && FORM.matcher(other).matches()
                && (offset(one) - offset(other)) % divisor(increment(one), increment(other)) == 0;
    }

    private static int increment(String numbers) {
        return Math.max(1, Integer.parseInt(numbers.substring(0, numbers.indexOf('/'))));
    }

    /** MySQL ignores one that is larger than the increment. */
    private static int offset(String numbers) {
        int offset = Integer.parseInt(numbers.substring(numbers.indexOf('/') + 1));
        return offset > increment(numbers) ? 1 : offset;
    }

    private static int divisor(int a, int b) {
        return b == 0 ? a : divisor(b, a % b);
    }
}
