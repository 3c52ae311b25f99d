// SPDX-License-Identifier: Apache-2.0
package io.quorate.sandbox;

import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Of which series the MySQL servers of a sandbox are, such as {@code 9.7}.
 *
 * @param all of every node that {@code each} doesn't name; {@link #ANY} for the first server that is found
 * @param each the series of single nodes, by the node's number
 */
public record MySqlSeries(String all, Map<Integer, String> each) {
    /** Any series that is supported. */
    public static final String ANY = "";

    /** The last series of their major versions, which are supported for years. */
    private static final List<String> LONG_TERM = List.of("8.4", "9.7");

    private static final Pattern SERIES = Pattern.compile("\\d+\\.\\d+");
    private static final Pattern OF_NODE = Pattern.compile("n?([1-9])=(.*)");

    public MySqlSeries {
        each = new TreeMap<>(each);
        if (!all.equals(ANY)) {
            requireSeries(all);
        }
        each.values().forEach(MySqlSeries::requireSeries);
    }

    /** Any series on every node. */
    public static MySqlSeries any() {
        return new MySqlSeries(ANY, Map.of());
    }

    /** Reads {@code 9.7} for all nodes, and {@code n3=9.7} for one. */
    static MySqlSeries parse(Collection<String> words) {
        String all = ANY;
        Map<Integer, String> each = new HashMap<>();
        for (String word : words) {
            Matcher ofNode = OF_NODE.matcher(word);
            if (ofNode.matches()) {
                each.put(Integer.parseInt(ofNode.group(1)), ofNode.group(2));
            } else {
                all = word;
            }
        }
        return new MySqlSeries(all, each);
    }

    private static void requireSeries(String series) {
        if (!SERIES.matcher(series).matches()) {
            throw SandboxException.usage(
                    "a series of MySQL is two numbers, such as 9.7 or n3=9.7, not \"" + series + "\"");
        }
    }

    String of(int node) {
        return each.getOrDefault(node, all);
    }

    /** Whether that holds for each series that is named. */
    boolean all(Predicate<String> what) {
        return Stream.concat(Stream.of(all), each.values().stream())
                .filter(series -> !series.equals(ANY))
                .allMatch(what);
    }

    MySqlSeries with(int node, String series) {
        Map<Integer, String> more = new HashMap<>(each);
        more.put(node, series);
        return new MySqlSeries(all, more);
    }

    MySqlSeries without(int node) {
        Map<Integer, String> fewer = new HashMap<>(each);
        fewer.remove(node);
        return new MySqlSeries(all, fewer);
    }

    /**
     * Whether mysqld can take over the data directory of an older version: within a major version, and from the last
     * LTS series of one to the next major version (MySQL reference manual, 3.2 "Upgrade Paths").
     */
    static boolean upgradesInPlace(String from, String to) {
        return major(from).equals(major(to)) || LONG_TERM.stream().anyMatch(series -> isOf(from, series));
    }

    private static String major(String version) {
        return version.substring(0, version.indexOf('.'));
    }

    /** Whether a version, such as {@code 9.7.4}, is of a series. */
    static boolean isOf(String version, String series) {
        return series.equals(ANY) || version.startsWith(series + ".");
    }
}
