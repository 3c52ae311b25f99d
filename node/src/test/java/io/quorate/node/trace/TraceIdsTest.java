// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.trace;

import static org.assertj.core.api.Assertions.assertThat;

import io.quorate.core.Gtid;
import java.util.HashSet;
import java.util.Random;
import java.util.Set;
import java.util.UUID;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TraceIdsTest {
    private static final UUID SERVER = UUID.fromString("3e11fa47-71ca-11e1-9e33-c80aa9429562");
    private static final int COUNT = 200_000;

    @Test
    void theFunctionIsTheOneThatOtherVersionsHave() {
        TraceIds ids = TraceIds.of(new Gtid(SERVER, 23));
        assertThat(ids.trace()).isEqualTo("c86e59cd7d34b5c20cd725582a43e35c");
        assertThat(TraceIds.hex(ids.root())).isEqualTo("3f48e1ead5b8aaa9");
        assertThat(TraceIds.hex(ids.span("apply n2"))).isEqualTo("f3e497348a9eee6b");
        assertThat(LongStream.rangeClosed(1, 744).filter(number -> TraceIds.isSampled(new Gtid(SERVER, number), 1000)))
                .containsExactly(289L, 744L);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 10, 1000})
    void oneOfSoManyIsSampled(int oneOf) {
        long sampled = 0;
        for (int number = 1; number <= COUNT; number++) {
            sampled += TraceIds.isSampled(new Gtid(SERVER, number), oneOf) ? 1 : 0;
        }
        double expected = (double) COUNT / oneOf;
        // Six times the standard deviation.
        assertThat((double) sampled).isBetween(expected - 6 * Math.sqrt(expected), expected + 6 * Math.sqrt(expected));
    }

    @Test
    void whatIsSampledByMoreIsSampledByLess() {
        for (int number = 1; number <= COUNT; number++) {
            Gtid gtid = new Gtid(SERVER, number);
            if (TraceIds.isSampled(gtid, 1000)) {
                assertThat(TraceIds.isSampled(gtid, 100)).isTrue();
            }
        }
    }

    @Test
    void eachTransactionHasIdsOfItsOwn() {
        Set<Long> ids = new HashSet<>();
        Random random = new Random(7);
        int count = 20_000;
        for (int i = 0; i < count; i++) {
            // Servers that were made together have UUIDs that are alike.
            UUID server = new UUID(SERVER.getMostSignificantBits() + i % 5, SERVER.getLeastSignificantBits());
            TraceIds trace = TraceIds.of(new Gtid(server, 1 + i / 5 + (long) random.nextInt(2) * (1L << 40)));
            ids.add(trace.high());
            ids.add(trace.low());
            ids.add(trace.root());
            ids.add(trace.span("captured"));
            ids.add(trace.span("apply n1"));
            ids.add(trace.span("apply n2"));
        }
        assertThat(ids).hasSize(6 * count).doesNotContain(0L);
    }

    @Test
    void halfOfTheBitsChangeWithTheNumber() {
        long bits = 0;
        for (int number = 1; number <= 1000; number++) {
            TraceIds one = TraceIds.of(new Gtid(SERVER, number));
            TraceIds next = TraceIds.of(new Gtid(SERVER, number + 1));
            bits += Long.bitCount(one.high() ^ next.high()) + Long.bitCount(one.low() ^ next.low());
        }
        assertThat(bits / 1000.0).isBetween(62.0, 66.0);
    }
}
