// SPDX-License-Identifier: Apache-2.0
package io.quorate.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.quorate.core.answer.NodeStatus;
import io.quorate.core.answer.Outcome;
import io.quorate.core.answer.RecoveryAnswer;
import java.util.List;
import org.junit.jupiter.api.Test;
import tools.jackson.core.JacksonException;

class AnswersTest {
    @Test
    void passesOverWhatANewerNodeAdds() {
        assertThat(Answers.read("{\"done\":true,\"refusal\":null,\"took\":{\"millis\":3}}", Outcome.class))
                .isEqualTo(new Outcome(true, null));
    }

    @Test
    void doesWithoutWhatAnOlderNodeDoesNotSay() {
        RecoveryAnswer answer = Answers.read("{\"node\":\"n1\",\"ordered\":null}", RecoveryAnswer.class);
        assertThat(answer).isEqualTo(new RecoveryAnswer("n1", "", "", false, 0, "", null, 0, List.of(), List.of()));
        assertThat(Answers.read("{}", NodeStatus.class).state()).isEmpty();
    }

    @Test
    void refusesWhatIsNoAnswer() {
        assertThatThrownBy(() -> Answers.read("<html>", Outcome.class)).isInstanceOf(JacksonException.class);
    }
}
