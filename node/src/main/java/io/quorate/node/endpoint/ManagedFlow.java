// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.endpoint;

import io.quorate.core.FlowReport;
import io.quorate.node.member.MemberReport;
import io.quorate.node.member.Standing;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.springframework.jmx.export.annotation.ManagedAttribute;
import org.springframework.jmx.export.annotation.ManagedMetric;
import org.springframework.jmx.export.annotation.ManagedOperation;
import org.springframework.jmx.export.annotation.ManagedResource;
import org.springframework.stereotype.Component;

/** {@code io.quorate:type=Flow}: flow control, and the commits that wait for their verdict. */
@Component
@ManagedResource(
        objectName = "io.quorate:type=Flow",
        description = "flow control, and the commits that wait for their verdict")
public class ManagedFlow {
    private final Standing standing;
    private final MembersEndpoint members;

    ManagedFlow(Standing standing, MembersEndpoint members) {
        this.standing = standing;
        this.members = members;
    }

    private MemberReport report() {
        return standing.report();
    }

    private FlowReport flow() {
        return Objects.requireNonNull(report().flow());
    }

    @ManagedMetric(description = "age of the first writeset that the server doesn't hold yet", unit = "ms")
    public long getLagMillis() {
        return flow().lagMillis();
    }

    @ManagedAttribute(description = "the node for which clients are slowed; null when they aren't")
    public @Nullable String getSlowedFor() {
        return flow().slowedFor();
    }

    @ManagedAttribute(description = "how much they are slowed, for which node and why; null when they aren't")
    public @Nullable String getSlowed() {
        return standing.status().slowed();
    }

    @ManagedAttribute(description = "whether nobody waits for this node, because it was too far behind for too long")
    public boolean isLeftBehind() {
        return flow().leftBehind();
    }

    @ManagedAttribute(description = "whether somebody has said that nobody is to wait for this node")
    public boolean isDesynced() {
        return report().desynced();
    }

    @ManagedMetric(description = "commits of clients that wait for their verdict", unit = "commits")
    public long getWaitingCommits() {
        Long waiting = report().waitingCommits();
        return waiting == null ? 0 : waiting;
    }

    @ManagedMetric(description = "how long the first of them has waited", unit = "ms")
    public long getWaitingMillis() {
        Long waited = report().waitingMillis();
        return waited == null ? 0 : waited;
    }

    @ManagedOperation(description = "has the others not wait for this node, however far behind it is")
    public void desync() {
        Operations.require(members.change("desync", null, null));
    }

    @ManagedOperation(description = "lets them wait for it again")
    public void resync() {
        Operations.require(members.change("resync", null, null));
    }
}
