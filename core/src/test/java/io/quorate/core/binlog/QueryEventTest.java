// SPDX-License-Identifier: Apache-2.0
package io.quorate.core.binlog;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

class QueryEventTest {
    private static final long STRICT = 1 << 22;

    @Test
    void twoAreAlikeUnlessTextOrSettingsDiffer() {
        QueryEvent one = event(0, "SYSTEM", "ALTER TABLE t ADD a INT");
        assertThat(one.isLike(event(0, "SYSTEM", "ALTER TABLE t ADD a INT"))).isTrue();
        assertThat(one.isLike(event(0, "SYSTEM", "ALTER TABLE t ADD b INT"))).isFalse();
        assertThat(one.isLike(event(STRICT, "SYSTEM", "ALTER TABLE t ADD a INT")))
                .isFalse();
        assertThat(one.isLike(event(0, "+05:00", "ALTER TABLE t ADD a INT"))).isFalse();
    }

    @Test
    void aTimeZoneThatOneDidNotUseIsNoDifference() {
        QueryEvent one = event(0, "SYSTEM", "ALTER TABLE t ADD a INT");
        QueryEvent other = event(0, null, "ALTER TABLE t ADD a INT");
        assertThat(one.isLike(other)).isTrue();
        assertThat(other.isLike(one)).isTrue();
    }

    private static QueryEvent event(long sqlMode, String timeZone, String text) {
        ByteBuffer status = ByteBuffer.allocate(100).order(ByteOrder.LITTLE_ENDIAN);
        status.put((byte) QueryEvent.SQL_MODE).putLong(sqlMode);
        if (timeZone != null) {
            status.put((byte) QueryEvent.TIME_ZONE).put((byte) timeZone.length());
            status.put(timeZone.getBytes(StandardCharsets.US_ASCII));
        }
        byte[] event = QueryEvent.of(status.flip(), text);
        return QueryEvent.read(event, 0, event.length);
    }
}
