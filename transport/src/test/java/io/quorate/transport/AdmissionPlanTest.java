// SPDX-License-Identifier: Apache-2.0
package io.quorate.transport;

import static org.assertj.core.api.Assertions.assertThat;

import io.quorate.transport.AdmissionPlan.Ask;
import io.quorate.transport.AdmissionPlan.Data;
import io.quorate.transport.AdmissionPlan.Holds;
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
import org.junit.jupiter.params.provider.EnumSource;

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
            Holds holds)
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
            return new Said(node, knowsLeader, members, lives, Map.of(member, directory), generations, holds);
        }

        Said upTo(int generation) {
            return new Said(node, knowsLeader, members, lives, directories, Map.of("n1", generation), holds);
        }

        Said in(Lives life) {
            return new Said(node, knowsLeader, members, life, directories, generations, holds);
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
        // applied, holds, copy preferred, held when they began by the word of two
        "7, TABLES,  false, ,        ,        ITS_OWN",
        "7, NOTHING, true,  TABLES,  ,        ITS_OWN",
        "0, TABLES,  false, NOTHING, NOTHING, REFUSED",
        "0, TABLES,  true,  NOTHING, NOTHING, REFUSED",
        "0, NOTHING, true,  NOTHING, NOTHING, COPY",
        "0, NOTHING, false, NOTHING, NOTHING, ORDER",
        "0, NOTHING, false, TABLES,  NOTHING, ORDER",
        "0, NOTHING, false, ,        NOTHING, ORDER",
        "0, NOTHING, false, TABLES,  ,        COPY",
        "0, NOTHING, false, TABLES,  TABLES,  COPY",
        "0, NOTHING, false, ,        ,        UNTOLD",
        "0, SCHEMAS, false, NOTHING, NOTHING, COPY",
        "0, SCHEMAS, false, TABLES,  ,        COPY",
        "0, SCHEMAS, false, ,        ,        UNTOLD",
    })
    void aServerBeginsFromTheOrderAloneWhereTheClusterDid(
            long applied, Holds holds, boolean preferred, Holds first, Holds second, Data expected) {
        List<Said> words = new ArrayList<>();
        for (Holds founded : new Holds[] {first, second}) {
            words.add(new Said("n2", true, ALL, Lives.FIRST, Map.of(), Map.of(), founded));
        }
        assertThat(AdmissionPlan.data(applied, holds, preferred, words)).isEqualTo(expected);
    }

    /** Of n2; the others are n1, n3, and n4, an arbitrator. */
    @ParameterizedTest
    @CsvSource(
            nullValues = "?",
            value = {
                // what, applied, holds, the same by somebody's word, n1 has begun, and holds; n3 likewise
                "nobody has any,        0, NOTHING, false, false, NOTHING, false, NOTHING, ORDER",
                "one has tables,        0, NOTHING, false, false, NOTHING, false, TABLES,  COPY",
                "this one has them,     0, TABLES,  false, false, NOTHING, false, NOTHING, ITS_OWN",
                "one can't tell,        0, NOTHING, false, false, NOTHING, false, ?,       UNTOLD",
                "one is enough,         0, NOTHING, false, false, ?,       false, TABLES,  COPY",
                "it was part of it,     7, TABLES,  false, true,  NOTHING, true,  NOTHING, ITS_OWN",
                "it comes too late,     0, TABLES,  false, true,  NOTHING, true,  ?,       REFUSED",
                "it comes without,      0, NOTHING, false, true,  TABLES,  true,  ?,       COPY",
                "others get a copy,     0, TABLES,  false, true,  ?,       true,  ?,       ITS_OWN",
                "nor can they tell,     0, NOTHING, false, true,  ?,       true,  ?,       UNTOLD",
                "a lesser name has them,0, TABLES,  false, false, TABLES,  false, TABLES,  UNTOLD",
                "a greater one has,     0, TABLES,  false, false, NOTHING, false, TABLES,  ITS_OWN",
                "others have begun,     0, TABLES,  false, false, ?,       true,  TABLES,  REFUSED",
                "and are the same,      0, TABLES,  true,  false, TABLES,  true,  TABLES,  ITS_OWN",
                "all say the same,      0, TABLES,  true,  false, TABLES,  false, TABLES,  ITS_OWN",
                "none can't be it,      0, TABLES,  true,  true,  NOTHING, false, TABLES,  REFUSED",
                "it has databases,      0, SCHEMAS, false, false, NOTHING, false, NOTHING, ITS_OWN",
                "so has a lesser name,  0, SCHEMAS, false, false, SCHEMAS, false, NOTHING, COPY",
                "so has a greater one,  0, SCHEMAS, false, false, NOTHING, false, SCHEMAS, ITS_OWN",
                "the same databases,    0, SCHEMAS, true,  false, SCHEMAS, true,  TABLES,  ITS_OWN",
                "one has tables beside, 0, SCHEMAS, false, false, NOTHING, false, TABLES,  COPY",
                "databases unheard of,  0, SCHEMAS, false, false, ?,       false, NOTHING, UNTOLD",
                "who began waits for it,0, SCHEMAS, false, true,  ?,       false, NOTHING, ITS_OWN",
                "they began with some,  0, SCHEMAS, false, true,  SCHEMAS, false, NOTHING, COPY",
                "they began without,    0, SCHEMAS, false, true,  NOTHING, false, NOTHING, COPY",
                "another has databases, 0, NOTHING, false, false, SCHEMAS, false, NOTHING, COPY",
                "somebody made them since, 0, NOTHING, false, true, NOTHING, true, TABLES, ORDER",
            })
    void theClusterBeginsWithWhatOneServerHolds(
            String what,
            long applied,
            Holds holds,
            boolean same,
            boolean begun1,
            Holds n1,
            boolean begun3,
            Holds n3,
            Data expected) {
        AdmissionPlan plan = new AdmissionPlan(N2, List.of(N3, N1, N2, new Peer("n4", "d", 1, 2)), List.of(), 0, "d2");
        List<Said> words = List.of(
                new Said("n1", begun1, begun1 ? ALL : List.of(), Lives.FIRST, Map.of(), Map.of(), n1),
                new Said("n3", begun3, begun3 ? ALL : List.of(), Lives.FIRST, Map.of(), Map.of(), n3),
                new Said("n4", begun3, begun3 ? ALL : List.of(), Lives.FIRST, Map.of(), Map.of(), null));
        assertThat(plan.dataOfFounder(applied, holds, same, words)).as(what).isEqualTo(expected);
    }

    /** The one that starts last may be the one with the tables. */
    @Test
    void whoHasNoTablesDoesNotBeginWithAMajorityThatHasNone() {
        Said n2 = new Said("n2", false, List.of(), Lives.FIRST, Map.of(), Map.of(), Holds.NOTHING);
        Said n4 = new Said("n4", false, List.of(), Lives.FIRST, Map.of(), Map.of(), null);
        assertThat(FOUR.dataOfFounder(0, Holds.NOTHING, false, List.of(n2, n4))).isEqualTo(Data.UNTOLD);
        assertThat(FOUR.dataOfFounder(0, Holds.SCHEMAS, false, List.of(n2, n4))).isEqualTo(Data.UNTOLD);
        Said made = new Said("n2", false, List.of(), Lives.FIRST, Map.of(), Map.of(), Holds.SCHEMAS);
        assertThat(FOUR.dataOfFounder(0, Holds.NOTHING, false, List.of(made, n4)))
                .as("nor does the one with databases")
                .isEqualTo(Data.UNTOLD);
        assertThat(FOUR.silent(List.of(n2, n4))).containsExactly("n3");
        assertThat(FOUR.dataOfFounder(0, Holds.TABLES, false, List.of(n2, n4)))
                .as("whoever has them needn't wait")
                .isEqualTo(Data.ITS_OWN);
        Said begun = new Said("n2", false, ALL, Lives.FIRST, Map.of(), Map.of(), Holds.NOTHING);
        assertThat(FOUR.dataOfFounder(0, Holds.NOTHING, false, List.of(begun, n4)))
                .as("n2 has heard all, though nobody leads yet")
                .isEqualTo(Data.ORDER);
        assertThat(FOUR.dataOfFounder(0, Holds.TABLES, false, List.of(begun, n4)))
                .isEqualTo(Data.REFUSED);
    }

    /** Of any two servers that have as much and hear each other before either has begun, one begins. */
    @ParameterizedTest
    @EnumSource(
            value = Holds.class,
            names = {"TABLES", "SCHEMAS"})
    void ofTwoThatHaveAsMuchOneBegins(Holds holds) {
        List<Peer> two = List.of(N1, N2);
        Data first = new AdmissionPlan(N1, two, List.of(), 0, "d1")
                .dataOfFounder(
                        0,
                        holds,
                        false,
                        List.of(new Said("n2", false, List.of(), Lives.FIRST, Map.of(), Map.of(), holds)));
        Data second = new AdmissionPlan(N2, two, List.of(), 0, "d2")
                .dataOfFounder(
                        0,
                        holds,
                        false,
                        List.of(new Said("n1", false, List.of(), Lives.FIRST, Map.of(), Map.of(), holds)));
        assertThat(first).isEqualTo(Data.ITS_OWN);
        assertThat(second).isNotEqualTo(Data.ITS_OWN);
    }
}
