// SPDX-License-Identifier: Apache-2.0
package io.quorate.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.quorate.sandbox.Sandbox.Part;
import io.quorate.sandbox.SandboxException;
import java.io.IOException;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.Timeout;

/** The majority is lost, and one node goes on alone. */
@Timeout(600)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class ForcedRecoveryIT {
    private static Cluster cluster;

    @BeforeAll
    static void start() throws Exception {
        cluster = Cluster.start(3, Cluster.TLS);
        cluster.mysql(1)
                .execute("CREATE DATABASE load_test", Load.TABLE, "CREATE TABLE load_test.t (id INT PRIMARY KEY)");
        cluster.assertConverged();
    }

    @AfterAll
    static void end() {
        cluster.close();
    }

    private static void kill(int... nodes) {
        for (int n : nodes) {
            cluster.kill(n, Part.SERVICE);
            cluster.kill(n, Part.MYSQLD);
        }
    }

    @Test
    @Order(1)
    void aSurvivorGoesOnAloneWithAllItHasAndTheOthersJoinIt() throws Exception {
        assertThat(askToForce(1)).contains("there is a majority");
        long seed = System.nanoTime();
        Map<Integer, Integer> acknowledged;
        try (Load load = Load.inBackground(cluster, seed, 1)) {
            load.goesOn(20, 1);
            kill(2, 3);
            cluster.awaitState(1, "NON_PRIMARY");
            acknowledged = load.stop();
        }
        assertThat(Cluster.within(Cluster.LIMIT, () -> recovery().contains("\"present\":[]")))
                .isTrue();
        assertThat(recovery()).contains("\"majority\":false").contains("\"name\":\"n2\"");
        assertThat(cluster.post(1, "/actuator/recovery", "{\"action\":\"force\",\"cluster\":\"other\"}"))
                .contains("\"done\":false");
        force(1);
        assertThat(askToForce(1)).as("it is alone already").contains("nothing has to be forced");
        cluster.awaitState(1, "SYNCED");
        cluster.mysql(1).execute("INSERT INTO load_test.t VALUES (1)");
        assertThat(cluster.restart(2)).isTrue();
        assertThat(cluster.restart(3)).isTrue();
        cluster.mysql(3).execute("INSERT INTO load_test.t VALUES (2)");
        Load.assertNothingLost(cluster, acknowledged, seed);
        for (int n = 1; n <= 3; n++) {
            assertThat(cluster.mysql(n).queryLong("SELECT COUNT(*) FROM load_test.t"))
                    .isEqualTo(2);
        }
        // A majority of the three is one again.
        kill(1);
        cluster.awaitQuery(2, "SELECT @@read_only", "0");
        cluster.mysql(2).execute("INSERT INTO load_test.t VALUES (3)");
        cluster.awaitQuery(3, "SELECT COUNT(*) FROM load_test.t", "3");
    }

    /** The first has missed the third row, which the others have ordered. */
    @Test
    @Tag("long")
    @Order(2)
    void aNodeWithAHistoryOfItsOwnIsNotLetIn() throws Exception {
        kill(2, 3);
        assertThat(cluster.restart(1)).as("it has no majority").isFalse();
        force(1);
        cluster.awaitState(1, "SYNCED");
        cluster.awaitQuery(1, "SELECT @@read_only", "0");
        for (int id = 10; id < 20; id++) {
            cluster.mysql(1).execute("INSERT INTO load_test.t VALUES (" + id + ")");
        }
        assertThatThrownBy(() -> cluster.restart(2))
                .isInstanceOf(SandboxException.class)
                .hasMessageContaining("QRT-3010")
                .hasMessageContaining("history of its own");
        // And it stays out.
        Thread.sleep(2000);
        assertThat(cluster.state(2)).isEqualTo("LEFT");
        assertThat(cluster.mysql(2).queryOne("SELECT @@read_only")).isEqualTo("1");
        assertThat(cluster.mysql(1).queryLong("SELECT COUNT(*) FROM load_test.t WHERE id = 3"))
                .isZero();
    }

    private static String recovery() {
        try {
            return cluster.http(1, "/actuator/recovery");
        } catch (IOException e) {
            return e.toString();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return "interrupted";
        }
    }

    private static String askToForce(int node) throws Exception {
        return cluster.post(
                node, "/actuator/recovery", "{\"action\":\"force\",\"cluster\":\"" + cluster.name() + "\"}");
    }

    private static void force(int node) throws Exception {
        assertThat(askToForce(node)).contains("\"done\":true");
    }
}
