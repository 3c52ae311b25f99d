// SPDX-License-Identifier: Apache-2.0
package io.quorate.transport;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.channel.ChannelConfig;
import io.netty.channel.DefaultChannelConfig;
import io.netty.channel.embedded.EmbeddedChannel;
import org.junit.jupiter.api.Test;

class ReceiveBufferTest {
    private static final int HELD_MAX = 8;
    private final ReceiveBuffer<Integer> buffer = new ReceiveBuffer<>(HELD_MAX);

    @Test
    void aConnectionIsReadOnWhenHalfIsTaken() throws Exception {
        ChannelConfig connection = new DefaultChannelConfig(new EmbeddedChannel());
        fill(connection);
        assertThat(connection.isAutoRead()).isFalse();
        for (int part = 0; part < HELD_MAX; part++) {
            assertThat(buffer.poll(1, connection)).isEqualTo(part);
            assertThat(connection.isAutoRead()).as("after %d", part + 1).isEqualTo(HELD_MAX - part - 1 < HELD_MAX / 2);
        }
    }

    /** A copy once waited for its patience, thirty seconds, and failed: nobody read its connection any more. */
    @Test
    void aConnectionIsReadOnAlthoughAllWasTakenBeforeItWasPaused() {
        ChannelConfig connection = new DefaultChannelConfig(new EmbeddedChannel()) {
            @Override
            public ChannelConfig setAutoRead(boolean on) {
                if (!on) {
                    takeAll(this);
                }
                return super.setAutoRead(on);
            }
        };
        fill(connection);
        assertThat(connection.isAutoRead()).isTrue();
    }

    private void fill(ChannelConfig connection) {
        for (int part = 0; part < HELD_MAX; part++) {
            buffer.add(part, connection);
        }
    }

    private void takeAll(ChannelConfig connection) {
        for (int part = 0; part < HELD_MAX; part++) {
            try {
                assertThat(buffer.poll(1, connection)).isNotNull();
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        }
    }
}
