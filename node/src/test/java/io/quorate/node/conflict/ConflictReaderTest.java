// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.conflict;

import static org.assertj.core.api.Assertions.assertThat;

import io.quorate.capture.KeyExplainer;
import io.quorate.core.BinlogEvents;
import io.quorate.core.Certified;
import io.quorate.core.ColumnMask;
import io.quorate.core.Gtid;
import io.quorate.core.KeyType;
import io.quorate.core.Keys;
import io.quorate.core.LogPosition;
import io.quorate.core.Payload;
import io.quorate.core.Verdict;
import io.quorate.core.WriteSet;
import io.quorate.core.answer.ConflictAnswer;
import io.quorate.core.binlog.TableMap;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.Test;

class ConflictReaderTest {
    private static final UUID ONE = new UUID(0, 1);
    private static final UUID TWO = new UUID(0, 2);
    private static final Keys NO_KEYS = Keys.NONE;

    private Set<Long> asked = Set.of();
    private Map<Long, KeyExplainer.Explained> explained = Map.of();
    private final ConflictReader reader = reader(ColumnMask.NONE);

    private ConflictReader reader(ColumnMask mask) {
        return new ConflictReader(mask, (w, hashes) -> {
            asked = hashes;
            return explained;
        });
    }

    /**
     * A table map of a table in schema s, with columns id and v, both INT NOT NULL; id is the primary key if there is
     * one.
     */
    private static byte[] map(String table, boolean keyed) {
        ByteBuffer body = ByteBuffer.allocate(200).order(ByteOrder.LITTLE_ENDIAN);
        body.putInt(1).putShort((short) 0).putShort((short) 1);
        text(body, "s").put((byte) 0);
        text(body, table).put((byte) 0);
        body.put((byte) 2).put((byte) 3).put((byte) 3).put((byte) 0).put((byte) 0);
        body.put((byte) 4).put((byte) 5);
        text(body, "id");
        text(body, "v");
        if (keyed) {
            body.put((byte) 8).put((byte) 1).put((byte) 0);
        }
        return event(BinlogEvents.TABLE_MAP, body);
    }

    private static ByteBuffer text(ByteBuffer body, String text) {
        return body.put((byte) text.length()).put(text.getBytes(StandardCharsets.US_ASCII));
    }

    /** A rows event with values of id and v in turn; for an update, the row before and the row after in turn. */
    private static byte[] rows(int type, int... values) {
        ByteBuffer body = ByteBuffer.allocate(200).order(ByteOrder.LITTLE_ENDIAN);
        body.putInt(1).putShort((short) 0).putShort((short) 1).putShort((short) 2);
        body.put((byte) 2).put((byte) 3);
        if (type == BinlogEvents.UPDATE_ROWS) {
            body.put((byte) 3);
        }
        for (int i = 0; i < values.length; i += 2) {
            body.put((byte) 0).putInt(values[i]).putInt(values[i + 1]);
        }
        return event(type, body);
    }

    private static byte[] event(int type, ByteBuffer body) {
        int length = BinlogEvents.HEADER_BYTES + body.position();
        ByteBuffer event = ByteBuffer.allocate(length).order(ByteOrder.LITTLE_ENDIAN);
        event.putInt(0).put((byte) type).putInt(1).putInt(length).putInt(0).putShort((short) 0);
        return event.put(body.flip()).array();
    }

    private static Certified record(long seqno, UUID source, Verdict verdict, Keys keys, byte[]... events) {
        ByteArrayOutputStream payload = new ByteArrayOutputStream();
        for (byte[] event : events) {
            payload.writeBytes(event);
        }
        WriteSet w = new WriteSet(
                new Gtid(source, seqno),
                0,
                1_500_000,
                WriteSet.Kind.ROWS,
                keys,
                Payload.of(payload.toByteArray()),
                WriteSet.BUILT_ON_NONE,
                77);
        return new Certified(seqno, verdict, 5, 0, new LogPosition(1, seqno), true, w);
    }

    private static Certified loser(byte[]... events) {
        return record(9, ONE, Verdict.CONFLICT, NO_KEYS, events);
    }

    private static Certified winner(byte[]... events) {
        return record(5, TWO, Verdict.PASSED, NO_KEYS, events);
    }

    @Test
    void hasBothTransactionsWithTheirRows() {
        Conflict conflict = reader.read(
                loser(
                        map("t", true),
                        rows(BinlogEvents.UPDATE_ROWS, 1, 10, 1, 11),
                        rows(BinlogEvents.WRITE_ROWS, 2, 20)),
                winner(map("t", true), rows(BinlogEvents.DELETE_ROWS, 1, 10)),
                "app@h");
        assertThat(conflict.seqno()).isEqualTo(9);
        assertThat(conflict.verdict()).isEqualTo("CONFLICT");
        assertThat(conflict.loser().account()).isEqualTo("app@h");
        assertThat(conflict.loser().session()).isEqualTo(77);
        assertThat(conflict.loser().committed()).isEqualTo("1970-01-01T00:00:01.500Z");
        assertThat(conflict.loser().rows())
                .containsExactly(
                        new ConflictAnswer.Row("s.t", Map.of("id", "1", "v", "10"), Map.of("id", "1", "v", "11")),
                        new ConflictAnswer.Row("s.t", null, Map.of("id", "2", "v", "20")));
        assertThat(conflict.winner().server()).isEqualTo(TWO.toString());
        assertThat(conflict.winner().rows())
                .containsExactly(new ConflictAnswer.Row("s.t", Map.of("id", "1", "v", "10"), null));
        assertThat(conflict.met()).containsExactly(new ConflictAnswer.Met("s.t", "PRIMARY", Map.of("id", "1")));
    }

    @Test
    void withoutTheWinnerItIsOnlyTheLoser() {
        Conflict conflict = reader.read(loser(map("t", true), rows(BinlogEvents.WRITE_ROWS, 1, 1)), null, null);
        assertThat(conflict.winner()).isNull();
        assertThat(conflict.met()).isEmpty();
        assertThat(conflict.loser().rowCount()).isEqualTo(1);
        assertThat(asked).isEmpty();
    }

    @Test
    void theServersWordOnTheKeysComesFirst() {
        byte[] map = map("t", true);
        TableMap table = TableMap.read(map, 0, map.length);
        explained = Map.of(7L, new KeyExplainer.Explained(table, "by_v", new int[] {1}, new String[] {"10"}));
        Keys lost = keys(7, KeyType.EXCLUSIVE, 8, KeyType.EXCLUSIVE);
        Keys won = keys(7, KeyType.EXCLUSIVE, 9, KeyType.EXCLUSIVE);
        Conflict conflict = reader.read(
                record(9, ONE, Verdict.CONFLICT, lost, map, rows(BinlogEvents.WRITE_ROWS, 1, 10)),
                record(5, TWO, Verdict.PASSED, won, map, rows(BinlogEvents.WRITE_ROWS, 1, 10)),
                null);
        assertThat(asked).as("only what both touched").containsExactly(7L);
        assertThat(conflict.met()).containsExactly(new ConflictAnswer.Met("s.t", "by_v", Map.of("v", "10")));
    }

    @Test
    void keysThatBothOnlyReferToDoNotConflict() {
        Keys keys = keys(7, KeyType.REFERENCE, 8, KeyType.EXCLUSIVE);
        Keys other = keys(7, KeyType.REFERENCE, 9, KeyType.EXCLUSIVE);
        reader.read(record(9, ONE, Verdict.CONFLICT, keys), record(5, TWO, Verdict.PASSED, other), null);
        assertThat(asked).isEmpty();
    }

    private static Keys keys(long first, KeyType firstType, long second, KeyType secondType) {
        return new Keys(
                new long[] {first, second}, new byte[] {(byte) firstType.ordinal(), (byte) secondType.ordinal()});
    }

    @Test
    void whereRowsDifferItIsInferredFromEqualValuesThatBothWrote() {
        Conflict conflict = reader.read(
                loser(map("t", true), rows(BinlogEvents.UPDATE_ROWS, 1, 10, 1, 42)),
                winner(map("t", true), rows(BinlogEvents.UPDATE_ROWS, 2, 10, 2, 42)),
                null);
        assertThat(conflict.met()).containsExactly(new ConflictAnswer.Met("s.t", "values", Map.of("v", "42")));
    }

    @Test
    void equalValuesInAnotherTableOrThatNobodyWroteSayNothing() {
        assertThat(reader.read(
                                loser(map("t", true), rows(BinlogEvents.WRITE_ROWS, 1, 42)),
                                winner(map("u", true), rows(BinlogEvents.WRITE_ROWS, 1, 42)),
                                null)
                        .met())
                .isEmpty();
        assertThat(reader.read(
                                loser(map("t", false), rows(BinlogEvents.UPDATE_ROWS, 1, 42, 3, 42)),
                                winner(map("t", false), rows(BinlogEvents.UPDATE_ROWS, 2, 42, 4, 42)),
                                null)
                        .met())
                .isEmpty();
    }

    @Test
    void maskedValuesAreShownToNobodyAndNothingIsInferredFromThem() {
        ConflictReader masking = reader(new ColumnMask(List.of("s.*.v")));
        Conflict conflict = masking.read(
                loser(map("t", false), rows(BinlogEvents.WRITE_ROWS, 1, 42)),
                winner(map("t", false), rows(BinlogEvents.WRITE_ROWS, 2, 42)),
                null);
        assertThat(conflict.loser().rows())
                .containsExactly(new ConflictAnswer.Row("s.t", null, Map.of("id", "1", "v", ColumnMask.MASKED)));
        assertThat(conflict.met()).isEmpty();
    }

    @Test
    void anEmptyWriteSetHasNeitherRowsNorAStatement() {
        ConflictAnswer.Transaction read = reader.read(loser());
        assertThat(read.rows()).isEmpty();
        assertThat(read.statement()).isNull();
    }

    /** Its payload is no events, and the command that dumps a cache once ended there. */
    @Test
    void theVerdictThatADefinitionIsVoidHasNoRows() {
        WriteSet voids = WriteSet.voids(4, new long[] {5, 6, 7, 8}, 0);
        Certified verdict = new Certified(9, Verdict.PASSED, 0, 8, new LogPosition(1, 9), true, voids);
        assertThat(reader.read(verdict).rows()).isEmpty();
        assertThat(reader.read(verdict).statement()).isNull();
    }

    @Test
    void ofManyRowsItShowsTheFirst() {
        int[] values = new int[20];
        byte[][] events = new byte[200][];
        events[0] = map("t", true);
        for (int i = 1; i < events.length; i++) {
            events[i] = rows(BinlogEvents.WRITE_ROWS, values);
        }
        ConflictAnswer.Transaction read = reader.read(loser(events));
        assertThat(read.rowCount()).isGreaterThan(read.rows().size());
    }
}
