// SPDX-License-Identifier: Apache-2.0
package io.quorate.bench;

import io.quorate.core.Gtid;
import io.quorate.core.KeyType;
import io.quorate.core.Keys;
import io.quorate.core.Proposal;
import io.quorate.core.WriteSet;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.UUID;

/** Proposals of a few origins that write random rows of one table, each a fixed number of seqnos behind the order. */
final class Load {
    private static final byte[] NO_PAYLOAD = new byte[0];
    /** The table comes first, then the rows. */
    private static final long TABLE = 4711;

    private final SplittableRandom random = new SplittableRandom(1);
    private final UUID[] origins;
    private final long[] numbers;
    private final byte[] types;
    private final int writeSets;
    private final long rows;
    private final long lag;
    private int next;

    /**
     * @param writeSets in a proposal
     * @param keys of a writeset: the table's SHARED and otherwise UPDATEs of rows
     * @param rows there are
     */
    Load(int origins, int writeSets, int keys, long rows, long lag) {
        this.origins = new UUID[origins];
        this.numbers = new long[origins];
        for (int i = 0; i < origins; i++) {
            this.origins[i] = new UUID(i, i);
        }
        this.writeSets = writeSets;
        this.types = new byte[keys];
        Arrays.fill(types, 1, keys, (byte) KeyType.UPDATE.ordinal());
        this.rows = rows;
        this.lag = lag;
    }

    Proposal next(long lastSeqno) {
        int origin = next++ % origins.length;
        long previous = numbers[origin];
        long lastSeen = Math.max(0, lastSeqno - lag);
        List<WriteSet> list = new ArrayList<>(writeSets);
        for (int i = 0; i < writeSets; i++) {
            Gtid gtid = new Gtid(origins[origin], ++numbers[origin]);
            list.add(new WriteSet(gtid, lastSeen, 0, WriteSet.Kind.ROWS, keys(), NO_PAYLOAD));
        }
        return new Proposal(origins[origin], previous, numbers[origin], lastSeen, new long[0], list);
    }

    private Keys keys() {
        long[] hashes = new long[types.length];
        hashes[0] = TABLE;
        for (int i = 1; i < hashes.length; i++) {
            hashes[i] = hash(random.nextLong(rows));
        }
        return new Keys(hashes, types);
    }

    /** As well mixed as capture's. */
    private static long hash(long row) {
        long h = (row + 1) * 0x9E3779B97F4A7C15L;
        h = (h ^ (h >>> 30)) * 0xBF58476D1CE4E5B9L;
        return h ^ (h >>> 31);
    }
}
