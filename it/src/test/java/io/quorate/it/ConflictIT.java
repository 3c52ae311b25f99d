// SPDX-License-Identifier: Apache-2.0
package io.quorate.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.quorate.sandbox.Sandbox.Part;
import io.quorate.sandbox.SandboxException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Clients of three nodes write the same rows. More with {@code -Dquorate.seconds=300}, the same again with {@code
 * -Dquorate.seed=S}.
 */
@Timeout(1800)
class ConflictIT {
    private static final Duration LIMIT = Duration.ofMinutes(2);
    private static final int SECONDS = Integer.getInteger("quorate.seconds", 0);
    /** At least. */
    private static final int KILLS = 1;
    /** At each node, each with a rest after each of its transfers: where that is all, nobody waits for its turn. */
    private static final int WRITERS = SECONDS > 0 ? 2 : 1;

    private static final int PAUSE_MILLIS = SECONDS > 0 ? 10 : 40;

    /** On which indexes transfers conflict, sooner or later. */
    private static final List<String> MET = List.of("bank.account PRIMARY", "bank.account token", "bank.scrap ROW");

    private static Cluster cluster;

    @BeforeAll
    static void start() throws Exception {
        // With so short a log, who was away for some seconds comes back by a transfer from the others' caches.
        cluster = Cluster.start(
                3,
                Map.of(
                        "quorate.order.checkpoint-entries", "10",
                        "quorate.order.log-bytes-max", "1MB",
                        "quorate.conflicts.masked-columns", "bank.account.TOKEN,x.*.y"));
    }

    @AfterAll
    static void end() {
        cluster.close();
    }

    @Test
    void moneyIsNeitherMadeNorLostWhileNodesAreKilled() throws Exception {
        long seed = Long.getLong("quorate.seed", System.nanoTime());
        System.out.println("seed " + seed);
        Random random = new Random(seed);
        Bank.open(cluster, 1);
        cluster.assertConverged();
        boolean[] warned = {false};
        Set<Bank.Transfer> acknowledged;
        try (Bank bank = new Bank(cluster, seed, PAUSE_MILLIS, WRITERS, 1, 2, 3)) {
            long end = System.nanoTime() + SECONDS * 1_000_000_000L;
            Thread.sleep(3000);
            for (int kills = 0; kills < KILLS || System.nanoTime() < end; kills++) {
                int node = 1 + random.nextInt(3);
                Part part = Part.values()[random.nextInt(Part.values().length)];
                System.out.println("kill -9 " + part + " of n" + node);
                cluster.kill(node, part);
                Thread.sleep(1000 + random.nextInt(3000));
                assertThat(cluster.restart(node)).isTrue();
                warned[0] |= cluster.http(node, "/actuator/cluster").contains("\"bank.scrap\"");
                Thread.sleep(1000 + random.nextInt(5000));
            }
            awaitEnough();
            acknowledged = bank.stop();
        }
        long stopped = System.nanoTime();
        cluster.assertConverged();
        System.out.println("settled after " + (System.nanoTime() - stopped) / 1_000_000 + " ms");
        assertThat(warned[0]).as("the table without a key is in the status").isTrue();
        Set<Bank.Transfer> happened = Bank.history(cluster, 1);
        Set<Bank.Transfer> undone = new TreeSet<>(acknowledged);
        undone.removeAll(happened);
        System.out.println(acknowledged.size() + " transfers acknowledged, " + happened.size() + " in the history, "
                + undone.size() + " undone");
        awaitSameJournals(undone, seed);
        Set<Bank.Transfer> both = journaled(1);
        both.retainAll(happened);
        assertThat(both).as("undone and there, seed %d", seed).isEmpty();
        assertThat(indexes()).containsAll(MET);
        assertThat(happened).as("transfers that passed").hasSizeGreaterThan(100);
        assertThat(undone).as("conflicts").isNotEmpty();
        for (int node = 1; node <= 3; node++) {
            assertThat(Bank.wrongBalances(cluster, node))
                    .as("n%d, seed %d", node, seed)
                    .isEmpty();
        }
        assertThatOutcomesAreTrue();
    }

    /** Also at a node that came by a copy, which doesn't have what failed before. */
    private static void assertThatOutcomesAreTrue() throws Exception {
        JsonNode list = JsonMapper.shared().readTree(cluster.http(1, "/actuator/conflicts?limit=10000"));
        JsonNode conflict = list.get("conflicts")
                .valueStream()
                .filter(c -> c.get("verdict").asString().equals("CONFLICT")
                        && c.get("winner").isString())
                .findFirst()
                .orElseThrow();
        String lost = conflict.get("loser").asString();
        String won = conflict.get("winner").asString();
        Set<String> outcomes = new TreeSet<>();
        for (int node = 1; node <= 3; node++) {
            assertThat(outcome(node, lost)).as("n%d", node).isEqualTo("UNDONE");
            outcomes.add(outcome(node, won));
        }
        // One that was killed may have received what it missed from a cache that doesn't reach back so far.
        assertThat(outcomes).contains("ORDERED").doesNotContain("UNDONE");
        cluster.add();
        assertThat(outcome(4, lost)).isIn("UNDONE", "UNKNOWN");
        assertThat(outcome(4, won)).isIn("ORDERED", "UNKNOWN");
    }

    private static String outcome(int node, String gtid) throws Exception {
        return JsonMapper.shared()
                .readTree(cluster.http(node, "/actuator/outcome/" + gtid))
                .get("outcome")
                .asString();
    }

    /**
     * Until enough has happened for what the test claims of it. Where chance doesn't do it, clients of two nodes write
     * the same while the second one's node stands still, so that neither can know of the other.
     */
    private static void awaitEnough() throws Exception {
        long end = System.nanoTime() + LIMIT.toNanos();
        Set<String> met = indexes();
        for (int turn = 1;
                Bank.history(cluster, 1).size() <= 100 || journaled(1).isEmpty() || !met.containsAll(MET);
                turn++) {
            assertThat(System.nanoTime())
                    .as("over 100 transfers, some undone, conflicts on %s within %s; met on %s", MET, LIMIT, met)
                    .isLessThan(end);
            cluster.pause(2);
            try {
                writeTheSame(1, turn);
                writeTheSame(2, turn);
                Thread.sleep(1000);
            } catch (SandboxException e) {
                System.out.println("another turn; an applier that stands still may hold locks: " + e.getMessage());
            } finally {
                cluster.goOn(2);
            }
            Thread.sleep(2000);
            met = indexes();
        }
    }

    /** A row that no key tells from others, one account, and one token for two accounts; none that the bank uses. */
    private static void writeTheSame(int node, int turn) {
        String account = "INSERT INTO bank.account VALUES (%d, %d, %d) ON DUPLICATE KEY UPDATE token = VALUES(token)";
        cluster.mysql(node)
                .execute(
                        "SET innodb_lock_wait_timeout = 5",
                        "INSERT INTO bank.scrap VALUES (-1, 'met')",
                        account.formatted(Bank.ACCOUNTS, Bank.OPENING, -(10 * turn + node)),
                        account.formatted(Bank.ACCOUNTS + node, Bank.OPENING, 1_000_000 + turn));
    }

    /** The indexes on which transactions met, as the journal of the first node has them. */
    private static Set<String> indexes() throws Exception {
        Set<String> indexes = new TreeSet<>();
        JsonNode list = JsonMapper.shared().readTree(cluster.http(1, "/actuator/conflicts?limit=10000&full=true"));
        for (JsonNode c : list.get("conflicts")) {
            for (JsonNode met : c.get("met")) {
                String index = met.get("key").asString();
                indexes.add(met.get("table").asString() + " " + index);
                if (index.equals("token")) {
                    assertThat(met.get("values").get("token").asString()).isEqualTo("(masked)");
                }
            }
        }
        System.out.println("met on " + indexes);
        return indexes;
    }

    /** A node's journal is written after its rows. */
    private static void awaitSameJournals(Set<Bank.Transfer> undone, long seed) throws Exception {
        long end = System.nanoTime() + LIMIT.toNanos();
        String differences = differences(undone);
        while (!differences.isEmpty() && System.nanoTime() < end) {
            Thread.sleep(100);
            differences = differences(undone);
        }
        assertThat(differences).as("seed %d", seed).isEmpty();
    }

    /** What isn't in the first node's journal and should be, and what is in one node's and not in another's. */
    private static String differences(Set<Bank.Transfer> undone) throws Exception {
        Set<Bank.Transfer> first = journaled(1);
        StringBuilder differences = new StringBuilder();
        add(differences, "undone and not in the journal of n1", undone, first);
        for (int node = 2; node <= 3; node++) {
            Set<Bank.Transfer> here = journaled(node);
            add(differences, "in the journal of n1 and not of n" + node, first, here);
            add(differences, "in the journal of n" + node + " and not of n1", here, first);
        }
        return differences.toString();
    }

    private static void add(
            StringBuilder differences, String what, Set<Bank.Transfer> some, Set<Bank.Transfer> others) {
        Set<Bank.Transfer> rest = new TreeSet<>(some);
        rest.removeAll(others);
        if (!rest.isEmpty()) {
            differences.append(what).append(": ").append(rest).append("; ");
        }
    }

    /** The transfers that a node's journal says were undone. */
    private static Set<Bank.Transfer> journaled(int node) throws Exception {
        Set<Bank.Transfer> transfers = new TreeSet<>();
        JsonMapper json = JsonMapper.shared();
        JsonNode list = json.readTree(cluster.http(node, "/actuator/conflicts?limit=10000&full=true"));
        for (JsonNode c : list.get("conflicts")) {
            for (JsonNode row : c.get("loser").get("rows")) {
                if (row.get("table").asString().equals("bank.account")) {
                    JsonNode values = row.get(row.get("before").has("token") ? "before" : "after");
                    JsonNode token = values.get("token");
                    assertThat(token.isNull() || token.asString().equals("(masked)"))
                            .as("%s", row)
                            .isTrue();
                }
                if (row.get("table").asString().equals("bank.history")) {
                    JsonNode after = row.get("after");
                    transfers.add(new Bank.Transfer(
                            Integer.parseInt(after.get("writer").asString()),
                            Integer.parseInt(after.get("n").asString())));
                }
            }
        }
        return transfers;
    }
}
