// SPDX-License-Identifier: Apache-2.0
package io.quorate.core;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.quorate.core.binlog.RowsEvent;
import io.quorate.core.binlog.TableMap;
import io.quorate.fuzz.Fuzz;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** What comes in the order is either what it says or refused, and no length in it is believed. */
class CodecFuzzTest {
    private static final int SAMPLES = 20;

    @Test
    void proposals() {
        RandomValues values = new RandomValues(new Random(1));
        List<byte[]> valid = new ArrayList<>();
        for (int i = 0; i < SAMPLES; i++) {
            valid.add(ProposalCodec.encode(values.proposal()).toArray());
        }
        Fuzz.of(valid).refusing(QuorateException.class).run(entry -> ProposalCodec.decode(ByteBuffer.wrap(entry)));
    }

    @Test
    void ballots() {
        List<byte[]> valid = new ArrayList<>();
        for (Ballot.Kind kind : Ballot.Kind.values()) {
            valid.add(BallotCodec.encode(new Ballot(kind, "n1", new UUID(1, 2), 7, 8)));
        }
        Fuzz.of(valid).refusing(QuorateException.class).run(entry -> BallotCodec.decode(ByteBuffer.wrap(entry)));
    }

    /** The events of a writeset are read where they are applied, undone or shown. */
    @Test
    void eventsOfAPayload() {
        Fuzz.of(List.of(payload()))
                .refusing(IndexOutOfBoundsException.class)
                .refusing(UnsupportedOperationException.class)
                .run(CodecFuzzTest::walk);
    }

    /** It says that the table has two thousand million columns. */
    @Test
    void columnsThatAreNotThereTakeNoMemory() {
        byte[] payload = payload();
        int columns = BinlogEvents.HEADER_BYTES + 8 + 6 + 6;
        assertThat(payload[columns]).isEqualTo((byte) 2);
        payload[columns] = (byte) 254;
        ByteBuffer.wrap(payload).order(ByteOrder.LITTLE_ENDIAN).putLong(columns + 1, Integer.MAX_VALUE - 8);
        assertThatThrownBy(() -> walk(payload)).isInstanceOf(IndexOutOfBoundsException.class);
    }

    private static void walk(byte[] payload) {
        TableMap map = null;
        for (Payload.Events event = Payload.of(payload).events(); event.next(); ) {
            if (event.type() == BinlogEvents.TABLE_MAP) {
                map = TableMap.read(event);
            } else if (event.isRows() && map != null) {
                RowsEvent rows = new RowsEvent(map, event.bytes(), event.offset());
                while (rows.next()) {
                    rows.after().length(0);
                }
            }
        }
    }

    /** A row of a table with an INT and a VARCHAR, as a server writes it. */
    private static byte[] payload() {
        ByteBuffer map = event(BinlogEvents.TABLE_MAP);
        map.putInt(7).putShort((short) 0).putShort((short) 1);
        name(map, "shop");
        name(map, "item");
        map.put((byte) 2)
                .put(new byte[] {3, 15})
                .put((byte) 2)
                .putShort((short) 80)
                .put((byte) 2);
        map.put((byte) 1).put((byte) 1).put((byte) 0x80);
        map.put((byte) 4).put((byte) 8).put((byte) 2).put("id".getBytes(StandardCharsets.UTF_8));
        map.put((byte) 4).put("note".getBytes(StandardCharsets.UTF_8));
        map.put((byte) 8).put((byte) 1).put((byte) 0);
        ByteBuffer rows = event(BinlogEvents.WRITE_ROWS);
        rows.putInt(7)
                .putShort((short) 0)
                .putShort((short) BinlogEvents.STMT_END)
                .putShort((short) 2);
        rows.put((byte) 2).put((byte) 3);
        rows.put((byte) 0).putInt(42).put((byte) 5).put("hello".getBytes(StandardCharsets.UTF_8));
        byte[] first = whole(map);
        byte[] second = whole(rows);
        return ByteBuffer.allocate(first.length + second.length)
                .put(first)
                .put(second)
                .array();
    }

    private static void name(ByteBuffer out, String name) {
        out.put((byte) name.length()).put(name.getBytes(StandardCharsets.UTF_8)).put((byte) 0);
    }

    private static ByteBuffer event(int type) {
        return ByteBuffer.allocate(200)
                .order(ByteOrder.LITTLE_ENDIAN)
                .put(4, (byte) type)
                .position(BinlogEvents.HEADER_BYTES);
    }

    private static byte[] whole(ByteBuffer event) {
        byte[] bytes = new byte[event.position()];
        event.flip().get(bytes);
        BinlogEvents.length(bytes, 0, bytes.length);
        return bytes;
    }
}
