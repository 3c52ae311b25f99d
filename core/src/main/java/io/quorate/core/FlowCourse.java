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
 * <p>All writers together may order what the slowest server applies: exactly that while the server is three quarters of
 * the target behind, up to three times as much when it is less behind, and the less the further it is. So its lag
 * settles there, and what it applies then is all that it can. A server that keeps up sets no limit in effect, since
 * what it applies is what is written. Nobody knows how fast one is that has had little to do; at first, writers may be
 * some hundred writesets ahead of it. They share what may be ordered evenly: whoever needs less than an even share gets
 * what it needs, the others get the same each (max-min fairness; Bertsekas and Gallager, Data Networks, 6.5).
 *
 * <p>Reports come late from a server that has little CPU. Each node knows how far the order is, so between two reports
 * it takes a server to hold what it held at the last one, of all that there is by now.
 *
 * <p>A node that stays above the target for some time although clients were slowed for it, or above what is aimed at
 * although they were slowed as far as that goes, says that it isn't to be waited for, and counts again when it is
 * level. In Galera ({@code gcs.fc_limit}) one such node holds up all others for as long as it likes.
 *
 * <p>This class only decides; time comes in as an argument, from any clock that never goes back. Not thread-safe.
 */
public final class FlowCourse {
    /**
     * The lag that is aimed at is this part of the target. It has to be more than what a writeset takes to a server and
     * into it: a lag below that is not to be had by slowing anybody.
     */
    private static final double AIM_PART = 0.75;

    /** Below this part of the target a server is as good as level. */
    private static final int LEVEL_PART = 4;

    /** A node that was left behind is level when it has been for this long; it may not have heard of all there is. */
    private static final long LEVEL_MILLIS = 1000;

    /** How much more than a server applies is ordered when it isn't behind at all. */
    private static final double GROWTH = 2;

    /** How much less is ordered, for each aim that it is behind beyond the aim. */
    private static final double DECREASE = 0.5;

    /** How many times its lag so far a server's lag may be taken to become. */
    private static final double AHEAD_OF_LAG = 3;

    /** What isn't heard of a server makes it no later than this part of the target. */
    private static final double UNSAID = AIM_PART;

    private static final double LEAST_PART = 0.1;
    private static final double LEAST_PER_SECOND = 50;

    /** How long it takes from one report to the next while there is something to report. */
    private static final double REPORTS_SECONDS = 0.1;

    /** What may be ordered ahead of a server of which nobody knows how fast it is. */
    private static final long AHEAD = 300;

    /** So many in a second keep a server from applying anything else. */
    private static final long DEFINITIONS_MIN = 5;

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

    /**
     * What was last heard of a node. Between two reports the order goes on, and a node that has too little CPU to apply
     * has too little to report often.
     *
     * @param applied the seqno up to which its server held everything when it said that
     */
    public record Heard(FlowReport report, long applied) {}

    private final String self;
    private final long targetMillis;
    private final long patienceMillis;
    /**
     * How fast a server is, as was last seen when it was behind.
     *
     * @param millis when that was
     */
    private record Speed(long perSecond, long millis) {}

    /** Of the last seconds, the later the more it counts. */
    private static final class Mean {
        private static final double OVER_MILLIS = 1000;

        private double mean;
        private long millis = Long.MIN_VALUE / 2;

        double with(long value, long nowMillis) {
            double kept = Math.exp((millis - nowMillis) / OVER_MILLIS);
            mean = kept * mean + (1 - kept) * value;
            millis = nowMillis;
            return mean;
        }
    }

    private final Map<String, Speed> speeds = new HashMap<>();
    /** How far each of the others is behind, by this node's clock and order. */
    private final Map<String, Backlog> backlogs = new HashMap<>();

    private boolean leftBehind;
    private long levelSinceMillis = Long.MIN_VALUE / 2;
    /** Since when this node has been too far behind, and others waited for it; -1 when it isn't. */
    private long overSinceMillis = -1;

    private final Mean ownLag = new Mean();

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
     * @param heard the latest of all nodes that are present, this one among them
     * @param waitedFor names of those whose servers are waited for, unless they have been left behind
     * @param ordered the last seqno that is ordered by now, as far as this node knows
     * @param definitionsPerSecond what this node's server applies. Definitions are committed one after the other, and
     *     each waits with the clients that are held: the server would fall behind because they are
     */
    public Quota look(
            Map<String, Heard> heard,
            Collection<String> waitedFor,
            long ordered,
            long definitionsPerSecond,
            long nowMillis) {
        if (targetMillis == 0) {
            return Quota.NONE;
        }
        backlogs.keySet().retainAll(heard.keySet());
        decideWhetherLeftBehind(heard, ordered, nowMillis);
        Quota least = Quota.NONE;
        for (String name : waitedFor) {
            Heard of = heard.get(name);
            if (of != null && !(name.equals(self) ? leftBehind : of.report.leftBehind())) {
                double allowed = allowed(name, of, ordered, nowMillis);
                least = allowed < least.perSecond ? new Quota(allowed, name) : least;
            }
        }
        return least.slowest == null || definitionsPerSecond >= DEFINITIONS_MIN
                ? Quota.NONE
                : new Quota(share(least.perSecond, heard), least.slowest);
    }

    /** What all writers together may have ordered a second for that server's sake. */
    private double allowed(String name, Heard heard, long ordered, long nowMillis) {
        FlowReport report = heard.report;
        double aim = AIM_PART * targetMillis;
        Speed speed = speed(name, report, nowMillis);
        long applied = Math.max(report.appliedPerSecond(), speed == null ? 0 : speed.perSecond);
        double slack = (aim - lagToCome(name, heard, applied, ordered, nowMillis)) / aim;
        double factor = 1 + slack * (slack > 0 ? GROWTH : DECREASE);
        double allowed = Math.max(LEAST_PER_SECOND, applied * Math.max(LEAST_PART, factor));
        return speed == null ? Math.max(allowed, (AHEAD - queue(heard, ordered)) / REPORTS_SECONDS) : allowed;
    }

    /**
     * The age that the last one in the queue will have when it is applied, in milliseconds, as far as is known by now.
     * That nothing is heard of a node for a while is held against it only so far: it may have ended, and nobody is to
     * be slowed much for that.
     */
    private double lagToCome(String name, Heard heard, long perSecond, long ordered, long nowMillis) {
        FlowReport report = heard.report;
        double said = lagToCome(report.queue(), perSecond, report.lagMillis());
        if (name.equals(self)) {
            return said;
        }
        long lag = backlogs.computeIfAbsent(name, n -> new Backlog()).lagMillis(nowMillis, ordered, heard.applied);
        return Math.max(said, Math.min(UNSAID * targetMillis, lagToCome(queue(heard, ordered), perSecond, lag)));
    }

    /**
     * The first one's age says the same later: the backlog of a server that has just become slow is still young, and
     * what is left of one that was long is old. A stop that may be over in a moment isn't taken for much more than it
     * has been so far.
     */
    private static double lagToCome(long queue, long perSecond, long lagMillis) {
        double toCome = queue * 1000.0 / Math.max(1, perSecond);
        return Math.min(toCome, AHEAD_OF_LAG * lagMillis);
    }

    private static long queue(Heard heard, long ordered) {
        return Math.max(heard.report.queue(), ordered - heard.applied);
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

    private double share(double allowed, Map<String, Heard> heard) {
        List<FlowReport> others = heard.entrySet().stream()
                .filter(e -> !e.getKey().equals(self))
                .map(e -> e.getValue().report)
                .filter(report -> report.ownPerSecond() > 0)
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

    private void decideWhetherLeftBehind(Map<String, Heard> heard, long ordered, long nowMillis) {
        Heard own = heard.get(self);
        levelSinceMillis = own == null || !isLevel(own.report) ? nowMillis : levelSinceMillis;
        leftBehind &= own != null && nowMillis - levelSinceMillis < LEVEL_MILLIS;
        if (own == null || !isTooFarBehind(own, ordered, nowMillis) || leftBehind) {
            overSinceMillis = -1;
            return;
        }
        boolean waited = heard.values().stream().anyMatch(h -> self.equals(h.report.slowedFor()));
        if (overSinceMillis < 0 && waited) {
            overSinceMillis = nowMillis;
        }
        if (overSinceMillis >= 0 && nowMillis - overSinceMillis >= patienceMillis) {
            leftBehind = true;
            overSinceMillis = -1;
        }
    }

    /**
     * On average, by more than the target; or by more than is aimed at, while others are slowed as far as that goes. A
     * server that commits many at once is behind by more and by less from moment to moment.
     */
    private boolean isTooFarBehind(Heard own, long ordered, long nowMillis) {
        double lag = ownLag.with(own.report.lagMillis(), nowMillis);
        return lag >= targetMillis
                || (lag >= AIM_PART * targetMillis && allowed(self, own, ordered, nowMillis) <= LEAST_PER_SECOND);
    }

    /** Whether nobody waits for this node, because it was too far behind for too long. */
    public boolean isLeftBehind() {
        return leftBehind;
    }
}
