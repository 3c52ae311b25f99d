// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.join;

import static org.assertj.core.api.Assertions.assertThat;

import io.quorate.core.TableName;
import io.quorate.node.member.MemberReport;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class WaitingServersTest {
    private static final Set<String> MEMBERS = Set.of("n1", "n2", "n3");

    private static MemberReport report(String node, String mysql, String state, List<TableName> notGiven) {
        return report(node, mysql, state, notGiven, null);
    }

    private static MemberReport report(
            String node, String mysql, String state, List<TableName> notGiven, Boolean mayKeep) {
        return new MemberReport(
                node, "d", 1, "", null, mysql, state, 10, 9, 0, 0, 1, 10, 0, -1, 3, 40, 1, null, false, 0L, 0L,
                notGiven, mayKeep, null, null, null, null, null, null, null);
    }

    private static MemberReport alike(String node, Boolean mayKeep) {
        return report(node, "h:3306", "JOINER", List.of(new TableName("s", "a")), mayKeep);
    }

    private static MemberReport waiting(String node, String... tables) {
        return report(
                node,
                "h:3306",
                "JOINER",
                Stream.of(tables).map(t -> new TableName("s", t)).toList());
    }

    private static List<String> beginning(MemberReport... all) {
        return those(WaitingServers::begins, all);
    }

    private static List<String> keeping(MemberReport... all) {
        return those(WaitingServers::keeps, all);
    }

    private static List<String> those(Predicate<WaitingServers> which, MemberReport... all) {
        return Stream.of(all)
                .filter(self -> which.test(new WaitingServers(
                        MEMBERS,
                        self,
                        Stream.of(all).filter(r -> !r.equals(self)).toList())))
                .map(MemberReport::node)
                .toList();
    }

    @Test
    void theFirstByNameBeginsAndNobodyElse() {
        assertThat(beginning(waiting("n3", "c"), waiting("n1", "a"), waiting("n2", "b")))
                .containsExactly("n1");
    }

    @Test
    void whoLacksWhatNobodyHasIsPassedOver() {
        assertThat(beginning(waiting("n1", "a", "b"), waiting("n2", "b"), waiting("n3", "a")))
                .containsExactly("n2");
    }

    @Test
    void nobodyBeginsWhereAllDifferInOneTable() {
        assertThat(beginning(waiting("n1", "a"), waiting("n2", "a"), waiting("n3", "a", "b")))
                .isEmpty();
    }

    @Test
    void whereAllDifferInOneTableTheFirstKeepsItsDefinitionThatMayAndHasNotTried() {
        MemberReport n3 = report("n3", null, "ARBITRATOR", null);
        assertThat(keeping(alike("n2", true), alike("n1", true), alike("n3", true)))
                .containsExactly("n1");
        assertThat(keeping(alike("n1", false), alike("n2", true), n3)).containsExactly("n2");
        assertThat(keeping(alike("n1", false), alike("n2", false), n3)).isEmpty();
    }

    @Test
    void nobodyKeepsItsDefinitionWhileAServerIsSyncedOrMayBeRightOrIsAway() {
        MemberReport n1 = alike("n1", true);
        MemberReport n2 = alike("n2", true);
        assertThat(keeping(n1, n2, alike("n3", null))).isEmpty();
        assertThat(keeping(n1, n2, report("n3", "h:3306", "SYNCED", null))).isEmpty();
        assertThat(keeping(n1, n2)).isEmpty();
    }

    @Test
    void nobodyBeginsWhileAServerIsSyncedOrBeingCopied() {
        assertThat(beginning(waiting("n1", "a"), waiting("n2", "b"), report("n3", "h:3306", "SYNCED", null)))
                .isEmpty();
        assertThat(beginning(waiting("n1", "a"), waiting("n2", "b"), report("n3", "h:3306", "JOINER", null)))
                .isEmpty();
    }

    /** Its own tables are gone, or it is to get everything; nobody can give it that before another one is SYNCED. */
    @Test
    void whoWaitsWithNothingToGiveKeepsNobodyFromBeginning() {
        MemberReport empty = report("n1", "h:3306", "JOINER", null, false);
        assertThat(beginning(empty, waiting("n2", "a"), waiting("n3", "b"))).containsExactly("n2");
        assertThat(beginning(empty, waiting("n2", "a"), waiting("n3", "a"))).isEmpty();
        assertThat(keeping(empty, alike("n2", true), alike("n3", true))).containsExactly("n2");
    }

    @Test
    void nobodyBeginsWhileAMemberIsAwayThatMayHoldEverything() {
        assertThat(beginning(waiting("n1", "a"), waiting("n2", "b"))).isEmpty();
    }

    @Test
    void anArbitratorNeitherGivesNorHinders() {
        assertThat(beginning(waiting("n1", "a"), waiting("n2", "b"), report("n3", null, "ARBITRATOR", null)))
                .containsExactly("n1");
    }
}
