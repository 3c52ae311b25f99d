// SPDX-License-Identifier: Apache-2.0
package io.quorate.core;

import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Flow control: decides how fast the clients of this node may commit, so that no server falls behind the order by more
 * than a given time. Every node decides for itself, from what all of them report, a few times a second.
 *
 * <p>All writers together may order what the slowest server applies: exactly that while the server is half the target
 * behind, up to three times as much when it is less behind, and the less the further it is. So its lag settles at half
 * the target, and what it applies then is all that it can. A server that keeps up sets no limit in effect, since what
 * it applies is what is written. Nobody knows how fast one is that has had little to do; at first, writers may be some
 * hundred writesets ahead of it. They share what may be ordered evenly: whoever needs less than an even share gets what
 * it needs, the others get the same each (max-min fairness; Bertsekas and Gallager, Data Networks, 6.5).
 *
 * <p>A node whose backlog stays above the target for some time, although clients were slowed for it, says that it isn't
 * to be waited for, and counts again when it is level. In Galera ({@code gcs.fc_limit}) one such node holds up all
 * others for as long as it likes.
 *
 * <p>This class only decides; time comes in as an argument, from any clock that never goes back. Not thread-safe.
 */
public final class FlowCourse {
    /** The lag that is aimed at is this part of the target. */
    private static final int AIM_PART = 2;

    /** Below this part of the target a server is as good as level. */
    private static final int LEVEL_PART = 4;

    /** How much more than a server applies is ordered when it isn't behind at all. */
    private static final double GROWTH = 2;

    /** How much less is ordered, for each aim that it is behind beyond the aim. */
    private static final double DECREASE = 0.5;

    /** How many times its lag so far a server's lag may be taken to become. */
    private static final double AHEAD_OF_LAG = 3;

    private static final double LEAST_PART = 0.1;
    private static final double LEAST_PER_SECOND = 20;

    /** How long it takes from one report to the next while there is something to report. */
    private static final double REPORTS_SECONDS = 0.1;

    /** What may be ordered ahead of a server of which nobody knows how fast it is. */
    private static final long AHEAD = 300;

    /** For how long it is known how fast a server is that was behind. */
    private static final long KNOWN_MILLIS = 10_000;

    /**
     * How fast this node's clients may commit.
     *
     * @param perSecond infinite when there is no limit
     * @param slowest the node whose server sets the limit; null when there is none
     */
    public record Quota(double perSecond, String slowest) {
        public static final Quota NONE = new Quota(Double.POSITIVE_INFINITY, null);
    }

    private final String self;
    private final long targetMillis;
    private final long patienceMillis;
    /**
     * How fast a server is, as was last seen when it was behind.
     *
     * @param millis when that was
     */
    private record Speed(long perSecond, long millis) {}

    private final Map<String, Speed> speeds = new HashMap<>();

    private boolean leftBehind;
    /** Since when this node has been behind by more than the target, and others waited for it; -1 when it isn't. */
    private long overSinceMillis = -1;

    /**
     * @param self name of this node
     * @param targetMillis by how much a server may be behind; 0 when nobody is ever slowed
     * @param patienceMillis how long a node may be behind by more than that before it isn't waited for
     */
    public FlowCourse(String self, long targetMillis, long patienceMillis) {
        this.self = self;
        this.targetMillis = targetMillis;
        this.patienceMillis = patienceMillis;
    }

    /**
     * Decides anew.
     *
     * @param reports the latest of all nodes that are present, this one's among them
     * @param waitedFor names of those whose servers are waited for, unless they have been left behind
     */
    public Quota look(Map<String, FlowReport> reports, Collection<String> waitedFor, long nowMillis) {
        if (targetMillis == 0) {
            return Quota.NONE;
        }
        decideWhetherLeftBehind(reports, nowMillis);
        Quota least = Quota.NONE;
        for (String name : waitedFor) {
            FlowReport report = reports.get(name);
            if (report != null && !(name.equals(self) ? leftBehind : report.leftBehind())) {
                double allowed = allowed(name, report, nowMillis);
                least = allowed < least.perSecond ? new Quota(allowed, name) : least;
            }
        }
        return least.slowest == null ? least : new Quota(share(least.perSecond, reports), least.slowest);
    }

    /** What all writers together may have ordered a second for that server's sake. */
    private double allowed(String name, FlowReport report, long nowMillis) {
        double aim = (double) targetMillis / AIM_PART;
        double slack = (aim - lagToCome(report)) / aim;
        double factor = 1 + slack * (slack > 0 ? GROWTH : DECREASE);
        Speed speed = speed(name, report, nowMillis);
        long applied = Math.max(report.appliedPerSecond(), speed == null ? 0 : speed.perSecond);
        double allowed = Math.max(LEAST_PER_SECOND, applied * Math.max(LEAST_PART, factor));
        return speed == null ? Math.max(allowed, (AHEAD - report.queue()) / REPORTS_SECONDS) : allowed;
    }

    /**
     * The age that the last one in the queue will have when it is applied, in milliseconds. The first one's age says
     * the same later: the backlog of a server that has just become slow is still young, and what is left of one that
     * was long is old. A stop that may be over in a moment isn't taken for much more than it has been so far.
     */
    private static double lagToCome(FlowReport report) {
        double toCome = report.queue() * 1000.0 / Math.max(1, report.appliedPerSecond());
        return Math.min(toCome, AHEAD_OF_LAG * report.lagMillis());
    }

    /** Null when it isn't known. */
    private Speed speed(String name, FlowReport report, long nowMillis) {
        if (!isLevel(report)) {
            speeds.put(name, new Speed(report.appliedPerSecond(), nowMillis));
        }
        Speed seen = speeds.get(name);
        return seen != null && nowMillis - seen.millis < KNOWN_MILLIS ? seen : null;
    }

    private boolean isLevel(FlowReport report) {
        return report.lagMillis() < targetMillis / LEVEL_PART;
    }

    private double share(double allowed, Map<String, FlowReport> reports) {
        List<FlowReport> others = reports.entrySet().stream()
                .filter(e -> !e.getKey().equals(self) && e.getValue().ownPerSecond() > 0)
                .map(Map.Entry::getValue)
                .sorted(Comparator.comparingLong(FlowReport::ownPerSecond))
                .toList();
        double left = allowed;
        int sharing = 1 + others.size();
        for (FlowReport other : others) {
            if (!other.isSlowed() && other.ownPerSecond() <= left / sharing) {
                left -= other.ownPerSecond();
                sharing--;
            }
        }
        return left / sharing;
    }

    private void decideWhetherLeftBehind(Map<String, FlowReport> reports, long nowMillis) {
        FlowReport own = reports.get(self);
        leftBehind &= own != null && !isLevel(own);
        if (own == null || own.lagMillis() < targetMillis || leftBehind) {
            overSinceMillis = -1;
            return;
        }
        boolean waited = reports.values().stream().anyMatch(r -> self.equals(r.slowedFor()));
        if (overSinceMillis < 0 && waited) {
            overSinceMillis = nowMillis;
        }
        if (overSinceMillis >= 0 && nowMillis - overSinceMillis >= patienceMillis) {
            leftBehind = true;
            overSinceMillis = -1;
        }
    }

    /** Whether nobody waits for this node, because it was too far behind for too long. */
    public boolean isLeftBehind() {
        return leftBehind;
    }
}
