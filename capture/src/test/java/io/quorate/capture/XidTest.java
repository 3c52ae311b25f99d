// SPDX-License-Identifier: Apache-2.0
package io.quorate.capture;

import static org.assertj.core.api.Assertions.assertThat;

import io.quorate.core.binlog.EventReader;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

class XidTest {
    @Test
    void isTheSameInTextAndEvent() {
        byte[] event = ByteBuffer.allocate(12 + 3)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putInt(0xffff_fffe)
                .putInt(2)
                .putInt(1)
                .put("a'".getBytes(StandardCharsets.US_ASCII))
                .put((byte) 0xff)
                .array();
        Xid fromEvent = Xid.read(new EventReader(event, 0, event.length));
        assertThat(Xid.in("XA COMMIT X'6127',X'FF',4294967294")).contains(fromEvent);
        assertThat(Xid.in("XA COMMIT X'6127',X'',4294967294").orElseThrow()).isNotEqualTo(fromEvent);
    }

    @Test
    void isNotFoundWhereNoneIs() {
        assertThat(Xid.in("XA RECOVER")).isEmpty();
    }
}
