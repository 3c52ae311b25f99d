// SPDX-License-Identifier: Apache-2.0
package io.quorate.core.answer;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * What not to use yet while the servers of a cluster are of different series. A definition that most of them refuse is
 * void, and where most take it, it is the others that differ afterwards.
 */
public final class MixedVersions {
    private static final Pattern VERSION = Pattern.compile("([0-9]{1,3})\\.([0-9]{1,3})(?:\\D.*)?");

    /** What a series brings, and what it has no more, as far as definitions and grants are concerned. */
    private record Step(Series series, List<String> brings, List<String> hasNoMore) {}

    private static final List<Step> STEPS = List.of(
            new Step(
                    new Series(8, 4),
                    List.of("the rights SET_ANY_DEFINER and ALLOW_NONEXISTENT_DEFINER"),
                    List.of("the right SET_USER_ID", "foreign keys to columns that aren't unique")),
            new Step(
                    new Series(9, 0),
                    List.of("columns of type VECTOR"),
                    List.of("accounts with mysql_native_password")),
            new Step(new Series(9, 1), List.of("CREATE VIEW IF NOT EXISTS"), List.of()));

    /** The first two numbers of a version, within which servers understand the same. */
    private record Series(int major, int minor) implements Comparable<Series> {
        /** Null for what is no version. */
        static Series of(String version) {
            Matcher matcher = VERSION.matcher(version);
            return matcher.matches()
                    ? new Series(Integer.parseInt(matcher.group(1)), Integer.parseInt(matcher.group(2)))
                    : null;
        }

        @Override
        public int compareTo(Series other) {
            return major == other.major ? Integer.compare(minor, other.minor) : Integer.compare(major, other.major);
        }

        @Override
        public String toString() {
            return major + "." + minor;
        }
    }

    private MixedVersions() {}

    /**
     * Advice for people, about nodes as an answer has them.
     *
     * @param version of a node's server; null when it isn't known
     */
    public static <T> List<String> advice(Collection<T> nodes, Function<T, String> name, Function<T, String> version) {
        return advice(
                nodes.stream().filter(node -> version.apply(node) != null).collect(Collectors.toMap(name, version)));
    }

    /**
     * Advice for people.
     *
     * @param versions of the servers, as these say it ({@code 8.0.33}, {@code 9.7.4-1}), by the node; what is no
     *     version is passed over
     * @return empty when all servers are of one series
     */
    static List<String> advice(Map<String, String> versions) {
        TreeMap<Series, List<String>> nodes = new TreeMap<>();
        new TreeMap<>(versions).forEach((node, version) -> {
            Series series = Series.of(version);
            if (series != null) {
                nodes.computeIfAbsent(series, any -> new ArrayList<>()).add(node);
            }
        });
        if (nodes.size() < 2) {
            return List.of();
        }
        Series oldest = nodes.firstKey();
        Series newest = nodes.lastKey();
        List<Step> between = STEPS.stream()
                .filter(step -> step.series.compareTo(oldest) > 0 && step.series.compareTo(newest) <= 0)
                .toList();
        String who = nodes.entrySet().stream()
                .map(each -> each.getKey() + " (" + String.join(", ", each.getValue()) + ")")
                .collect(Collectors.joining(", "));
        return List.of("The servers are of different series, " + who + ". Until all are of " + newest
                + ", use nothing that " + oldest + " doesn't know"
                + listed(between.stream().flatMap(step -> step.brings.stream()).toList())
                + ", and nothing that " + newest + " has no more"
                + listed(between.stream()
                        .flatMap(step -> step.hasNoMore.stream())
                        .toList())
                + ". Full copies between them go by stream, not by CLONE");
    }

    private static String listed(List<String> what) {
        return what.isEmpty() ? "" : " (such as " + String.join(", ", what) + ")";
    }
}
