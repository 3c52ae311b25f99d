// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.join;

import static org.assertj.core.api.Assertions.assertThat;

import io.quorate.applier.PositionTable.Position;
import io.quorate.core.Certified;
import io.quorate.core.Difference;
import io.quorate.core.ErrorCode;
import io.quorate.core.Gtid;
import io.quorate.core.Keys;
import io.quorate.core.LogPosition;
import io.quorate.core.NodeEvent;
import io.quorate.core.QuorateException;
import io.quorate.core.TableName;
import io.quorate.core.Verdict;
import io.quorate.core.WriteSet;
import io.quorate.ist.CacheSettings;
import io.quorate.ist.HistoryCheck;
import io.quorate.ist.IncrementalTransfer.Offer;
import io.quorate.ist.WriteSetCache;
import io.quorate.node.copy.ServerCopy;
import io.quorate.node.join.JoinMachine.Step;
import io.quorate.node.member.MemberDesk;
import io.quorate.node.order.PausableOrder.Hold;
import io.quorate.node.server.Server;
import io.quorate.transport.AdmissionPlan;
import io.quorate.transport.AdmissionPlan.Holds;
import io.quorate.transport.Lives;
import io.quorate.transport.TransportSettings.Peer;
import java.io.EOFException;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** In which order a node is told what to do. */
class JoinTurnsTest {
    private static final UUID INCARNATION = new UUID(1, 1);
    private static final Peer N1 = new Peer("n1", "host1", 1, 1);
    private static final Peer N2 = new Peer("n2", "host2", 1, 1);
    private static final Lives FIRST = new Lives(List.of());
    private static final Lives SECOND = new Lives(List.of("2-00000002"));
    private static final Lives THIRD = new Lives(List.of("2-00000002", "3-00000003"));
    private static final WriteSet WRITE_SET =
            new WriteSet(new Gtid(INCARNATION, 1), 0, 0, WriteSet.Kind.ROWS, Keys.NONE, new byte[0]);

    @TempDir
    private Path directory;

    private final List<String> done = new ArrayList<>();
    private final List<NodeEvent> events = new ArrayList<>();
    private final Node node = new Node();
    private WriteSetCache cache;
    private JoinTurns turns;

    /** What n2 says, who is the cluster, or as new as this node where it knows no members. */
    private record Word(Lives lives, List<Peer> members, Holds holds) implements AdmissionPlan.Word {
        Word(Lives lives) {
            this(lives, List.of(N2), Holds.NOTHING);
        }

        static Word isNew(Holds holds) {
            return new Word(FIRST, List.of(), holds);
        }

        @Override
        public String node() {
            return "n2";
        }

        @Override
        public boolean knowsLeader() {
            return !members.isEmpty();
        }

        @Override
        public int generationOf(String name) {
            return 4;
        }

        @Override
        public String directoryOf(Peer member) {
            return null;
        }

        @Override
        public boolean hasServer() {
            return true;
        }
    }

    /** Those who answer. */
    private record Heard(List<Word> words) implements JoinHost.Heard {
        @Override
        public List<Offer> offers() {
            return words.stream().map(w -> new Offer("n2", 0, 1, 9, 9, 9)).toList();
        }

        @Override
        public Heard in(Lives life) {
            return new Heard(words.stream().filter(w -> w.lives.equals(life)).toList());
        }
    }

    /** Writes down what it is told. */
    private final class Node implements JoinHost {
        private List<Peer> known = List.of();
        private List<Word> words = List.of(new Word(FIRST));
        private MemberDesk.Attempt attempt;
        private long receives = -1;
        private long nanos;
        private Lives lives = FIRST;
        private QuorateException refused;
        private IOException broken;
        private boolean handedOver = true;
        private List<String> holders = List.of("n2");
        private int voters = 1;
        private ServerCopy.Wish wish;
        private boolean odd;
        private boolean first;
        private boolean keeps;
        private String noTrust;
        private boolean copies;
        private boolean copyAllowed;
        private QuorateException noCopy;
        private boolean tables;
        private boolean same;
        /** The copy, while its server is being suspended. */
        private boolean begins;

        private void does(String what) {
            done.add(what);
        }

        @Override
        public long nanos() {
            return nanos;
        }

        @Override
        public void pause(Hold why) {
            does("leave " + why);
        }

        @Override
        public void resume(Hold why) {
            does("take part " + why);
        }

        @Override
        public void startAgain() {
            does("start again");
        }

        @Override
        public void startServer() {
            does("start server");
        }

        @Override
        public void suspendServer() {
            does("suspend server");
        }

        @Override
        public void resumeServer() {
            does("resume server");
        }

        @Override
        public Server.Contents contents() throws IOException {
            if (broken != null) {
                throw broken;
            }
            if (refused != null) {
                throw refused;
            }
            return new Server.Contents(Position.NONE, tables ? Holds.TABLES : Holds.NOTHING);
        }

        @Override
        public boolean isCopyPending() {
            return copies;
        }

        @Override
        public ServerCopy.Wish wish() {
            return wish;
        }

        @Override
        public boolean forgetWish() {
            does("forget wish");
            wish = null;
            copies = begins;
            return !begins;
        }

        @Override
        public boolean isCopyPreferred() {
            return false;
        }

        @Override
        public boolean hasSameTables() {
            return same;
        }

        @Override
        public void beginWithNothing() {
            does("begin with nothing");
        }

        @Override
        public void handOver() {
            does("hand over");
        }

        @Override
        public long lastOrdered() {
            return 9;
        }

        @Override
        public boolean hasHandedOver() {
            return handedOver;
        }

        @Override
        public CopyRule.Server odd(QuorateException difference) {
            return new CopyRule.Server() {
                @Override
                public boolean hasVoidDefinition() {
                    return odd;
                }

                @Override
                public boolean hasRunAhead() {
                    return false;
                }
            };
        }

        @Override
        public void wantCopy(QuorateException difference) {
            assertThat(difference.code()).isEqualTo(ErrorCode.APPLY_MISMATCH);
            does("want copy");
            copies = true;
        }

        @Override
        public void offer(QuorateException difference) {
            does("offer");
        }

        @Override
        public boolean beginsAmongWaiting() {
            return first;
        }

        @Override
        public boolean keepsAmongWaiting() {
            return keeps;
        }

        @Override
        public void keepOwn() {
            does("keep own");
            copies = true;
        }

        @Override
        public void wantCopyOfWaiting(QuorateException difference) {
            assertThat(difference.difference().mayBeAnywhere())
                    .isEqualTo(difference.code() != ErrorCode.COPY_NOT_GIVEN);
            does("want copy of waiting");
            copies = true;
        }

        @Override
        public String trust(Difference where) {
            does("trust");
            return noTrust;
        }

        @Override
        public List<String> holders(long seqno) {
            assertThat(seqno).isIn(0L, 9L);
            return holders;
        }

        @Override
        public int voters() {
            return voters;
        }

        @Override
        public long choose() {
            return JoinTurns.FOR_EVER;
        }

        @Override
        public long held() {
            return cache.last();
        }

        @Override
        public boolean hasData() {
            return false;
        }

        @Override
        public Lives lives() {
            return lives;
        }

        @Override
        public AdmissionPlan plan() {
            return new AdmissionPlan(N1, List.of(N1, N2), known, 2, "directory");
        }

        @Override
        public void takeOver(Lives life) {
            does("take over " + life.name());
            lives = life;
        }

        @Override
        public void forget() {
            does("forget");
        }

        @Override
        public void decide(AdmissionPlan.Way way) {
            does(way instanceof AdmissionPlan.Joiner joiner ? "to ask as " + joiner.generation() : "to go on");
        }

        @Override
        public void again() {
            does("to ask again");
        }

        @Override
        public Heard askConfigured() {
            return new JoinTurnsTest.Heard(words);
        }

        @Override
        public Heard askMembers() {
            return new JoinTurnsTest.Heard(words);
        }

        @Override
        public void meet(List<Peer> members) {
            does("meet " + members.get(0).name());
        }

        @Override
        public MemberDesk.Attempt askIn() {
            return attempt;
        }

        @Override
        public void beginReceiving(QuorateException missing) {
            does("receive");
        }

        @Override
        public long receive() {
            return receives;
        }

        @Override
        public void breakOffReceiving() {}

        @Override
        public String received() {
            return null;
        }

        @Override
        public boolean beginWithCopy(JoinHost.Heard others) {
            if (noCopy != null) {
                throw noCopy;
            }
            does("begin with copy");
            return copyAllowed;
        }
    }

    @BeforeEach
    void open() {
        cache = WriteSetCache.open(new CacheSettings(directory, INCARNATION, 1 << 20, 1 << 20), 0);
        turns = new JoinTurns(node, history(), events::add);
    }

    private HistoryCheck history() {
        return new HistoryCheck(
                cache,
                (peer, request) -> {
                    throw new IOException(peer + " broke off");
                },
                INCARNATION);
    }

    @AfterEach
    void close() throws IOException {
        cache.close();
    }

    private void turn(int times) throws Exception {
        for (int i = 0; i < times; i++) {
            turns.turn();
        }
    }

    @Test
    void aMemberTakesPartAndThenWorksOnItsServer() throws Exception {
        node.known = List.of(N1, N2);
        turns.begin("n1", null);
        turn(2);
        assertThat(done).containsExactly("to go on", "take part START", "resume server", "start server");
    }

    @Test
    void aNewNodeTakesPartBeforeItIsAMemberAndLeavesItsServerAloneUntilThen() throws Exception {
        turns.begin("n1", null);
        turn(3);
        assertThat(turns.at()).isEqualTo(Step.ASKING_IN);
        assertThat(done)
                .containsExactly("to go on", "to ask as 5", "begin with nothing", "take part START", "take part LEFT");
        node.attempt = new MemberDesk.Attempt(null, true);
        turn(2);
        assertThat(turns.isMember()).isTrue();
        assertThat(done).endsWith("take part LEFT", "take part START", "resume server", "start server");
    }

    /** The loop takes no more news while it is stuck; then a node would count as absent for all others. */
    @Test
    @Timeout(60)
    void saysHowFarItIsWhileItsNewsAreNotTaken() throws Exception {
        CountDownLatch posting = new CountDownLatch(1);
        CountDownLatch taken = new CountDownLatch(1);
        List<NodeEvent> heard = new CopyOnWriteArrayList<>();
        turns = new JoinTurns(node, history(), event -> {
            heard.add(event);
            posting.countDown();
            try {
                taken.await();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        });
        node.known = List.of(N1, N2);
        turns.begin("n1", null);
        Thread first = new Thread(
                () -> turns.missing(new QuorateException(ErrorCode.ORDER_TOO_FAR_BEHIND, "the log begins later")));
        first.start();
        posting.await();
        Thread second = new Thread(() -> turns.takenOut("by somebody"));
        second.start();
        second.join();
        String newest = turns.progress();
        taken.countDown();
        first.join();
        assertThat(heard).hasSizeGreaterThan(1).last().isInstanceOfSatisfying(NodeEvent.JoinChanged.class, last -> {
            assertThat(last.progress()).isEqualTo(newest);
        });
    }

    private void beginNew() {
        turns.begin("n1", null);
        done.clear();
    }

    @Test
    void oneOfTheFirstWhoseServerHasNoTablesBeginsWithACopyOfThoseOfAnother() throws Exception {
        node.words = List.of(Word.isNew(null));
        beginNew();
        turn(1);
        assertThat(turns.at()).isEqualTo(Step.FINDING_PLACE);
        assertThat(turns.progress()).contains("whether their servers have tables");
        assertThat(done).isEmpty();
        node.words = List.of(Word.isNew(Holds.TABLES));
        node.copyAllowed = true;
        node.noCopy = new QuorateException(ErrorCode.DISK_LOW, "the volume is nearly full");
        turn(1);
        assertThat(turns.at()).as("it passes").isEqualTo(Step.FINDING_PLACE);
        assertThat(turns.progress()).contains("nearly full");
        node.noCopy = null;
        turn(2);
        assertThat(turns.at()).isEqualTo(Step.MEMBER);
        assertThat(done)
                .containsExactly("begin with copy", "to go on", "take part START", "resume server", "start server");
    }

    @Test
    void oneOfTheFirstWithoutTablesStaysOutWhereNoCopyIsAllowed() throws Exception {
        node.words = List.of(Word.isNew(Holds.TABLES));
        beginNew();
        turn(1);
        assertFails("quorate.sst.method");
    }

    @Test
    void whoeverNeedsNoCopyBeginsWithWhatItsServerHas() throws Exception {
        node.words = List.of(Word.isNew(Holds.NOTHING));
        beginNew();
        turn(1);
        assertThat(done).as("none has tables").containsExactly("begin with nothing", "to go on");
        node.tables = true;
        turns = new JoinTurns(node, history(), events::add);
        beginNew();
        turn(1);
        assertThat(done).as("this one has, and the other is to get them").containsExactly("to go on");
        node.words = List.of(Word.isNew(Holds.TABLES));
        turns = new JoinTurns(node, history(), events::add);
        beginNew();
        turn(1);
        assertThat(done).as("both have, and n1 begins first").containsExactly("to go on");
    }

    @Test
    void whoComesWithTablesAfterTheOthersHaveBegunWithSomeStaysOutUnlessSomebodySaysTheyAreTheSame() throws Exception {
        node.words = List.of(new Word(FIRST, List.of(N1, N2), Holds.TABLES));
        node.tables = true;
        beginNew();
        turn(1);
        assertFails("with those of n2");
        node.same = true;
        turns = new JoinTurns(node, history(), events::add);
        beginNew();
        turn(1);
        assertThat(done).containsExactly("to go on");
    }

    @Test
    void whoComesWithTablesAfterTheOthersHaveBegunWithoutThemStaysOut() throws Exception {
        node.words = List.of(new Word(FIRST, List.of(N1, N2), Holds.NOTHING));
        node.tables = true;
        beginNew();
        turn(1);
        assertFails("the others have begun without them");
    }

    private void assertFails(String why) {
        assertThat(turns.at()).isEqualTo(Step.FAILED);
        assertThat(events)
                .filteredOn(NodeEvent.Failed.class::isInstance)
                .singleElement()
                .asString()
                .contains("QRT-3010", why);
        assertThat(done).doesNotContain("to go on");
    }

    @Test
    void whoReceivesLeavesTheOrderFirstAndTakesPartBeforeItsServerIsWorkedOn() throws Exception {
        node.known = List.of(N1, N2);
        turns.begin("n1", null);
        turn(1);
        done.clear();
        turns.missing(new QuorateException(ErrorCode.ORDER_TOO_FAR_BEHIND, "the log begins later"));
        turn(2);
        assertThat(done)
                .containsExactly(
                        "receive",
                        "leave TRANSFER",
                        "suspend server",
                        "start server",
                        "take part TRANSFER",
                        "take part START",
                        "resume server",
                        "start server");
    }

    @Test
    void aDamagedCacheKeepsAMemberOutOfTheOrderFromTheBeginning() throws Exception {
        node.known = List.of(N1, N2);
        node.receives = 100;
        turns.begin("n1", new QuorateException(ErrorCode.CACHE_CORRUPT, "a bit has turned"));
        assertThat(turns.turn()).isEqualTo(100);
        assertThat(done).startsWith("to go on", "leave TRANSFER", "receive").doesNotContain("take part START");
    }

    @Test
    void whoIsLeftBehindForgetsBeforeItTakesTheNewLifeOver() throws Exception {
        node.known = List.of(N1, N2);
        turns.begin("n1", null);
        turn(1);
        done.clear();
        turns.leftBehind("n2", "the cluster has begun life 2");
        node.words = List.of(new Word(SECOND));
        node.broken = new EOFException();
        turn(1);
        assertThat(turns.at()).as("its server can't be asked").isEqualTo(Step.LEFT_BEHIND);
        node.broken = null;
        node.words = List.of(new Word(FIRST));
        turn(1);
        assertThat(turns.progress()).contains("nobody of the new life answers");
        assertThat(turns.at()).isEqualTo(Step.LEFT_BEHIND);
        assertThat(done).containsExactly("leave LEFT", "suspend server");
        node.words = List.of(new Word(FIRST), new Word(SECOND));
        turn(1);
        assertThat(done)
                .containsExactly(
                        "leave LEFT", "suspend server", "forget", "take over 2-00000002", "meet n2", "to ask as 5");
        assertThat(turns.at()).isEqualTo(Step.SETTLING_DATA);
    }

    /** Whoever answers at a member's address may say so; a member's key would stop the cluster with one frame. */
    @Test
    void whoIsToldOfANewLifeThatNobodyShowsStays() throws Exception {
        node.known = List.of(N1, N2);
        turns.begin("n1", null);
        turn(1);
        done.clear();
        turns.leftBehind("n2", "the cluster has begun life 2");
        assertThat(turns.turn()).as("it asks again soon").isLessThanOrEqualTo(1000);
        assertThat(turns.at()).isEqualTo(Step.MEMBER);
        node.nanos += Duration.ofSeconds(30).toNanos();
        turn(1);
        node.words = List.of(new Word(SECOND));
        turn(1);
        assertThat(turns.at()).as("what was said is forgotten").isEqualTo(Step.MEMBER);
        assertThat(done).isEmpty();
        turns.leftBehind("n2", "the cluster has begun life 2");
        turn(1);
        assertThat(done).as("somebody shows it").startsWith("leave LEFT");
    }

    @Test
    void whoHasAHistoryOfItsOwnStaysOut() throws Exception {
        node.known = List.of(N1, N2);
        turns.begin("n1", null);
        turns.leftBehind("n2", "the cluster has begun life 2");
        node.words = List.of(new Word(SECOND));
        node.refused = new QuorateException(ErrorCode.COPY_NEEDED, "a history of its own");
        turn(2);
        assertThat(turns.at()).isEqualTo(Step.STAYING_OUT);
        assertThat(turns.turn()).isEqualTo(JoinTurns.FOR_EVER);
        assertThat(done).doesNotContain("forget");
    }

    @Test
    void whoseServerDiffersWantsACopyOnceSomebodyCanGiveOneAndLeavesItsServerAloneUntilThen() throws Exception {
        node.known = List.of(N1, N2);
        node.holders = List.of();
        turns.begin("n1", null);
        turn(1);
        done.clear();
        turns.differs(new QuorateException(ErrorCode.APPLY_MISMATCH, "a row is missing"));
        assertThat(turns.turn()).isPositive();
        assertThat(turns.at()).isEqualTo(Step.AWAITING_COPY);
        assertThat(turns.progress()).contains("QRT-5001", "a row is missing", "none with a server is SYNCED");
        assertThat(done).containsExactly("suspend server", "hand over");
        node.holders = List.of("n2");
        turn(2);
        assertThat(turns.at()).isEqualTo(Step.COPYING);
        assertThat(done).containsExactly("suspend server", "hand over", "suspend server", "want copy", "resume server");
        assertThat(events).noneMatch(NodeEvent.Failed.class::isInstance);
    }

    @Test
    void whereAllServersWaitTheFirstTakesWhatTheOthersHaveIfItIsKnownToBeWrong() throws Exception {
        node.known = List.of(N1, N2);
        node.holders = List.of();
        node.first = true;
        turns.begin("n1", null);
        turn(1);
        done.clear();
        turns.differs(new QuorateException(ErrorCode.APPLY_MISMATCH, "a row is missing"));
        assertThat(turns.turn()).as("the others may be wrong").isPositive();
        assertThat(turns.at()).isEqualTo(Step.AWAITING_COPY);
        node.odd = true;
        node.first = false;
        assertThat(turns.turn()).as("another one is first").isPositive();
        node.first = true;
        turn(2);
        assertThat(turns.at()).isEqualTo(Step.COPYING);
        assertThat(done)
                .containsExactly(
                        "suspend server",
                        "hand over",
                        "offer",
                        "offer",
                        "suspend server",
                        "want copy of waiting",
                        "resume server");
    }

    /** Each of two that begin to differ at one time takes the other for SYNCED still. */
    @Test
    void whoWantsACopyOfServersThatNeedOneByNowWaitsAsTheyDo() throws Exception {
        differs();
        turn(2);
        assertThat(turns.at()).isEqualTo(Step.COPYING);
        TableName table = new TableName("d", "t");
        node.wish = new ServerCopy.Wish(9, Difference.in(Set.of(table)));
        assertThat(turns.turn()).as("one can give it").isEqualTo(1000);
        done.clear();
        node.holders = List.of();
        turn(1);
        assertThat(turns.at()).isEqualTo(Step.AWAITING_COPY);
        assertThat(turns.progress()).contains("QRT-5009");
        assertThat(done).containsExactly("suspend server", "forget wish");
        node.first = true;
        turn(2);
        assertThat(turns.at()).isEqualTo(Step.COPYING);
        assertThat(done)
                .containsSubsequence("hand over", "offer", "suspend server", "want copy of waiting", "resume server");
    }

    @Test
    void aCopyThatHasBegunMeanwhileGoesOn() throws Exception {
        differs();
        turn(2);
        node.wish = new ServerCopy.Wish(9, Difference.in(Set.of(new TableName("d", "t"))));
        node.begins = true;
        node.holders = List.of();
        done.clear();
        turn(1);
        assertThat(turns.at()).isEqualTo(Step.COPYING);
        assertThat(done).containsExactly("suspend server", "forget wish", "resume server");
    }

    @Test
    void whereNobodyCanGiveAnythingTheServerKeepsItsDefinitionsIfItIsItsTurn() throws Exception {
        differs();
        node.holders = List.of();
        node.keeps = true;
        turn(1);
        assertThat(turns.at()).as("the others may be wrong").isEqualTo(Step.AWAITING_COPY);
        node.odd = true;
        done.clear();
        turn(2);
        assertThat(turns.at()).isEqualTo(Step.COPYING);
        assertThat(done).containsExactly("offer", "suspend server", "keep own", "resume server");
    }

    @Test
    void aServerForWhichThereIsNoCopyMayStillBeChosen() throws Exception {
        differs();
        turn(2);
        assertThat(turns.at()).isEqualTo(Step.COPYING);
        done.clear();
        assertThat(turns.trusts(Set.of())).isNull();
        assertThat(done).containsExactly("suspend server", "trust", "resume server");
        assertThat(turns.at()).isEqualTo(Step.COPYING);
    }

    @Test
    void noCopyIsWantedBeforeTheOrderHasWhatTheServerCommitted() throws Exception {
        differs();
        node.handedOver = false;
        turn(1);
        assertThat(turns.progress()).contains("being ordered first");
        assertThat(turns.trusts(Set.of())).contains("being ordered first");
        assertThat(done).doesNotContain("want copy", "trust");
        node.handedOver = true;
        turn(1);
        assertThat(turns.at()).isEqualTo(Step.COPYING);
    }

    @Test
    void whatFewServersHoldIsCopiedOnlyToTheOddOne() throws Exception {
        differs();
        node.voters = 3;
        turn(1);
        assertThat(turns.progress()).contains("only n2 of 3 servers");
        node.odd = true;
        turn(1);
        assertThat(turns.at()).isEqualTo(Step.COPYING);
    }

    @Test
    void aServerThatIsChosenIsLeftAloneBeforeItsTablesAreRight() throws Exception {
        differs();
        node.noTrust = "its tables may be gone";
        node.holders = List.of();
        turn(1);
        done.clear();
        assertThat(turns.trusts(Set.of())).isEqualTo(node.noTrust);
        assertThat(turns.at()).isEqualTo(Step.AWAITING_COPY);
        node.noTrust = null;
        assertThat(turns.trusts(Set.of())).isNull();
        assertThat(turns.at()).isEqualTo(Step.COPYING);
        assertThat(done).startsWith("suspend server", "trust", "suspend server", "trust");
    }

    private void differs() throws Exception {
        node.known = List.of(N1, N2);
        turns.begin("n1", null);
        turn(1);
        turns.differs(new QuorateException(ErrorCode.APPLY_MISMATCH, "a row is missing"));
    }

    @Test
    void whatCantBeMendedFailsTheNode() throws Exception {
        turns.begin("n1", null);
        node.refused = new QuorateException(ErrorCode.COPY_NEEDED, "another history");
        turn(2);
        assertThat(turns.at()).isEqualTo(Step.FAILED);
        assertThat(events).contains(new NodeEvent.Failed(node.refused));
    }

    /** It had taken over life 2, was no member of it yet, and starts again when life 3 has begun. */
    @Test
    void whatADirectoryHoldsThatIsNotNewIsComparedBeforeAnotherLifeIsTakenOver() throws Exception {
        LogPosition at = new LogPosition(1, 1);
        cache.append(List.of(new Certified(1, Verdict.PASSED, 0, 0, at, true, WRITE_SET)));
        node.lives = SECOND;
        node.words = List.of(new Word(THIRD));
        turns.begin("n1", null);
        turn(1);
        assertThat(turns.at()).as("nobody says what it holds").isEqualTo(Step.FINDING_PLACE);
        assertThat(turns.progress()).contains("broke off");
        node.refused = new QuorateException(ErrorCode.COPY_NEEDED, "a history of its own");
        turn(1);
        assertThat(turns.at()).isEqualTo(Step.FAILED);
        assertThat(done).containsExactly("to go on");
    }

    /** An exception without a message was once taken for no exception. */
    @Test
    void whatBreaksOffWithoutAWordIsNoAgreement() throws Exception {
        node.known = List.of(N1, N2);
        node.broken = new EOFException();
        turns.begin("n1", null);
        turns.leftBehind("n2", "the cluster has begun life 2");
        node.words = List.of(new Word(SECOND));
        turn(2);
        assertThat(turns.at()).isEqualTo(Step.LEFT_BEHIND);
        assertThat(done).doesNotContain("forget");
        assertThat(turns.progress()).contains("EOFException");
    }

    @Test
    void aServerThatCantBeComparedIsNotSettled() throws Exception {
        node.broken = new EOFException();
        turns.begin("n1", null);
        turn(2);
        assertThat(turns.at()).isEqualTo(Step.SETTLING_DATA);
    }

    @Test
    void whoWasTakenOutAsksAgainWhenItIsTold() throws Exception {
        node.known = List.of(N2);
        turns.begin("n1", null);
        assertThat(turns.turn()).isEqualTo(JoinTurns.FOR_EVER);
        assertThat(done).containsExactly("to go on", "leave LEFT", "leave LEFT");
        assertThat(turns.join()).isTrue();
        turn(2);
        assertThat(done).endsWith("to ask again", "begin with nothing", "take part START", "take part LEFT");
    }
}
