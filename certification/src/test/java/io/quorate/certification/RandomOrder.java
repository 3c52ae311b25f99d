// SPDX-License-Identifier: Apache-2.0
package io.quorate.certification;

import io.quorate.core.Gtid;
import io.quorate.core.KeyType;
import io.quorate.core.Keys;
import io.quorate.core.KeysBuilder;
import io.quorate.core.Proposal;
import io.quorate.core.WriteSet;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import java.util.function.LongSupplier;

/**
 * What a few origins might get ordered: mostly proposals that link, some repeated, some overlapping, some after a gap,
 * some empty, some from a wrong history.
 */
final class RandomOrder {
    private final Random random;
    private final int keyRange;
    private final int keysMax;
    private final int writeSetsMax;
    private final List<UUID> names = new ArrayList<>();
    private final long[] proposed;
    private final long[] seen;
    /** How likely an origin has seen more since its last writeset. */
    private final double[] eagerness;

    private final LongSupplier lastSeqno;
    private final List<Proposal> before = new ArrayList<>();

    RandomOrder(Random random, int origins, int keyRange, int keysMax, int writeSetsMax, LongSupplier lastSeqno) {
        this.random = random;
        this.keyRange = keyRange;
        this.keysMax = keysMax;
        this.writeSetsMax = writeSetsMax;
        this.lastSeqno = lastSeqno;
        this.proposed = new long[origins];
        this.seen = new long[origins];
        this.eagerness = random.doubles(origins).map(d -> d < 0.4 ? 0.03 : d).toArray();
        for (int i = 0; i < origins; i++) {
            names.add(new UUID(random.nextLong(), random.nextLong()));
        }
    }

    Proposal next() {
        int dice = random.nextInt(100);
        Proposal p;
        if (dice < 6 && !before.isEmpty()) {
            return before.get(before.size() - 1 - random.nextInt(Math.min(before.size(), 20)));
        }
        int origin = random.nextInt(proposed.length) * random.nextInt(2);
        if (dice < 12) {
            p = stretch(origin, Math.max(0, proposed[origin] - random.nextInt(4)), true);
        } else if (dice < 15) {
            p = stretch(origin, proposed[origin] + 1 + random.nextInt(3), false);
        } else if (dice < 16) {
            p = new Proposal(
                    names.get(origin),
                    proposed[origin],
                    proposed[origin] + 1,
                    lastSeqno.getAsLong() + 1,
                    new long[0],
                    List.of());
        } else {
            p = stretch(origin, proposed[origin], true);
        }
        before.add(p);
        return p;
    }

    private Proposal stretch(int origin, long previous, boolean moves) {
        List<WriteSet> writeSets = new ArrayList<>();
        long at = previous;
        long seenFrom = seen[origin];
        for (int left = random.nextInt(writeSetsMax + 1); left > 0; left--) {
            at += 1 + random.nextInt(2);
            if (random.nextDouble() < eagerness[origin]) {
                seenFrom += (long) (random.nextDouble() * (lastSeqno.getAsLong() - seenFrom + 1));
            }
            seenFrom = Math.min(seenFrom, lastSeqno.getAsLong());
            writeSets.add(writeSet(origin, at, seenFrom));
        }
        at += random.nextInt(2);
        if (moves && at > proposed[origin]) {
            proposed[origin] = at;
            seen[origin] = seenFrom;
        }
        long[] undecided = random.nextInt(5) == 0 && at > 0 ? new long[] {at} : new long[0];
        return new Proposal(names.get(origin), previous, at, seenFrom, undecided, writeSets);
    }

    private WriteSet writeSet(int origin, long number, long lastSeen) {
        KeysBuilder keys = new KeysBuilder();
        int count = random.nextInt(100) == 0 ? random.nextInt(keysMax * 3 / 2) : random.nextInt(5);
        for (int i = 0; i < count; i++) {
            int spread = count < 5 ? keyRange : 4 * keysMax;
            int key = 1 + random.nextInt(spread);
            // The keys by which definitions say more of themselves are left out, but for one.
            keys.add(key > Keys.NO_ROWS_BEFORE ? key + Keys.RESERVED_LAST : key, KeyType.of(random.nextInt(4)));
        }
        if (random.nextInt(150) == 0) {
            keys.add(0, KeyType.of(random.nextInt(4)));
        }
        int dice = random.nextInt(100);
        WriteSet.Kind kind = dice == 0 ? WriteSet.Kind.DDL : dice < 20 ? WriteSet.Kind.PREPARED : WriteSet.Kind.ROWS;
        return new WriteSet(new Gtid(names.get(origin), number), lastSeen, 0, kind, keys.build(), new byte[0])
                .withBuiltOn(builtOn(number));
    }

    private long[] builtOn(long number) {
        int dice = random.nextInt(40);
        if (dice == 0) {
            return WriteSet.builtOnAll();
        }
        return random.longs(dice < 12 ? 1 + random.nextInt(3) : 0, Math.max(1, number - 12), number + 1)
                .filter(n -> n < number)
                .distinct()
                .sorted()
                .toArray();
    }
}
