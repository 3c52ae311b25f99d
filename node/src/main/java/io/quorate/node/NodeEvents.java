// SPDX-License-Identifier: Apache-2.0
package io.quorate.node;

import io.quorate.core.ErrorCode;
import io.quorate.core.NodeEvent;
import io.quorate.core.NodeState;
import io.quorate.core.TotalOrder;
import io.quorate.ist.RejoinCourse;
import io.quorate.node.order.PausableOrder;
import io.quorate.node.thread.MonotonicClock;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.availability.AvailabilityChangeEvent;
import org.springframework.boot.availability.ReadinessState;
import org.springframework.context.ApplicationEventPublisher;

/**
 * Between the rooms of a node: hears what happens in one, and passes it to whoever has to act on it. Rooms are given
 * these methods before the rooms that they lead to are there: those are needed only once the node is started.
 */
final class NodeEvents {
    private final ApplicationEventPublisher publisher;
    /** Null until the node is put together: what a thread sees of one that isn't may be anything. */
    private volatile @Nullable Node node;

    /** What failed while the node was put together. */
    private final AtomicReference<NodeEvent.@Nullable Failed> early = new AtomicReference<>();

    private volatile boolean stopping;

    NodeEvents(ApplicationEventPublisher publisher) {
        this.publisher = publisher;
    }

    /** The node is put together; to be called once. */
    void built(Node whole) {
        node = whole;
        NodeEvent.Failed failed = early.getAndSet(null);
        if (failed != null) {
            whole.loop.post(failed);
        }
    }

    private Node node() {
        Node whole = node;
        if (whole == null) {
            throw new IllegalStateException("the node isn't put together yet");
        }
        return whole;
    }

    /** A thread has died. */
    void failed(NodeEvent.Failed failed) {
        Node whole = node;
        if (whole == null) {
            early.compareAndSet(null, failed);
            whole = node;
            if (whole == null || !early.compareAndSet(failed, null)) {
                return;
            }
        }
        whole.loop.post(failed);
    }

    /** Something that concerns the state of the whole node, a failure above all. */
    void happened(NodeEvent event) {
        if (event instanceof NodeEvent.Failed failed) {
            if (RejoinCourse.mends(failed.cause())) {
                node().members.join().missing(failed.cause());
                return;
            }
            if (failed.cause().code() == ErrorCode.NOT_A_MEMBER) {
                node().members.join().takenOut(failed.cause().getMessage());
                return;
            }
            if (failed.cause().code().kind() == ErrorCode.Kind.DIFFERENCE) {
                node().conflicts.mismatch(failed.cause().getMessage());
                if (node().members.join().differs(failed.cause())) {
                    return;
                }
            }
        }
        node().loop.post(event);
    }

    void quorumChanged(TotalOrder.Quorum quorum) {
        if (stopping) {
            // It leaves the others; it hasn't lost them.
            return;
        }
        node().loop.post(new NodeEvent.QuorumChanged(quorum, MonotonicClock.millis()));
        node().beside.server().quorumChanged(quorum);
    }

    /** How far a full copy is; null when it is complete. */
    void copying(String how) {
        node().members.join().copying(how);
    }

    void stateChanged(NodeState state) {
        node().beside.server().writable(state.writable());
        if (state == NodeState.INCONSISTENT) {
            node().beside.server().stopWorking();
        }
        AvailabilityChangeEvent.publish(
                publisher,
                node(),
                state.isReady() ? ReadinessState.ACCEPTING_TRAFFIC : ReadinessState.REFUSING_TRAFFIC);
    }

    NodeEvent.Progress look() {
        return node().upkeep.look();
    }

    /** The server beside this node; null while it isn't known. */
    @Nullable
    UUID self() {
        Node whole = node;
        return whole == null ? null : whole.stream.self();
    }

    boolean hasLeft() {
        // Peers may ask before there is an order.
        Node whole = node;
        return whole == null || whole.order.holds(PausableOrder.Hold.LEFT);
    }

    boolean isMember(String peer) {
        // Peers may ask before the members are known.
        Node whole = node;
        return whole != null && whole.members.standing().isMember(peer);
    }

    /** From now on nobody is lost: the node leaves the others. */
    void stopping() {
        stopping = true;
    }
}
