// SPDX-License-Identifier: Apache-2.0
package io.quorate.applier;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.quorate.applier.TailCourse.Step;
import io.quorate.core.ErrorCode;
import io.quorate.core.GtidSet;
import io.quorate.core.QuorateException;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class TailCourseTest {
    private static final UUID SERVER = new UUID(1, 1);
    private static final TakenBack TAKEN = new TakenBack(7, 12);

    private final Server server = new Server();
    private final Order order = new Order();
    private ServerLife kept = new ServerLife(1, true, new GtidSet(), new GtidSet(), TakenBack.NONE);
    private final List<String> did = new ArrayList<>();

    private static GtidSet numbers(long from, long to) {
        return new GtidSet().add(SERVER, from, to);
    }

    /** As a server would answer; what it is told happens. */
    private final class Server implements TailCourse.Server {
        private GtidSet executed = numbers(1, 10);
        private GtidSet purged = new GtidSet();
        private boolean binlog = true;
        private boolean redo = true;
        private boolean breaks;
        private TakenBack repaired = TAKEN;

        @Override
        public GtidSet executed() {
            return new GtidSet().addAll(executed);
        }

        @Override
        public GtidSet purged() {
            return new GtidSet().addAll(purged);
        }

        @Override
        public boolean forcesBinlog() {
            return binlog;
        }

        @Override
        public boolean forcesRedoLog() {
            return redo;
        }

        @Override
        public void reserve(GtidSet gtids) throws SQLException {
            if (breaks) {
                throw new SQLException("gone");
            }
            did.add("reserve");
            executed.addAll(gtids);
            purged.addAll(gtids);
        }

        @Override
        public TakenBack repair(long ordered, GtidSet executedNow, GtidSet reserved) {
            did.add("repair from " + ordered);
            return repaired;
        }
    }

    private final class Order implements TailCourse.Order {
        private boolean majority = true;
        private int probed = -1;
        private boolean known = true;
        private long last = 10;

        @Override
        public boolean hasMajority() {
            return majority;
        }

        @Override
        public void probe(int nonce) {
            did.add("probe " + nonce);
        }

        @Override
        public boolean isProbed(int nonce) {
            return probed == nonce;
        }

        @Override
        public boolean isKnown() {
            return known;
        }

        @Override
        public long last() {
            return last;
        }
    }

    private TailCourse course(long started, int nonce) {
        return new TailCourse(
                SERVER,
                0,
                kept,
                started,
                order,
                life -> {
                    did.add("keep");
                    kept = life;
                },
                nonce);
    }

    /** Of a server that was started anew, and whose probe has come through. */
    private TailCourse current() {
        order.probed = 5;
        return course(2, 5);
    }

    @Test
    void aServerInTheLifeThatWasComparedIsReadyAtOnce() throws Exception {
        TailCourse course = course(1, 5);
        assertThat(course.at()).isEqualTo(Step.DONE);
        assertThat(course.step(server, 0)).isEqualTo(Step.DONE);
        assertThat(did).isEmpty();
    }

    @Test
    void withoutAMajorityNothingIsAskedOrDone() throws Exception {
        order.majority = false;
        assertThat(course(2, 5).step(server, 0)).isEqualTo(Step.PROBE);
        assertThat(did).isEmpty();
    }

    @Test
    void aProbeIsSentAgainWhenItDoesNotComeThrough() throws Exception {
        TailCourse course = course(2, 5);
        for (long millis : new long[] {-40_000, -39_500, -39_000, -38_999, -38_000, -37_998}) {
            assertThat(course.step(server, millis)).isEqualTo(Step.PROBE);
        }
        assertThat(did).containsExactly("probe 5", "probe 5", "probe 5");
    }

    @Test
    void aProbeOfAnEarlierCourseDoesNotCount() throws Exception {
        order.probed = 4;
        assertThat(course(2, 5).step(server, 0)).isEqualTo(Step.PROBE);
    }

    @ParameterizedTest
    @CsvSource({
        // forces binlog, redo log, forced them before; last ordered
        "true,  true,  true,  10, DONE",
        "true,  true,  true,   4, DONE",
        "true,  true,  true,  11, CAPTURE",
        "true,  true,  false, 10, CAPTURE",
        "false, true,  true,  10, CAPTURE",
        "true,  false, true,  10, CAPTURE",
        "false, false, false, 10, CAPTURE",
    })
    void onlyAServerThatForcedItsLogsAndLacksNothingIsAsItWasLeft(
            boolean binlog, boolean redo, boolean before, long ordered, Step expected) throws Exception {
        kept = new ServerLife(1, before, new GtidSet(), new GtidSet(), TakenBack.NONE);
        server.binlog = binlog;
        server.redo = redo;
        order.last = ordered;
        server.repaired = null;
        assertThat(current().step(server, 0)).isEqualTo(expected);
        assertThat(did.contains("reserve")).isEqualTo(expected == Step.CAPTURE);
    }

    @Test
    void whatANewNodeFindsOnItsServerIsNotALoss() throws Exception {
        kept = ServerLife.NONE;
        order.known = false;
        order.last = 0;
        server.binlog = false;
        assertThat(current().step(server, 0)).isEqualTo(Step.DONE);
        assertThat(kept.started()).isEqualTo(2);
        assertThat(kept.durable()).isFalse();
    }

    @Test
    void aDirectoryWithoutANoteBesideAServerThatTheOrderKnowsIsNoNewNode() throws Exception {
        kept = ServerLife.NONE;
        server.binlog = false;
        server.repaired = null;
        assertThat(current().step(server, 0)).isEqualTo(Step.CAPTURE);
    }

    @Test
    void allThatMayBeLostIsReservedAndNotedBefore() throws Exception {
        server.redo = false;
        server.executed = numbers(1, 10);
        order.last = 13;
        server.repaired = null;
        current().step(server, 0);
        assertThat(did).startsWith("probe 5", "keep", "reserve");
        assertThat(kept.started()).as("not looked at yet").isEqualTo(1);
        // Those that are ordered and missing, and 10,000 more.
        assertThat(kept.reserving()).isEqualTo(numbers(11, 10_013));
        assertThat(server.purged).isEqualTo(numbers(11, 10_013));
    }

    @Test
    void whatTheServerWasNotToldAfterAllIsNotTakenForReserved() throws Exception {
        server.redo = false;
        server.breaks = true;
        assertThatThrownBy(() -> current().step(server, 0)).isInstanceOf(SQLException.class);
        assertThat(kept.reserving().isEmpty()).isFalse();
        assertThat(kept.reservedOf(server.purged()).isEmpty()).isTrue();
        server.breaks = false;
        TailCourse again = current();
        assertThat(again.step(server, 0)).isEqualTo(Step.DONE);
        assertThat(again.reserved(server)).isEqualTo(numbers(11, 10_010));
    }

    @Test
    void rowsThatTheBinlogHasLostBeforeTheyWereOrderedAreRefusedForGood() {
        server.binlog = false;
        server.executed = numbers(1, 12);
        server.purged = numbers(11, 12);
        for (int attempt = 0; attempt < 2; attempt++) {
            assertThatThrownBy(() -> current().step(server, 0))
                    .isInstanceOf(QuorateException.class)
                    .extracting(e -> ((QuorateException) e).code())
                    .isEqualTo(ErrorCode.BINLOG_SHORT);
            assertThat(did).as("nothing but asking").containsOnly("probe 5");
        }
    }

    @Test
    void whatWasPurgedOfABinlogThatIsForcedIsNoLoss() throws Exception {
        server.redo = false;
        server.executed = numbers(1, 12);
        server.purged = numbers(1, 12);
        order.last = 12;
        assertThat(current().step(server, 0)).isEqualTo(Step.DONE);
    }

    @Test
    void nothingIsTakenBackBeforeTheOrderHasWhatTheBinlogHas() throws Exception {
        server.redo = false;
        order.last = 8;
        TailCourse course = current();
        assertThat(course.step(server, 0)).isEqualTo(Step.CAPTURE);
        order.last = 9;
        assertThat(course.step(server, 0)).isEqualTo(Step.CAPTURE);
        order.last = 10;
        assertThat(course.step(server, 0)).isEqualTo(Step.DONE);
        assertThat(did).endsWith("repair from 10", "keep");
        assertThat(kept).isEqualTo(new ServerLife(2, false, numbers(11, 10_010), new GtidSet(), TAKEN));
        assertThat(course.takenBack()).isEqualTo(TAKEN);
    }

    @Test
    void whatIsCommittedMeanwhileIsOrderedFirst() throws Exception {
        server.redo = false;
        order.last = 8;
        TailCourse course = current();
        course.step(server, 0);
        server.executed.addAll(numbers(10_011, 10_011));
        order.last = 10;
        assertThat(course.step(server, 0)).isEqualTo(Step.CAPTURE);
        assertThat(did).doesNotContain("repair from 10");
        order.last = 10_011;
        server.repaired = null;
        assertThat(course.step(server, 0)).as("committed while it was repaired").isEqualTo(Step.CAPTURE);
        server.repaired = TAKEN;
        assertThat(course.step(server, 0)).isEqualTo(Step.DONE);
        assertThat(did).endsWith("repair from 10011", "repair from 10011", "keep");
    }

    @Test
    void whatWasOrderedWhenSomethingWasTakenBackIsToldFromTheServerAlone() throws Exception {
        server.executed = numbers(1, 30);
        server.purged = numbers(11, 12);
        kept = new ServerLife(1, false, numbers(11, 12), new GtidSet(), new TakenBack(7, 12));
        assertThat(course(1, 5).orderedThen(server)).isEqualTo(10);
        kept = new ServerLife(1, false, numbers(11, 12), new GtidSet(), TakenBack.NONE);
        assertThat(course(1, 5).orderedThen(server)).isZero();
    }

    @Test
    void aServerThatStopsForcingItsLogsIsNoted() throws Exception {
        TailCourse course = course(1, 5);
        course.compareSettings(server);
        assertThat(did).isEmpty();
        server.redo = false;
        course.compareSettings(server);
        course.compareSettings(server);
        assertThat(did).containsExactly("keep");
        assertThat(kept.durable()).isFalse();
    }

    @Test
    void itsStepsFollowOneAnotherAsTheTableSays() {
        assertThat(Step.NEXT).hasToString("""
                PROBE: COMPARE
                COMPARE: CAPTURE DONE
                CAPTURE: REPAIR
                REPAIR: CAPTURE DONE
                DONE:
                """);
    }
}
