// SPDX-License-Identifier: Apache-2.0
package io.quorate.applier;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.quorate.core.BinlogEvents;
import io.quorate.core.Certified;
import io.quorate.core.LogPosition;
import io.quorate.core.TableName;
import io.quorate.core.WriteSet;
import io.quorate.core.binlog.RowSettings;
import io.quorate.core.binlog.TableMap;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class StatementsTest {
    private final List<String> checked = new ArrayList<>();
    private final List<String> settings = new ArrayList<>();
    private final TableMaps maps = new TableMaps(event -> {
        checked.add(new String(event, 30, 2, StandardCharsets.US_ASCII));
        return null;
    });
    private final PositionRow row = new PositionRow(3, "incarnation");

    @Test
    void mergesTransactionsIntoOneStatementWithOneMapATable() throws SQLException {
        List<byte[]> sent = statements(
                1 << 20,
                payload(map(7, "a"), rows(7, 0, true, 10)),
                payload(map(9, "a"), rows(9, 0, true, 11), map(8, "b"), rows(8, 0, true, 12)));
        assertThat(sent).hasSize(1);
        assertThat(describe(sent.get(0)))
                .containsExactly(
                        "map 2 a", "map 3 b", "map 1 position", "rows 1", "rows 2:10", "rows 2:11", "rows 3:12 END");
    }

    @Test
    void aChangeOfCheckFlagsEndsTheStatement() throws SQLException {
        List<byte[]> sent = statements(
                1 << 20,
                payload(map(7, "a"), rows(7, 2, false, 10), rows(7, 2, true, 11)),
                payload(map(7, "a"), rows(7, 0, true, 12)));
        assertThat(describe(sent.get(0)))
                .containsExactly(
                        "map 1 position",
                        "rows 1 END",
                        "map 2 a",
                        "rows 2:10",
                        "rows 2:11 END",
                        "map 2 a",
                        "rows 2:12 END");
    }

    /** Rows of tables that depend on nothing go with any. */
    @Test
    void rowsThatWereWrittenUnderOtherSettingsAreInAnotherStatement() throws SQLException {
        List<byte[]> sent = statements(
                1 << 20,
                payload(map(7, "a"), rows(7, 0, true, 10)),
                payload(settings("+01:00"), map(8, "b"), rows(8, 0, true, 11)),
                payload(settings("+01:00"), map(8, "b"), rows(8, 0, true, 12), map(7, "a"), rows(7, 0, true, 13)),
                payload(map(7, "a"), rows(7, 0, true, 14), settings("+02:00"), map(8, "b"), rows(8, 0, true, 15)),
                payload(map(7, "a"), rows(7, 0, true, 16)));
        assertThat(sent).hasSize(2);
        assertThat(describe(sent.get(0)))
                .containsExactly(
                        "map 2 a",
                        "map 3 b",
                        "map 1 position",
                        "rows 1",
                        "rows 2:10",
                        "rows 3:11",
                        "rows 3:12",
                        "rows 2:13",
                        "rows 2:14 END");
        assertThat(describe(sent.get(1))).containsExactly("map 3 b", "map 2 a", "rows 3:15", "rows 2:16 END");
        assertThat(settings).containsExactly("+01:00", "+02:00");
    }

    private static byte[] settings(String zone) {
        return new RowSettings(0, 255, zone, 0, -1, -1, null).event();
    }

    @Test
    void splitsLargeTransactionsAtRowEventsRepeatingTheMaps() throws SQLException {
        List<byte[]> sent = statements(
                600, payload(map(7, "a"), rows(7, 0, false, 300), rows(7, 0, false, 301), rows(7, 0, true, 302)));
        assertThat(sent).hasSize(3);
        assertThat(describe(sent.get(1))).containsExactly("map 2 a", "rows 2:301 END");
        assertThat(describe(sent.get(2))).containsExactly("map 2 a", "rows 2:302 END");
    }

    @Test
    void anEventLargerThanAStatementGoesAlone() throws SQLException {
        List<byte[]> sent = statements(600, payload(map(7, "a"), rows(7, 0, true, 3000)));
        assertThat(sent).hasSize(2);
        assertThat(describe(sent.get(1))).containsExactly("map 2 a", "rows 2:3000 END");
    }

    @Test
    void refusesRowsWithoutTheirTableMapAndOtherEvents() {
        assertThatThrownBy(() -> statements(600, payload(map(7, "a"), rows(8, 0, true, 10))))
                .hasMessageContaining("without its table map");
        assertThatThrownBy(() ->
                        statements(600, payload(map(7, "a"), rows(7, 0, true, 10)), payload(rows(7, 0, true, 10))))
                .hasMessageContaining("without its table map");
        byte[] other = rows(7, 0, true, 10);
        other[4] = 4;
        assertThatThrownBy(() -> statements(600, payload(other))).hasMessageContaining("type 4");
        assertThatThrownBy(() -> statements(600, new byte[] {1, 2, 3})).hasMessageContaining("cut short");
    }

    @Test
    void checksEachTableOnceUntilForgotten() throws SQLException {
        statements(600, payload(map(7, "a"), rows(7, 0, true, 1), map(6, "b"), rows(6, 0, true, 1)));
        statements(600, payload(map(17, "a"), rows(17, 0, true, 1), map(16, "b"), rows(16, 0, true, 1)));
        assertThat(checked).hasSize(2);
        maps.forget();
        statements(600, payload(map(7, "a"), rows(7, 0, true, 1)));
        assertThat(checked).hasSize(3);
    }

    /**
     * Whatever the cuts, the server gets every row event once, in order, on the right table, in complete statements.
     */
    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
    void keepsAllRowsInOrderUnderRandomLimits(long seed) throws SQLException {
        Random random = new Random(seed);
        List<byte[]> payloads = new ArrayList<>();
        List<String> expected = new ArrayList<>();
        int n = 0;
        for (int t = 0; t < 100; t++) {
            List<byte[]> events = new ArrayList<>();
            int tables = 1 + random.nextInt(3);
            for (int i = 0; i < tables; i++) {
                String table = String.valueOf((char) ('a' + random.nextInt(6)));
                int id = 5 + i;
                events.add(map(id, table));
                for (int r = random.nextInt(3); r >= 0; r--) {
                    int bytes = 10 + n++;
                    events.add(rows(id, random.nextInt(20) == 0 ? 2 : 0, r == 0, bytes));
                    expected.add(table + ":" + bytes);
                }
            }
            payloads.add(payload(events.toArray(byte[][]::new)));
        }
        List<String> seen = new ArrayList<>();
        for (byte[] sent : statements(200 + random.nextInt(3000), payloads.toArray(byte[][]::new))) {
            assertThat(sent.length).as("seed %d", seed).isLessThanOrEqualTo(5000);
            seen.addAll(executed(sent, seed));
        }
        assertThat(seen).as("seed %d", seed).isEqualTo(expected);
    }

    /** Reads a BINLOG as the server does: maps count from the statement's beginning to its first rows. */
    private static List<String> executed(byte[] events, long seed) {
        List<String> rows = new ArrayList<>();
        Map<String, String> open = new HashMap<>();
        boolean inRows = false;
        for (String event : describe(events)) {
            String[] parts = event.split("[ :]");
            if (parts[0].equals("map")) {
                assertThat(inRows).as("map after rows, seed %d", seed).isFalse();
                open.put(parts[1], parts[2]);
            } else {
                inRows = true;
                assertThat(open).as("seed %d", seed).containsKey(parts[1]);
                if (!parts[1].equals("1")) {
                    rows.add(open.get(parts[1]) + ":" + parts[2]);
                }
                if (event.endsWith("END")) {
                    inRows = false;
                    open.clear();
                }
            }
        }
        assertThat(inRows).as("unfinished statement, seed %d", seed).isFalse();
        return rows;
    }

    private List<byte[]> statements(int bytesMax, byte[]... payloads) throws SQLException {
        List<Certified> group = new ArrayList<>();
        for (byte[] payload : payloads) {
            group.add(Records.record(group.size() + 1, 0, WriteSet.Kind.ROWS, payload));
        }
        Statements statements = new Statements(maps, bytesMax);
        statements.begin(group, 0, row, row.update(group.size(), new LogPosition(1, 2), 1_000_000));
        List<byte[]> sent = new ArrayList<>();
        for (byte[] events; (events = statements.next()) != null; ) {
            sent.add(events);
            if (statements.settings() != null) {
                settings.add(statements.settings().timeZone());
            }
        }
        return sent;
    }

    private static List<String> describe(byte[] events) {
        List<String> result = new ArrayList<>();
        for (int at = 0; at < events.length; at += BinlogEvents.length(events, at)) {
            long id = BinlogEvents.tableId(events, at);
            if (BinlogEvents.type(events, at) == BinlogEvents.TABLE_MAP) {
                int length = BinlogEvents.length(events, at);
                byte[] event = Arrays.copyOfRange(events, at, at + length);
                result.add("map " + id + " " + TableMap.read(event, 0, event.length).table);
            } else {
                int body = BinlogEvents.length(events, at) - 29;
                result.add("rows " + id + (id == 1 ? "" : ":" + body)
                        + (BinlogEvents.endsStatement(events, at) ? " END" : ""));
            }
        }
        return result;
    }

    private static byte[] payload(byte[]... events) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        for (byte[] event : events) {
            out.writeBytes(event);
        }
        return out.toByteArray();
    }

    @Test
    void aTableIsComparedAnewWhenItMayHaveChanged() throws SQLException {
        byte[] both = payload(map(7, "a"), rows(7, 0, true, 10), map(8, "b"), rows(8, 0, true, 12));
        statements(1 << 20, both);
        maps.forget(Set.of(new TableName("s", "b"), new TableName("t", "a")));
        statements(1 << 20, both);
        assertThat(checked).hasSize(3);
        maps.forget(Set.of());
        statements(1 << 20, both);
        assertThat(checked).hasSize(3);
        maps.forget(null);
        statements(1 << 20, both);
        assertThat(checked).hasSize(5);
    }

    private static byte[] map(int id, String table) {
        ByteBuffer body = ByteBuffer.allocate(64).order(ByteOrder.LITTLE_ENDIAN);
        body.putInt(id).putShort((short) 0).putShort((short) 1);
        body.put((byte) 1).put((byte) 's').put((byte) 0);
        body.put((byte) table.length())
                .put(table.getBytes(StandardCharsets.US_ASCII))
                .put((byte) 0);
        body.put((byte) 1).put((byte) 3).put((byte) 0).put((byte) 0);
        return event(BinlogEvents.TABLE_MAP, body);
    }

    private static byte[] rows(int id, int flags, boolean end, int bytes) {
        ByteBuffer body = ByteBuffer.allocate(10 + bytes).order(ByteOrder.LITTLE_ENDIAN);
        body.putInt(id)
                .putShort((short) 0)
                .putShort((short) (flags | (end ? 1 : 0)))
                .putShort((short) 2);
        body.position(10 + bytes);
        return event(BinlogEvents.WRITE_ROWS, body);
    }

    private static byte[] event(int type, ByteBuffer body) {
        int length = BinlogEvents.HEADER_BYTES + body.position();
        ByteBuffer event = ByteBuffer.allocate(length).order(ByteOrder.LITTLE_ENDIAN);
        event.putInt(0).put((byte) type).putInt(1).putInt(length).putInt(0).putShort((short) 0);
        return event.put(body.flip()).array();
    }
}
