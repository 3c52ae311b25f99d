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
    /** Of a curve, as many as there are looks that it shows, where the terminal has room for them. */
    static final int COLUMNS = 60;

    private static final int COLUMNS_MIN = 5;
    private static final String BARS = "▁▂▃▄▅▆▇█";
    /** For terminals that have no bars. */
    private static final String ASCII = "_.-=+*%@";

    private static final char UNKNOWN = ' ';
    private static final String FORMAT = "%-12s %-12s %9s %9s  %s%n";
    /** Of a line, before the curve begins. */
    private static final int LABEL_COLUMNS = 47;

    private final int columns;
    private final String levels;
    private final Curve ordered = new Curve();
    /** By member, then by what is drawn. */
    private final Map<String, Map<String, Curve>> members = new TreeMap<>();

    private MembersAnswer latest;

    /**
     * @param width columns of the terminal
     * @param bars whether it can show them
     */
    Curves(int width, boolean bars) {
        this.columns = Math.max(COLUMNS_MIN, Math.min(COLUMNS, width - LABEL_COLUMNS));
        this.levels = bars ? BARS : ASCII;
    }

    /** For this process' terminal. */
    static Curves forTerminal() {
        return new Curves(Terminal.columns(), Terminal.shows(BARS));
    }

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

    private void add(Map<String, Curve> curves, String what, Long value) {
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

    private static String orDash(long value) {
        return value < 0 ? "-" : Long.toString(value);
    }

    /** The latest values of one thing. */
    private final class Curve {
        private final Deque<Long> values = new ArrayDeque<>();

        /** @param value null where nobody said one */
        void add(Long value) {
            values.addLast(value == null ? -1L : value);
            if (values.size() > columns) {
                values.removeFirst();
            }
        }

        void print(PrintWriter out, String whose, String what) {
            long most = values.stream().mapToLong(Long::longValue).max().orElse(-1);
            out.printf(FORMAT, whose, what, orDash(values.getLast()), orDash(most), drawn(most));
        }

        private String drawn(long most) {
            StringBuilder line = new StringBuilder();
            for (long value : values) {
                line.append(value < 0 ? UNKNOWN : levels.charAt(level(value, most)));
            }
            return line.toString();
        }

        /** Only nothing is as low as can be. */
        private int level(long value, long most) {
            if (value == 0) {
                return 0;
            }
            int highest = levels.length() - 1;
            return (int) Math.max(1, Math.round((double) value * highest / most));
        }
    }
}
