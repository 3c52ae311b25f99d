// SPDX-License-Identifier: Apache-2.0
package io.quorate.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class MajorityCheckTest {
    private static final List<String> THREE = List.of("n1", "n2", "n3");

    @Test
    void aMemberGoesWhereAMajorityOfTheOthersIsThere() {
        assertThat(MajorityCheck.refusal("n3", THREE, Set.of("n1", "n2", "n3"))).isNull();
        assertThat(MajorityCheck.refusal("n3", THREE, Set.of("n1", "n2"))).isNull();
        assertThat(MajorityCheck.refusal("n2", List.of("n1", "n2"), Set.of("n1")))
                .isNull();
    }

    @Test
    void aMemberStaysWhereTheOthersAloneAreNoMajority() {
        assertThat(MajorityCheck.refusal("n3", THREE, Set.of("n1", "n3")))
                .isEqualTo("without n3 NOBODY COULD WRITE: 2 of the 2 members that are left have to take part in the"
                        + " order, and n2 doesn't answer; start it first, or take it out first"
                        + " (--force does it all the same)");
        assertThat(MajorityCheck.refusal("n1", THREE, Set.of("n1", "n3")))
                .as("the leader itself")
                .contains("n2 doesn't answer");
        assertThat(MajorityCheck.refusal("n1", List.of("n1", "n2", "n3", "n4", "n5"), Set.of("n1", "n2", "n3")))
                .contains("3 of the 4", "n4, n5 don't answer");
    }
}
