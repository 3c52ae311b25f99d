// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.quorate.core.Difference;
import io.quorate.core.ErrorCode;
import io.quorate.core.NodeEvent;
import io.quorate.core.QuorateException;
import io.quorate.node.server.LinkSignals.Task;
import io.quorate.node.thread.Faults;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class SessionFaultsTest {
    private final List<NodeEvent> node = new ArrayList<>();
    private final LinkSignals signals = new LinkSignals();
    private final SessionFaults faults = new SessionFaults(new Faults(node::add, status -> {}), signals);

    @Test
    void whatNobodyForesawHasAnotherSessionBeginABoundedNumberOfTimes() {
        RuntimeException cause = new NumberFormatException("17uuid");
        for (int i = 0; i < 5; i++) {
            signals.begin();
            assertThat(signals.task()).isEqualTo(Task.READ_ONLY);
            if (i % 2 == 0) {
                faults.ended("quorate-acknowledge", cause);
            } else {
                faults.events(node::add).accept(failed(ErrorCode.CAPTURE_FAILED, cause));
            }
            assertThat(signals.task()).isEqualTo(Task.RECONNECT);
            assertThat(signals.lostBecause()).contains("17uuid");
            assertThat(node).isEmpty();
        }
        signals.begin();
        faults.ended("quorate-acknowledge", cause);
        faults.events(node::add).accept(failed(ErrorCode.CAPTURE_FAILED, cause));
        assertThat(signals.task()).isEqualTo(Task.READ_ONLY);
        assertThat(node).hasSize(2).allSatisfy(event -> assertThat(
                        ((NodeEvent.Failed) event).cause().getMessage())
                .contains("17uuid"));
    }

    @Test
    void whatTheServerRefusesAgainAndAgainIsADifference() {
        NodeEvent failed = new NodeEvent.Failed(new QuorateException(
                ErrorCode.APPLY_FAILED, "error 1712: Index t is corrupted", new SQLException(), Difference.at(7)));
        for (int i = 0; i < 5; i++) {
            signals.begin();
            faults.events(node::add).accept(failed);
            assertThat(signals.task()).isEqualTo(Task.RECONNECT);
        }
        faults.events(node::add).accept(failed);
        assertThat(node).singleElement().satisfies(event -> {
            QuorateException cause = ((NodeEvent.Failed) event).cause();
            assertThat(cause.code()).isEqualTo(ErrorCode.APPLY_MISMATCH);
            assertThat(cause.difference()).isEqualTo(Difference.at(7));
        });
    }

    @Test
    void whatHasACodeIsTheNodes() {
        NodeEvent failed = failed(ErrorCode.APPLY_MISMATCH, new QuorateException(ErrorCode.APPLY_MISMATCH, "a row"));
        faults.events(node::add).accept(failed);
        assertThat(node).containsExactly(failed);
        assertThat(signals.task()).isEqualTo(Task.READ_ONLY);
    }

    private static NodeEvent failed(ErrorCode code, RuntimeException cause) {
        return new NodeEvent.Failed(new QuorateException(code, "it ended because of " + cause, cause));
    }
}
