// SPDX-License-Identifier: Apache-2.0
package io.quorate.certification;

import static io.quorate.core.KeyType.EXCLUSIVE;
import static io.quorate.core.KeyType.REFERENCE;
import static io.quorate.core.KeyType.SHARED;
import static io.quorate.core.KeyType.UPDATE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.quorate.certification.Certification.Link;
import io.quorate.core.Ballot;
import io.quorate.core.Certified;
import io.quorate.core.ErrorCode;
import io.quorate.core.Gtid;
import io.quorate.core.KeyType;
import io.quorate.core.Keys;
import io.quorate.core.KeysBuilder;
import io.quorate.core.LogPosition;
import io.quorate.core.OrderedFirst;
import io.quorate.core.OriginPosition;
import io.quorate.core.Proposal;
import io.quorate.core.QuorateException;
import io.quorate.core.Verdict;
import io.quorate.core.WriteSet;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class CertifierTest {
    private static final UUID A = new UUID(1, 1);
    private static final UUID B = new UUID(2, 2);
    private static final UUID C = new UUID(3, 3);
    private static final long ROW = 77;
    private static final LogPosition AT = new LogPosition(3, 99);

    private final Map<UUID, Long> numbers = new HashMap<>();
    private Certifier certifier = new Certifier(1024);

    private Certified write(UUID origin, long lastSeen, KeyType type, long... keys) {
        return write(origin, lastSeen, WriteSet.Kind.ROWS, type, keys);
    }

    private Certified write(UUID origin, long lastSeen, WriteSet.Kind kind, KeyType type, long... keys) {
        KeysBuilder builder = new KeysBuilder();
        Arrays.stream(keys).forEach(key -> builder.add(key, type));
        return write(origin, lastSeen, kind, builder.build());
    }

    private Certified write(UUID origin, long lastSeen, WriteSet.Kind kind, Keys keys) {
        long number = numbers.merge(origin, 1L, Long::sum);
        WriteSet w = new WriteSet(new Gtid(origin, number), lastSeen, 0, kind, keys, new byte[0]);
        Certification c = propose(origin, number - 1, number, lastSeen, w);
        assertThat(c.link()).isEqualTo(Link.TAKEN);
        return c.certified().get(0);
    }

    private Certification propose(UUID origin, long previous, long last, long lastSeen, WriteSet... writeSets) {
        Proposal p = new Proposal(origin, previous, last, lastSeen, new long[0], List.of(writeSets));
        return certifier.certify(p, new LogPosition(3, last));
    }

    private static WriteSet empty(UUID origin, long number) {
        return new WriteSet(new Gtid(origin, number), 0, 0, WriteSet.Kind.ROWS, Keys.NONE, new byte[0]);
    }

    private Certified say(Ballot.Kind kind, UUID server, long seqno) {
        return certifier.vote(new Ballot(kind, "n" + server.getLeastSignificantBits(), server, seqno, 5), AT);
    }

    private void voters() {
        for (UUID server : List.of(A, B, C)) {
            say(Ballot.Kind.VOTER, server, 0);
        }
    }

    @Test
    void aNodeThatWasTakenOutIsNoLongerAmongTheVotersThatCount() {
        voters();
        assertThat(certifier.voters()).isEqualTo(3);
        assertThat(certifier.voters(Set.of("n1", "n2", "arbitrator"))).isEqualTo(2);
    }

    /** B and C refuse what A has run; what each of them held then decides whether A's word counts. */
    @Test
    void aDefinitionThatMostRefuseIsVoidByASeqnoOfItsOwn() {
        voters();
        write(B, 0, SHARED, 5);
        Certified definition = write(A, 0, WriteSet.Kind.DDL, EXCLUSIVE, 5);
        assertThat(definition.passed()).isTrue();
        assertThat(say(Ballot.Kind.REFUSED, B, 2)).isNull();
        assertThat(certifier.isVoid(2)).isFalse();
        Certified verdict = say(Ballot.Kind.REFUSED, C, 2);
        assertThat(verdict.seqno()).isEqualTo(3);
        assertThat(verdict.dependsOn()).isEqualTo(2);
        assertThat(verdict.position()).isEqualTo(AT);
        assertThat(verdict.writeSet().voidsDefinition()).isEqualTo(2);
        assertThat(verdict.writeSet().committedMicros()).isEqualTo(5);
        assertThat(verdict.writeSet().isBarrier()).isTrue();
        assertThat(certifier.isVoid(2)).isTrue();
        assertThat(certifier.hasVoidDefinition(A, 1)).isTrue();
        assertThat(certifier.hasVoidDefinition(A, 2)).isFalse();
        assertThat(certifier.hasVoidDefinition(B, 1)).isFalse();
        assertThat(write(A, 2, SHARED, 9).dependsOn())
                .as("nothing goes past the verdict")
                .isEqualTo(3);
    }

    @Test
    void whatNoOtherServerMayDoFailsWithWhatWasBuiltOnIt() {
        KeysBuilder keys = new KeysBuilder();
        keys.add(5, EXCLUSIVE);
        keys.add(Keys.NOT_REPEATABLE, SHARED);
        Certified numbered = write(A, 0, WriteSet.Kind.DDL, keys.build());
        assertThat(numbered.verdict()).isEqualTo(Verdict.NOT_REPEATABLE);
        assertThat(numbered.conflictsWith()).isZero();
        assertThat(certifier.failures(A)).containsExactly(1);
        assertThat(rows(B, 0, row(5, 100)).passed()).isTrue();
    }

    /** Table 5, which A has defined as nobody else has; it had missed what B wrote there. */
    private void defined(long... marks) {
        voters();
        write(B, 0, SHARED, 5);
        KeysBuilder keys = new KeysBuilder();
        keys.add(5, EXCLUSIVE);
        Arrays.stream(marks).forEach(mark -> keys.add(mark, SHARED));
        assertThat(write(A, 0, WriteSet.Kind.DDL, keys.build()).seqno()).isEqualTo(2);
    }

    private static Keys row(long table, long row) {
        KeysBuilder keys = new KeysBuilder();
        keys.add(table, SHARED);
        keys.add(row, EXCLUSIVE);
        return keys.build();
    }

    private static Keys both(Keys one, Keys other) {
        KeysBuilder both = new KeysBuilder();
        for (Keys keys : List.of(one, other)) {
            for (int i = 0; i < keys.size(); i++) {
                both.add(keys.hash(i), keys.type(i));
            }
        }
        return both.build();
    }

    private Certified rows(UUID origin, long lastSeen, Keys keys) {
        return write(origin, lastSeen, WriteSet.Kind.ROWS, keys);
    }

    private Certified voided() {
        say(Ballot.Kind.REFUSED, B, 2);
        return say(Ballot.Kind.REFUSED, C, 2);
    }

    @Test
    void whatWasBuiltOnAVoidDefinitionIsVoidWithIt() {
        defined();
        assertThat(rows(A, 0, row(5, 100)).passed()).isTrue();
        assertThat(rows(A, 0, row(6, 200)).passed()).as("another table").isTrue();
        assertThat(rows(A, 0, both(row(5, 300), row(6, 400))).passed()).isTrue();
        assertThat(rows(A, 0, row(6, 400)).passed()).as("a row that 5 wrote").isTrue();
        assertThat(rows(C, 1, row(6, 500)).passed()).as("before the definition").isTrue();
        Certified verdict = voided();
        assertThat(verdict.seqno()).isEqualTo(8);
        assertThat(verdict.writeSet().voidsBuilt()).containsExactly(3, 5, 6);
        assertThat(LongStream.rangeClosed(1, 8).filter(certifier::isVoid).toArray())
                .containsExactly(2, 3, 5, 6);
        assertThat(certifier.lastVoid()).isEqualTo(8);
    }

    @Test
    void whatIsWrittenOnAVoidDefinitionBeforeItsServerMeetsTheVerdictFails() {
        defined();
        rows(A, 0, both(row(5, 100), row(6, 400)));
        voided();
        Certified more = rows(A, 0, row(5, 101));
        assertThat(more.verdict()).isEqualTo(Verdict.BUILT_ON_FAILED);
        assertThat(more.conflictsWith()).isEqualTo(2);
        assertThat(rows(A, 2, row(6, 400)).verdict()).isEqualTo(Verdict.BUILT_ON_FAILED);
        assertThat(rows(A, 2, row(6, 401)).passed()).isTrue();
        assertThat(rows(B, 2, row(5, 110)).passed())
                .as("B has passed over it, and not met the verdict")
                .isTrue();
        assertThat(rows(A, 4, row(5, 102)).passed()).as("after its copy").isTrue();
    }

    /** An index or a constraint. */
    @Test
    void rowsThatFitTheFormerDefinitionAreNotBuiltOnIt() {
        defined(Keys.KEEPS_COLUMNS);
        rows(A, 0, row(5, 100));
        assertThat(voided().writeSet().voidsBuilt()).isEmpty();
        assertThat(certifier.isVoid(2)).isTrue();
        assertThat(certifier.isVoid(3)).isFalse();
        assertThat(rows(A, 0, row(5, 101)).passed()).isTrue();
    }

    /** A column that may no longer be NULL: the binlog shows that it is the same. */
    @Test
    void norAreRowsThatSayThatTheyFitTheFormerOne() {
        defined();
        Keys fits = new Keys(new long[] {Keys.fitsFormer(5)}, new byte[] {(byte) SHARED.ordinal()});
        rows(A, 0, both(row(5, 100), fits));
        rows(A, 0, row(5, 101));
        rows(A, 0, both(row(5, 101), fits));
        assertThat(voided().writeSet().voidsBuilt())
                .as("the last one has a row of the one before")
                .containsExactly(4, 5);
    }

    @Test
    void rowsBesideAddedColumnsAreBuiltOnThem() {
        voters();
        write(B, 0, SHARED, 5);
        write(A, 0, WriteSet.Kind.DDL, UPDATE, 5);
        rows(A, 0, row(5, 100));
        assertThat(rows(B, 1, row(5, 101)).passed()).as("without the columns").isTrue();
        assertThat(voided().writeSet().voidsBuilt()).containsExactly(3);
    }

    /** Another server may have run it too, which its lastSeen shows. */
    @Test
    void whatAnotherServerBuiltOnItIsVoidToo() {
        voters();
        UUID d = new UUID(4, 4);
        UUID e = new UUID(5, 5);
        say(Ballot.Kind.VOTER, d, 0);
        say(Ballot.Kind.VOTER, e, 0);
        write(B, 0, SHARED, 5);
        write(A, 0, WriteSet.Kind.DDL, EXCLUSIVE, 5);
        assertThat(rows(d, 2, row(5, 100)).passed()).isTrue();
        say(Ballot.Kind.REFUSED, B, 2);
        say(Ballot.Kind.REFUSED, C, 2);
        Certified verdict = say(Ballot.Kind.REFUSED, e, 2);
        assertThat(verdict.writeSet().voidsBuilt()).containsExactly(3);
        assertThat(rows(d, 3, row(5, 101)).verdict()).isEqualTo(Verdict.BUILT_ON_FAILED);
        assertThat(rows(e, 3, row(5, 102)).passed()).isTrue();
        assertThat(rows(d, 4, row(5, 103)).passed())
                .as("it has met the verdict")
                .isTrue();
    }

    @Test
    void aCheckpointHasWhatWasBuiltOnDefinitions() throws IOException {
        defined();
        rows(A, 0, row(5, 100));
        readBack();
        rows(A, 0, row(5, 101));
        assertThat(voided().writeSet().voidsBuilt()).containsExactly(3, 4);
        readBack();
        assertThat(certifier.isVoid(4)).isTrue();
        assertThat(certifier.lastVoid()).isEqualTo(5);
        assertThat(rows(A, 0, row(5, 102)).passed()).isFalse();
    }

    private void readBack() throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        certifier.writeTo(new DataOutputStream(bytes));
        Certifier read = Certifier.readFrom(new DataInputStream(new ByteArrayInputStream(bytes.toByteArray())));
        assertThat(read.digest()).isEqualTo(certifier.digest());
        certifier = read;
    }

    /** Nothing is lost that would be too much to be taken back. */
    @Test
    void aDefinitionStandsOnceTooMuchIsBuiltOnIt() {
        defined();
        for (int i = 0; i <= Votes.BUILT_MAX; i++) {
            rows(A, 0, row(5, 100));
        }
        assertThat(voided()).isNull();
        assertThat(certifier.stands(2)).isTrue();
        assertThat(certifier.isVoid(3)).isFalse();
    }

    @Test
    void theOriginOfADefinitionHasAVoteOnlyIfItHadSeenWhatTheTablesHeld() {
        voters();
        write(B, 0, SHARED, 5);
        write(A, 0, WriteSet.Kind.DDL, EXCLUSIVE, 5);
        say(Ballot.Kind.REFUSED, B, 2);
        say(Ballot.Kind.CLOSE, B, 2);
        assertThat(certifier.isVoid(2)).as("rows of B were on their way").isTrue();
        write(A, 3, WriteSet.Kind.DDL, EXCLUSIVE, 5);
        say(Ballot.Kind.REFUSED, B, 4);
        say(Ballot.Kind.CLOSE, B, 4);
        assertThat(certifier.stands(4)).as("A had seen everything").isTrue();
        write(B, 4, SHARED, 6);
        write(A, 4, WriteSet.Kind.DDL, EXCLUSIVE, 5);
        say(Ballot.Kind.REFUSED, B, 6);
        say(Ballot.Kind.CLOSE, B, 6);
        assertThat(certifier.stands(6))
                .as("what A had not seen was another table")
                .isTrue();
    }

    @Test
    void aBallotAboutWhatIsNotOrderedYetIsPassedOver() {
        voters();
        assertThat(say(Ballot.Kind.REFUSED, B, 1)).isNull();
        assertThat(certifier.unanswered(A)).isEmpty();
    }

    @Test
    void abortsTheLaterOfTwoWritersOfOneRow() {
        assertThat(write(A, 0, UPDATE, ROW).passed()).isTrue();
        Certified later = write(B, 0, UPDATE, ROW);
        assertThat(later.verdict()).isEqualTo(Verdict.CONFLICT);
        assertThat(later.conflictsWith()).isEqualTo(1);
        assertThat(later.seqno()).isEqualTo(2);
        assertThat(certifier.stats().conflicts()).isEqualTo(1);
    }

    @Test
    void rowsPassBesideADefinitionThatTheyFit() {
        assertThat(write(A, 0, WriteSet.Kind.DDL, UPDATE, ROW).passed()).isTrue();
        Certified row = write(B, 0, SHARED, ROW);
        assertThat(row.passed()).isTrue();
        assertThat(row.dependsOn()).isEqualTo(1);
        assertThat(write(B, 0, WriteSet.Kind.PREPARED, SHARED, ROW).passed()).isTrue();
        assertThat(write(A, 1, WriteSet.Kind.DDL, UPDATE, ROW).passed()).isTrue();
    }

    @Test
    void definitionsOfOneTableConflictWhetherRowsFitThemOrNot() {
        write(A, 0, WriteSet.Kind.DDL, UPDATE, ROW);
        assertThat(write(B, 0, WriteSet.Kind.DDL, UPDATE, ROW).passed()).isFalse();
        assertThat(write(B, 0, WriteSet.Kind.DDL, EXCLUSIVE, ROW).passed()).isFalse();
        write(C, 1, WriteSet.Kind.DDL, EXCLUSIVE, ROW);
        assertThat(write(A, 3, WriteSet.Kind.DDL, UPDATE, ROW).passed()).isFalse();
    }

    @Test
    void holdsAPreparedWriterToItsSnapshotOnItsOwnOriginToo() {
        write(A, 0, UPDATE, ROW);
        assertThat(write(A, 0, UPDATE, ROW).passed()).isTrue();
        Certified prepared = write(A, 1, WriteSet.Kind.PREPARED, UPDATE, ROW);
        assertThat(prepared.verdict()).isEqualTo(Verdict.CONFLICT);
        assertThat(prepared.conflictsWith()).isEqualTo(2);
        assertThat(write(A, 2, WriteSet.Kind.PREPARED, UPDATE, ROW).passed()).isTrue();
    }

    @Test
    void countsAPreparedWriterAsForeignToItsOwnOrigin() {
        write(A, 0, WriteSet.Kind.PREPARED, UPDATE, ROW);
        assertThat(write(A, 0, UPDATE, ROW).conflictsWith()).isEqualTo(1);
        assertThat(write(A, 1, UPDATE, ROW).passed()).isTrue();
    }

    @Test
    void nothingIsBuiltOnAPreparedWriterThatFailed() {
        write(B, 0, UPDATE, ROW);
        write(A, 0, WriteSet.Kind.PREPARED, UPDATE, ROW);
        WriteSet named = empty(A, 2).withBuiltOn(new long[] {1});
        Certification c = propose(A, 1, 2, 0, named);
        assertThat(c.certified().get(0).passed()).isTrue();
        assertThat(certifier.failures(A)).isEmpty();
    }

    @Test
    void passesAWriterThatHadSeenTheOther() {
        write(A, 0, UPDATE, ROW);
        Certified later = write(B, 1, UPDATE, ROW);
        assertThat(later.passed()).isTrue();
        assertThat(later.dependsOn()).isEqualTo(1);
    }

    @Test
    void neverSetsAnOriginAgainstItself() {
        write(A, 0, EXCLUSIVE, ROW);
        Certified later = write(A, 0, EXCLUSIVE, ROW);
        assertThat(later.passed()).isTrue();
        assertThat(later.dependsOn()).isEqualTo(1);
    }

    @Test
    void aFailedWriteSetEntersNothing() {
        write(A, 0, UPDATE, ROW);
        assertThat(write(B, 0, UPDATE, ROW, 5).passed()).isFalse();
        assertThat(write(C, 1, UPDATE, ROW, 5).passed()).isTrue();
    }

    @Test
    void whatWasBuiltOnAFailedTransactionFailsTooAndThatOnly() {
        write(B, 0, UPDATE, ROW);
        assertThat(write(A, 0, UPDATE, ROW).verdict()).isEqualTo(Verdict.CONFLICT);
        Certified built = writeOn(A, 1, new long[] {1}, 5);
        assertThat(built.verdict()).isEqualTo(Verdict.BUILT_ON_FAILED);
        assertThat(built.conflictsWith()).isEqualTo(2);
        assertThat(writeOn(A, 1, new long[] {2}, 6).verdict()).isEqualTo(Verdict.BUILT_ON_FAILED);
        assertThat(writeOn(A, 1, WriteSet.builtOnAll(), 7).verdict()).isEqualTo(Verdict.BUILT_ON_FAILED);
        // After the undo, on the very row: nothing of what failed is under it.
        assertThat(writeOn(A, 1, WriteSet.BUILT_ON_NONE, ROW).passed()).isTrue();
        // The numbers are each origin's own.
        assertThat(writeOn(B, 1, new long[] {1}, 9).passed()).isTrue();
    }

    @Test
    void whatAnOriginHasSeenFailIsForgotten() {
        write(B, 0, UPDATE, ROW);
        write(A, 0, UPDATE, ROW);
        assertThat(certifier.failures(A)).containsExactly(2);
        write(A, 2, UPDATE, 5);
        assertThat(certifier.failures(A)).isEmpty();
    }

    @Test
    void whatMayBeBuiltOnMoreFailuresThanAreKeptIsTooOld() {
        write(B, 0, UPDATE, ROW);
        for (int i = 0; i <= Failures.MAX; i++) {
            assertThat(write(A, 0, UPDATE, ROW).passed()).isFalse();
        }
        assertThat(writeOn(A, 1, new long[] {1}, 5).verdict()).isEqualTo(Verdict.TOO_OLD);
        assertThat(writeOn(A, 1, WriteSet.BUILT_ON_NONE, 5).passed()).isTrue();
    }

    private Certified writeOn(UUID origin, long lastSeen, long[] builtOn, long key) {
        Keys keys = new Keys(new long[] {key}, new byte[] {(byte) UPDATE.ordinal()});
        long number = numbers.merge(origin, 1L, Long::sum);
        WriteSet w = new WriteSet(new Gtid(origin, number), lastSeen, 0, WriteSet.Kind.ROWS, keys, new byte[0])
                .withBuiltOn(builtOn);
        return propose(origin, number - 1, number, lastSeen, w).certified().get(0);
    }

    @Test
    void findsAConflictBehindALaterTouchOfTheSameOrigin() {
        write(B, 0, REFERENCE, ROW);
        write(A, 0, REFERENCE, ROW);
        Certified delete = write(A, 0, EXCLUSIVE, ROW);
        assertThat(delete.verdict()).isEqualTo(Verdict.CONFLICT);
        assertThat(delete.conflictsWith()).isEqualTo(1);
    }

    @Test
    void followsTheMatrix() {
        String[] rows = {"--DD", "--DC", "DDCC", "CCCC"};
        for (KeyType found : KeyType.values()) {
            for (KeyType incoming : KeyType.values()) {
                certifier = new Certifier(1024);
                numbers.clear();
                write(A, 0, found, ROW);
                Certified c = write(B, 0, incoming, ROW);
                char relation = !c.passed() ? 'C' : c.dependsOn() == 1 ? 'D' : '-';
                assertThat(relation)
                        .as("found %s, incoming %s", found, incoming)
                        .isEqualTo(rows[found.ordinal()].charAt(incoming.ordinal()));
            }
        }
    }

    @Test
    void everythingTakenExclusivelyConflictsBothWays() {
        write(A, 0, SHARED, ROW);
        assertThat(write(B, 0, EXCLUSIVE, Keys.EVERYTHING).conflictsWith()).isEqualTo(1);
        Certified seen = write(B, 1, EXCLUSIVE, Keys.EVERYTHING);
        assertThat(seen.passed()).isTrue();
        assertThat(seen.dependsOn()).isEqualTo(2);
        assertThat(write(C, 2, SHARED, 5).conflictsWith()).isEqualTo(3);
        Certified after = write(C, 3, SHARED, 5);
        assertThat(after.passed()).isTrue();
        assertThat(after.dependsOn()).isEqualTo(3);
    }

    /** Where it ran they come after it, elsewhere before it: a TRUNCATE leaves other rows then. */
    @Test
    void whatTakesATablesRowsAlongLosesAgainstRowsItHasNotSeen() {
        write(A, 0, SHARED, 5);
        assertThat(write(B, 0, EXCLUSIVE, 5).passed()).as("a column more").isTrue();
        write(A, 2, SHARED, 5);
        Keys truncate = new Keys(
                new long[] {5, Keys.NO_ROWS_BEFORE}, new byte[] {(byte) EXCLUSIVE.ordinal(), (byte) SHARED.ordinal()});
        assertThat(write(B, 2, WriteSet.Kind.DDL, truncate).conflictsWith()).isEqualTo(3);
        assertThat(write(B, 4, WriteSet.Kind.DDL, truncate).passed()).isTrue();
        assertThat(write(C, 4, SHARED, 5).conflictsWith()).isEqualTo(5);
        assertThat(write(A, 5, WriteSet.Kind.DDL, truncate).passed())
                .as("another one, seen")
                .isTrue();
    }

    private Certified orderFirst(long previous, Keys keys) {
        WriteSet w = OrderedFirst.definition(previous, 1, 0, 0, keys, new byte[0]);
        Certification c = certifier.certify(OrderedFirst.proposal(w), AT);
        return c.link() == Link.TAKEN ? c.certified().get(0) : null;
    }

    private static Keys keys(KeyType type, long... hashes) {
        KeysBuilder builder = new KeysBuilder();
        Arrays.stream(hashes).forEach(hash -> builder.add(hash, type));
        return builder.build();
    }

    /** It is run at its place everywhere, so it has seen what is before it; who wrote without it has not. */
    @Test
    void aDefinitionThatIsOrderedFirstFailsAgainstNothingAndWinsAgainstWhoHasNotSeenIt() {
        write(A, 0, SHARED, 5);
        write(B, 0, WriteSet.Kind.DDL, EXCLUSIVE, 5, 6);
        Certified definition = orderFirst(0, keys(EXCLUSIVE, 5, Keys.NO_ROWS_BEFORE));
        assertThat(definition.verdict()).isEqualTo(Verdict.PASSED);
        assertThat(definition.dependsOn()).isEqualTo(2);
        assertThat(orderFirst(1, keys(EXCLUSIVE, Keys.EVERYTHING)).verdict()).isEqualTo(Verdict.PASSED);
        assertThat(write(A, 2, SHARED, 5).verdict()).isEqualTo(Verdict.CONFLICT);
        assertThat(write(A, 4, SHARED, 5).verdict()).isEqualTo(Verdict.PASSED);
    }

    @Test
    void ofTwoDefinitionsUnderOneNumberTheFirstIsOrderedAndNothingTakesANumberUp() {
        assertThat(orderFirst(0, keys(EXCLUSIVE, 5))).isNotNull();
        assertThat(orderFirst(0, keys(EXCLUSIVE, 6))).isNull();
        assertThat(certifier.certify(OrderedFirst.nothing(1), AT).link()).isEqualTo(Link.TAKEN);
        assertThat(orderFirst(1, keys(EXCLUSIVE, 6))).isNull();
        assertThat(orderFirst(2, keys(EXCLUSIVE, 6))).isNotNull();
        assertThat(certifier.lastSeqno()).isEqualTo(2);
    }

    @Test
    void thePurgeDoesNotWaitForDefinitionsThatAreOrderedFirst() throws IOException {
        orderFirst(0, keys(EXCLUSIVE, 5));
        certifier = copy(certifier);
        for (int i = 1; i <= 2000; i++) {
            write(A, i, UPDATE, 1000 + i);
        }
        assertThat(certifier.stats().keys()).isLessThan(200);
    }

    private static Certifier copy(Certifier from) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        from.writeTo(new DataOutputStream(bytes));
        return Certifier.readFrom(new DataInputStream(new ByteArrayInputStream(bytes.toByteArray())));
    }

    @Test
    void ddlIsABarrier() {
        write(A, 0, UPDATE, 1);
        write(A, 0, UPDATE, 2);
        assertThat(write(B, 0, WriteSet.Kind.DDL, EXCLUSIVE, 13).dependsOn()).isEqualTo(2);
        assertThat(write(A, 0, UPDATE, 4).dependsOn()).isEqualTo(3);
    }

    @Test
    void takesWhatLinksAndNothingElse() {
        assertThat(propose(A, 0, 3, 0, empty(A, 2)).certified()).hasSize(1);
        assertThat(propose(A, 0, 3, 0, empty(A, 2)).link()).isEqualTo(Link.DUPLICATE);
        assertThat(propose(A, 4, 6, 0, empty(A, 5)).link()).isEqualTo(Link.GAP);
        assertThat(propose(A, 1, 6, 0, empty(A, 2), empty(A, 4), empty(A, 6)).certified())
                .extracting(c -> c.writeSet().gtid().number())
                .containsExactly(4L, 6L);
        assertThat(propose(A, 6, 9, 3).link()).isEqualTo(Link.TAKEN);
        assertThat(propose(A, 9, 10, 4).link()).isEqualTo(Link.IMPOSSIBLE);
        assertThat(certifier.position(A)).isEqualTo(new OriginPosition(9, 3, new long[0]));
        assertThat(certifier.lastSeqno()).isEqualTo(3);
        assertThat(certifier.position(B)).isEqualTo(OriginPosition.NONE);
        assertThat(certifier.stats().refused()).isEqualTo(3);
    }

    @Test
    void marksTheLastWriteSetOfAnEntry() {
        assertThat(propose(A, 0, 3, 0, empty(A, 2), empty(A, 3)).certified())
                .extracting(Certified::lastOfEntry, Certified::position)
                .containsExactly(
                        org.assertj.core.groups.Tuple.tuple(false, new LogPosition(3, 3)),
                        org.assertj.core.groups.Tuple.tuple(true, new LogPosition(3, 3)));
    }

    /** What may be built on a transaction that the order has no number for. */
    @Test
    void rowsThatSayThatTheyAreNotRepeatableFail() {
        assertThat(write(A, 0, UPDATE, 100, Keys.NOT_REPEATABLE).verdict()).isEqualTo(Verdict.NOT_REPEATABLE);
        assertThat(write(B, 0, UPDATE, 100).passed()).isTrue();
    }

    @Test
    void dropsWhatAllHaveSeenAndFailsNobody() {
        for (int i = 1; i <= 5000; i++) {
            assertThat(write(A, Math.max(0, certifier.lastSeqno() - 7), UPDATE, 100 + i)
                            .passed())
                    .isTrue();
            assertThat(write(B, Math.max(0, certifier.lastSeqno() - 5), UPDATE, 1_000_000 + i)
                            .passed())
                    .isTrue();
        }
        assertThat(certifier.stats().keys()).isBetween(100L, 200L);
        assertThat(certifier.cut()).isBetween(certifier.lastSeqno() - 200, certifier.lastSeqno() - 100);
    }

    @Test
    void anOriginThatStaysBehindHoldsTheIndexUpToItsBound() {
        propose(C, 0, 0, 0);
        for (int i = 1; i <= 1000; i++) {
            assertThat(write(A, Math.max(0, certifier.lastSeqno() - 7), UPDATE, 100 + i)
                            .passed())
                    .isTrue();
        }
        assertThat(certifier.cut()).isZero();
        assertThat(write(C, 0, UPDATE, 2000).passed()).isTrue();
        assertThat(write(C, 0, UPDATE, 101).conflictsWith()).isEqualTo(1);
    }

    @Test
    void anOriginThatAloneWritesIsNeverTooOld() {
        for (int i = 1; i <= 5000; i++) {
            assertThat(write(A, 0, UPDATE, 100 + i).passed()).isTrue();
        }
        assertThat(certifier.cut()).isGreaterThan(4000);
        assertThat(write(B, 0, UPDATE, 1_000_000).verdict()).isEqualTo(Verdict.TOO_OLD);
        assertThat(write(B, certifier.cut(), UPDATE, 1_000_000).passed()).isTrue();
        assertThat(write(A, 0, UPDATE, 101).passed()).isTrue();
    }

    @Test
    void anOriginThatIsGoneHoldsTheIndexUpToItsBoundOnceOnly() {
        propose(C, 0, 0, 0);
        for (int i = 1; i <= 1200; i++) {
            assertThat(write(A, 0, UPDATE, 100 + i).passed()).isTrue();
        }
        assertThat(certifier.stats().keys()).isLessThan(200);
        assertThat(write(C, 0, UPDATE, 5000).verdict()).isEqualTo(Verdict.TOO_OLD);
        assertThat(write(C, certifier.lastSeqno(), UPDATE, 5000).passed()).isTrue();
        long seen = certifier.lastSeqno();
        for (int i = 1; i <= 300; i++) {
            write(A, certifier.lastSeqno(), UPDATE, 100 + i);
        }
        assertThat(certifier.cut()).as("it counts again").isLessThanOrEqualTo(seen);
    }

    @Test
    void holdsNoMoreThanItsBound() {
        propose(B, 0, 0, 0);
        long most = 0;
        for (int i = 1; i <= 5000; i++) {
            write(A, 0, UPDATE, 100 + i);
            most = Math.max(most, certifier.stats().keys());
        }
        assertThat(most).isBetween(1000L, 1024L);
        long[] many = java.util.stream.LongStream.range(100, 3100).toArray();
        Certified huge = write(A, 0, UPDATE, many);
        assertThat(huge.passed()).isTrue();
        assertThat(certifier.cut()).isEqualTo(huge.seqno());
        assertThat(certifier.stats().keys()).isZero();
        assertThat(write(B, huge.seqno() - 1, UPDATE, 1).verdict()).isEqualTo(Verdict.TOO_OLD);
    }

    @Test
    void refusesADamagedState() throws IOException {
        write(A, 0, UPDATE, 1, 2, 3);
        write(B, 0, EXCLUSIVE, 4);
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        certifier.writeTo(new DataOutputStream(out));
        byte[] good = out.toByteArray();
        assertThat(read(good).digest()).isEqualTo(certifier.digest());
        for (int bit = 0; bit < good.length * 8; bit++) {
            byte[] bad = good.clone();
            bad[bit / 8] ^= (byte) (1 << bit % 8);
            assertThatThrownBy(() -> read(bad))
                    .as("bit %d", bit)
                    .satisfiesAnyOf(
                            e -> assertThat(e).isInstanceOf(EOFException.class),
                            e -> assertThat(((QuorateException) e).code()).isEqualTo(ErrorCode.STATE_DIVERGED));
        }
        for (int length = 0; length < good.length; length++) {
            byte[] cut = Arrays.copyOf(good, length);
            assertThatThrownBy(() -> read(cut)).isInstanceOf(EOFException.class);
        }
    }

    private static Certifier read(byte[] bytes) throws IOException {
        return Certifier.readFrom(new DataInputStream(new ByteArrayInputStream(bytes)));
    }
}
