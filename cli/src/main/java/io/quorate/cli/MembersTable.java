// SPDX-License-Identifier: Apache-2.0
package io.quorate.cli;

import io.quorate.core.answer.MembersAnswer;
import io.quorate.core.answer.MembersAnswer.Member;
import java.io.PrintWriter;

/** The members as a table: where each is, its state, how far it is, and what keeps it. */
final class MembersTable {
    /** Every commit waits for a round of the order; that is nothing to be told of. */
    private static final long WAITING_MILLIS_SHOWN = 1000;

    private static final long HOUR = 3600;
    private static final long DAY = 24 * HOUR;
    /** Nobody knows at what rate will be written then. */
    private static final long DAYS_MAX = 60;

    private static final String FORMAT = "%-8s %-22s %-12s %10s %10s %9s %8s %9s%s%n";

    private MembersTable() {}

    static void print(PrintWriter out, MembersAnswer answer) {
        if (answer.members().isEmpty()) {
            answer.advice().forEach(out::println);
            return;
        }
        out.printf(FORMAT, "member", "address", "state", "ordered", "applied", "applied/s", "queue", "behind", "");
        answer.members().forEach(member -> print(out, member));
        if (answer.members().stream().anyMatch(Member::leader)) {
            out.println("* leads");
        }
        answer.advice().forEach(out::println);
    }

    private static void print(PrintWriter out, Member m) {
        out.printf(
                FORMAT,
                m.name() + (m.leader() ? "*" : ""),
                m.address(),
                m.state(),
                orDash(m.ordered()),
                orDash(m.applied()),
                orDash(m.appliedPerSecond()),
                orDash(m.queue()),
                m.lagMillis() == null ? "-" : m.lagMillis() + " ms",
                (m.drained() ? " drained" : "") + (m.desynced() ? " desynced" : ""));
        if (m.cause() != null) {
            out.println("         " + m.cause());
        }
        if (m.slowedFor() != null) {
            out.println("         its clients are slowed for " + m.slowedFor());
        }
        if (m.leftBehind()) {
            out.println("         was too far behind for too long: nobody waits for it until it is level");
        }
        if (m.waitingMillis() != null && m.waitingMillis() >= WAITING_MILLIS_SHOWN) {
            out.println("         " + m.waitingCommits() + " commits wait for their verdict, the first for "
                    + m.waitingMillis() / 1000 + " s");
        }
        if (m.canReturnForSeconds() != null) {
            out.println("         " + returns(m.canReturnForSeconds()));
        }
    }

    private static String returns(long seconds) {
        if (seconds < 0) {
            return "can come back by a transfer: nothing is being written";
        }
        if (seconds == 0) {
            return "is away for too long: it needs a full copy";
        }
        return "can come back by a transfer for " + duration(seconds) + " more, at the present rate";
    }

    private static String duration(long seconds) {
        if (seconds >= DAYS_MAX * DAY) {
            return "over " + DAYS_MAX + " days";
        }
        if (seconds >= 2 * DAY) {
            return seconds / DAY + " days";
        }
        return seconds >= 2 * HOUR ? seconds / HOUR + " hours" : seconds / 60 + " min";
    }

    private static String orDash(Long value) {
        return value == null ? "-" : Long.toString(value);
    }
}
