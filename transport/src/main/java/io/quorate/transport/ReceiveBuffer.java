// SPDX-License-Identifier: Apache-2.0
package io.quorate.transport;

import io.netty.channel.ChannelConfig;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/**
 * What has arrived on a connection and has not been taken yet. When that is too much, the connection is not read on
 * until half of it is taken, and TCP makes the peer wait. One thread adds, the connection's event loop; one takes.
 */
final class ReceiveBuffer<T> {
    private final LinkedBlockingQueue<T> held = new LinkedBlockingQueue<>();
    private final int heldMax;

    ReceiveBuffer(int heldMax) {
        this.heldMax = heldMax;
    }

    void add(T part, ChannelConfig connection) {
        held.add(part);
        if (held.size() >= heldMax) {
            connection.setAutoRead(false);
            // Whoever takes may have taken everything since, and saw a connection that was still being read.
            readOn(connection);
        }
    }

    /** Adds the last part, which nothing follows. */
    void addLast(T part) {
        held.add(part);
    }

    /** Waits for a part; null when none has come in that time. */
    T poll(long seconds, ChannelConfig connection) throws InterruptedException {
        T part = held.poll(seconds, TimeUnit.SECONDS);
        readOn(connection);
        return part;
    }

    private void readOn(ChannelConfig connection) {
        if (held.size() < heldMax / 2 && !connection.isAutoRead()) {
            connection.setAutoRead(true);
        }
    }
}
