// SPDX-License-Identifier: Apache-2.0
package io.quorate.applier;

import static org.assertj.core.api.Assertions.assertThat;

import io.quorate.core.BinlogEvents;
import io.quorate.core.binlog.RowsEvent;
import io.quorate.core.binlog.TableMap;
import io.quorate.core.binlog.ValueText;
import io.quorate.sandbox.MySqlServer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What the journal shows of a row, beside what the server shows. */
@Timeout(400)
class ValueTextIT {
    @Test
    void readsAsTheServerPrintsIt() {
        try (MySqlServer server = MySqlServer.builder().relaxed().start()) {
            server.execute(
                    "CREATE DATABASE v",
                    "CREATE TABLE v.t (a TINYINT, b BIGINT UNSIGNED, c DECIMAL(20, 7), d DECIMAL(9, 0), e FLOAT,"
                            + " f DOUBLE, g DATE, h DATETIME(3), i TIMESTAMP(6) NULL, j TIME(2), k YEAR,"
                            + " l VARCHAR(20), m VARBINARY(10), n CHAR(5), o DATETIME, p MEDIUMINT, q DECIMAL(30, 30))",
                    "SET time_zone = '+00:00'",
                    "INSERT INTO v.t VALUES (-3, 18446744073709551615, -1234567890123.0000001, 7, 1.5, -0.1,"
                            + " '2024-02-29',"
                            + " '1999-12-31 23:59:59.987', '2024-01-02 03:04:05.678901', '-11:22:33', 2026,"
                            + " 'grün', x'00ff',"
                            + " 'ab', '9999-12-31 23:59:59', -8388608, 0.000000000000000000000000000001)",
                    "INSERT INTO v.t VALUES (127, 0, 0.5, -999999999, 0, 1e100, '1000-01-01', '2000-01-01"
                            + " 00:00:00.000',"
                            + " NULL, '838:59:59.00', 1901, '', x'', '', '2026-11-21 10:20:30', 5, -0.5)");
            byte[] payload = BinlogReader.writeSets(server.dataDirectory()).stream()
                    .skip(2)
                    .map(w -> w.payload().toArray())
                    .reduce(new byte[0], ValueTextIT::concat);
            List<List<String>> read = new ArrayList<>();
            TableMap map = null;
            for (int at = 0; at < payload.length; at += BinlogEvents.length(payload, at)) {
                if (BinlogEvents.type(payload, at) == BinlogEvents.TABLE_MAP) {
                    map = TableMap.read(payload, at, BinlogEvents.length(payload, at));
                }
                if (!BinlogEvents.isRows(BinlogEvents.type(payload, at))) {
                    continue;
                }
                RowsEvent rows = new RowsEvent(map, payload, at);
                while (rows.next()) {
                    List<String> row = new ArrayList<>();
                    for (int i = 0; i < map.columns(); i++) {
                        row.add(ValueText.of(map, i, payload, rows.after()));
                    }
                    read.add(row);
                }
            }
            assertThat(read).hasSize(2);
            assertThat(read.get(0))
                    .containsExactly(
                            "-3",
                            "18446744073709551615",
                            "-1234567890123.0000001",
                            "7",
                            "1.5",
                            "-0.1",
                            "2024-02-29",
                            "1999-12-31 23:59:59.987" + "0",
                            "2024-01-02 03:04:05.678901",
                            "-11:22:33",
                            "2026",
                            "grün",
                            "0x00ff",
                            "ab",
                            "9999-12-31 23:59:59",
                            "-8388608",
                            "0.000000000000000000000000000001");
            assertThat(read.get(1))
                    .containsExactly(
                            "127",
                            "0",
                            "0.5000000",
                            "-999999999",
                            "0.0",
                            "1.0E100",
                            "1000-01-01",
                            "2000-01-01 00:00:00.0000",
                            null,
                            "838:59:59.00",
                            "1901",
                            "",
                            "0x",
                            "",
                            "2026-11-21 10:20:30",
                            "5",
                            "-0.500000000000000000000000000000");
        }
    }

    private static byte[] concat(byte[] a, byte[] b) {
        byte[] both = Arrays.copyOf(a, a.length + b.length);
        System.arraycopy(b, 0, both, a.length, b.length);
        return both;
    }
}
