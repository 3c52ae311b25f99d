// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.server;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.quorate.core.ErrorCode;
import io.quorate.core.QuorateException;
import org.junit.jupiter.api.Test;

class LackingRightTest {
    private final QuorateException refusal = new QuorateException(ErrorCode.RIGHT_LACKING, "in a test");

    private final LackingRight lacking = new LackingRight(refusal, "GRANT a", 1_000);

    @Test
    void keepsSessionsFromTheServerUntilSomethingIsGranted() {
        assertThatThrownBy(() -> lacking.requireOther("GRANT a", 2_000)).isSameAs(refusal);
        assertThatThrownBy(() -> lacking.requireOther("GRANT a", 9_000)).isSameAs(refusal);
        assertThatCode(() -> lacking.requireOther("GRANT a, b", 10_000)).doesNotThrowAnyException();
    }

    /** Before anybody has looked again. */
    @Test
    void goesOnAtOnceWithWhatIsGrantedRightAfterTheRefusal() {
        assertThatCode(() -> lacking.requireOther("GRANT a, b", 1_001)).doesNotThrowAnyException();
    }

    @Test
    void letsOneTryAgainAfterAMinuteWhatARoleOrASettingMayHaveGiven() {
        assertThatThrownBy(() -> lacking.requireOther("GRANT a", 60_999)).isSameAs(refusal);
        assertThatCode(() -> lacking.requireOther("GRANT a", 61_000)).doesNotThrowAnyException();
    }
}
