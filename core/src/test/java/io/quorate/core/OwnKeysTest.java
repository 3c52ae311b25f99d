// SPDX-License-Identifier: Apache-2.0
package io.quorate.core;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.RepeatedTest;

/** A transaction with many keys loses, and is built on, as it would be with few. */
class OwnKeysTest {
    private static final UUID SERVER = new UUID(1, 2);

    private final long seed = new Random().nextLong();
    private final Random random = new Random(seed);

    @RepeatedTest(60)
    void manyKeysAreFoundLikeFew() {
        OwnKeys few = new OwnKeys();
        OwnKeys many = new OwnKeys();
        List<OwnTransaction> openFew = new ArrayList<>();
        List<OwnTransaction> openMany = new ArrayList<>();
        for (long number = 1; number <= 30; number++) {
            WriteSet w = writeSet(number, keys());
            WriteSet padded = random.nextBoolean() ? w : w.withKeys(padded(w.keys()));
            assertBuiltOnAlike(few.builtOn(w), many.builtOn(padded), openFew);
            openFew.add(add(few, w.withBuiltOn(few.builtOn(w))));
            openMany.add(add(many, padded));
            if (random.nextInt(6) == 0) {
                // As the order settles them: the earliest first.
                few.remove(openFew.remove(0));
                many.remove(openMany.remove(0));
            }
            Keys winner = random.nextInt(4) == 0 ? padded(keys()) : keys();
            Set<Long> expected = new HashSet<>();
            Set<Long> found = new HashSet<>();
            few.addLosers(winner, openFew, expected);
            many.addLosers(winner, openMany, found);
            few.addWritersTo(winner, openFew, expected);
            many.addWritersTo(winner, openMany, found);
            assertThat(found).as("seed %d, after %d", seed, number).isEqualTo(expected);
        }
    }

    /** What is named beyond the latest of a chain must be what that chain leads to. */
    private void assertBuiltOnAlike(long[] few, long[] many, List<OwnTransaction> open) {
        Set<Long> named = new HashSet<>();
        Arrays.stream(many).forEach(named::add);
        Set<Long> reached = new HashSet<>();
        for (long number : few) {
            assertThat(named).as("seed %d", seed).contains(number);
            follow(number, open, reached);
        }
        assertThat(reached).as("seed %d", seed).containsAll(named);
    }

    private static void follow(long number, List<OwnTransaction> open, Set<Long> reached) {
        if (reached.add(number)) {
            open.stream().filter(own -> own.number == number).forEach(own -> Arrays.stream(own.builtOn)
                    .forEach(next -> follow(next, open, reached)));
        }
    }

    private static OwnTransaction add(OwnKeys to, WriteSet w) {
        OwnTransaction own = new OwnTransaction(w);
        to.add(own);
        return own;
    }

    private static WriteSet writeSet(long number, Keys keys) {
        return new WriteSet(new Gtid(SERVER, number), 0, 0, WriteSet.Kind.ROWS, keys, Payload.NONE);
    }

    private Keys keys() {
        KeysBuilder keys = new KeysBuilder();
        for (int left = 1 + random.nextInt(3); left > 0; left--) {
            keys.add(100 + random.nextInt(12), KeyType.of(random.nextInt(4)));
        }
        return keys.build();
    }

    /** With so many others that nobody else has. */
    private Keys padded(Keys keys) {
        KeysBuilder more = new KeysBuilder();
        for (int i = 0; i < keys.size(); i++) {
            more.add(keys.hash(i), keys.type(i));
        }
        while (more.size() < Keys.SORTED_FROM) {
            more.add(random.nextLong() | 1L << 62, KeyType.EXCLUSIVE);
        }
        return more.build();
    }
}
