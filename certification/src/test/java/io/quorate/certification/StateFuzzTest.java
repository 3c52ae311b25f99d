// SPDX-License-Identifier: Apache-2.0
package io.quorate.certification;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.quorate.core.LogPosition;
import io.quorate.core.QuorateException;
import io.quorate.fuzz.Fuzz;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** The state of certification that a joiner takes from another node is one, or refused. */
class StateFuzzTest {
    private static final int KEYS_MAX = 512;
    private static final int SAMPLES = 4;

    private static byte[] state(long seed) throws IOException {
        Certifier certifier = new Certifier(KEYS_MAX);
        RandomOrder order = new RandomOrder(new Random(seed), 3, 60, KEYS_MAX, 3, certifier::lastSeqno);
        for (int i = 0; i < 40; i++) {
            certifier.certify(order.next(), LogPosition.START);
        }
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        certifier.writeTo(new DataOutputStream(bytes));
        return bytes.toByteArray();
    }

    @Test
    void states() throws Exception {
        List<byte[]> valid = new ArrayList<>();
        for (long seed = 0; seed < SAMPLES; seed++) {
            valid.add(state(seed));
        }
        Fuzz.of(valid)
                .refusing(QuorateException.class)
                .refusing(IOException.class)
                .refusing(IllegalArgumentException.class)
                .allocating(300)
                .run(bytes -> {
                    if (Certifier.keysMaxOf(in(bytes)) == KEYS_MAX) {
                        Certifier.readFrom(in(bytes));
                    }
                });
    }

    private static DataInputStream in(byte[] bytes) {
        return new DataInputStream(new ByteArrayInputStream(bytes));
    }

    @Test
    void howManyKeysItMayKnowIsToldBeforeMemoryIsSetAside() throws Exception {
        byte[] state = state(1);
        assertThat(Certifier.keysMaxOf(in(state))).isEqualTo(KEYS_MAX);
        ByteBuffer.wrap(state).putLong(4, 1L << 30);
        assertThat(Certifier.keysMaxOf(in(state))).isEqualTo(1L << 30);
        ByteBuffer.wrap(state).putLong(4, Long.MAX_VALUE);
        assertThatThrownBy(() -> Certifier.keysMaxOf(in(state))).isInstanceOf(QuorateException.class);
    }
}
