// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.member;

import io.quorate.applier.ApplierStats;
import io.quorate.capture.CaptureStats;
import io.quorate.core.Backlog;
import io.quorate.core.FlowCourse;
import io.quorate.core.FlowReport;
import io.quorate.core.WorkRate;
import io.quorate.node.config.NodeProperties;
import io.quorate.node.order.Rate;
import io.quorate.node.server.HeldCommits;
import io.quorate.node.server.Server;
import io.quorate.node.server.ServerSession;
import io.quorate.node.thread.MonotonicClock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Carries out a {@link FlowCourse}: measures how far this node's server is behind, has its clients slowed as the course
 * says, and tells people why. Any thread may ask; one thread has it look.
 */
public final class FlowControl {
    private static final Logger log = LoggerFactory.getLogger(FlowControl.class);
    private static final Duration RATES_OVER = Duration.ofMillis(500);
    /** When nothing is heard of the others for this long, nobody is slowed. */
    private static final Duration LEASE = Duration.ofSeconds(1);

    private static final long LOG_AGAIN_MILLIS = 30_000;

    private final String node;
    private final NodeProperties.Flow settings;
    private final Server server;
    private final Supplier<List<MemberReport>> others;
    private final FlowCourse course;
    private final Backlog backlog = new Backlog();
    private final WorkRate work = new WorkRate();
    private final Rate ownRate = new Rate(RATES_OVER);
    private final Rate definitionRate = new Rate(LEASE);
    /** Why clients are slowed, for people; empty when they aren't. */
    private volatile String sentence = "";

    private volatile FlowCourse.Quota quota = FlowCourse.Quota.NONE;
    /** The node for which clients have been slowed since the look before; null when they haven't. */
    private volatile @Nullable String slowedFor;

    private HeldCommits held = HeldCommits.NONE;
    /** When that was asked for. */
    private long heldMillis = MonotonicClock.millis();

    private volatile boolean leftBehind;
    private volatile long lagMillis;
    private boolean logged;
    private long loggedMillis = Long.MIN_VALUE / 2;

    /** @param others the latest reports of the other nodes that are present */
    public FlowControl(NodeProperties properties, Server server, Supplier<List<MemberReport>> others) {
        this.node = properties.node();
        this.settings = properties.flow();
        this.server = server;
        this.others = others;
        this.course = new FlowCourse(
                node, settings.lagTarget().toMillis(), settings.patience().toMillis());
    }

    /**
     * What this node says of itself.
     *
     * @param ordered last seqno that is ordered, as far as this node knows
     * @param applied the seqno up to which its server holds everything
     */
    FlowReport report(long ordered, long applied) {
        ServerSession session = server.session();
        long held = session == null ? 0 : session.heldCommits().millis();
        CaptureStats captured = session == null ? null : session.captureStats();
        synchronized (backlog) {
            long now = MonotonicClock.millis();
            long lag = backlog.lagMillis(now, ordered, applied);
            lagMillis = lag;
            // The applier's commits wait with the clients' that are held before them; that passes by itself.
            return new FlowReport(
                    Math.max(0, lag - 2 * held),
                    Math.max(0, ordered - applied),
                    work.at(now, applied, applied < ordered),
                    ownRate.at(now, captured == null ? 0 : captured.writeSets()),
                    slowedFor,
                    leftBehind);
        }
    }

    /**
     * Decides how fast clients may commit until the next look.
     *
     * @param self what this node has just reported
     */
    public void look(MemberReport self) {
        List<MemberReport> all = new ArrayList<>(others.get());
        all.add(self);
        Map<String, FlowCourse.Heard> heard = new HashMap<>();
        List<String> waitedFor = new ArrayList<>();
        for (MemberReport member : all) {
            if (member.flow() != null) {
                heard.put(member.node(), new FlowCourse.Heard(member.flow(), member.applied()));
                if (member.hasSyncedServer() && !member.desynced()) {
                    waitedFor.add(member.node());
                }
            }
        }
        ServerSession session = server.session();
        long now = MonotonicClock.millis();
        noteWhetherSlowed(session, now);
        tell(all, now);
        quota = course.look(heard, waitedFor, self.ordered(), definitionsPerSecond(now), now);
        if (session != null) {
            session.slowClients(quota.perSecond(), LEASE);
        }
        tellWhetherLeftBehind(self);
    }

    private long definitionsPerSecond(long now) {
        ApplierStats stats = server.applierStats();
        return definitionRate.at(now, stats == null ? 0 : stats.ddl());
    }

    /** A limit that nobody reaches slows nobody, and a client that waits for a moment isn't worth telling. */
    private void noteWhetherSlowed(@Nullable ServerSession session, long now) {
        HeldCommits before = held;
        long since = now - heldMillis;
        held = session == null ? HeldCommits.NONE : session.heldCommits();
        heldMillis = now;
        boolean slowed = held.millisInAll() - before.millisInAll() + held.millis() > since / 4;
        slowedFor = slowed ? quota.slowest() : null;
    }

    /** Of the quota that has been in effect since the look before, since that is what has slowed them. */
    private void tell(List<MemberReport> all, long now) {
        boolean slow = slowedFor != null;
        sentence = slow ? sentence(quota, all) : "";
        if (slow && now - loggedMillis > LOG_AGAIN_MILLIS) {
            log.info("{}", sentence);
            loggedMillis = now;
            logged = true;
        } else if (!slow && logged && now - loggedMillis > LEASE.toMillis()) {
            log.info("clients are no longer slowed");
            logged = false;
        }
    }

    private static String sentence(FlowCourse.Quota quota, List<MemberReport> all) {
        MemberReport slowest = all.stream()
                .filter(m -> m.node().equals(quota.slowest()))
                .findFirst()
                .orElse(null);
        String rate = "clients are slowed to " + Math.round(quota.perSecond()) + " commits/s for " + quota.slowest();
        if (slowest == null || slowest.flow() == null) {
            return rate;
        }
        return rate + ", which is " + slowest.flow().lagMillis() + " ms (" + slowest.queue() + " writesets) behind"
                + (slowest.cause() == null ? "" : ": " + slowest.cause());
    }

    private void tellWhetherLeftBehind(MemberReport self) {
        boolean now = course.isLeftBehind();
        if (now && !leftBehind) {
            log.warn(
                    "{} has been more than {} ms behind for {} s although clients were slowed; nobody waits for it"
                            + " until it is level. It is {} writesets behind{}",
                    node,
                    settings.lagTarget().toMillis(),
                    settings.patience().toSeconds(),
                    self.queue(),
                    self.cause() == null ? "" : ": " + self.cause());
        } else if (!now && leftBehind) {
            log.info("{} is level again, and is waited for", node);
        }
        leftBehind = now;
    }

    /** Why this node's clients are slowed, for people; empty when they aren't. */
    public String sentence() {
        return sentence;
    }

    /** How many commits a second clients of this node may make; -1 when they aren't slowed. */
    public double perSecond() {
        return sentence.isEmpty() ? -1 : quota.perSecond();
    }

    /** Whether nobody waits for this node, because it was too far behind for too long. */
    public boolean isLeftBehind() {
        return leftBehind;
    }

    /** Age of the first writeset that this node's server doesn't hold, at the last report. */
    public long lagMillis() {
        return lagMillis;
    }

    /** For how long all clients together have been kept from their OK, in the present session with the server. */
    public long heldMillis() {
        ServerSession session = server.session();
        return session == null ? 0 : session.heldCommits().millisInAll();
    }
}
