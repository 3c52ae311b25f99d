// SPDX-License-Identifier: Apache-2.0
package io.quorate.certification;

import static org.assertj.core.api.Assertions.assertThat;

import io.quorate.certification.Votes.Answer;
import io.quorate.core.Ballot;
import io.quorate.core.Ballot.Kind;
import io.quorate.core.Gtid;
import io.quorate.core.Keys;
import io.quorate.core.OriginPosition;
import io.quorate.core.WriteSet;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.util.Random;
import java.util.UUID;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class VotesTest {
    private static final long DEFINITION = 7;

    private final Origins origins = new Origins();
    private final Votes votes = new Votes(origins);

    private static UUID server(int n) {
        return new UUID(n, n);
    }

    private long say(Kind kind, int n) {
        return say(kind, n, DEFINITION);
    }

    private long say(Kind kind, int n, long seqno) {
        return votes.take(new Ballot(kind, "n" + n, server(n), seqno, 0), seqno + 1);
    }

    private static void passed(Votes votes, long seqno, UUID origin, boolean inPlace) {
        WriteSet w = new WriteSet(new Gtid(origin, seqno), 0, 0, WriteSet.Kind.DDL, Keys.NONE, new byte[0]);
        votes.passed(seqno, w, inPlace);
    }

    private void hasSeen(int n, long seqno) {
        int number = origins.find(server(n));
        number = number == Origins.UNKNOWN ? origins.add(server(n)) : number;
        origins.move(number, new OriginPosition(1, seqno, new long[0]));
        votes.settle(0);
    }

    private void voters(int count) {
        for (int n = 1; n <= count; n++) {
            say(Kind.VOTER, n, 0);
        }
    }

    /** The server that has run it is none of the voters. */
    private void voters(int count, long definition) {
        voters(count);
        passed(votes, definition, server(99), false);
    }

    /** n1 is the origin; the others say something one after the other: F refused, R ran, C close. */
    @ParameterizedTest
    @CsvSource({
        // nodes, in place, said,     answer
        "3, false, 2F,          OPEN",
        "3, false, 2F 3F,       VOID",
        "3, false, 2F 3R,       STANDS",
        "3, false, 2F 2C,       VOID",
        "3, false, 2F 1R,       OPEN",
        "3, true,  2F,          OPEN",
        "3, true,  2F 3F,       VOID",
        "3, true,  2F 3R,       STANDS",
        "3, true,  2F 2C,       STANDS",
        "2, true,  2F,          STANDS",
        "2, false, 2F,          VOID",
        "5, true,  2F 3F,       OPEN",
        "5, true,  2F 3F 4F,    VOID",
        "5, true,  2F 3F 4R,    OPEN",
        "5, true,  2F 3F 4R 5R, STANDS",
        "5, true,  2F 3F 4C,    VOID",
        "5, true,  2F 4R 4C,    STANDS",
        "5, false, 2F 3F 4R 5R, STANDS",
        "5, false, 2F 3F 4F,    VOID",
    })
    void theAnswerFollowsFromWhoSaidWhat(int nodes, boolean inPlace, String said, Answer answer) {
        voters(nodes);
        passed(votes, DEFINITION, server(1), inPlace);
        assertThat(votes.answer(DEFINITION)).isEqualTo(Answer.UNASKED);
        for (String one : said.split(" ")) {
            int n = one.charAt(0) - '0';
            say(one.endsWith("F") ? Kind.REFUSED : one.endsWith("R") ? Kind.RAN : Kind.CLOSE, n);
        }
        assertThat(votes.answer(DEFINITION)).isEqualTo(answer);
    }

    @Test
    void onlyARefusalAsks() {
        voters(3, DEFINITION);
        say(Kind.RAN, 2);
        say(Kind.CLOSE, 2);
        assertThat(votes.answer(DEFINITION)).isEqualTo(Answer.UNASKED);
    }

    @Test
    void theVerdictIsGivenOnceAndNothingChangesIt() {
        voters(3, DEFINITION);
        assertThat(say(Kind.REFUSED, 2)).isZero();
        assertThat(say(Kind.REFUSED, 3)).isEqualTo(DEFINITION);
        assertThat(say(Kind.REFUSED, 1)).isZero();
        assertThat(say(Kind.RAN, 1)).isZero();
        assertThat(votes.answer(DEFINITION)).isEqualTo(Answer.VOID);
    }

    /** An entry of the order may come twice. */
    @Test
    void aServerVotesOnceAndItsFirstWordCounts() {
        voters(5, DEFINITION);
        say(Kind.REFUSED, 2);
        say(Kind.REFUSED, 2);
        say(Kind.REFUSED, 2);
        assertThat(votes.answer(DEFINITION)).isEqualTo(Answer.OPEN);
        say(Kind.RAN, 2);
        say(Kind.RAN, 3);
        say(Kind.CLOSE, 3);
        assertThat(votes.answer(DEFINITION)).as("one against one").isEqualTo(Answer.STANDS);
    }

    @Test
    void whoHasNoVoteMayAskAndIsNotCounted() {
        voters(3, DEFINITION);
        say(Kind.REFUSED, 9);
        assertThat(votes.answer(DEFINITION)).isEqualTo(Answer.OPEN);
        assertThat(votes.unanswered(server(2))).containsExactly(DEFINITION);
        assertThat(votes.unanswered(server(9))).isEmpty();
        say(Kind.RAN, 1);
        say(Kind.RAN, 2);
        assertThat(votes.answer(DEFINITION)).isEqualTo(Answer.STANDS);
    }

    @Test
    void aNodeWithAnotherServerVotesWithThatOne() {
        voters(3, DEFINITION);
        votes.take(new Ballot(Kind.VOTER, "n3", server(4), 0, 0), 1);
        assertThat(votes.isVoter("n3", server(3))).isFalse();
        assertThat(votes.isVoter("n3", server(4))).isTrue();
        say(Kind.NO_VOTER, 2, 0);
        assertThat(votes.isVoter("n2", server(2))).isFalse();
        say(Kind.REFUSED, 1);
        assertThat(votes.answer(DEFINITION)).as("one of two").isEqualTo(Answer.OPEN);
        assertThat(votes.unanswered(server(4))).containsExactly(DEFINITION);
    }

    @Test
    void onlySoMuchIsRemembered() {
        voters(1);
        for (long s = 1; s <= 2 * Votes.ANSWERS_MAX; s++) {
            passed(votes, s, server(2), false);
            say(Kind.REFUSED, 1, s);
        }
        assertThat(votes.answer(1)).isEqualTo(Answer.UNASKED);
        assertThat(votes.answer(2L * Votes.ANSWERS_MAX)).isEqualTo(Answer.VOID);
    }

    /** Their lastSeen says so. From then on nothing that is built on it can be lost. */
    @Test
    void aDefinitionStandsForGoodOnceEnoughServersHaveRunIt() {
        voters(3);
        passed(votes, DEFINITION, server(1), false);
        hasSeen(1, DEFINITION);
        assertThat(votes.openDefinitions())
                .as("its origin had missed something")
                .isOne();
        hasSeen(2, DEFINITION);
        assertThat(votes.openDefinitions()).isZero();
        say(Kind.NO_VOTER, 2, 0);
        say(Kind.REFUSED, 3);
        assertThat(votes.answer(DEFINITION)).isEqualTo(Answer.STANDS);
    }

    @Test
    void whoHasRunItNeedNotSaySoOnceSomebodyAsks() {
        voters(5);
        passed(votes, DEFINITION, server(1), false);
        hasSeen(2, DEFINITION);
        say(Kind.REFUSED, 3);
        assertThat(votes.unanswered(server(2))).isEmpty();
        say(Kind.CLOSE, 3);
        assertThat(votes.answer(DEFINITION)).as("one against one").isEqualTo(Answer.STANDS);
    }

    @Test
    void ofTooManyThatAreOpenTheOldestStands() {
        voters(3);
        for (long s = 1; s <= Votes.DEFINITIONS_MAX + 1; s++) {
            passed(votes, s, server(99), false);
        }
        say(Kind.REFUSED, 2, 1);
        assertThat(votes.answer(1)).isEqualTo(Answer.STANDS);
        say(Kind.REFUSED, 2, 2);
        assertThat(votes.answer(2)).isEqualTo(Answer.OPEN);
    }

    @RepeatedTest(20)
    void whatIsWrittenIsReadBackAndGoesOnAlike() throws IOException {
        long seed = new Random().nextLong();
        Random random = new Random(seed);
        randomly(votes, random);
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        votes.writeTo(new DataOutputStream(bytes));
        Votes read = new Votes(new Origins());
        read.readFrom(new DataInputStream(new ByteArrayInputStream(bytes.toByteArray())));
        assertThat(read.digest(1)).as("seed %d", seed).isEqualTo(votes.digest(1));
        long then = random.nextLong();
        randomly(votes, new Random(then));
        randomly(read, new Random(then));
        assertThat(read.digest(1)).as("seed %d", seed).isEqualTo(votes.digest(1));
    }

    private static void randomly(Votes votes, Random random) {
        long last = random.nextInt(50);
        for (int i = 0; i < 200; i++) {
            int n = 1 + random.nextInt(5);
            long seqno = 1L + random.nextInt(50);
            if (random.nextInt(4) == 0) {
                passed(votes, ++last, server(n), random.nextBoolean());
            } else {
                Kind kind = Kind.values()[random.nextInt(Kind.values().length)];
                votes.take(new Ballot(kind, "n" + n, server(n), seqno, 0), last + 1);
            }
        }
    }
}
