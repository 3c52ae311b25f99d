// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Set;
import org.junit.jupiter.api.Test;

class AccountAdviceTest {
    @Test
    void hasNothingToSayOfAnAccountThatMayDoWhatItNeeds() {
        assertThat(AccountAdvice.findings("quorate@127.0.0.1", Set.of("SELECT", "PROCESS", "CONNECTION_ADMIN")))
                .isEmpty();
    }

    @Test
    void namesRightsThatNothingNeedsAndHowToTakeThem() {
        assertThat(AccountAdvice.findings("q@h", Set.of("SELECT", "SUPER", "FILE")))
                .singleElement()
                .satisfies(finding -> assertThat(finding.toString())
                        .contains("has FILE, SUPER, which", "REVOKE FILE, SUPER ON *.* FROM 'q'@'h';")
                        .doesNotContain("GRANT ALL"));
        assertThat(AccountAdvice.findings("q@h", Set.of("SHUTDOWN", "SUPER", "FILE")))
                .singleElement()
                .satisfies(finding -> assertThat(finding.what()).contains("GRANT ALL"));
    }

    @Test
    void namesAnAccountThatAnybodyMayTry() {
        assertThat(AccountAdvice.findings("q@%", Set.of())).singleElement().satisfies(finding -> assertThat(
                        finding.toString())
                .contains("any host", "RENAME USER 'q'@'%' TO 'q'@'127.0.0.1';"));
    }
}
