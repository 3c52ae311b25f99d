// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.scheduler;

import static org.assertj.core.api.Assertions.assertThat;

import io.quorate.node.member.MemberReport;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class SchedulerRuleTest {
    private static MemberReport report(String node, String state, Boolean runsEvents) {
        return new MemberReport(
                node,
                "d",
                1,
                "",
                null,
                "h:3306",
                state,
                10,
                9,
                0,
                0,
                1,
                10,
                0,
                -1,
                3,
                40,
                1,
                null,
                false,
                0L,
                0L,
                null,
                null,
                null,
                runsEvents,
                null,
                null,
                null,
                null,
                null);
    }

    private static MemberReport on(String node) {
        return report(node, "SYNCED", true);
    }

    private static MemberReport off(String node) {
        return report(node, "SYNCED", false);
    }

    private static MemberReport unable(String node) {
        return report(node, "SYNCED", null);
    }

    /** Where it is on once each node has followed the rule. */
    private static List<String> after(MemberReport... all) {
        return Stream.of(all)
                .filter(self -> self.runsEvents() != null)
                .filter(self -> new SchedulerRule(
                                self.node(),
                                Stream.of(all).filter(r -> !r.equals(self)).toList())
                        .isHere(self.hasSyncedServer(), self.runsEvents()))
                .map(MemberReport::node)
                .toList();
    }

    @Test
    void theFirstByNameBegins() {
        assertThat(after(off("n3"), off("n1"), off("n2"))).containsExactly("n1");
    }

    @Test
    void itStaysWhereItIs() {
        assertThat(after(off("n1"), off("n2"), on("n3"))).containsExactly("n3");
    }

    @Test
    void ofSeveralTheFirstKeepsIt() {
        assertThat(after(on("n3"), on("n2"), off("n1"))).containsExactly("n2");
    }

    @Test
    void aNodeThatIsNotSyncedGivesItUp() {
        assertThat(after(report("n1", "JOINED", true), report("n2", "JOINER", false)))
                .isEmpty();
    }

    @Test
    void nobodyTakesOverBeforeItIsOffThere() {
        assertThat(after(report("n1", "JOINED", true), off("n2"), off("n3"))).isEmpty();
        assertThat(after(report("n1", "JOINED", false), off("n2"), off("n3"))).containsExactly("n2");
    }

    @Test
    void whoIsNotSyncedTakesItFromNobody() {
        assertThat(after(report("n1", "JOINED", true), on("n2"))).containsExactly("n2");
    }

    @Test
    void whereSomebodyKeepsItOffAnotherOneHasIt() {
        assertThat(after(unable("n1"), off("n2"), off("n3"))).containsExactly("n2");
        assertThat(after(unable("n1"), unable("n2"), off("n3"))).containsExactly("n3");
    }

    @Test
    void aDonorIsSynced() {
        assertThat(after(report("n1", "DONOR", true), off("n2"))).containsExactly("n1");
    }
}
