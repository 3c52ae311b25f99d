// SPDX-License-Identifier: Apache-2.0
package io.quorate.core.binlog;

import static org.assertj.core.api.Assertions.assertThat;

import io.quorate.core.Payload;
import java.util.List;
import org.junit.jupiter.api.Test;

class RowSettingsTest {
    private static RowSettings read(RowSettings written) {
        Payload.Events event = Payload.of(written.event()).events();
        event.next();
        assertThat(RowSettings.are(event)).isTrue();
        return RowSettings.read(event);
    }

    @Test
    void areReadAsTheyWereWritten() {
        for (RowSettings each : List.of(
                new RowSettings(0, -1, null, 0, -1, -1, null),
                new RowSettings(1L << 32 | 1L << 24, 255, "+05:00", 4, 45, 30, "aes-256-cbc"),
                new RowSettings(0, 8, "America/Argentina/Buenos_Aires", 110, -1, 0, null))) {
            assertThat(read(each)).isEqualTo(each);
        }
    }

    @Test
    void leaveOutWhatChangesNoValue() {
        long strict = 1L << 21 | 1L << 22;
        long onlyFullGroupBy = 1L << 5;
        long noZeroDate = 1L << 24;
        RowSettings written =
                read(new RowSettings(strict | onlyFullGroupBy | noZeroDate, 255, "SYSTEM", 0, -1, -1, null));
        assertThat(written.sqlMode()).isEqualTo(noZeroDate);
    }

    /** The server would convert the literal of BINLOG. */
    @Test
    void leaveOutConnectionsInUtf16() {
        assertThat(read(new RowSettings(0, 54, null, 0, -1, -1, null)).collation())
                .isEqualTo(-1);
    }

    @Test
    void aTimeZoneStaysALiteral() {
        assertThat(new RowSettings(0, -1, "x', sql_log_bin = '0\\", 0, -1, -1, null).assignments())
                .contains("time_zone = 'x, sql_log_bin = 0'");
    }
}
