// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.audit;

import static io.quorate.core.answer.Difference.ABSENT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.quorate.core.ColumnMask;
import io.quorate.node.audit.AuditQuestion.Next;
import io.quorate.node.audit.AuditQuestion.Rows;
import io.quorate.node.audit.AuditQuestion.Settle;
import io.quorate.node.audit.AuditQuestion.SumOf;
import io.quorate.node.audit.AuditQuestion.Tables;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class AuditCourseTest {
    private static final Map<String, String> FIVE = Map.of("a", "1", "b", "2", "c", "3", "d", "4", "e", "5");

    private final AuditedCluster cluster = new AuditedCluster(3);
    private final Keeper keeper = new Keeper();
    private ColumnMask mask = ColumnMask.NONE;

    /** A host that doesn't wait, and that gives up when the course gets nowhere. */
    private static final class Keeper implements AuditHost {
        AuditState state = AuditState.begin("2026-01-01T00:00:00Z", null);
        AuditState saved = state;
        String waits = "";
        Runnable onPause = () -> {};
        int pauses;
        boolean stop;

        @Override
        public AuditState state() {
            return state;
        }

        @Override
        public void change(AuditState next) {
            state = next;
        }

        @Override
        public void save() {
            saved = state;
        }

        @Override
        public void waits(String why) {
            waits = why;
        }

        @Override
        public void pause() throws Stopped {
            assertThat(++pauses).as("waits for ever: " + waits).isLessThan(50);
            onPause.run();
            check();
        }

        @Override
        public void rest(long workedNanos) throws Stopped {
            check();
        }

        @Override
        public void check() throws Stopped {
            if (stop) {
                throw new Stopped();
            }
        }
    }

    @AfterEach
    void end() {
        cluster.close();
    }

    private AuditState run() throws Exception {
        new AuditCourse("n1", cluster.nodes, mask, keeper).run();
        return keeper.state;
    }

    @Test
    void serversThatAreAlikeAgreeByTheirSums() throws Exception {
        cluster.table("s.t", FIVE);
        cluster.table("s.u", Map.of());
        AuditState state = run();
        assertThat(state.found()).isZero();
        assertThat(state.left()).isEmpty();
        assertThat(state.rows()).isEqualTo(5);
        assertThat(state.rowsToDo()).isEqualTo(5);
        assertThat(state.tables()).isEqualTo(2);
        assertThat(state.tablesDone()).isEqualTo(2);
        assertThat(state.nodes()).containsExactly("n1", "n2", "n3");
        assertThat(cluster.asked("n2", SumOf.class)).isEqualTo(4);
        assertThat(cluster.asked("n2", Rows.class)).isZero();
        assertThat(keeper.pauses).isZero();
    }

    @Test
    void ofAStretchWhoseSumsDifferTheRowsAreRead() throws Exception {
        cluster.table("s.t", FIVE);
        cluster.node(3).tables.get("s.t").put("c", "odd");
        cluster.node(2).tables.get("s.t").remove("d");
        AuditState state = run();
        assertThat(state.found()).isEqualTo(2);
        assertThat(state.differences())
                .containsExactly(
                        LastingDifferences.ofRow(
                                "s.t",
                                "c",
                                Map.of("n1", "3", "n2", "3", "n3", "odd"),
                                Map.of("n1", Map.of("v", "3"), "n2", Map.of("v", "3"), "n3", Map.of("v", "odd"))),
                        LastingDifferences.ofRow(
                                "s.t",
                                "d",
                                Map.of("n1", "4", "n2", ABSENT, "n3", "4"),
                                Map.of("n1", Map.of("v", "4"), "n3", Map.of("v", "4"))));
        assertThat(state.differences().get(0).right()).isEqualTo("3");
        assertThat(state.rows()).isEqualTo(5);
        assertThat(cluster.asked("n1", Rows.class)).isEqualTo(LastingDifferences.LOOKS);
        assertThat(keeper.saved.found()).isEqualTo(2);
    }

    @Test
    void rowsThatAreOnTheirWayAreNoDifference() throws Exception {
        cluster.table("s.t", FIVE);
        cluster.node(2).tables.get("s.t").remove("a");
        cluster.onQuestion((node, question) -> {
            if (node.equals("n1") && question instanceof Settle && cluster.asked("n1", Settle.class) == 2) {
                cluster.node(2).tables.get("s.t").put("a", "1");
            }
        });
        assertThat(run().found()).isZero();
        assertThat(cluster.asked("n2", Rows.class)).isEqualTo(2);
    }

    @Test
    void aRowThatIsWrittenAgainAndAgainIsNoDifference() throws Exception {
        cluster.table("s.t", FIVE);
        cluster.node(2).tables.get("s.t").put("a", "0");
        cluster.onQuestion((node, question) -> {
            if (node.equals("n2") && question instanceof Settle) {
                cluster.node(2).tables.get("s.t").merge("a", "x", String::concat);
            }
        });
        assertThat(run().found()).isZero();
    }

    @Test
    void rowsAreReadWhereAllIsThatAnyServerHadBefore() throws Exception {
        cluster.table("s.t", FIVE);
        cluster.node(3).tables.get("s.t").put("a", "odd");
        cluster.node(1).settled = 10;
        cluster.node(2).settled = 30;
        cluster.node(3).settled = 20;
        assertThat(run().found()).isOne();
        assertThat(cluster.asked)
                .filteredOn(each -> each.question() instanceof Rows)
                .hasSize(9)
                .allMatch(each -> ((Rows) each.question()).after() == 30);
    }

    @Test
    void tablesWithOtherDefinitionsAreADifferenceAndLeftOut() throws Exception {
        cluster.table("s.t", FIVE);
        cluster.table("s.u", FIVE);
        cluster.node(2).table("s.u", "other", FIVE);
        AuditState state = run();
        assertThat(state.differences())
                .containsExactly(LastingDifferences.ofDefinitions(
                        "s.u", Map.of("n1", "definition", "n2", "other", "n3", "definition")));
        assertThat(state.left()).containsOnlyKeys("s.u");
        assertThat(state.tables()).isOne();
        assertThat(cluster.asked)
                .filteredOn(each -> each.question() instanceof SumOf sum
                        && sum.table().name().equals("u"))
                .isEmpty();
    }

    @Test
    void ddlThatIsOnItsWayIsNoDifference() throws Exception {
        cluster.table("s.t", FIVE);
        cluster.node(3).definitions.put("s.t", "old");
        cluster.onQuestion((node, question) -> {
            if (node.equals("n3") && question instanceof Settle) {
                cluster.node(3).definitions.put("s.t", "definition");
            }
        });
        AuditState state = run();
        assertThat(state.found()).isZero();
        assertThat(state.rows()).isEqualTo(5);
    }

    @Test
    void aNodeThatGoesAwayHidesNoDifferenceOfTheOthersDefinitions() throws Exception {
        cluster.table("s.t", FIVE);
        cluster.node(2).definitions.put("s.t", "other");
        cluster.onQuestion((node, question) -> {
            if (node.equals("n1") && question instanceof Tables && cluster.asked("n1", Tables.class) == 2) {
                cluster.node(3).synced = false;
            }
        });
        AuditState state = run();
        assertThat(state.differences())
                .containsExactly(LastingDifferences.ofDefinitions("s.t", Map.of("n1", "definition", "n2", "other")));
    }

    @Test
    void aNodeThatGoesAwayWithADifferenceIsNotTakenForCompared() throws Exception {
        cluster.table("s.t", Map.of("a", "1"));
        cluster.node(3).tables.get("s.t").put("a", "odd");
        cluster.onQuestion((node, question) -> {
            if (node.equals("n3") && question instanceof SumOf) {
                cluster.node(3).synced = false;
            }
        });
        AuditState state = run();
        assertThat(state.found()).isZero();
        assertThat(state.nodes()).containsExactly("n1", "n2");
        assertThat(state.rows()).isOne();
    }

    @Test
    void aNodeThatDoesNotAnswerIsLeftOutAndCounted() throws Exception {
        cluster.table("s.t", FIVE);
        cluster.node(3).tables.get("s.t").put("a", "odd");
        cluster.node(3).refuses = question -> true;
        AuditState state = run();
        assertThat(state.found()).isZero();
        assertThat(state.nodes()).containsExactly("n1", "n2");
        assertThat(state.missed()).isEqualTo(Map.of("n3", 3L));
    }

    @Test
    void aStretchThatCannotBeComparedIsToldAndTheOthersAreCompared() throws Exception {
        cluster.table("s.t", FIVE);
        cluster.node(3).tables.get("s.t").put("a", "odd");
        cluster.node(2).refuses = question -> question instanceof Rows;
        AuditState state = run();
        assertThat(keeper.pauses).isEqualTo(AuditCourse.ATTEMPTS);
        assertThat(state.left()).isEqualTo(Map.of("s.t", "a stretch after null could not be compared row by row"));
        assertThat(state.found()).isZero();
        assertThat(state.rows()).isEqualTo(3);
    }

    @Test
    void itWaitsForASecondServer() throws Exception {
        cluster.table("s.t", FIVE);
        cluster.node(2).synced = false;
        cluster.node(3).synced = false;
        keeper.onPause = () -> {
            assertThat(keeper.waits).isEqualTo("no other node with a server is SYNCED");
            cluster.node(3).synced = keeper.pauses == 3;
        };
        AuditState state = run();
        assertThat(state.nodes()).containsExactly("n1", "n3");
        assertThat(keeper.waits).isEmpty();
    }

    @Test
    void itWaitsUntilThisNodesServerCanBeCompared() throws Exception {
        cluster.table("s.t", FIVE);
        cluster.node(1).refuses = question -> !(question instanceof Tables);
        keeper.onPause = () -> {
            assertThat(keeper.waits).contains("n1 can't");
            if (keeper.pauses == 3) {
                cluster.node(1).refuses = question -> false;
            }
        };
        assertThat(run().rows()).isEqualTo(5);
    }

    @Test
    void itEndsWhereItIsStoppedAndGoesOnFromThere() throws Exception {
        cluster.table("s.t", FIVE);
        cluster.table("s.u", FIVE);
        cluster.table("s.v", FIVE);
        cluster.onQuestion((node, question) -> keeper.stop |= node.equals("n1")
                && question instanceof SumOf sum
                && sum.table().name().equals("u")
                && sum.stretch().from() != null);
        assertThatThrownBy(this::run).isInstanceOf(AuditHost.Stopped.class);
        assertThat(keeper.state.table()).isEqualTo("s.u");
        assertThat(keeper.state.from()).isEqualTo("d");
        assertThat(keeper.state.rows()).isEqualTo(9);

        cluster.asked.clear();
        Keeper again = new Keeper();
        again.state = keeper.state;
        new AuditCourse("n1", cluster.nodes, mask, again).run();
        assertThat(again.state.rows()).isEqualTo(15);
        assertThat(again.state.tablesDone()).isEqualTo(3);
        assertThat(cluster.asked)
                .filteredOn(each -> each.node().equals("n1") && each.question() instanceof SumOf)
                .extracting(each -> ((SumOf) each.question()).table().name())
                .containsExactly("u", "v", "v", "v");
    }

    @Test
    void oneTableAloneIsAuditedWhenNamed() throws Exception {
        cluster.table("s.t", FIVE);
        cluster.table("s.u", FIVE);
        cluster.node(3).table("s.t", "other", FIVE);
        keeper.state = AuditState.begin("2026-01-01T00:00:00Z", "s.u");
        AuditState state = run();
        assertThat(state.found()).isZero();
        assertThat(state.left()).isEmpty();
        assertThat(state.rows()).isEqualTo(5);
    }

    @Test
    void aTableThatNoNodeHasIsTold() throws Exception {
        cluster.table("s.t", FIVE);
        keeper.state = AuditState.begin("2026-01-01T00:00:00Z", "s.u");
        AuditState state = run();
        assertThat(state.left()).isEqualTo(Map.of("s.u", "no node has it"));
        assertThat(state.rows()).isZero();
    }

    @Test
    void aTableThatCannotBeReadIsToldWithItsReason() throws Exception {
        cluster.table("s.t", FIVE);
        cluster.node(1).unreadable = "it has no usable primary key";
        AuditState state = run();
        assertThat(state.left()).isEqualTo(Map.of("s.t", "it has no usable primary key"));
        assertThat(cluster.asked("n2", SumOf.class)).isZero();
        assertThat(cluster.asked("n1", Next.class)).isEqualTo(2);
    }

    @Test
    void valuesOfMaskedColumnsAreNotShown() throws Exception {
        cluster.table("s.t", FIVE);
        cluster.node(3).tables.get("s.t").put("a", "odd");
        mask = new ColumnMask(List.of("s.*.v"));
        assertThat(run().differences().get(0).rows())
                .isEqualTo(Map.of(
                        "n1", Map.of("v", ColumnMask.MASKED),
                        "n2", Map.of("v", ColumnMask.MASKED),
                        "n3", Map.of("v", ColumnMask.MASKED)));
    }
}
