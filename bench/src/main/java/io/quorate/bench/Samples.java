// SPDX-License-Identifier: Apache-2.0
package io.quorate.bench;

import io.quorate.core.Certified;
import io.quorate.core.Gtid;
import io.quorate.core.KeyType;
import io.quorate.core.KeysBuilder;
import io.quorate.core.LogPosition;
import io.quorate.core.Verdict;
import io.quorate.core.WriteSet;
import java.util.Random;
import java.util.UUID;

/** Writesets of a given size. */
final class Samples {
    private static final UUID ORIGIN = new UUID(1, 2);

    private Samples() {}

    static WriteSet writeSet(long number, int keys, int payloadBytes) {
        Random random = new Random(number);
        KeysBuilder builder = new KeysBuilder();
        for (int i = 0; i < keys; i++) {
            builder.add(random.nextLong(), KeyType.UPDATE);
        }
        byte[] payload = new byte[payloadBytes];
        random.nextBytes(payload);
        return new WriteSet(new Gtid(ORIGIN, number), number, number, WriteSet.Kind.ROWS, builder.build(), payload);
    }

    static Certified certified(long seqno, WriteSet w) {
        return new Certified(seqno, Verdict.PASSED, 0, seqno - 1, new LogPosition(1, seqno), true, w);
    }
}
