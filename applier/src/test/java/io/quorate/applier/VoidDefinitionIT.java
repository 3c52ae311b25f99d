// SPDX-License-Identifier: Apache-2.0
package io.quorate.applier;

import static org.assertj.core.api.Assertions.assertThat;

import io.quorate.core.ErrorCode;
import io.quorate.core.WriteSet;
import io.quorate.sandbox.MySqlServer;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What a server does about definitions that it refuses, or that the others have found void. */
@Timeout(180)
class VoidDefinitionIT {
    private static MySqlServer origin;
    private static MySqlServer server;

    private final Set<Long> found = ConcurrentHashMap.newKeySet();
    private final CountDownLatch asked = new CountDownLatch(1);
    private Replica replica;

    @BeforeAll
    static void startServers() {
        origin = MySqlServer.builder().relaxed().start();
        server = MySqlServer.builder().serverId(2).relaxed().start();
    }

    @AfterAll
    static void stopServers() {
        origin.close();
        server.close();
    }

    /** A table with a duplicate, of which the origin doesn't know. */
    @BeforeEach
    void begin() throws Exception {
        for (MySqlServer each : List.of(origin, server)) {
            each.execute(
                    "DROP DATABASE IF EXISTS quorate",
                    "DROP DATABASE IF EXISTS v",
                    each.dialect().resetBinlogs());
            each.execute(
                    "SET SESSION sql_log_bin = 0",
                    "CREATE DATABASE v",
                    "CREATE TABLE v.t (id INT PRIMARY KEY, a INT)",
                    "INSERT INTO v.t VALUES (1, 1)");
        }
        server.execute("SET SESSION sql_log_bin = 0", "INSERT INTO v.t VALUES (2, 1)");
        replica = new Replica(origin, server);
    }

    @AfterEach
    void end() {
        replica.close();
    }

    /** The others say what they are told to. */
    private void others(Verdicts.Verdict say) throws Exception {
        replica.verdicts(new Verdicts() {
            @Override
            public boolean isVoid(long seqno) {
                return found.contains(seqno);
            }

            @Override
            public Verdict onRefused(long seqno) {
                asked.countDown();
                if (say == Verdict.VOID) {
                    found.add(seqno);
                }
                return say;
            }
        });
        replica.start(Replica.SETTINGS);
    }

    private static List<List<String>> keys() {
        return server.query("SHOW INDEX FROM v.t WHERE Key_name = 'a'");
    }

    @Test
    void isPassedOverAndWhatComesAfterItGoesOn() throws Exception {
        others(Verdicts.Verdict.VOID);
        origin.execute("ALTER TABLE v.t ADD UNIQUE (a)", "INSERT INTO v.t VALUES (3, 3)");
        replica.take(seqno -> seqno - 1);
        replica.awaitApplied();
        assertThat(found).containsExactly(1L);
        assertThat(keys()).isEmpty();
        assertThat(server.queryLong("SELECT COUNT(*) FROM v.t")).isEqualTo(3);
        replica.append(List.of(Records.certified(3, 2, WriteSet.voids(1, new long[0], 0))));
        replica.awaitApplied();
    }

    /** The verdict may be older than the server's way to the definition, after an absence. */
    @Test
    void isNotEvenTriedOnceItIsKnownToBeVoid() throws Exception {
        found.add(1L);
        others(Verdicts.Verdict.STANDS);
        origin.execute("ALTER TABLE v.t ADD UNIQUE (a)");
        replica.take(seqno -> seqno - 1);
        replica.append(List.of(Records.certified(2, 1, WriteSet.voids(1, new long[0], 0))));
        replica.awaitApplied();
        assertThat(keys()).isEmpty();
    }

    @Test
    void isPassedOverOnceThoughTheServiceDiesBeforeItsPositionIsSaved() throws Exception {
        others(Verdicts.Verdict.VOID);
        origin.execute("ALTER TABLE v.t ADD UNIQUE (a)");
        replica.take(seqno -> seqno - 1);
        replica.awaitApplied();
        replica.stop();
        server.execute("SET SESSION sql_log_bin = 0", "UPDATE quorate.position SET seqno = 0");
        // Without the duplicate it would pass now, and must not.
        server.execute("SET SESSION sql_log_bin = 0", "DELETE FROM v.t WHERE id = 2");
        others(Verdicts.Verdict.STANDS);
        replica.append(List.of(Records.certified(2, 1, WriteSet.voids(1, new long[0], 0))));
        replica.awaitApplied();
        assertThat(keys()).isEmpty();
    }

    /** Its origin went on writing to what nobody else has. */
    @Test
    void takesAlongWhatWasBuiltOnIt() throws Exception {
        server.execute("SET SESSION sql_log_bin = 0", "CREATE TABLE v.u (a INT)");
        found.addAll(List.of(3L, 4L));
        others(Verdicts.Verdict.VOID);
        origin.execute(
                "CREATE TABLE v.u (id INT PRIMARY KEY)",
                "INSERT INTO v.t VALUES (3, 3)",
                "INSERT INTO v.u VALUES (1)",
                "ALTER TABLE v.u ADD b INT",
                "INSERT INTO v.t VALUES (4, 4)");
        replica.take(seqno -> seqno - 1);
        replica.append(List.of(Records.certified(6, 5, WriteSet.voids(1, new long[] {3, 4}, 0))));
        replica.awaitApplied();
        assertThat(server.queryLong("SELECT COUNT(*) FROM v.t")).isEqualTo(4);
        assertThat(server.queryLong("SELECT COUNT(*) FROM v.u")).isZero();
        assertThat(server.query("SHOW COLUMNS FROM v.u")).hasSize(1);
    }

    /** The others may be away for long, and the service is stopped meanwhile. */
    @Test
    void isAskedAboutAgainByTheNextServiceWhereTheLastOneGotNoAnswer() throws Exception {
        others(Verdicts.Verdict.OPEN);
        origin.execute("ALTER TABLE v.t ADD UNIQUE (a)");
        replica.take(seqno -> seqno - 1);
        assertThat(asked.await(60, TimeUnit.SECONDS)).isTrue();
        replica.stop();
        assertThat(Thread.getAllStackTraces().keySet())
                .extracting(Thread::getName)
                .noneMatch(name -> name.startsWith("quorate-applier"));
        others(Verdicts.Verdict.VOID);
        replica.awaitApplied();
        assertThat(keys()).isEmpty();
    }

    @Test
    void thatStandsEndsTheApplierWhoseServerRefusesIt() throws Exception {
        others(Verdicts.Verdict.STANDS);
        origin.execute("ALTER TABLE v.t ADD UNIQUE (a)");
        replica.take(seqno -> seqno - 1);
        assertThat(replica.awaitFailure().code()).isEqualTo(ErrorCode.DEFINITION_REFUSED);
    }

    @Test
    void thatThisServerHasRunShowsThatItHoldsSomethingElse() throws Exception {
        server.execute("SET SESSION sql_log_bin = 0", "DELETE FROM v.t WHERE id = 2");
        others(Verdicts.Verdict.STANDS);
        origin.execute("ALTER TABLE v.t ADD UNIQUE (a)");
        replica.take(seqno -> seqno - 1);
        replica.awaitApplied();
        assertThat(keys()).hasSize(1);
        replica.append(List.of(Records.certified(2, 1, WriteSet.voids(1, new long[0], 0))));
        assertThat(replica.awaitFailure().code()).isEqualTo(ErrorCode.DEFINITION_VOID);
    }
}
