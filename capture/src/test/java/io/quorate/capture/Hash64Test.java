// SPDX-License-Identifier: Apache-2.0
package io.quorate.capture;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.HashSet;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;

class Hash64Test {
    private static long hash(String s, long seed) {
        byte[] b = s.getBytes(StandardCharsets.US_ASCII);
        return Hash64.hash(b, 0, b.length, seed);
    }

    @Test
    void givesThePublishedValues() {
        assertThat(hash("", 0)).isEqualTo(0xEF46DB3751D8E999L);
        assertThat(hash("a", 0)).isEqualTo(0xD24EC4F1A98C6E5BL);
        assertThat(hash("abc", 0)).isEqualTo(0x44BC2CF5AD770999L);
        assertThat(hash("Nobody inspects the spammish repetition", 0)).isEqualTo(0xFBCEA83C8A378BF1L);
    }

    @Test
    void givesTheReferenceValuesForItsTestBuffer() {
        // The sanity check of the reference implementation: bytes of a linear generator, lengths around the block size.
        byte[] buffer = new byte[222];
        long generator = 2654435761L;
        for (int i = 0; i < buffer.length; i++) {
            buffer[i] = (byte) (generator >>> 56);
            generator *= 0x9E3779B185EBCA8DL;
        }
        long prime = 2654435761L;
        assertThat(Hash64.hash(buffer, 0, 0, prime)).isEqualTo(0xAC75FDA2929B17EFL);
        assertThat(Hash64.hash(buffer, 0, 1, 0)).isEqualTo(0xE934A84ADB052768L);
        assertThat(Hash64.hash(buffer, 0, 1, prime)).isEqualTo(0x5014607643A9B4C3L);
        assertThat(Hash64.hash(buffer, 0, 14, 0)).isEqualTo(0x8282DCC4994E35C8L);
        assertThat(Hash64.hash(buffer, 0, 222, 0)).isEqualTo(0xB641AE8CB691C174L);
        assertThat(Hash64.hash(buffer, 0, 222, prime)).isEqualTo(0x20CB8AB7AE10C14AL);
    }

    @Test
    void dependsOnNothingAroundTheBytes() {
        long seed = 42;
        Random random = new Random(seed);
        for (int length = 0; length < 100; length++) {
            byte[] b = new byte[length];
            random.nextBytes(b);
            byte[] within = new byte[length + 17];
            random.nextBytes(within);
            System.arraycopy(b, 0, within, 9, length);
            assertThat(Hash64.hash(within, 9, length, 5)).as("seed %d", seed).isEqualTo(Hash64.hash(b, 0, length, 5));
        }
    }

    @Test
    void spreadsSmallNumbers() {
        Set<Long> seen = new HashSet<>();
        KeyBytes bytes = new KeyBytes();
        for (int i = 0; i < 100_000; i++) {
            bytes.clear();
            bytes.putLong(i);
            seen.add(bytes.hash(7) >>> 32);
        }
        assertThat(seen).hasSizeGreaterThan(99_990);
    }
}
