// SPDX-License-Identifier: Apache-2.0
package io.quorate.core.answer;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.api.Test;

class MixedVersionsTest {
    @Test
    void nothingIsSaidOfServersOfOneSeries() {
        assertThat(MixedVersions.advice(Map.of())).isEmpty();
        assertThat(MixedVersions.advice(Map.of("n1", "8.0.33", "n2", "8.0.46-debug", "n3", "8.0")))
                .isEmpty();
        assertThat(MixedVersions.advice(Map.of("n1", "8.0.33", "n2", "", "n3", "unknown")))
                .isEmpty();
    }

    @Test
    void theOldestAndTheNewestSayWhatNotToUse() {
        assertThat(MixedVersions.advice(Map.of("n3", "9.7.4-1", "n2", "8.0.33", "n1", "8.0.33")))
                .singleElement()
                .asString()
                .startsWith("The servers are of different series, 8.0 (n1, n2), 9.7 (n3). Until all are of 9.7, use")
                .contains("VECTOR", "SET_ANY_DEFINER", "SET_USER_ID", "mysql_native_password");
    }

    @Test
    void onlyWhatIsBetweenThemIsNamed() {
        assertThat(MixedVersions.advice(Map.of("n1", "8.4.6", "n2", "9.7.4")))
                .singleElement()
                .asString()
                .contains("VECTOR", "mysql_native_password")
                .doesNotContain("SET_USER_ID");
    }

    @Test
    void aSeriesThatNobodyHasSeenIsTheNewest() {
        assertThat(MixedVersions.advice(Map.of("n1", "26.10.0", "n2", "9.7.4")))
                .containsExactly(
                        "The servers are of different series, 9.7 (n2), 26.10 (n1). Until all are of 26.10, use"
                                + " nothing that 9.7 doesn't know, and nothing that 26.10 has no more. Full copies"
                                + " between them go by stream, not by CLONE");
    }
}
