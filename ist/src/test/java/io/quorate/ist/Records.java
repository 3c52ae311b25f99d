// SPDX-License-Identifier: Apache-2.0
package io.quorate.ist;

import io.quorate.core.Certified;
import io.quorate.core.Gtid;
import io.quorate.core.KeyType;
import io.quorate.core.KeysBuilder;
import io.quorate.core.LogPosition;
import io.quorate.core.Verdict;
import io.quorate.core.WriteSet;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.UUID;

/**
 * Certified writesets, each a function of its seqno and a seed, so that what is read can be checked without keeping it.
 */
final class Records {
    private static final UUID ORIGIN = new UUID(7, 7);

    private final long seed;
    private final int payloadMax;

    Records(long seed, int payloadMax) {
        this.seed = seed;
        this.payloadMax = payloadMax;
    }

    /** Entries have {@code 1 + seqno % 3} writesets or so. */
    Certified at(long seqno) {
        Random random = new Random(seed * 31 + seqno);
        KeysBuilder keys = new KeysBuilder();
        for (int left = random.nextInt(5); left > 0; left--) {
            keys.add(random.nextLong(), KeyType.of(random.nextInt(4)));
        }
        byte[] payload = new byte[random.nextInt(payloadMax)];
        random.nextBytes(payload);
        WriteSet w = new WriteSet(
                new Gtid(ORIGIN, seqno),
                random.nextInt(1000),
                random.nextLong(),
                WriteSet.Kind.ROWS,
                keys.build(),
                payload);
        Verdict verdict = Verdict.of(random.nextInt(3));
        return new Certified(
                seqno,
                verdict,
                verdict == Verdict.CONFLICT ? 1 : 0,
                seqno - 1,
                new LogPosition(2, seqno + 5),
                endsEntry(seqno),
                w);
    }

    boolean endsEntry(long seqno) {
        return new Random(seed * 17 + seqno).nextInt(3) > 0;
    }

    List<Certified> range(long from, long to) {
        List<Certified> list = new ArrayList<>();
        for (long seqno = from; seqno <= to; seqno++) {
            list.add(at(seqno));
        }
        return list;
    }

    /** From {@code from} to the end of an entry, at least {@code count}. */
    List<Certified> entries(long from, int count) {
        long to = from + count - 1;
        while (!endsEntry(to)) {
            to++;
        }
        return range(from, to);
    }

    long entryEndAtOrBefore(long seqno) {
        long at = seqno;
        while (at > 0 && !endsEntry(at)) {
            at--;
        }
        return at;
    }
}
