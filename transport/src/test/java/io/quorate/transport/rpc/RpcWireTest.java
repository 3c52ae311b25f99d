// SPDX-License-Identifier: Apache-2.0
package io.quorate.transport.rpc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.quorate.transport.rpc.RpcWire.Frame;
import io.quorate.transport.rpc.RpcWire.Hello;
import java.io.ByteArrayInputStream;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.UUID;
import org.apache.ratis.proto.RaftProtos.AppendEntriesRequestProto;
import org.apache.ratis.proto.RaftProtos.LogEntryProto;
import org.apache.ratis.proto.RaftProtos.StateMachineLogEntryProto;
import org.apache.ratis.thirdparty.com.google.protobuf.ByteString;
import org.junit.jupiter.api.Test;

class RpcWireTest {
    private static final int MAX = 1 << 20;
    private static final Hello HELLO = new Hello(new UUID(7, 8), "n1", "n2#3");

    @Test
    void aRequestComesOutAsItWentIn() throws IOException {
        for (int size : new int[] {0, 1, 65_000, 300_000}) {
            AppendEntriesRequestProto request = AppendEntriesRequestProto.newBuilder()
                    .setLeaderTerm(5)
                    .addEntries(LogEntryProto.newBuilder()
                            .setIndex(9)
                            .setStateMachineLogEntry(StateMachineLogEntryProto.newBuilder()
                                    .setLogData(ByteString.copyFrom(new byte[size]))))
                    .build();
            byte[] bytes = RpcWire.frame(RpcWire.APPEND, 0, request);
            RpcWire.setCall(bytes, Long.MAX_VALUE);
            Frame frame = read(bytes);
            assertThat(frame.type()).isEqualTo(RpcWire.APPEND);
            assertThat(frame.call()).isEqualTo(Long.MAX_VALUE);
            assertThat(RpcWire.parse(frame, AppendEntriesRequestProto.parser())).isEqualTo(request);
        }
    }

    @Test
    void aGreetingComesOutAsItWentIn() throws IOException {
        assertThat(RpcWire.readHello(read(RpcWire.hello(HELLO)))).isEqualTo(HELLO);
    }

    @Test
    void aTextIsCutRatherThanRefused() throws IOException {
        assertThat(RpcWire.readText(read(RpcWire.frame(RpcWire.FAILED, 1, "x".repeat(100_000)))))
                .matches("x{100,1000}");
    }

    @Test
    void whatIsCutShortIsNoMessage() {
        byte[] hello = RpcWire.hello(HELLO);
        for (int length = 0; length < hello.length; length++) {
            byte[] part = Arrays.copyOf(hello, length);
            assertThatThrownBy(() -> read(part)).isInstanceOf(EOFException.class);
            if (length >= 13) {
                ByteBuffer.wrap(part).putInt(length - 4);
                assertThatThrownBy(() -> RpcWire.readHello(read(part))).isInstanceOf(IOException.class);
            }
        }
    }

    /** And no memory is taken for it. */
    @Test
    void aLengthThatCantBeIsRefused() {
        for (int length : new int[] {Integer.MIN_VALUE, -1, 0, 8, MAX + 1, Integer.MAX_VALUE}) {
            byte[] bytes = ByteBuffer.allocate(13).putInt(length).array();
            assertThatThrownBy(() -> read(bytes))
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining(length + " bytes");
        }
    }

    @Test
    void aGreetingOfSomethingElseIsRefused() {
        byte[] other = RpcWire.hello(HELLO);
        other[13] = 'G';
        assertThatThrownBy(() -> RpcWire.readHello(read(other))).hasMessageContaining("not Quorate's");
        byte[] later = RpcWire.hello(HELLO);
        later[18]++;
        assertThatThrownBy(() -> RpcWire.readHello(read(later))).hasMessageContaining("version");
    }

    private static Frame read(byte[] bytes) throws IOException {
        return RpcWire.read(new DataInputStream(new ByteArrayInputStream(bytes)), MAX);
    }
}
