// SPDX-License-Identifier: Apache-2.0
package io.quorate.core;

import static org.assertj.core.api.Assertions.assertThat;

import io.quorate.core.AckCourse.Ack;
import io.quorate.core.AckCourse.Cause;
import io.quorate.core.AckCourse.Ending;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Anything in any order that a server, a capture and the order may do, beside a list that is gone through. */
class AckCourseRandomTest {
    private static final int RUNS = 3000;
    private static final long LIMIT = 50;

    /** All that is known of a transaction; the binlog has the applier's too. */
    private static final class Known {
        final boolean client;
        boolean captured;
        boolean decided;
        boolean lost;
        boolean ending;
        boolean gone;
        long since;

        Known(boolean client) {
            this.client = client;
        }

        /** Whether nobody is left who could hear OK although it is not known to have won. */
        boolean isSettled() {
            return !client || gone || (decided && !lost && !ending);
        }
    }

    private final List<Known> binlog = new ArrayList<>();
    private final AckCourse course = new AckCourse(LIMIT, 0);
    private long now;
    private int captured;
    private int read;
    private int decided;
    private int acknowledged;
    private final Set<Long> ending = new HashSet<>();

    @Test
    void neverPastWhatIsNotSettledAndAlwaysUpToIt() {
        long first = System.nanoTime();
        for (long seed = first; seed < first + RUNS; seed++) {
            AckCourseRandomTest run = new AckCourseRandomTest();
            Random random = new Random(seed);
            for (int step = 0; step < 150; step++) {
                run.step(random);
                run.check("seed " + seed + ", step " + step);
            }
            run.ends("seed " + seed);
        }
    }

    private void step(Random random) {
        now += random.nextInt(6);
        switch (random.nextInt(8)) {
            case 0 -> binlog.add(new Known(random.nextInt(4) > 0));
            case 1 -> capture();
            case 2 -> read();
            case 3 -> decide(random);
            case 4, 5 -> endings();
            case 6 -> end(random);
            default -> captureAgain(random);
        }
    }

    private void capture() {
        if (captured == binlog.size() || captured > read) {
            return;
        }
        Known next = binlog.get(captured++);
        next.captured = true;
        next.since = now;
        if (next.client) {
            course.captured(captured, session(captured), 0, now);
        }
    }

    private void read() {
        if (read < captured) {
            read++;
            course.read(place(read), 0);
        }
    }

    /** Several at once; some that the capture hasn't come to. */
    private void decide(Random random) {
        int last = Math.min(binlog.size(), decided + random.nextInt(4));
        List<Long> lost = new ArrayList<>();
        for (int i = decided; i < last; i++) {
            Known k = binlog.get(i);
            // What comes before the session and has lost is of nobody who waits.
            k.lost = k.client && k.captured && random.nextInt(3) == 0;
            k.decided = true;
            if (k.lost) {
                lost.add(i + 1L);
            }
        }
        decided = last;
        course.decided(lost, last);
    }

    private void endings() {
        for (Ending e : course.endings(now)) {
            Known k = binlog.get((int) e.number() - 1);
            assertThat(e.number()).as("not after OK").isGreaterThan(acknowledged);
            assertThat(k.gone || k.ending).as("%s, once", e).isFalse();
            assertThat(e.session()).isEqualTo(session(e.number()));
            assertThat(e.cause()).isEqualTo(k.lost ? Cause.LOST : Cause.UNDECIDED);
            assertThat(k.lost || now - k.since >= LIMIT).as("%s has a cause", e).isTrue();
            k.ending = true;
            ending.add(e.number());
        }
    }

    private void end(Random random) {
        for (long number : List.copyOf(ending)) {
            Known k = binlog.get((int) number - 1);
            assertThat(number).as("OK while its session was being ended").isGreaterThan(acknowledged);
            k.ending = false;
            ending.remove(number);
            if (random.nextInt(4) == 0) {
                course.notEnded(number);
            } else {
                k.gone = true;
                course.ended(number);
            }
        }
    }

    private void captureAgain(Random random) {
        if (captured > 0) {
            int number = 1 + random.nextInt(captured);
            if (binlog.get(number - 1).client) {
                course.captured(number, session(number), 0, now);
            }
        }
    }

    private void check(String where) {
        int settled = 0;
        while (settled < read && binlog.get(settled).isSettled()) {
            settled++;
        }
        Ack ack = course.acknowledged(0);
        int place = ack == null ? 0 : (int) ack.end().offset();
        assertThat(place).as(where).isGreaterThanOrEqualTo(acknowledged);
        // What was acknowledged stays so; what is being ended afterwards was settled by something else.
        assertThat(place).as(where).isEqualTo(Math.max(acknowledged, settled));
        acknowledged = place;
        boolean all = binlog.subList(0, captured).stream().allMatch(Known::isSettled);
        assertThat(course.isSettled()).as(where).isEqualTo(all);
    }

    /** When everything is read, and time passes, nobody is left who waits. */
    private void ends(String where) {
        while (read < binlog.size()) {
            capture();
            read();
        }
        now += LIMIT;
        for (int i = 0; !course.isSettled(); i++) {
            assertThat(i).as(where).isLessThan(100);
            endings();
            end(new Random(i));
        }
        check(where);
        assertThat(course.size()).as(where).isZero();
        assertThat(acknowledged).as(where).isEqualTo(binlog.size());
    }

    private static long session(long number) {
        return 7000 + number;
    }

    private static BinlogPosition place(long offset) {
        return new BinlogPosition("binlog.000001", offset);
    }
}
