// SPDX-License-Identifier: Apache-2.0
package io.quorate.certification;

import static org.assertj.core.api.Assertions.assertThat;

import io.quorate.certification.Certification.Link;
import io.quorate.core.Certified;
import io.quorate.core.Gtid;
import io.quorate.core.KeyType;
import io.quorate.core.Keys;
import io.quorate.core.LogPosition;
import io.quorate.core.Proposal;
import io.quorate.core.Verdict;
import io.quorate.core.WriteSet;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class CertifierPropertyTest {
    private static final int STEPS = 800;

    /** Half of them the same every time, half new. More with -Dquorate.seeds=N. */
    static List<Long> seeds() {
        List<Long> seeds = new ArrayList<>();
        Random random = new Random();
        int count = Integer.getInteger("quorate.seeds", 40);
        for (long i = 0; i < count; i++) {
            seeds.add(i < count / 2 ? i : random.nextLong());
        }
        return seeds;
    }

    private record Run(Random random, Certifier certifier, RandomOrder order) {
        static Run of(long seed, int writeSetsMax) {
            Random random = new Random(seed);
            int keysMax = 64 << Math.max(0, random.nextInt(9) - 3);
            Certifier certifier = new Certifier(keysMax);
            int origins = 1 + random.nextInt(5);
            int keyRange = 1 << (1 + random.nextInt(10));
            return new Run(
                    random,
                    certifier,
                    new RandomOrder(random, origins, keyRange, keysMax, writeSetsMax, certifier::lastSeqno));
        }
    }

    @ParameterizedTest(name = "seed {0}")
    @MethodSource("seeds")
    void decidesAsAComparisonOfAllPairsDoes(long seed) {
        Run run = Run.of(seed, 1);
        Certifier certifier = run.certifier;
        Model model = new Model();
        for (int step = 0; step < STEPS; step++) {
            long seqno = certifier.lastSeqno();
            long cut = certifier.cut();
            Proposal proposal = run.order.next();
            Certification result = certifier.certify(proposal, LogPosition.START);
            for (Certified c : result.certified()) {
                assertThat(c.seqno()).as("without gaps").isEqualTo(++seqno);
                assertThat(c.dependsOn()).isLessThan(c.seqno());
                assertThat(Model.of(c))
                        .as(
                                "seed %d, step %d, %s, %s",
                                seed, step, c, c.writeSet().keys())
                        .isEqualTo(model.expect(c.writeSet(), cut));
                assertThat(c.passed() && model.conflictsWithAnything(c.writeSet(), c.seqno()))
                        .as("seed %d, step %d: a conflict was missed", seed, step)
                        .isFalse();
            }
            if (result.link() == Link.TAKEN) {
                model.took(proposal);
            }
            assertThat(certifier.stats().keys()).isLessThanOrEqualTo(certifier.keysMax());
            if (step % 40 == 0) {
                assertThat(certifier.stats().keys())
                        .as("seed %d, step %d: keeps what can still decide something, no more", seed, step)
                        .isEqualTo(model.entriesNeeded(certifier.cut()));
            }
        }
    }

    /** As long as the bound isn't met, who reports honestly what he has seen never fails for what was forgotten. */
    @ParameterizedTest(name = "seed {0}")
    @MethodSource("seeds")
    void forgetsNothingThatAnOriginHasNotSeen(long seed) {
        Random random = new Random(seed);
        Certifier certifier = new Certifier(1024);
        UUID[] origins = {new UUID(1, 1), new UUID(2, 2), new UUID(3, 3)};
        long[] seen = new long[origins.length];
        long[] last = new long[origins.length];
        for (int i = 0; i < origins.length; i++) {
            certifier.certify(new Proposal(origins[i], 0, 0, 0, new long[0], List.of()), LogPosition.START);
        }
        for (int step = 0; step < 3000; step++) {
            int i = random.nextInt(origins.length);
            if (random.nextInt(20) == 0 || certifier.lastSeqno() - seen[i] > 300) {
                seen[i] += random.nextInt((int) (certifier.lastSeqno() - seen[i]) + 1);
            }
            Keys keys = new Keys(new long[] {1000 + step}, new byte[] {(byte) KeyType.UPDATE.ordinal()});
            WriteSet w =
                    new WriteSet(new Gtid(origins[i], last[i] + 1), seen[i], 0, WriteSet.Kind.ROWS, keys, new byte[0]);
            Proposal p = new Proposal(origins[i], last[i], ++last[i], seen[i], new long[0], List.of(w));
            assertThat(certifier
                            .certify(p, LogPosition.START)
                            .certified()
                            .get(0)
                            .verdict())
                    .as("seed %d, step %d, %s, %s", seed, step, w, certifier.stats())
                    .isEqualTo(Verdict.PASSED);
        }
        assertThat(certifier.cut()).isPositive();
    }

    private record Delivered(Proposal proposal, Certification result, long digestAfter) {}

    @ParameterizedTest(name = "seed {0}")
    @MethodSource("seeds")
    void isAfterACrashAsIfItHadNeverCrashed(long seed) throws IOException {
        Run run = Run.of(seed, 4);
        List<Delivered> log = new ArrayList<>();
        byte[] checkpoint = bytes(run.certifier);
        int checkpointAt = 0;
        for (int step = 0; step < STEPS; step++) {
            Proposal p = run.order.next();
            LogPosition position = new LogPosition(1, step);
            log.add(new Delivered(p, run.certifier.certify(p, position), run.certifier.digest()));
            if (run.random.nextInt(30) == 0) {
                checkpoint = bytes(run.certifier);
                checkpointAt = log.size();
            }
            if (run.random.nextInt(30) == 0) {
                Certifier restarted = Certifier.readFrom(new DataInputStream(new ByteArrayInputStream(checkpoint)));
                redeliver(seed, restarted, log, redeliverFrom(run.random, log, checkpointAt), checkpointAt);
                assertThat(restarted.digest())
                        .as("seed %d, step %d", seed, step)
                        .isEqualTo(run.certifier.digest());
                assertThat(bytes(restarted)).as("seed %d, step %d", seed, step).isEqualTo(bytes(run.certifier));
                assertThat(restarted.positions()).isEqualTo(run.certifier.positions());
            }
        }
    }

    /** At the checkpoint or before it, with nothing refused in between: those might link when they come again. */
    private static int redeliverFrom(Random random, List<Delivered> log, int checkpointAt) {
        int from = checkpointAt;
        for (int left = random.nextInt(10); left > 0 && from > 0; left--) {
            Link link = log.get(from - 1).result.link();
            if (link == Link.GAP || link == Link.IMPOSSIBLE) {
                break;
            }
            from--;
        }
        return from;
    }

    private static void redeliver(long seed, Certifier restarted, List<Delivered> log, int from, int checkpointAt) {
        for (int i = from; i < log.size(); i++) {
            Delivered d = log.get(i);
            Certification again = restarted.certify(d.proposal, new LogPosition(1, i));
            if (i < checkpointAt) {
                assertThat(again.link()).as("seed %d, entry %d", seed, i).isEqualTo(Link.DUPLICATE);
            } else {
                assertThat(again).as("seed %d, entry %d", seed, i).isEqualTo(d.result);
                assertThat(restarted.digest()).as("seed %d, entry %d", seed, i).isEqualTo(d.digestAfter);
            }
        }
    }

    private static byte[] bytes(Certifier certifier) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        certifier.writeTo(new DataOutputStream(bytes));
        return bytes.toByteArray();
    }
}
