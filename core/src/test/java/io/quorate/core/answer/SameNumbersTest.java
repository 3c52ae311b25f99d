// SPDX-License-Identifier: Apache-2.0
package io.quorate.core.answer;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.api.Test;

class SameNumbersTest {
    @Test
    void namesThoseThatGiveOutTheSame() {
        assertThat(SameNumbers.advice(Map.of("n1", "1/1", "n2", "1/1", "n3", "1/1")))
                .singleElement()
                .asString()
                .startsWith("The servers of n1, n2, n3 give out the same AUTO_INCREMENT numbers");
        assertThat(SameNumbers.advice(Map.of("n1", "9/1", "n2", "9/2", "n3", "9/3", "n4", "9/3")))
                .singleElement()
                .asString()
                .contains("n3, n4 give out");
        // 4, 10, 16, and so on.
        assertThat(SameNumbers.advice(Map.of("n1", "2/2", "n2", "3/1"))).hasSize(1);
        assertThat(SameNumbers.advice(Map.of("n1", "3/1", "n2", "3/7")))
                .as("7 is ignored")
                .hasSize(1);
    }

    @Test
    void saysNothingWhereNoTwoMeet() {
        assertThat(SameNumbers.advice(Map.of("n1", "3/1", "n2", "3/2", "n3", "3/3")))
                .isEmpty();
        assertThat(SameNumbers.advice(Map.of("n1", "2/1", "n2", "4/2", "n3", "4/4")))
                .isEmpty();
        assertThat(SameNumbers.advice(Map.of("n1", "1/1"))).isEmpty();
    }
}
