// SPDX-License-Identifier: Apache-2.0
package io.quorate.capture;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class ComparisonFormsTest {
    private static byte[] bytes(int... values) {
        byte[] b = new byte[values.length];
        for (int i = 0; i < b.length; i++) {
            b[i] = (byte) values[i];
        }
        return b;
    }

    @Test
    void readsTimesOfEveryPrecisionAlike() {
        // -00:00:01.5 as TIME(1), TIME(3), TIME(6); then 00:00:01.5.
        long minus = ComparisonForms.time(bytes(0x7f, 0xff, 0xfe, 0x100 - 50), 0, 1);
        assertThat(ComparisonForms.time(bytes(0x7f, 0xff, 0xfe, 0xec, 0x78), 0, 3))
                .isEqualTo(minus);
        assertThat(ComparisonForms.time(bytes(0x7f, 0xff, 0xfe, 0xf8, 0x5e, 0xe0), 0, 6))
                .isEqualTo(minus);
        long plus = ComparisonForms.time(bytes(0x80, 0, 1, 50), 0, 1);
        assertThat(plus).isEqualTo(-minus);
        assertThat(ComparisonForms.time(bytes(0x80, 0, 1, 0x07, 0xa1, 0x20), 0, 6))
                .isEqualTo(plus);
        assertThat(ComparisonForms.time(bytes(0x80, 0, 0), 0, 0)).isZero();
    }

    @Test
    void weighsPairsThatAreOneLetterAsSuch() {
        Weights w = new Weights(256);
        for (int c = 0; c < 256; c++) {
            w.add(c, bytes(Character.toLowerCase(c)));
        }
        w.add(0xe5, bytes(0xff));
        w.addPair('a', 'a', bytes(0xff));
        w.addPair('a', 'b', bytes('a', 'b'));
        assertThat(w.hasPairs()).isTrue();
        assertThat(w.pair('a', 'b')).isNull();
        TextForm form = new TextForm(new Collation("made_danish_ci", "latin1", true), 0, w);
        assertThat(hash(form, bytes('x', 'a', 'a', ' ', ' '))).isEqualTo(hash(form, bytes('X', 0xe5)));
        assertThat(hash(form, bytes('x', 'a'))).isNotEqualTo(hash(form, bytes('X', 0xe5)));
        TextForm two = new TextForm(new Collation("made_danish_ci", "latin1", true), 2, w);
        assertThat(hash(two, bytes('x', 'a', 'a'))).isEqualTo(hash(two, bytes('X', 'A', 'b')));
    }

    private static long hash(ComparisonForm form, byte[] value) {
        KeyBytes out = new KeyBytes();
        form.append(value, 0, value.length, out);
        return out.hash(0);
    }
}
