// SPDX-License-Identifier: Apache-2.0
package io.quorate.core;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

class KeysBuilderTest {
    private final KeysBuilder builder = new KeysBuilder();

    @Test
    void keepsEachKeyOnceWithItsStrongestType() {
        builder.add(5, KeyType.REFERENCE);
        builder.add(9, KeyType.SHARED);
        builder.add(5, KeyType.EXCLUSIVE);
        builder.add(5, KeyType.UPDATE);
        assertThat(builder.size()).isEqualTo(2);
        assertThat(builder.build()).hasToString("[EXCLUSIVE:5 SHARED:9]");
        assertThat(builder.build()).isSameAs(Keys.NONE);
    }

    /** Reused over writesets of all sizes, as the capture does, against a map. */
    @Test
    void agreesWithAMap() {
        long seed = new Random().nextLong();
        Random random = new Random(seed);
        for (int round = 0; round < 300; round++) {
            Map<Long, KeyType> model = new LinkedHashMap<>();
            int adds = random.nextInt(1 << random.nextInt(13));
            // Few distinct ones, or many, or such that share their lower or upper bits.
            int range = 1 + random.nextInt(2 * adds + 1);
            int shift = random.nextInt(50);
            for (int i = 0; i < adds; i++) {
                long hash = (long) random.nextInt(range) << shift;
                KeyType type = KeyType.of(random.nextInt(4));
                builder.add(hash, type);
                model.merge(hash, type, (a, b) -> a.compareTo(b) > 0 ? a : b);
            }
            if (random.nextInt(5) == 0) {
                builder.clear();
                model.clear();
            }
            Map<Long, KeyType> built = new LinkedHashMap<>();
            Keys keys = builder.build();
            for (int i = 0; i < keys.size(); i++) {
                built.put(keys.hash(i), keys.type(i));
            }
            assertThat(keys.size()).as("seed %d, round %d", seed, round).isEqualTo(model.size());
            assertThat(built).as("seed %d, round %d", seed, round).isEqualTo(model);
        }
    }
}
