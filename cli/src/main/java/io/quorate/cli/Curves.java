// SPDX-License-Identifier: Apache-2.0
package io.quorate.cli;

import io.quorate.core.answer.MembersAnswer;
import io.quorate.core.answer.MembersAnswer.Member;
import java.io.PrintWriter;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeMap;

/** What members said of themselves time after time, as curves of text, each beside its latest and highest value. */
final class Curves {
    /** Of a curve, as many as there are looks that it shows. */
    static final int COLUMNS = 60;

    private static final String LEVELS = "▁▂▃▄▅▆▇█";
    private static final char UNKNOWN = ' ';
    private static final String FORMAT = "%-12s %-12s %9s %9s  %s%n";

    private final Curve ordered = new Curve();
    /** By member, then by what is drawn. */
    private final Map<String, Map<String, Curve>> members = new TreeMap<>();

    private MembersAnswer latest;

    /** Whoever isn't a member any more isn't drawn any more. */
    void add(MembersAnswer answer) {
        latest = answer;
        ordered.add(answer.members().stream()
                .map(Member::orderedPerSecond)
                .reduce(null, (a, b) -> a == null || (b != null && b > a) ? b : a));
        members.keySet().retainAll(answer.members().stream().map(Member::name).toList());
        for (Member member : answer.members()) {
            Map<String, Curve> curves = members.computeIfAbsent(member.name(), name -> new LinkedHashMap<>());
            boolean absent = member.state().equals(Member.ABSENT);
            add(curves, "applied/s", absent ? null : member.appliedPerSecond());
            add(curves, "behind ms", absent ? null : member.lagMillis());
            add(curves, "queue", absent ? null : member.queue());
        }
    }

    private static void add(Map<String, Curve> curves, String what, Long value) {
        curves.computeIfAbsent(what, name -> new Curve()).add(value);
    }

    void print(PrintWriter out) {
        out.printf(FORMAT, "", "", "now", "most", "");
        ordered.print(out, "cluster", "ordered/s");
        for (Member member : latest.members()) {
            String name = member.name() + (member.leader() ? "*" : "");
            for (Map.Entry<String, Curve> curve : members.get(member.name()).entrySet()) {
                curve.getValue().print(out, name, curve.getKey());
                name = name.equals(member.state()) ? "" : member.state();
            }
        }
        out.println("* leads");
    }

    /** The latest values of one thing. */
    private static final class Curve {
        private final Deque<Long> values = new ArrayDeque<>();

        /** @param value null where nobody said one */
        void add(Long value) {
            values.addLast(value == null ? -1L : value);
            if (values.size() > COLUMNS) {
                values.removeFirst();
            }
        }

        void print(PrintWriter out, String whose, String what) {
            long most = values.stream().mapToLong(Long::longValue).max().orElse(-1);
            out.printf(FORMAT, whose, what, orDash(values.getLast()), orDash(most), drawn(most));
        }

        private static String orDash(long value) {
            return value < 0 ? "-" : Long.toString(value);
        }

        private String drawn(long most) {
            StringBuilder line = new StringBuilder();
            for (long value : values) {
                line.append(value < 0 ? UNKNOWN : LEVELS.charAt(level(value, most)));
            }
            return line.toString();
        }

        /** Only nothing is as low as can be. */
        private static int level(long value, long most) {
            if (value == 0) {
                return 0;
            }
            int highest = LEVELS.length() - 1;
            return (int) Math.max(1, Math.round((double) value * highest / most));
        }
    }
}
