// SPDX-License-Identifier: Apache-2.0
package io.quorate.core;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.function.LongUnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Three nodes in a loop that is closed: clients that write when they have heard OK, the product's own deciders of who
 * hears it when, servers that apply at a rate of their own, and reports that take their time. A millisecond at a time.
 */
class FlowSimulationTest {
    private static final long TARGET = 1000;
    private static final long PATIENCE = 10_000;
    private static final long HOLD_MAX = 500;
    private static final long ROUND = 3;
    private static final long REPORTS = 100;
    private static final long LEASE = 1000;
    private static final int FAST = 20_000;

    private final long seed = System.nanoTime();
    private final Random random = new Random(seed);
    private final List<Server> servers = new ArrayList<>();
    /** Who has committed each writeset. */
    private final List<Server> order = new ArrayList<>();

    /** When each was ordered. */
    private final List<Long> orderedAt = new ArrayList<>();

    private final Map<Long, List<Runnable>> later = new HashMap<>();
    private long now;

    private final class Server {
        final String name = "n" + (servers.size() + 1);
        final FlowCourse flow = new FlowCourse(name, TARGET, PATIENCE);
        final AckCourse acks = new AckCourse(1_000_000, HOLD_MAX);
        final Backlog backlog = new Backlog();
        final Map<String, FlowCourse.Heard> heard = new HashMap<>();
        final WorkRate work = new WorkRate();
        final ArrayDeque<long[]> past = new ArrayDeque<>();
        /** How many writesets it can apply a second, by the time. */
        LongUnaryOperator capacity = t -> FAST;
        /** It commits what it has applied every so often, as a group. */
        long groupMillis = 1;
        /** It takes all that is there, and commits that as one group. */
        boolean batched;

        double batchEnd;
        /** What it applies is in one binlog with its clients' commits, and waits with them. */
        boolean coupled;
        /** How much is in its binlog, and where the group ends whose commit waits; all later ones wait for that. */
        long logged;

        long groupEnd;
        /** What its clients have committed, by where that ends in the binlog. */
        final TreeMap<Long, Long> numbers = new TreeMap<>();
        /** Where the applier's commit is in the binlog; 0 without one. */
        long appliedAt;
        /** Up to where the groups of writesets go that are begun, of which the first one commits. */
        final ArrayDeque<Double> begun = new ArrayDeque<>();
        /** So many may be: one for each worker, and one more. */
        int begunMax = 5;
        /** The order reaches it so late. */
        long orderLateMillis;

        long reachedUpTo;
        /** Its reports come so late at most, one after another. */
        int reportsLateMax = 0;

        long reportsNext = 20L * servers.size();
        double executed;
        double applied;
        long committed;
        long decided;
        long answered;
        long lagMax;
        long silentMillisMax;
        long answeredMillis;
        boolean leftBehind;
        String slowedFor;
        long held;

        void commit() {
            long number = ++committed;
            acks.captured(number, number, 0, now);
            log();
            numbers.put(logged, number);
            in(ROUND, () -> {
                order.add(this);
                orderedAt.add(now);
                acks.decided(List.of(), ++decided);
            });
        }

        private void log() {
            acks.read(new BinlogPosition("binlog.000001", ++logged), now);
        }

        void step() {
            if (batched && executed >= batchEnd) {
                applied = batchEnd;
                batchEnd = reached();
            }
            executed = Math.min(batched ? batchEnd : reached(), executed + capacity.applyAsLong(now) / 1000.0);
            if (coupled) {
                commitApplied();
            } else {
                applied = batched || now % groupMillis != 0 ? applied : executed;
            }
            AckCourse.Ack ack = acks.acknowledged(now);
            answer(ack == null ? 0 : coupled ? committedGroups(ack.end().offset()) : ack.number());
            if (committed > 0) {
                silentMillisMax = Math.max(silentMillisMax, now - answeredMillis);
            }
            if (now > 0 && now >= reportsNext) {
                report();
                reportsNext = now + REPORTS + (reportsLateMax == 0 ? 0 : random.nextInt(reportsLateMax));
            }
        }

        /** One commit after the other. */
        private void commitApplied() {
            double last = begun.isEmpty() ? applied : begun.getLast();
            if ((long) executed > (long) last && begun.size() < begunMax) {
                begun.add(executed);
            }
            if (appliedAt == 0 && !begun.isEmpty()) {
                log();
                appliedAt = logged;
            }
        }

        /**
         * The server commits a group when all of it is acknowledged. Meanwhile the next one gathers.
         *
         * @return the number up to which clients have been answered
         */
        private long committedGroups(long acknowledged) {
            if (acknowledged >= groupEnd) {
                if (appliedAt > 0 && appliedAt <= groupEnd) {
                    applied = begun.remove();
                    appliedAt = 0;
                }
                Map.Entry<Long, Long> last = numbers.floorEntry(groupEnd);
                groupEnd = logged;
                return last == null ? 0 : last.getValue();
            }
            return answered;
        }

        private void answer(long upTo) {
            for (; answered < upTo; answered++) {
                in(1, this::commit);
                answeredMillis = now;
            }
        }

        /** What of the order has reached it by now. */
        private long reached() {
            while (reachedUpTo < orderedAt.size() && orderedAt.get((int) reachedUpTo) + orderLateMillis <= now) {
                reachedUpTo++;
            }
            return reachedUpTo;
        }

        private void report() {
            long lag = backlog.lagMillis(now, order.size(), (long) applied);
            lagMax = Math.max(lagMax, lag);
            past.add(new long[] {now, decided});
            while (past.size() > 2 && now - past.peek()[0] > 500) {
                past.remove();
            }
            long millis = Math.max(1, now - past.peek()[0]);
            FlowReport report = new FlowReport(
                    lag,
                    order.size() - (long) applied,
                    work.at(now, (long) applied, applied < order.size()),
                    (decided - past.peek()[1]) * 1000 / millis,
                    slowedFor,
                    flow.isLeftBehind());
            FlowCourse.Heard said = new FlowCourse.Heard(report, (long) applied);
            heard.put(name, said);
            for (Server other : servers) {
                in(1 + random.nextInt(20), () -> other.heard.put(name, said));
            }
            FlowCourse.Quota quota =
                    flow.look(heard, servers.stream().map(s -> s.name).toList(), order.size(), 0, now);
            slowedFor = acks.heldMillisInAll() > held ? quota.slowest() : null;
            held = acks.heldMillisInAll();
            acks.slow(quota.perSecond(), now, now + LEASE);
            leftBehind |= flow.isLeftBehind();
        }
    }

    FlowSimulationTest() {
        for (int i = 0; i < 3; i++) {
            servers.add(new Server());
        }
    }

    private void in(long millis, Runnable what) {
        later.computeIfAbsent(now + millis, t -> new ArrayList<>()).add(what);
    }

    private void run(long millis) {
        for (long end = now + millis; now < end; now++) {
            List<Runnable> due = later.remove(now);
            if (due != null) {
                due.forEach(Runnable::run);
            }
            servers.forEach(Server::step);
        }
    }

    private void clients(int server, int count) {
        for (int i = 0; i < count; i++) {
            in(1 + random.nextInt(10), servers.get(server)::commit);
        }
    }

    private long[] answered() {
        return servers.stream().mapToLong(s -> s.answered).toArray();
    }

    @Test
    void whereAllKeepUpNobodyIsSlowed() {
        clients(0, 8);
        run(10_000);
        assertThat(answered()[0]).as("seed %s", seed).isGreaterThan(8 * 10_000 / (ROUND + 3));
        long held = servers.get(0).acks.heldMillisInAll();
        run(10_000);
        assertThat(servers.get(0).acks.heldMillisInAll()).isEqualTo(held);
    }

    /** The clients could write 2,000 to 6,000 a second. */
    @ParameterizedTest
    @ValueSource(ints = {150, 250, 700, 1500})
    void writersBecomeAsFastAsTheSlowestServer(int capacity) {
        servers.get(2).capacity = t -> capacity;
        clients(0, 8);
        clients(1, 16);
        run(15_000);
        servers.forEach(s -> {
            s.lagMax = 0;
            s.silentMillisMax = 0;
            s.answeredMillis = now;
        });
        long[] before = answered();
        run(60_000);
        long[] after = answered();
        long first = (after[0] - before[0]) / 60;
        long second = (after[1] - before[1]) / 60;
        String where = "seed " + seed + ": " + first + " and " + second + "/s";
        assertThat(first + second).as(where).isBetween((long) (capacity * 0.95), (long) (capacity * 1.02));
        assertThat(first).as(where).isBetween((long) (second * 0.85), (long) (second * 1.15));
        assertThat(servers.get(2).lagMax).as(where).isBetween(TARGET / 4, TARGET);
        assertThat(servers.get(2).leftBehind).as(where).isFalse();
        assertThat(servers.get(0).silentMillisMax).as(where).isLessThan(400);
    }

    /**
     * Each is behind because its own clients are kept from OK for the other's sake. If the applier's commits waited for
     * as long as these, five of them one after the other, both would soon be left behind.
     */
    @ParameterizedTest
    @ValueSource(ints = {600, 1200})
    void writersWhoseServersApplyBesideDontKeepOneAnotherSlow(int capacity) {
        for (Server server : servers.subList(0, 2)) {
            server.coupled = true;
            server.capacity = t -> capacity;
        }
        clients(0, 16);
        clients(1, 16);
        run(20_000);
        servers.forEach(s -> s.lagMax = 0);
        long[] before = answered();
        run(60_000);
        long perSecond = (answered()[0] + answered()[1] - before[0] - before[1]) / 60;
        String where = "seed " + seed + ": " + perSecond + "/s, " + servers.get(0).lagMax + " and "
                + servers.get(1).lagMax + " ms";
        assertThat(perSecond).as(where).isBetween(capacity * 3L / 4, capacity * 102L / 100);
        for (Server server : servers.subList(0, 2)) {
            assertThat(server.lagMax).as(where).isLessThan(TARGET * 3 / 2);
            assertThat(server.leftBehind).as(where).isFalse();
        }
    }

    /** Some hundred writesets at once, and then nothing for a second. */
    @ParameterizedTest
    @ValueSource(ints = {300, 600, 900})
    void aServerThatCommitsLargeGroupsIsUsedAsWell(int groupMillis) {
        servers.get(2).groupMillis = groupMillis;
        assertTheThirdIsUsedWell(250);
    }

    /**
     * One on a tenth of a core: it commits all that is there at once, its reports are as late as its commits, and the
     * order is late to reach it.
     */
    @ParameterizedTest
    @ValueSource(ints = {0, 300, 600, 900})
    void aServerThatHearsAndReportsInLeapsIsUsedAsWell(int millis) {
        Server third = servers.get(2);
        third.batched = true;
        third.reportsLateMax = millis;
        third.orderLateMillis = 600L - millis / 2;
        assertTheThirdIsUsedWell(150);
    }

    /** The clients could write several times as much. */
    private void assertTheThirdIsUsedWell(int capacity) {
        Server third = servers.get(2);
        third.capacity = t -> t < 5000 ? FAST : capacity;
        clients(0, 2);
        run(20_000);
        third.lagMax = 0;
        servers.get(0).silentMillisMax = 0;
        servers.get(0).answeredMillis = now;
        long before = answered()[0];
        run(60_000);
        long perSecond = (answered()[0] - before) / 60;
        String where = "seed " + seed + ": " + perSecond + "/s, " + third.lagMax + " ms";
        assertThat(perSecond).as(where).isBetween(capacity * 3L / 4, capacity * 102L / 100);
        assertThat(third.lagMax).as(where).isLessThan(2 * TARGET);
        assertThat(third.leftBehind).as(where).isFalse();
        assertThat(servers.get(0).silentMillisMax).as(where).isLessThan(600);
    }

    /** To slow others for it makes it no faster, so that it would be in vain. */
    @Test
    void aServerThatTheOrderReachesTooLateIsLeftBehindThoughItKeepsWithinTheTarget() {
        servers.get(2).orderLateMillis = TARGET * 9 / 10;
        clients(0, 3);
        run(60_000);
        assertThat(servers.get(2).leftBehind).as("seed %s", seed).isTrue();
        long before = answered()[0];
        run(10_000);
        assertThat((answered()[0] - before) / 10).as("seed %s", seed).isGreaterThan(500);
    }

    /** As a disk's that writes what it has put off. */
    @Test
    void shortStopsOfAServerAreHardlyNoticed() {
        servers.get(2).capacity = t -> t % 3000 < 300 ? 0 : FAST;
        clients(0, 8);
        run(5000);
        long before = answered()[0];
        run(60_000);
        assertThat((answered()[0] - before) / 60).as("seed %s", seed).isGreaterThan(1800);
    }

    /** From fast to a fifth of what is written and back, again and again. */
    @Test
    void aServerThatComesAndGoesIsNeverTwiceTheTargetBehind() {
        servers.get(2).capacity = t -> t / 7000 % 2 == 0 ? FAST : 400;
        clients(0, 8);
        run(70_000);
        assertThat(servers.get(2).lagMax).as("seed %s", seed).isLessThan(2 * TARGET);
        assertThat(servers.get(2).leftBehind).isFalse();
    }

    @Test
    void whileAServerStandsStillClientsTrickleAndThenItIsLeftBehind() {
        servers.get(1).capacity = t -> t >= 5000 && t < 65_000 ? 0 : FAST;
        clients(0, 8);
        run(5000);
        long free = answered()[0] / 5;
        run(PATIENCE);
        long trickle = (answered()[0] - 5 * free) / (PATIENCE / 1000);
        assertThat(trickle).as("seed %s", seed).isBetween(8L, 300L);
        assertThat(servers.get(0).silentMillisMax).as("seed %s", seed).isLessThanOrEqualTo(HOLD_MAX + 10);
        run(5000);
        assertThat(servers.get(1).flow.isLeftBehind()).isTrue();
        long before = answered()[0];
        run(10_000);
        assertThat((answered()[0] - before) / 10).as("nobody waits for it").isGreaterThan(free * 9 / 10);
        run(60_000);
        assertThat(servers.get(1).flow.isLeftBehind()).as("it is level again").isFalse();
    }

    /** At rates that clients with the longest wait still exceed. */
    @Test
    void whoCanNotKeepUpWithWritersHoweverSlowIsLeftBehind() {
        servers.get(2).capacity = t -> 5;
        clients(0, 32);
        run(60_000);
        assertThat(servers.get(2).leftBehind).as("seed %s", seed).isTrue();
    }
}
