// SPDX-License-Identifier: Apache-2.0
package io.quorate.core;

import java.util.Locale;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.UUID;
import java.util.function.Predicate;
import java.util.regex.Pattern;

/**
 * A set of GTIDs in MySQL's text form, {@code uuid:1-5:7,uuid:3}. Mutable; not thread-safe.
 *
 * <p>Tagged GTIDs (8.3 and later), {@code uuid:1-5:tag:1-2}, are read, printed, added and subtracted like others. A
 * tag's numbers begin at 1 once more, so whatever asks for the numbers of a source leaves them out; {@link #tagged}
 * gives them.
 */
public final class GtidSet {
    private static final Pattern TAG = Pattern.compile("[a-zA-Z_]\\w{0,31}");
    private static final String UNTAGGED = "";

    /** What numbers are counted for: a server, or one tag of a server. */
    private record Source(UUID server, String tag) implements Comparable<Source> {
        @Override
        public int compareTo(Source that) {
            int byServer = server.compareTo(that.server);
            return byServer == 0 ? tag.compareTo(that.tag) : byServer;
        }
    }

    /** Per source: start of each interval -> its end, both inclusive, neither touching nor overlapping. */
    private final TreeMap<Source, TreeMap<Long, Long>> intervals = new TreeMap<>();

    /**
     * Reads what {@code @@gtid_executed} prints; white space is ignored, and tags are in lower case then.
     *
     * @throws IllegalArgumentException for anything else
     */
    public static GtidSet parse(String text) {
        GtidSet set = new GtidSet();
        for (String part : text.replaceAll("\\s", "").split(",")) {
            if (part.isEmpty()) {
                continue;
            }
            String[] pieces = part.split(":", -1);
            UUID server = UUID.fromString(pieces[0].toLowerCase(Locale.ROOT));
            Source source = new Source(server, UNTAGGED);
            for (int i = 1; i < pieces.length; i++) {
                if (i + 1 < pieces.length && TAG.matcher(pieces[i]).matches()) {
                    source = new Source(server, pieces[i].toLowerCase(Locale.ROOT));
                    continue;
                }
                String[] ends = pieces[i].split("-", 3);
                long from = Long.parseLong(ends[0]);
                long to = ends.length == 1 ? from : Long.parseLong(ends[1]);
                if (from < 1 || to < from || ends.length > 2) {
                    throw new IllegalArgumentException("not a GTID interval: " + part);
                }
                set.add(source, from, to);
            }
        }
        return set;
    }

    public GtidSet add(Gtid gtid) {
        return add(gtid.source(), gtid.number(), gtid.number());
    }

    public GtidSet addAll(GtidSet that) {
        that.intervals.forEach((source, ranges) -> ranges.forEach((from, to) -> add(source, from, to)));
        return this;
    }

    /** Adds {@code from} to {@code to}, both inclusive; nothing when {@code to < from}. */
    public GtidSet add(UUID source, long from, long to) {
        return add(new Source(source, UNTAGGED), from, to);
    }

    private GtidSet add(Source source, long from, long to) {
        if (to < from) {
            return this;
        }
        TreeMap<Long, Long> ranges = intervals.computeIfAbsent(source, s -> new TreeMap<>());
        long start = from;
        long end = to;
        Map.Entry<Long, Long> before = ranges.floorEntry(from);
        if (before != null && before.getValue() >= from - 1) {
            start = before.getKey();
            end = Math.max(end, before.getValue());
        }
        for (Map.Entry<Long, Long> next; (next = ranges.ceilingEntry(start)) != null && next.getKey() <= end + 1; ) {
            end = Math.max(end, next.getValue());
            ranges.remove(next.getKey());
        }
        ranges.put(start, end);
        return this;
    }

    public GtidSet remove(Gtid gtid) {
        NavigableMap<Long, Long> ranges = untagged(gtid.source());
        long n = gtid.number();
        Map.Entry<Long, Long> range = ranges == null ? null : ranges.floorEntry(n);
        if (range == null || range.getValue() < n) {
            return this;
        }
        ranges.remove(range.getKey());
        if (range.getKey() < n) {
            ranges.put(range.getKey(), n - 1);
        }
        if (range.getValue() > n) {
            ranges.put(n + 1, range.getValue());
        }
        return this;
    }

    /** What is in this set and not in {@code that}, as a set of its own. */
    public GtidSet minus(GtidSet that) {
        GtidSet rest = new GtidSet();
        intervals.forEach((source, ranges) -> {
            TreeMap<Long, Long> cuts = that.intervals.getOrDefault(source, new TreeMap<>());
            ranges.forEach((from, to) -> {
                long at = from;
                Map.Entry<Long, Long> cut = cuts.floorEntry(at);
                cut = cut != null && cut.getValue() >= at ? cut : cuts.higherEntry(at);
                for (; cut != null && cut.getKey() <= to; cut = cuts.higherEntry(cut.getKey())) {
                    rest.add(source, at, cut.getKey() - 1);
                    at = Math.max(at, cut.getValue() + 1);
                }
                rest.add(source, at, to);
            });
        });
        return rest;
    }

    /** What is in both, as a set of its own. */
    public GtidSet and(GtidSet that) {
        return minus(minus(that));
    }

    /** The part of one source that is above a number, without what is tagged, as a set of its own. */
    public GtidSet above(UUID source, long number) {
        return new GtidSet().add(source, number + 1, Long.MAX_VALUE - 1).and(this);
    }

    /** What is tagged of a source, whatever the tag, as a set of its own. */
    public GtidSet tagged(UUID source) {
        return where(each -> each.server.equals(source) && !each.tag.equals(UNTAGGED));
    }

    /** What other sources have, tagged or not, as a set of its own. */
    public GtidSet ofOthers(UUID source) {
        return where(each -> !each.server.equals(source));
    }

    private GtidSet where(Predicate<Source> wanted) {
        GtidSet part = new GtidSet();
        intervals.forEach((source, ranges) -> {
            if (wanted.test(source)) {
                part.intervals.put(source, new TreeMap<>(ranges));
            }
        });
        return part;
    }

    private NavigableMap<Long, Long> untagged(UUID source) {
        return intervals.get(new Source(source, UNTAGGED));
    }

    public boolean isEmpty() {
        return count() == 0;
    }

    public boolean contains(Gtid gtid) {
        NavigableMap<Long, Long> ranges = untagged(gtid.source());
        Map.Entry<Long, Long> range = ranges == null ? null : ranges.floorEntry(gtid.number());
        return range != null && range.getValue() >= gtid.number();
    }

    /** The highest number of a source without a tag, 0 when there is none. */
    public long last(UUID source) {
        NavigableMap<Long, Long> ranges = untagged(source);
        return ranges == null || ranges.isEmpty() ? 0 : ranges.lastEntry().getValue();
    }

    /** How many GTIDs there are, tagged or not. */
    public long count() {
        long n = 0;
        for (TreeMap<Long, Long> ranges : intervals.values()) {
            for (Map.Entry<Long, Long> range : ranges.entrySet()) {
                n += range.getValue() - range.getKey() + 1;
            }
        }
        return n;
    }

    @Override
    public boolean equals(Object o) {
        return o instanceof GtidSet that && toString().equals(that.toString());
    }

    @Override
    public int hashCode() {
        return toString().hashCode();
    }

    @Override
    public String toString() {
        StringBuilder s = new StringBuilder();
        UUID[] before = {null};
        intervals.forEach((source, ranges) -> {
            if (ranges.isEmpty()) {
                return;
            }
            if (!source.server.equals(before[0])) {
                s.append(s.isEmpty() ? "" : ",").append(source.server);
                before[0] = source.server;
            }
            if (!source.tag.equals(UNTAGGED)) {
                s.append(':').append(source.tag);
            }
            ranges.forEach((from, to) -> {
                s.append(':').append(from);
                if (to > from) {
                    s.append('-').append(to);
                }
            });
        });
        return s.toString();
    }
}
