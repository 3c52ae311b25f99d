// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.endpoint;

import io.quorate.core.answer.ClusterHealth;
import io.quorate.node.config.NodeProperties;
import io.quorate.node.member.Standing;
import io.quorate.node.server.Server;
import java.util.List;
import javax.management.Notification;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.jmx.export.annotation.ManagedAttribute;
import org.springframework.jmx.export.annotation.ManagedNotification;
import org.springframework.jmx.export.annotation.ManagedOperation;
import org.springframework.jmx.export.annotation.ManagedOperationParameter;
import org.springframework.jmx.export.annotation.ManagedResource;
import org.springframework.jmx.export.notification.NotificationPublisher;
import org.springframework.jmx.export.notification.NotificationPublisherAware;
import org.springframework.stereotype.Component;

/** {@code io.quorate:type=Node}: this node, its MySQL server, and the sentence that says how the cluster stands. */
@Component
@ManagedResource(
        objectName = "io.quorate:type=Node",
        description = "this node, its MySQL server, and how the cluster stands")
@ManagedNotification(
        name = "javax.management.Notification",
        description = "what has changed, once a second at most: the message is the sentence, the user data what it was"
                + " before and what it is now",
        notificationTypes = {
            ManagedNode.STATE,
            ManagedNode.MEMBERS,
            ManagedNode.LEADER,
            ManagedNode.CONFLICTS,
            ManagedNode.HEALINGS
        })
public class ManagedNode implements NotificationPublisherAware, DisposableBean {
    static final String STATE = "io.quorate.state";
    static final String MEMBERS = "io.quorate.members";
    static final String LEADER = "io.quorate.leader";
    static final String CONFLICTS = "io.quorate.conflicts";
    static final String HEALINGS = "io.quorate.healings";

    private static final Logger log = LoggerFactory.getLogger(ManagedNode.class);
    private static final int SECONDS_DEFAULT = 30;

    private final NodeProperties properties;
    private final Standing standing;
    private final Server server;
    private final MembersEndpoint members;
    private final DrainEndpoint drain;
    private final ManagedOrder order;
    private final ManagedCertification certification;
    private final ManagedHealing healing;
    private @Nullable EverySecond looking;
    private @Nullable NotificationPublisher publisher;
    private @Nullable Seen seen;
    private long sequence;

    /** What is looked at for notifications. */
    private record Seen(String state, List<String> members, String leader, long failed, long copies) {}

    ManagedNode(
            NodeProperties properties,
            Standing standing,
            Server server,
            MembersEndpoint members,
            DrainEndpoint drain,
            ManagedOrder order,
            ManagedCertification certification,
            ManagedHealing healing) {
        this.properties = properties;
        this.standing = standing;
        this.server = server;
        this.members = members;
        this.drain = drain;
        this.order = order;
        this.certification = certification;
        this.healing = healing;
    }

    @ManagedAttribute(description = "its name")
    public String getName() {
        return properties.node();
    }

    @ManagedAttribute(description = "name of the cluster")
    public String getCluster() {
        return properties.cluster();
    }

    @ManagedAttribute(
            description = "OPEN, CONNECTED, JOINER, JOINED, SYNCED, DONOR, ARBITRATOR, NON_PRIMARY, LEFT or"
                    + " INCONSISTENT")
    public String getState() {
        return standing.state().name();
    }

    @ManagedAttribute(description = "why it isn't SYNCED; empty when it is")
    public String getReason() {
        return standing.status().reason();
    }

    @ManagedAttribute(description = "whether clients may read and write here")
    public boolean isReady() {
        return standing.state().isReady();
    }

    @ManagedAttribute(description = "how the cluster stands, as this node sees it, in one sentence")
    public String getHealth() {
        return health().sentence();
    }

    @ManagedAttribute(description = "OK, ATTENTION or STOPPED")
    public String getHealthLevel() {
        return health().level().name();
    }

    private ClusterHealth health() {
        return members.members().health();
    }

    @ManagedAttribute(description = "host:port of its MySQL server; null for an arbitrator")
    public @Nullable String getMysql() {
        return server.address();
    }

    @ManagedAttribute(description = "version of its MySQL server; null while that isn't known")
    public @Nullable String getMysqlVersion() {
        return standing.status().version();
    }

    @ManagedAttribute(description = "whether its server was emptied of clients")
    public boolean isDraining() {
        return server.isDraining();
    }

    @ManagedOperation(description = "empties its server of clients, so that mysqld may be stopped")
    @ManagedOperationParameter(name = "seconds", description = "how long to wait for decisions; 0 for 30")
    public void drain(int seconds) throws InterruptedException {
        Operations.require(drain.drain(seconds == 0 ? SECONDS_DEFAULT : seconds, null));
    }

    @ManagedOperation(description = "lets clients connect again")
    public void drainNoMore() {
        Operations.require(drain.drainNoMore());
    }

    @ManagedOperation(description = "asks to be a member again, of a node that was taken out")
    public void join() {
        Operations.require(members.change("join", null, null));
    }

    /** Called where there is JMX. */
    @Override
    public synchronized void setNotificationPublisher(NotificationPublisher made) {
        publisher = made;
        if (looking == null) {
            look();
            looking = new EverySecond("quorate-jmx", this::look);
        }
    }

    private synchronized void look() {
        try {
            Seen now = new Seen(
                    getState(),
                    order.getMembers(),
                    String.valueOf(order.getLeader()),
                    certification.getConflicts() + certification.getBuiltOnFailed() + certification.getTooOld(),
                    healing.getCopiesCompleted() + healing.getTransfersCompleted());
            Seen before = seen;
            seen = now;
            if (before == null) {
                return;
            }
            String why = getReason();
            tell(STATE, before.state, now.state, "is " + now.state + (why.isEmpty() ? "" : ": " + why));
            tell(MEMBERS, before.members, now.members, "knows of the members " + String.join(", ", now.members));
            tell(LEADER, before.leader, now.leader, "is led by " + now.leader);
            long failed = now.failed - before.failed;
            tell(CONFLICTS, before.failed, now.failed, "has seen " + failed + " transactions fail since");
            tell(HEALINGS, before.copies, now.copies, "has received what it lacked");
        } catch (RuntimeException e) {
            // While the node stops; it is looked again in a second.
            log.debug("nothing to notify of: {}", e.toString());
        }
    }

    private void tell(String type, Object before, Object now, String what) {
        if (publisher == null || before.equals(now)) {
            return;
        }
        Notification notification = new Notification(
                type, "io.quorate:type=Node", ++sequence, System.currentTimeMillis(), getName() + " " + what);
        notification.setUserData(new String[] {before.toString(), now.toString()});
        publisher.sendNotification(notification);
    }

    @Override
    public synchronized void destroy() {
        if (looking != null) {
            looking.close();
        }
    }
}
