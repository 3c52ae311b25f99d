// SPDX-License-Identifier: Apache-2.0
package io.quorate.transport;

import static org.assertj.core.api.Assertions.assertThat;

import io.quorate.transport.AdmissionPlan.Ask;
import io.quorate.transport.AdmissionPlan.Data;
import io.quorate.transport.AdmissionPlan.Joiner;
import io.quorate.transport.AdmissionPlan.Member;
import io.quorate.transport.AdmissionPlan.TakenOut;
import io.quorate.transport.AdmissionPlan.Wait;
import io.quorate.transport.AdmissionPlan.Word;
import io.quorate.transport.TransportSettings.Peer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class AdmissionPlanTest {
    private static final Peer N1 = new Peer("n1", "a", 1, 2);
    private static final Peer N2 = new Peer("n2", "b", 1, 2);
    private static final Peer N3 = new Peer("n3", "c", 1, 2);
    private static final Peer N1_ELSEWHERE = new Peer("n1", "z", 1, 2);
    private static final List<Peer> ALL = List.of(N1, N2, N3);
    /** Of n1, beside n2, n3 and n4, an arbitrator. */
    private static final AdmissionPlan FOUR =
            new AdmissionPlan(N1, List.of(N1, N2, N3, new Peer("n4", "d", 1, 2)), List.of(), 0, "d1");

    private static final Lives SECOND = new Lives(List.of("2-aaaaaaaa"));

    /** Of n1, which uses directory {@code d1}. */
    private static AdmissionPlan plan(Peer self, List<Peer> known) {
        return new AdmissionPlan(self, List.of(self, N2, N3), known, known.isEmpty() ? 0 : 4, "d1");
    }

    private record Said(
            String node,
            boolean knowsLeader,
            List<Peer> members,
            Lives lives,
            Map<Peer, String> directories,
            Map<String, Integer> generations,
            Boolean foundedEmpty)
            implements Word {
        @Override
        public int generationOf(String name) {
            return generations.getOrDefault(name, 0);
        }

        @Override
        public String directoryOf(Peer member) {
            return directories.get(member);
        }

        /** The arbitrator of these tests. */
        @Override
        public boolean hasServer() {
            return !node.equals("n4");
        }

        Said hearing(Peer member, String directory) {
            return new Said(node, knowsLeader, members, lives, Map.of(member, directory), generations, foundedEmpty);
        }

        Said upTo(int generation) {
            return new Said(node, knowsLeader, members, lives, directories, Map.of("n1", generation), foundedEmpty);
        }

        Said in(Lives life) {
            return new Said(node, knowsLeader, members, life, directories, generations, foundedEmpty);
        }
    }

    private static Said says(String node, boolean leader, List<Peer> members) {
        return new Said(node, leader, members, Lives.FIRST, Map.of(), Map.of(), null);
    }

    private static Said isNew(String node) {
        return says(node, false, List.of());
    }

    @Test
    void aMemberGoesOnBesideTheMembersItKnew() {
        List<Peer> known = List.of(N1, N2);
        assertThat(plan(N1, known).ofDirectory()).isEqualTo(new Member(known));
        assertThat(plan(N1, List.of(N1.withGeneration(3), N2)).ofDirectory())
                .isEqualTo(new Member(List.of(N1.withGeneration(3), N2)));
    }

    @Test
    void whoseAddressHasChangedIsReplaced() {
        assertThat(plan(N1_ELSEWHERE, List.of(N1.withGeneration(3), N2)).ofDirectory())
                .isInstanceOfSatisfying(
                        Joiner.class, joiner -> assertThat(joiner.generation()).isEqualTo(4));
    }

    @Test
    void whoWasTakenOutWaitsAndComesBackAsSomebodyElse() {
        assertThat(plan(N1, List.of(N2, N3)).ofDirectory()).isEqualTo(new TakenOut(5));
    }

    @Test
    void aNewDirectoryTellsNothingButOfANodeAlone() {
        assertThat(plan(N1, List.of()).ofDirectory()).isEqualTo(new Ask());
        assertThat(new AdmissionPlan(N1, List.of(N1), List.of(), 0, "d1").ofDirectory())
                .isEqualTo(new Member(List.of(N1)));
    }

    @ParameterizedTest
    @CsvSource({"'', false", "n2, true", "n2 n3, true"})
    void newNodesBeginTogetherOnceAMajorityIsThere(String others, boolean begin) {
        List<Word> words = new ArrayList<>();
        for (String other : others.isEmpty() ? new String[0] : others.split(" ")) {
            words.add(isNew(other));
        }
        assertThat(plan(N1, List.of()).ofWords(words)).isInstanceOf(begin ? Member.class : Wait.class);
    }

    @Test
    void aNewNodeBeginsWithThoseThatCountOnItBeforeTheyHaveALeader() {
        assertThat(plan(N1, List.of()).ofWords(List.of(says("n2", false, ALL)))).isEqualTo(new Member(ALL));
    }

    @Test
    void itDoesNotBeginWhereSomebodyTakesItForAnother() {
        Said member = says("n2", false, ALL);
        for (Said word : List.of(
                member.hearing(N1, "d0"),
                member.in(SECOND),
                says("n2", false, List.of(N2, N3)),
                says("n2", false, List.of(N1.withGeneration(2), N2, N3)))) {
            assertThat(plan(N1, List.of()).ofWords(List.of(word, isNew("n3"))))
                    .as("%s", word)
                    .isInstanceOfSatisfying(
                            Wait.class, wait -> assertThat(wait.why()).startsWith("there is a cluster already"));
        }
    }

    @Test
    void whoOnlyKnowsPartOfTheOthersWaitsAndSaysForWhom() {
        assertThat(new AdmissionPlan(N1, List.of(N1, N2, N3, new Peer("n4", "d", 1, 2)), List.of(), 0, "d1")
                        .ofWords(List.of(isNew("n2"))))
                .isInstanceOfSatisfying(
                        Wait.class, wait -> assertThat(wait.why()).endsWith("so far n2"));
    }

    @Test
    void aClusterThatCountsOnItHasItAsAMember() {
        assertThat(plan(N1, List.of()).ofWords(List.of(says("n2", true, ALL)))).isEqualTo(new Member(ALL));
        assertThat(plan(N1, List.of()).ofWords(List.of(says("n2", true, ALL).hearing(N1, "d1"))))
                .isEqualTo(new Member(ALL));
    }

    @ParameterizedTest
    @CsvSource({
        // n1 as the cluster has it: generation (0 for not), at this address, by directory; latest generation heard of;
        // joins as
        "0, true,  ,   0, 1",
        "0, true,  ,   6, 7",
        "1, true,  d0, 0, 2",
        "3, true,  d0, 3, 4",
        "3, true,  d0, 8, 9",
        "3, false, d1, 3, 4",
        "3, false, ,   0, 4",
        "3, false, d0, 5, 6",
    })
    void otherwiseItAsksToBeAMemberAsNobodyEverWas(
            int generation, boolean same, String directory, int heard, int joins) {
        Peer there = (same ? N1 : N1_ELSEWHERE).withGeneration(generation);
        Said word = says("n2", true, generation == 0 ? List.of(N2, N3) : List.of(there, N2, N3))
                .upTo(heard);
        assertThat(plan(N1, List.of()).ofWords(List.of(directory == null ? word : word.hearing(there, directory))))
                .isInstanceOfSatisfying(
                        Joiner.class, joiner -> assertThat(joiner.generation()).isEqualTo(joins));
    }

    @Test
    void thatItsDirectoryIsLostIsKnownByTheWordOfAnybody() {
        Said heard = isNew("n3").hearing(N1, "d0").upTo(5);
        assertThat(plan(N1, List.of()).ofWords(List.of(says("n2", true, ALL), heard)))
                .isInstanceOfSatisfying(
                        Joiner.class, joiner -> assertThat(joiner.generation()).isEqualTo(6));
    }

    @Test
    void theWordOfTheLatestLifeCounts() {
        Said former = says("n2", true, ALL);
        Said latest = says("n3", true, List.of(N3)).in(SECOND);
        assertThat(AdmissionPlan.authority(List.of(former, latest))).isEqualTo(latest);
        assertThat(AdmissionPlan.authority(List.of(says("n2", false, ALL), isNew("n3"))))
                .isNull();
        assertThat(plan(N1, List.of()).ofWords(List.of(former, latest))).isInstanceOf(Joiner.class);
    }

    @Test
    void inANewLifeItIsSomebodyWhoNeverWas() {
        assertThat(plan(N1, List.of()).generationAnew(List.of(isNew("n2").upTo(3), isNew("n3"))))
                .isEqualTo(4);
        assertThat(plan(N1, ALL).generationAnew(List.of(isNew("n2").upTo(3)))).isEqualTo(5);
    }

    @ParameterizedTest
    @CsvSource({
        // applied, empty, copy preferred, founded empty by the word of two
        "7, false, false, ,      ,      ITS_OWN",
        "7, true,  true,  false, ,      ITS_OWN",
        "0, false, false, true,  true,  REFUSED",
        "0, false, true,  true,  true,  REFUSED",
        "0, true,  true,  true,  true,  COPY",
        "0, true,  false, true,  true,  ORDER",
        "0, true,  false, false, true,  ORDER",
        "0, true,  false, ,      true,  ORDER",
        "0, true,  false, false, ,      COPY",
        "0, true,  false, false, false, COPY",
        "0, true,  false, ,      ,      UNTOLD",
    })
    void aServerBeginsFromTheOrderAloneWhereTheClusterDid(
            long applied, boolean empty, boolean preferred, Boolean first, Boolean second, Data expected) {
        List<Said> words = new ArrayList<>();
        for (Boolean founded : new Boolean[] {first, second}) {
            words.add(new Said("n2", true, ALL, Lives.FIRST, Map.of(), Map.of(), founded));
        }
        assertThat(AdmissionPlan.data(applied, empty, preferred, words)).isEqualTo(expected);
    }

    /** The others are n2, n3, and n4, an arbitrator. */
    @ParameterizedTest
    @CsvSource(
            nullValues = "?",
            value = {
                "empty servers,      0, true,  false, true,  true,  ORDER",
                "one has tables,     0, true,  false, true,  false, COPY",
                "this one has them,  0, false, false, true,  true,  ITS_OWN",
                "all have them,      0, false, false, false, false, ITS_OWN",
                "one can't tell,     0, true,  false, true,  ?,     UNTOLD",
                "one is enough,      0, true,  false, ?,     false, COPY",
                "it was part of it,  7, false, true,  true,  true,  ITS_OWN",
                "it comes too late,  0, false, true,  true,  ?,     REFUSED",
                "it comes with what they have, 0, false, true, false, false, ITS_OWN",
                "it comes without,   0, true,  true,  false, ?,     COPY",
                "others get a copy,  0, false, true,  ?,     ?,     ITS_OWN",
                "nor can they tell,  0, true,  true,  ?,     ?,     UNTOLD"
            })
    void aServerThatBeginsWithoutTheTablesOfOthersGetsThem(
            String what, long applied, boolean empty, boolean begun, Boolean n2, Boolean n3, Data expected) {
        List<Peer> members = begun ? List.of(N1, N2, N3) : List.of();
        List<Said> words = List.of(
                new Said("n2", begun, members, Lives.FIRST, Map.of(), Map.of(), n2),
                new Said("n3", begun, members, Lives.FIRST, Map.of(), Map.of(), n3),
                new Said("n4", begun, members, Lives.FIRST, Map.of(), Map.of(), null));
        assertThat(FOUR.dataOfFounder(applied, empty, words)).as(what).isEqualTo(expected);
    }

    /** The one that starts last may be the one with the tables. */
    @Test
    void whoHasNoTablesDoesNotBeginWithAMajorityThatHasNone() {
        Said n2 = new Said("n2", false, List.of(), Lives.FIRST, Map.of(), Map.of(), true);
        Said n4 = new Said("n4", false, List.of(), Lives.FIRST, Map.of(), Map.of(), null);
        assertThat(FOUR.dataOfFounder(0, true, List.of(n2, n4))).isEqualTo(Data.UNTOLD);
        assertThat(FOUR.silent(List.of(n2, n4))).containsExactly("n3");
        assertThat(FOUR.dataOfFounder(0, false, List.of(n2, n4)))
                .as("whoever has them needn't wait")
                .isEqualTo(Data.ITS_OWN);
        Said begun = new Said("n2", false, ALL, Lives.FIRST, Map.of(), Map.of(), true);
        assertThat(FOUR.dataOfFounder(0, true, List.of(begun, n4)))
                .as("n2 has heard all, though nobody leads yet")
                .isEqualTo(Data.ORDER);
        assertThat(FOUR.dataOfFounder(0, false, List.of(begun, n4))).isEqualTo(Data.REFUSED);
    }
}
