// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.audit;

import static io.quorate.core.answer.Difference.ABSENT;
import static org.assertj.core.api.Assertions.assertThat;

import io.quorate.core.answer.Difference;
import io.quorate.node.audit.AuditQuestion.Repair;
import io.quorate.node.audit.AuditQuestion.TableName;
import io.quorate.node.audit.AuditQuestion.Wrong;
import io.quorate.node.audit.RepairPlan.Choice;
import io.quorate.node.audit.RepairPlan.Step;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

class RepairPlanTest {
    private static final TableName TABLE = new TableName("s", "t");
    private static final Set<String> ALL = Set.of("n1", "n2", "n3");

    private final RepairPlan byMajority = new RepairPlan(null, true, ALL);

    private static Difference row(String identity, String n1, String n2, String n3) {
        return LastingDifferences.ofRow("s.t", identity, new TreeMap<>(Map.of("n1", n1, "n2", n2, "n3", n3)), Map.of());
    }

    private static Choice asked(Step... steps) {
        return new Choice(null, List.of(steps));
    }

    private static String told(RepairPlan plan, Difference d) {
        Choice choice = plan.about(d);
        assertThat(choice.repairs()).isEmpty();
        return choice.outcome();
    }

    @Test
    void theOddNodeTakesTheRowOfTheMajority() {
        assertThat(byMajority.about(row("7", "x", "y", "x")))
                .isEqualTo(asked(new Step("n2", new Repair(TABLE, new Wrong("7", "y", "x"), "n1", true))));
    }

    @Test
    void aRowThatIsMissingOrTooManyIsNoVersion() {
        assertThat(byMajority.about(row("7", "x", "x", ABSENT)))
                .isEqualTo(asked(new Step("n3", new Repair(TABLE, new Wrong("7", null, "x"), "n1", true))));
        assertThat(byMajority.about(row("7", "x", ABSENT, ABSENT)))
                .isEqualTo(asked(new Step("n1", new Repair(TABLE, new Wrong("7", "x", null), "n2", true))));
    }

    @Test
    void withoutAMajorityOneIsToBeTrusted() {
        Difference d = row("7", "x", "y", "z");
        assertThat(told(byMajority, d)).startsWith("left alone: no majority");
        assertThat(new RepairPlan("n3", false, ALL).about(d))
                .isEqualTo(asked(
                        new Step("n1", new Repair(TABLE, new Wrong("7", "x", "z"), "n3", false)),
                        new Step("n2", new Repair(TABLE, new Wrong("7", "y", "z"), "n3", false))));
    }

    @Test
    void whoIsTrustedIsRightAgainstTheMajorityToo() {
        assertThat(new RepairPlan("n2", true, ALL)
                        .about(row("7", "x", "y", "x"))
                        .repairs())
                .extracting(Step::node)
                .containsExactly("n1", "n3");
    }

    @Test
    void whoWasNotComparedCannotBeTrusted() {
        assertThat(told(new RepairPlan("n4", true, ALL), row("7", "x", "x", "y")))
                .isEqualTo("left alone: n4 was not compared");
    }

    @Test
    void theRowComesFromANodeThatCanBeAsked() {
        RepairPlan plan = new RepairPlan(null, true, Set.of("n2", "n3"));
        assertThat(plan.about(row("7", "x", "x", "y")).repairs().get(0).repair().trusted())
                .isEqualTo("n2");
        RepairPlan none = new RepairPlan(null, true, Set.of("n3"));
        assertThat(none.about(row("7", "x", "x", "y")).repairs().get(0).repair().trusted())
                .isEqualTo("n1");
    }

    @Test
    void definitionsAreChangedByHand() {
        Difference d = LastingDifferences.ofDefinitions("s.t", Map.of("n1", "x", "n2", "x", "n3", "y"));
        assertThat(told(byMajority, d)).startsWith("left alone: the table's definition differs");
    }

    @Test
    void whatWasRepairedIsNotRepairedAgain() {
        Difference d = row("7", "x", "x", "y");
        assertThat(told(byMajority, d.outcome("n3 repaired: replaced"))).isEqualTo("n3 repaired: replaced");
        assertThat(byMajority
                        .about(d.outcome("n3 repaired: replaced; n2 left alone: it can't be asked"))
                        .repairs())
                .hasSize(1);
        assertThat(byMajority.about(d.outcome("n3 would be replaced")).repairs())
                .hasSize(1);
    }

    @Test
    void rowsThatAreTooManyGoBeforeOthersCome() {
        Difference missing = row("1", "x", "x", ABSENT);
        Difference tooMany = row("2", "x", ABSENT, ABSENT);
        Difference wrong = row("3", "x", "x", "y");
        Difference undecided = row("4", "x", "y", "z");
        assertThat(byMajority.inOrder(List.of(missing, tooMany, wrong, undecided)))
                .containsExactly(tooMany, missing, wrong, undecided);
        assertThat(new RepairPlan("n3", true, ALL).inOrder(List.of(tooMany, wrong, missing)))
                .containsExactly(tooMany, missing, wrong);
    }
}
