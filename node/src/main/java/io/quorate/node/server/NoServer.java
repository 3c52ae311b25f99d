// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.server;

import io.quorate.applier.PositionTable.Position;
import io.quorate.core.TotalOrder;
import io.quorate.transport.AdmissionPlan.Holds;
import java.time.Duration;

/** What an arbitrator has in place of a server. */
public final class NoServer implements Server {
    @Override
    public boolean exists() {
        return false;
    }

    @Override
    public String address() {
        return null;
    }

    @Override
    public void start() {}

    @Override
    public void writable(boolean value) {}

    @Override
    public void fence(boolean value) {}

    @Override
    public void stopWorking() {}

    @Override
    public void suspend() {}

    @Override
    public void resume() {}

    @Override
    public void handOver() {}

    @Override
    public boolean hasHandedOver() {
        return true;
    }

    @Override
    public String drain(Duration limit) {
        return drainNoMore();
    }

    @Override
    public boolean isDraining() {
        return false;
    }

    @Override
    public String drainNoMore() {
        return "an arbitrator has no server that could be drained";
    }

    @Override
    public void quorumChanged(TotalOrder.Quorum quorum) {}

    @Override
    public ServerSession session() {
        return null;
    }

    @Override
    public Holds holds() {
        return null;
    }

    @Override
    public boolean hasSameTables() {
        return false;
    }

    @Override
    public void beginWithNothing() {}

    @Override
    public Contents contents() {
        return new Contents(Position.NONE, Holds.NOTHING);
    }

    @Override
    public void close() {}
}
