// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.endpoint;

import io.quorate.certification.OrderedStream;
import io.quorate.node.member.Standing;
import io.quorate.node.order.PausableOrder;
import io.quorate.transport.RatisTotalOrder;
import io.quorate.transport.TransportSettings.Peer;
import io.quorate.transport.TransportStats;
import java.util.List;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;
import org.springframework.jmx.export.annotation.ManagedAttribute;
import org.springframework.jmx.export.annotation.ManagedMetric;
import org.springframework.jmx.export.annotation.ManagedOperation;
import org.springframework.jmx.export.annotation.ManagedOperationParameter;
import org.springframework.jmx.export.annotation.ManagedResource;
import org.springframework.stereotype.Component;

/** {@code io.quorate:type=Order}: the total order, and who is a member of it. */
@Component
@ManagedResource(objectName = "io.quorate:type=Order", description = "the total order, and who is a member of it")
public class ManagedOrder {
    private final PausableOrder order;
    private final OrderedStream stream;
    private final Standing standing;
    private final MembersEndpoint members;

    ManagedOrder(PausableOrder order, OrderedStream stream, Standing standing, MembersEndpoint members) {
        this.order = order;
        this.stream = stream;
        this.standing = standing;
        this.members = members;
    }

    private long stat(ToLongFunction<TransportStats> which) {
        RatisTotalOrder running = order.running();
        return running == null ? 0 : which.applyAsLong(running.stats());
    }

    @ManagedAttribute(description = "whether this node has a majority")
    public boolean isPrimary() {
        return order.quorum().primary();
    }

    @ManagedAttribute(description = "the node that leads the order; null while none is known")
    public @Nullable String getLeader() {
        return order.quorum().leader();
    }

    @ManagedAttribute(description = "names of the members")
    public List<String> getMembers() {
        return standing.members().stream().map(Peer::name).toList();
    }

    @ManagedMetric(description = "the last seqno that the order has handed to this node", unit = "seqno")
    public long getLastOrdered() {
        return stream.lastOrdered();
    }

    @ManagedMetric(description = "writesets ordered a second, lately", unit = "1/s")
    public long getOrderedPerSecond() {
        return standing.report().orderedPerSecond();
    }

    @ManagedMetric(description = "bytes of own transactions submitted and not yet ordered", unit = "bytes")
    public long getInFlightBytes() {
        return stat(TransportStats::inFlightBytes);
    }

    @ManagedMetric(description = "first index that the order's log still has", unit = "index")
    public long getLogStart() {
        return stat(TransportStats::logStart);
    }

    @ManagedMetric(description = "last index that the order's log has", unit = "index")
    public long getLogEnd() {
        return stat(TransportStats::logEnd);
    }

    @ManagedOperation(description = "has a member lead the order")
    @ManagedOperationParameter(name = "node", description = "its name")
    public void lead(String node) {
        Operations.require(members.change("lead", node, null));
    }

    @ManagedOperation(description = "takes a member out of the cluster")
    @ManagedOperationParameter(name = "node", description = "its name")
    public void leave(String node) {
        Operations.require(members.change("leave", node, null));
    }

    @ManagedOperation(description = "lets a node ask to be a member, once")
    @ManagedOperationParameter(name = "node", description = "its name")
    public void admit(String node) {
        Operations.require(members.change("admit", node, null));
    }
}
