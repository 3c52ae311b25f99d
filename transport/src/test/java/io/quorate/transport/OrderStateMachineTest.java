// SPDX-License-Identifier: Apache-2.0
package io.quorate.transport;

import static org.assertj.core.api.Assertions.assertThat;

import io.quorate.core.Entry;
import io.quorate.core.ErrorCode;
import io.quorate.core.LogPosition;
import io.quorate.core.QuorateException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.apache.ratis.proto.RaftProtos.LogEntryProto;
import org.apache.ratis.proto.RaftProtos.StateMachineLogEntryProto;
import org.apache.ratis.server.protocol.TermIndex;
import org.apache.ratis.server.raftlog.RaftLog;
import org.apache.ratis.statemachine.TransactionContext;
import org.apache.ratis.thirdparty.com.google.protobuf.ByteString;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class OrderStateMachineTest {
    @TempDir
    Path spill;

    private final Recorder listener = new Recorder();
    private OrderStateMachine machine;
    private long index;

    @BeforeEach
    void start() {
        machine = new OrderStateMachine(listener, LogPosition.START, spill, 1, new OrderStateMachine.Events() {
            @Override
            public void quorumMayHaveChanged() {
                // Nobody asks.
            }

            @Override
            public void applied() {
                // Nobody waits.
            }

            @Override
            public void failed(QuorateException cause) {
                listener.orderFailed(cause);
            }
        });
        machine.purgeOnly(() -> Long.MAX_VALUE);
    }

    @AfterEach
    void close() {
        machine.close();
        assertThat(listener.failures).isEmpty();
    }

    private void apply(String submitter, long sequence, int piece, int pieces, String body) {
        byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
        byte[] frame = EntryFrame.encode(
                submitter.getBytes(StandardCharsets.UTF_8),
                1,
                sequence,
                piece,
                pieces,
                Entry.of(bytes),
                0,
                bytes.length);
        LogEntryProto entry = LogEntryProto.newBuilder()
                .setTerm(1)
                .setIndex(index++)
                .setStateMachineLogEntry(StateMachineLogEntryProto.newBuilder().setLogData(ByteString.copyFrom(frame)))
                .build();
        machine.applyTransaction(TransactionContext.newBuilder()
                        .setStateMachine(machine)
                        .setLogEntry(entry)
                        .build())
                .join();
    }

    /** A restart from such a checkpoint would hand out entries again to a state that has had them. */
    @Test
    void takesNoCheckpointWhilePiecesOfALargeEntryAreOpen() {
        apply("n1", 0, 0, 1, "whole");
        assertThat(machine.takeSnapshot()).isZero();
        apply("n1", 1, 0, 2, "first half, ");
        apply("n2", 0, 0, 1, "between");
        listener.checkpoint = null;
        assertThat(machine.takeSnapshot()).isEqualTo(RaftLog.INVALID_LOG_INDEX);
        assertThat(listener.checkpoint).as("was not asked for one").isNull();
        apply("n1", 1, 1, 2, "second half");
        assertThat(machine.takeSnapshot()).isEqualTo(3);
        assertThat(listener.entries()).containsExactly("whole", "between", "first half, second half");
    }

    /** It has what comes next, but not the entry before; that it asks once is usual. */
    @Test
    void isTooFarBehindWhenTheLeaderGoesOnAskingWithoutSendingWhatIsNext() {
        apply("n1", 0, 0, 1, "first");
        for (int i = 0; i < 10; i++) {
            machine.notifyInstallSnapshotFromLeader(null, TermIndex.valueOf(2, 1))
                    .join();
        }
        apply("n1", 1, 0, 1, "second");
        for (int i = 0; i < 10; i++) {
            machine.notifyInstallSnapshotFromLeader(null, TermIndex.valueOf(2, 2))
                    .join();
        }
        assertThat(listener.failures).isEmpty();
        machine.notifyInstallSnapshotFromLeader(null, TermIndex.valueOf(2, 2)).join();
        assertThat(listener.failures)
                .extracting(QuorateException::code)
                .containsExactly(ErrorCode.ORDER_TOO_FAR_BEHIND);
        listener.failures.clear();
    }
}
