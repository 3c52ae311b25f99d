// SPDX-License-Identifier: Apache-2.0
package io.quorate.applier;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.quorate.core.BinlogEvents;
import io.quorate.core.CarriedSetting;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.EnumMap;
import java.util.HexFormat;
import java.util.Map;
import org.junit.jupiter.api.Test;

class QueryEventTest {
    /** As MySQL 8.0.33 wrote it for {@code create table t.a(...)}, without checksum. */
    private static final String STATUS =
            "0000000000012000a04500000000060373746404ff00ff00ff000c0174001107000000000000001" + "2ff001400";

    @Test
    void readsWhatAServerWrote() {
        QueryEvent event = QueryEvent.parse(event(0, "t", hex(STATUS), "create table t.a (id int)"), 0);
        assertThat(event.schema()).isEqualTo("t");
        assertThat(event.text()).isEqualTo("create table t.a (id int)");
        assertThat(event.errorCode()).isZero();
        assertThat(event.settings())
                .containsExactly(
                        "auto_increment_increment = 1",
                        "auto_increment_offset = 1",
                        "lc_time_names = 0",
                        "foreign_key_checks = 1",
                        "unique_checks = 1",
                        "sql_auto_is_null = 0",
                        "sql_mode = 1168113696",
                        "character_set_client = 255",
                        "collation_connection = 255",
                        "collation_server = 255",
                        "default_collation_for_utf8mb4 = 255",
                        "default_table_encryption = 0",
                        "timestamp = 1700000000.000000",
                        "pseudo_thread_id = 0");
    }

    @Test
    void readsEveryStatusVariable() {
        ByteBuffer status = ByteBuffer.allocate(256).order(ByteOrder.LITTLE_ENDIAN);
        status.put((byte) 0).putInt((1 << 26) | (1 << 27) | (1 << 14));
        status.put((byte) 2).put((byte) 3).put(new byte[] {'s', 't', 'd', 0});
        status.put((byte) 3).putShort((short) 3).putShort((short) 2);
        status.put((byte) 5).put((byte) 6).put("+05:45".getBytes(StandardCharsets.US_ASCII));
        status.put((byte) 7).putShort((short) 1).put((byte) 8).putShort((short) 47);
        status.put((byte) 9).putLong(1).put((byte) 10).putInt(5);
        status.put((byte) 11).put((byte) 1).put((byte) 'u').put((byte) 1).put((byte) 'h');
        status.put((byte) 12).put((byte) 2).put(new byte[] {'a', 0, 'b', 'c', 0});
        status.put((byte) 13).put(new byte[] {1, 2, 3});
        status.put((byte) 16).put((byte) 1).put((byte) 17).putLong(4);
        status.put((byte) 19).put((byte) 1);
        byte[] bytes = new byte[status.position()];
        status.flip().get(bytes);
        QueryEvent event = QueryEvent.parse(event(0, "", bytes, "x"), 0);
        assertThat(event.invoker()).isEqualTo(new QueryEvent.Account("u", "h"));
        assertThat(event.settings())
                .containsExactly(
                        "auto_increment_increment = 1",
                        "auto_increment_offset = 1",
                        "lc_time_names = 0",
                        "foreign_key_checks = 0",
                        "unique_checks = 0",
                        "sql_auto_is_null = 1",
                        "auto_increment_increment = 3",
                        "auto_increment_offset = 2",
                        "time_zone = '+05:45'",
                        "lc_time_names = 1",
                        "collation_database = 47",
                        "explicit_defaults_for_timestamp = 1",
                        "sql_require_primary_key = 1",
                        "timestamp = 1700000000.197121",
                        "pseudo_thread_id = 0");
    }

    @Test
    void readsWhatTheOriginsServiceHasAdded() {
        byte[] plain = event(0, "t", hex(STATUS), "create table t.a (id int)");
        byte[] event = io.quorate.core.binlog.QueryEvent.carrying(
                plain,
                0,
                plain.length,
                new EnumMap<>(Map.of(
                        CarriedSetting.DEFAULT_WEEK_FORMAT, "6", CarriedSetting.INNODB_FT_USER_STOPWORD_TABLE, "")));
        assertThat(BinlogEvents.length(event, 0)).isEqualTo(event.length);
        QueryEvent read = QueryEvent.parse(event, 0);
        assertThat(read.text()).isEqualTo("create table t.a (id int)");
        assertThat(read.schema()).isEqualTo("t");
        assertThat(read.settings())
                .contains("default_week_format = 6", "innodb_ft_user_stopword_table = NULL", "sql_mode = 1168113696");
        var captured = io.quorate.core.binlog.QueryEvent.read(event, 0, event.length);
        assertThat(captured.unknownCode).isEqualTo(-1);
        assertThat(captured.outsideDictionary).isFalse();
        assertThat(captured.text(StandardCharsets.UTF_8)).isEqualTo("create table t.a (id int)");
    }

    @Test
    void theSchemaIsUsedAlsoWhereMysqlbinlogIsNotToSayUse() {
        assertThat(QueryEvent.parse(event(8, "t", new byte[0], "CREATE DATABASE t"), 0)
                        .schema())
                .isEqualTo("t");
        assertThat(QueryEvent.parse(event(0, "", new byte[0], "x"), 0).schema()).isNull();
    }

    @Test
    void unknownVariablesEndTheReadingAndCutOnesFail() {
        assertThat(QueryEvent.parse(event(0, "t", new byte[] {99, 1, 2, 3}, "x"), 0)
                        .settings())
                .hasSize(5);
        assertThatThrownBy(() -> QueryEvent.parse(event(0, "t", new byte[] {1, 1, 2}, "x"), 0))
                .isInstanceOf(RuntimeException.class);
    }

    @Test
    void textIsKeptByteForByte() {
        QueryEvent event = QueryEvent.parse(event(0, "späß", new byte[0], "\u0080\u00ff"), 0);
        assertThat(event.text()).isEqualTo("\u0080\u00ff");
        assertThat(event.schema()).isEqualTo("späß");
    }

    private static byte[] event(int flags, String schema, byte[] status, String text) {
        ByteArrayOutputStream body = new ByteArrayOutputStream();
        byte[] name = schema.getBytes(StandardCharsets.UTF_8);
        body.writeBytes(new byte[8]);
        body.write(name.length);
        body.writeBytes(new byte[] {0, 0, (byte) status.length, 0});
        body.writeBytes(status);
        body.writeBytes(name);
        body.write(0);
        body.writeBytes(text.getBytes(StandardCharsets.ISO_8859_1));
        byte[] event = new byte[BinlogEvents.HEADER_BYTES + body.size()];
        ByteBuffer out = BinlogEvents.littleEndian(event);
        out.putInt(1_700_000_000).put((byte) BinlogEvents.QUERY).putInt(1);
        out.putInt(event.length).putInt(0).putShort((short) flags).put(body.toByteArray());
        return event;
    }

    private static byte[] hex(String text) {
        return HexFormat.of().parseHex(text);
    }
}
