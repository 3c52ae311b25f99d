// SPDX-License-Identifier: Apache-2.0
package io.quorate.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Networks that break under load between three nodes, each in a namespace of its own, and heal again. Only a majority
 * whose members hear one another orders anything; who isn't part of one takes no writes; nothing acknowledged is lost.
 * Needs the right to make network namespaces; skipped without, and counted so.
 */
@Timeout(900)
class PartitionIT {
    private static final List<Integer> ALL = List.of(1, 2, 3);
    private static final Duration LIMIT = Duration.ofMinutes(2);
    private static final Duration WATCHED = Duration.ofSeconds(3);

    /** Which packets of a victim are lost. */
    private enum Lost {
        BOTH_WAYS,
        SENT,
        RECEIVED
    }

    private enum Role {
        LEADER,
        FOLLOWER
    }

    @TempDir
    static Path directory;

    private static Network network;
    private static Cluster cluster;

    private final long seed = System.nanoTime();
    private final Random random = new Random(seed);

    @BeforeAll
    static void start() throws Exception {
        if (!Network.possible()) {
            return;
        }
        network = Network.make(ALL.size());
        Path accounts = Files.write(directory.resolve("accounts.sql"), accountsFor(network.address(0)));
        cluster = Cluster.create(ALL.size(), Map.of("mysql.init-file", accounts.toString()), network.places());
        cluster.start();
        cluster.mysql(1).execute("CREATE DATABASE load_test", Load.TABLE);
    }

    /** Here, for a class that is skipped as a whole is not counted. */
    @BeforeEach
    void requireNetwork() {
        assumeThat(network)
                .as("network, for which one must be allowed to make namespaces")
                .isNotNull();
    }

    /** Those of a sandbox are for the servers' own loopback. */
    static List<String> accountsFor(String host) {
        String at = "@'" + host + "'";
        return List.of(
                "SET sql_log_bin = 0;",
                "CREATE USER IF NOT EXISTS root" + at + ";",
                "GRANT ALL ON *.* TO root" + at + " WITH GRANT OPTION;",
                "CREATE USER IF NOT EXISTS app" + at + " IDENTIFIED BY 'app';",
                "GRANT SELECT, INSERT, UPDATE, DELETE ON *.* TO app" + at + ";");
    }

    @AfterAll
    static void end() {
        if (cluster != null) {
            cluster.close();
        }
        if (network != null) {
            network.close();
        }
    }

    /** What happens to the network and to the nodes, while all are written to. */
    @FunctionalInterface
    private interface Story {
        void run() throws Exception;
    }

    private void underLoad(Story story) throws Exception {
        cluster.mysql(1).execute("DELETE FROM load_test.ledger");
        cluster.assertConverged();
        Map<Integer, Integer> acknowledged;
        try (Load load = new Load(cluster, seed, 1, 2, 3)) {
            load.goesOn(10, 1, 2, 3);
            Thread.sleep(random.nextInt(1000));
            story.run();
            network.heal();
            for (int node : ALL) {
                await("n" + node + " SYNCED", () -> cluster.state(node).equals("SYNCED"));
                cluster.awaitQuery(node, "SELECT @@read_only", "0");
            }
            load.goesOn(5, 1, 2, 3);
            acknowledged = load.stop();
        } finally {
            network.heal();
        }
        assertThat(acknowledged.values()).as("everybody wrote").allMatch(n -> n > 5);
        Load.assertNothingLost(cluster, acknowledged, seed);
    }

    private void await(String what, BooleanSupplier condition) throws InterruptedException {
        long start = System.nanoTime();
        assertThat(Cluster.within(LIMIT, condition))
                .as("%s, seed %d", what, seed)
                .isTrue();
        System.out.printf("%s after %d ms%n", what, (System.nanoTime() - start) / 1_000_000);
    }

    private void awaitLeftOut(int node) throws InterruptedException {
        await("n" + node + " NON_PRIMARY", () -> cluster.state(node).equals("NON_PRIMARY"));
        assertThat(cluster.reason(node)).contains("QRT-3003");
        cluster.awaitQuery(node, "SELECT @@read_only", "1");
    }

    /** Whom all nodes name. */
    private int agreedLeader() throws InterruptedException {
        await(
                "one leader for all",
                () -> cluster.leader(1) > 0
                        && ALL.stream().map(cluster::leader).distinct().count() == 1);
        return cluster.leader(1);
    }

    /** What a node has ordered that orders no more: it may still be at work on what was ordered before. */
    private long settled(int node) {
        long[] last = {-1};
        try {
            await("n" + node + " settled", () -> {
                long before = last[0];
                last[0] = cluster.lastOrdered(node);
                return last[0] == before;
            });
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
        return last[0];
    }

    private static List<Integer> othersThan(int node) {
        return ALL.stream().filter(other -> other != node).toList();
    }

    private static Stream<Arguments> victims() {
        return Stream.of(Lost.values())
                .flatMap(lost -> Stream.of(Role.values()).map(role -> Arguments.of(lost, role)))
                // Who leads and hears nobody, but is heard.
                .filter(a ->
                        Boolean.getBoolean("quorate.long") || a.get()[0] == Lost.RECEIVED && a.get()[1] == Role.LEADER);
    }

    @ParameterizedTest
    @MethodSource("victims")
    void oneThatCannotTalkToTheOthersIsLeftOut(Lost lost, Role role) throws Exception {
        System.out.printf("%s lost, %s, seed %d%n", lost, role, seed);
        underLoad(() -> {
            int leader = agreedLeader();
            int victim = role == Role.LEADER ? leader : othersThan(leader).get(random.nextInt(2));
            List<Integer> others = othersThan(victim);
            for (int other : others) {
                if (lost != Lost.RECEIVED) {
                    network.drop(victim, other);
                }
                if (lost != Lost.SENT) {
                    network.drop(other, victim);
                }
            }
            awaitLeftOut(victim);
            for (int other : others) {
                await("a leader for n" + other, () -> others.contains(cluster.leader(other)));
            }
            long stood = settled(victim);
            long before = cluster.lastOrdered(others.get(0));
            Thread.sleep(WATCHED.toMillis());
            for (int other : others) {
                await("more ordered at n" + other, () -> cluster.lastOrdered(other) > before + 20);
            }
            assertThat(cluster.lastOrdered(victim)).as("ordered at n%d", victim).isEqualTo(stood);
            assertThat(cluster.state(victim)).isEqualTo("NON_PRIMARY");
        });
    }

    @Test
    void nothingIsOrderedWhenNobodyHearsAnybody() throws Exception {
        System.out.printf("all apart, seed %d%n", seed);
        underLoad(() -> {
            for (int node : ALL) {
                for (int other : othersThan(node)) {
                    network.drop(node, other);
                }
            }
            for (int node : ALL) {
                awaitLeftOut(node);
            }
            List<Long> stood = ALL.stream().map(this::settled).toList();
            Thread.sleep(WATCHED.toMillis());
            assertThat(ALL.stream().map(cluster::lastOrdered)).isEqualTo(stood);
        });
    }

    /** Everybody still hears somebody, and the third hears both. */
    @Test
    void theOrderGoesOnWhenTheLeaderAndAFollowerLoseEachOther() throws Exception {
        System.out.printf("one line lost, seed %d%n", seed);
        underLoad(() -> {
            int leader = agreedLeader();
            int victim = othersThan(leader).get(random.nextInt(2));
            int third = 6 - leader - victim;
            network.drop(leader, victim);
            network.drop(victim, leader);
            // Long enough for the victim to ask for votes more than once.
            Thread.sleep(2 * WATCHED.toMillis());
            long before = cluster.lastOrdered(third);
            await("more ordered at n" + third, () -> cluster.lastOrdered(third) > before + 20);
            System.out.printf("n%d led, n%d lost it; now n%d leads%n", leader, victim, cluster.leader(third));
        });
    }
}
