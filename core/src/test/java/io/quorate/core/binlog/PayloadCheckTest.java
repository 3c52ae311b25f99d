// SPDX-License-Identifier: Apache-2.0
package io.quorate.core.binlog;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.quorate.core.BinlogEvents;
import io.quorate.core.Gtid;
import io.quorate.core.Keys;
import io.quorate.core.WriteSet;
import java.io.ByteArrayOutputStream;
import java.util.Arrays;
import java.util.Random;
import java.util.UUID;
import org.junit.jupiter.api.Test;

class PayloadCheckTest {
    private static final int XA_PREPARE_BYTES = 12;
    private static final byte[] ID = {7, 0, 0, 0, 0, 0};
    /** Schema s, table t, one column of type INT. */
    private static final byte[] TABLE_MAP =
            event(BinlogEvents.TABLE_MAP, ID, new byte[] {0, 0, 1, 's', 0, 1, 't', 0, 1, (byte) ColumnType.LONG, 0, 1});

    private static final byte[] ROWS =
            event(BinlogEvents.WRITE_ROWS, ID, new byte[] {1, 0, 2, 0, 1, 1, 0, 42, 0, 0, 0});

    private static byte[] event(int type, byte[]... parts) {
        byte[] body = joined(parts);
        byte[] event = new byte[BinlogEvents.HEADER_BYTES + body.length];
        event[4] = (byte) type;
        BinlogEvents.length(event, 0, event.length);
        System.arraycopy(body, 0, event, BinlogEvents.HEADER_BYTES, body.length);
        return event;
    }

    private static byte[] joined(byte[]... parts) {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        for (byte[] part : parts) {
            all.writeBytes(part);
        }
        return all.toByteArray();
    }

    private static void require(WriteSet.Kind kind, byte[]... events) {
        PayloadCheck.require(new WriteSet(new Gtid(new UUID(1, 2), 1), 0, 0, kind, Keys.NONE, joined(events)));
    }

    private static void isRefused(WriteSet.Kind kind, byte[]... events) {
        assertThatThrownBy(() -> require(kind, events))
                .hasMessageContaining("QRT-3004")
                .hasMessageContaining("events that are none");
    }

    @Test
    void whatServersWriteIsTaken() {
        byte[] query = event(BinlogEvents.QUERY, new byte[30]);
        require(WriteSet.Kind.ROWS);
        require(WriteSet.Kind.ROWS, TABLE_MAP, ROWS, TABLE_MAP, ROWS);
        require(WriteSet.Kind.PREPARED, TABLE_MAP, ROWS, event(BinlogEvents.XA_PREPARE, new byte[XA_PREPARE_BYTES]));
        require(WriteSet.Kind.DDL, query);
        require(WriteSet.Kind.DDL, query, TABLE_MAP, ROWS);
    }

    @Test
    void whatAStatementIsGivenComesBeforeIt() {
        byte[] query = event(BinlogEvents.QUERY, new byte[30]);
        byte[] id = event(BinlogEvents.INTVAR, new byte[] {1, 42, 0, 0, 0, 0, 0, 0, 0});
        byte[] seeds = event(BinlogEvents.RAND, new byte[16]);
        byte[] nothing = event(BinlogEvents.USER_VAR, new byte[] {1, 0, 0, 0, 'n', 1});
        require(WriteSet.Kind.DDL, id, seeds, nothing, query);
        isRefused(WriteSet.Kind.DDL, id);
        isRefused(WriteSet.Kind.DDL, query, id);
        isRefused(WriteSet.Kind.ROWS, id, TABLE_MAP, ROWS);
        isRefused(WriteSet.Kind.DDL, id, TABLE_MAP, ROWS);
        byte[] decimal = event(
                BinlogEvents.USER_VAR,
                new byte[] {1, 0, 0, 0, 'd', 0, 4, 63, 0, 0, 0, 4, 0, 0, 0, 3, 1, (byte) 0x80 + 12, 5, 0});
        require(WriteSet.Kind.DDL, decimal, query);
        for (byte[] whole : new byte[][] {id, seeds, nothing, decimal}) {
            for (int length = BinlogEvents.HEADER_BYTES; length < whole.length; length++) {
                byte[] cut = Arrays.copyOf(whole, length);
                BinlogEvents.length(cut, 0, length);
                // The flags at a user variable's end are left out by old servers.
                if (whole != decimal || length < whole.length - 1) {
                    isRefused(WriteSet.Kind.DDL, cut, query);
                }
            }
        }
    }

    @Test
    void whatIsNoEventIsRefused() {
        isRefused(WriteSet.Kind.ROWS, new byte[] {-1});
        isRefused(WriteSet.Kind.ROWS, new byte[BinlogEvents.HEADER_BYTES]);
        isRefused(WriteSet.Kind.ROWS, TABLE_MAP, Arrays.copyOf(ROWS, ROWS.length - 1));
    }

    @Test
    void eventsThatDoNotBelongThereAreRefused() {
        byte[] query = event(BinlogEvents.QUERY, new byte[30]);
        isRefused(WriteSet.Kind.ROWS, query);
        isRefused(WriteSet.Kind.ROWS, TABLE_MAP, query);
        isRefused(WriteSet.Kind.DDL, TABLE_MAP, ROWS);
        isRefused(WriteSet.Kind.DDL, query, query);
        isRefused(WriteSet.Kind.DDL, event(BinlogEvents.QUERY));
        isRefused(WriteSet.Kind.DDL);
        isRefused(WriteSet.Kind.ROWS, event(0xff, new byte[8]));
    }

    @Test
    void rowsNeedTheirTable() {
        isRefused(WriteSet.Kind.ROWS, ROWS);
        isRefused(WriteSet.Kind.ROWS, event(BinlogEvents.WRITE_ROWS, new byte[2]));
        byte[] twoColumns = event(BinlogEvents.WRITE_ROWS, ID, new byte[] {1, 0, 2, 0, 2, 3, 0});
        isRefused(WriteSet.Kind.ROWS, TABLE_MAP, twoColumns);
    }

    /** Whatever is sent, it is taken or refused: nothing else comes out of it. */
    @Test
    void nothingElseComesOfWhatWasTamperedWith() {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        byte[] good = joined(TABLE_MAP, ROWS);
        for (int i = 0; i < 20_000; i++) {
            byte[] bad = good.clone();
            for (int n = random.nextInt(3); n >= 0; n--) {
                bad[random.nextInt(bad.length)] = (byte) random.nextInt();
            }
            assertThatCode(() -> {
                        try {
                            require(WriteSet.Kind.ROWS, bad);
                        } catch (io.quorate.core.QuorateException e) {
                            // Refused.
                        }
                    })
                    .as("seed " + seed)
                    .doesNotThrowAnyException();
        }
    }
}
