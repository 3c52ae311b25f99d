// SPDX-License-Identifier: Apache-2.0
package io.quorate.transport;

import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.regex.Pattern;

/**
 * The lives of a cluster, from its second to the present one. A new life begins when a majority is lost for good and a
 * survivor goes on by force; nodes of an earlier life are strangers to it until they have taken it over. Each life has
 * a number and a part drawn at random, so that two lives that were begun independently are told apart.
 *
 * @param ids the oldest first; none in a cluster's first life
 */
public record Lives(List<String> ids) {
    /** Named by a connection that has nothing to do with the order, and may cross lives. */
    static final String ANY = "*";

    static final Lives FIRST = new Lives(List.of());
    private static final Pattern ID = Pattern.compile("[0-9]+-[0-9a-f]{8}");
    private static final String BETWEEN = ",";

    public Lives {
        ids = List.copyOf(ids);
        for (String id : ids) {
            if (!ID.matcher(id).matches()) {
                throw new IllegalArgumentException("not a cluster's life: " + id);
            }
        }
    }

    /** Reads what {@link #toString} writes. */
    static Lives of(String text) {
        return text.isEmpty() ? FIRST : new Lives(List.of(text.split(BETWEEN, -1)));
    }

    /** The lives with another one added. */
    Lives next(UUID random) {
        List<String> all = new ArrayList<>(ids);
        all.add((ids.size() + 2) + "-" + random.toString().substring(0, 8));
        return new Lives(all);
    }

    /** Whether {@code later} continues this list and is longer. */
    public boolean isBefore(Lives later) {
        return ids.size() < later.ids.size() && later.ids.subList(0, ids.size()).equals(ids);
    }

    Lives former() {
        return new Lives(ids.subList(0, ids.size() - 1));
    }

    /** The name of the present life, as users see it. */
    public String name() {
        return ids.isEmpty() ? "1" : ids.get(ids.size() - 1);
    }

    @Override
    public String toString() {
        return String.join(BETWEEN, ids);
    }
}
