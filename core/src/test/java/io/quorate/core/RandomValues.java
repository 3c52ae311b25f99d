// SPDX-License-Identifier: Apache-2.0
package io.quorate.core;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.UUID;

/** Values for tests, drawn from one {@link Random}. */
final class RandomValues {
    private final Random random;

    RandomValues(Random random) {
        this.random = random;
    }

    WriteSet writeSet(UUID origin, long number) {
        int keys = random.nextInt(6);
        long[] hashes = random.longs(keys).toArray();
        byte[] types = new byte[keys];
        for (int i = 0; i < keys; i++) {
            types[i] = (byte) random.nextInt(4);
        }
        byte[] payload = new byte[random.nextInt(100)];
        random.nextBytes(payload);
        return new WriteSet(
                new Gtid(origin, number),
                random.nextLong(),
                random.nextLong(),
                random.nextInt(5) == 0 ? WriteSet.Kind.DDL : WriteSet.Kind.ROWS,
                new Keys(hashes, types),
                Payload.of(payload),
                random.longs(random.nextInt(3), 0, number).distinct().sorted().toArray(),
                random.nextInt());
    }

    Proposal proposal() {
        UUID origin = new UUID(random.nextLong(), random.nextLong());
        long previous = random.nextInt(1000);
        long at = previous;
        List<WriteSet> writeSets = new ArrayList<>();
        for (int left = random.nextInt(5); left > 0; left--) {
            at += 1 + random.nextInt(3);
            writeSets.add(writeSet(origin, at));
        }
        long[] undecided = random.longs(random.nextInt(3)).toArray();
        return new Proposal(origin, previous, at + random.nextInt(2), random.nextLong(), undecided, writeSets);
    }

    /** Damaged in one of the ways a bug or a stranger on the port may do it. */
    byte[] damaged(byte[] good) {
        byte[] bad;
        if (random.nextInt(4) == 0) {
            bad = java.util.Arrays.copyOf(good, random.nextInt(good.length + 20));
        } else {
            bad = good.clone();
        }
        for (int left = random.nextInt(4); left > 0 && bad.length > 0; left--) {
            int at = random.nextInt(Math.min(bad.length, 1 + random.nextInt(bad.length)));
            bad[at] = (byte) (random.nextBoolean() ? random.nextInt() : random.nextBoolean() ? 0x7f : 0xff);
        }
        return bad;
    }
}
