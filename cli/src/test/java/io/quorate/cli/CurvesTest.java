// SPDX-License-Identifier: Apache-2.0
package io.quorate.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.quorate.core.answer.MembersAnswer;
import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.api.Test;

class CurvesTest {
    private Curves curves = new Curves(200, true);

    private static MembersAnswer answer(String... members) {
        return Answers.read("{\"members\":[" + String.join(",", members) + "]}", MembersAnswer.class);
    }

    private static String member(String name, String state, long applied, long behind) {
        return "{\"name\":\"" + name + "\",\"state\":\"" + state + "\",\"orderedPerSecond\":" + applied * 2
                + ",\"appliedPerSecond\":" + applied + ",\"lagMillis\":" + behind + ",\"queue\":0}";
    }

    private String drawn() {
        StringWriter text = new StringWriter();
        PrintWriter out = new PrintWriter(text);
        curves.print(out);
        out.flush();
        return text.toString().replaceAll(" *\\R", "\n");
    }

    @Test
    void drawsEachValueBesideTheHighestOfThoseShown() {
        for (long applied : new long[] {0, 1, 50, 100}) {
            curves.add(answer(member("n1", "SYNCED", applied, 100 - applied)));
        }
        assertThat(drawn()).isEqualTo("""
                                                now      most
                cluster      ordered/s          200       200  ▁▂▅█
                n1           applied/s          100       100  ▁▂▅█
                SYNCED       behind ms            0       100  ██▅▁
                             queue                0         0  ▁▁▁▁
                * leads
                """);
    }

    @Test
    void fitsIntoANarrowTerminalAndOneWithoutBars() {
        curves = new Curves(57, false);
        for (int i = 0; i < 30; i++) {
            curves.add(answer(member("n1", "SYNCED", i, 0)));
        }
        assertThat(drawn())
                .contains("n1           applied/s           29        29  ***%%%%@@@\n")
                .isASCII();
        assertThat(drawn().lines()).allSatisfy(line -> assertThat(line).hasSizeLessThanOrEqualTo(57));
    }

    @Test
    void leavesAGapWhereAMemberIsAway() {
        curves.add(answer(member("n1", "SYNCED", 10, 0), member("n2", "SYNCED", 20, 0)));
        curves.add(answer(member("n1", "SYNCED", 10, 0), "{\"name\":\"n2\",\"state\":\"ABSENT\",\"lagMillis\":7}"));
        curves.add(answer(member("n1", "SYNCED", 10, 0), member("n2", "SYNCED", 20, 0)));
        assertThat(drawn()).contains("n2           applied/s           20        20  █ █\n");
    }

    @Test
    void forgetsWhoIsNoMemberAndWhatIsLongAgo() {
        curves.add(answer(member("n1", "SYNCED", 999, 0), member("n2", "SYNCED", 20, 0)));
        for (int i = 0; i < Curves.COLUMNS; i++) {
            curves.add(answer(member("n1", "SYNCED", 10, 0)));
        }
        assertThat(drawn())
                .doesNotContain("n2", "999")
                .contains("applied/s           10        10  " + "█".repeat(Curves.COLUMNS) + "\n");
    }
}
