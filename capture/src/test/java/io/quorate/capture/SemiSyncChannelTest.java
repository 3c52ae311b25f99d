// SPDX-License-Identifier: Apache-2.0
package io.quorate.capture;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayInputStream;
import java.io.EOFException;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SemiSyncChannelTest {
    @ParameterizedTest
    @ValueSource(ints = {0, 1})
    void anEventBeginsBehindThePrefixWhichSaysWhetherAGroupEnds(int flag) throws Exception {
        ByteArrayInputStream in = new ByteArrayInputStream(new byte[] {(byte) 0xef, (byte) flag, 42});
        assertThat(SemiSyncChannel.readPrefix(in)).isEqualTo(flag == 1);
        assertThat(in.read()).isEqualTo(42);
    }

    /** It says nothing about the disk, so it may end the connection and nothing else. */
    @ParameterizedTest
    @ValueSource(ints = {0, 1, 3})
    void aConnectionEndsWhereThePrefixIsMissing(int bytes) {
        byte[] cut = bytes == 1 ? new byte[] {(byte) 0xef} : new byte[bytes];
        assertThatThrownBy(() -> SemiSyncChannel.readPrefix(new ByteArrayInputStream(cut)))
                .isInstanceOf(EOFException.class);
    }
}
