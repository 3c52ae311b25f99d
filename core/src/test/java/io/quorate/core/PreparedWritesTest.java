// SPDX-License-Identifier: Apache-2.0
package io.quorate.core;

import static io.quorate.core.KeyType.REFERENCE;
import static io.quorate.core.KeyType.SHARED;
import static io.quorate.core.KeyType.UPDATE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.Test;

class PreparedWritesTest {
    private static final UUID HERE = new UUID(1, 1);
    private static final long ROW = 77;
    private static final long OTHER = 78;

    private final PreparedWrites prepared = new PreparedWrites();

    private static WriteSet writeSet(long number, WriteSet.Kind kind, byte[] payload, KeyType type, long key) {
        Keys keys = new Keys(new long[] {key}, new byte[] {(byte) type.ordinal()});
        return new WriteSet(new Gtid(HERE, number), 0, 0, kind, keys, payload);
    }

    private static WriteSet prepare(long number, long key) {
        return writeSet(number, WriteSet.Kind.PREPARED, event("1." + number + ".abc", "41"), UPDATE, key);
    }

    /** An XA_PREPARE event. */
    private static byte[] event(String global, String branch) {
        int length = BinlogEvents.HEADER_BYTES + 13 + global.length() + branch.length();
        ByteBuffer b = ByteBuffer.allocate(length).order(ByteOrder.LITTLE_ENDIAN);
        b.putInt(0)
                .put((byte) BinlogEvents.XA_PREPARE)
                .putInt(1)
                .putInt(length)
                .putInt(0)
                .putShort((short) 0);
        b.put((byte) 0)
                .putInt((int) CertifiedXid.FORMAT)
                .putInt(global.length())
                .putInt(branch.length());
        b.put(global.getBytes(StandardCharsets.US_ASCII)).put(branch.getBytes(StandardCharsets.US_ASCII));
        return b.array();
    }

    private List<Long> inTheWayOf(Verdict verdict, KeyType type, long key) {
        WriteSet w = writeSet(9, WriteSet.Kind.ROWS, new byte[0], type, key);
        Certified c = new Certified(9, verdict, 0, 0, LogPosition.START, true, w);
        return List.copyOf(prepared.inTheWayOf(List.of(c)).keySet());
    }

    @Test
    void whatConflictsWithAWriteSetThatPassedIsInItsWay() {
        prepared.prepared(prepare(1, ROW));
        prepared.prepared(prepare(2, OTHER));
        assertThat(inTheWayOf(Verdict.PASSED, UPDATE, ROW)).containsExactly(1L);
        assertThat(inTheWayOf(Verdict.PASSED, UPDATE, 79)).isEmpty();
        assertThat(inTheWayOf(Verdict.CONFLICT, UPDATE, ROW)).isEmpty();
        assertThat(inTheWayOf(Verdict.PASSED, REFERENCE, ROW)).isEmpty();
        assertThat(inTheWayOf(Verdict.PASSED, SHARED, ROW)).isEmpty();
    }

    /** A prepared transaction holds the locks of its tables, so no definition comes through beside it. */
    @Test
    void whatWroteRowsIsInTheWayOfTheirTablesDefinition() {
        prepared.prepared(writeSet(1, WriteSet.Kind.PREPARED, event("1.1.abc", "41"), SHARED, ROW));
        assertThat(inTheWayOf(Verdict.PASSED, SHARED, ROW)).isEmpty();
        assertThat(inTheWayOf(Verdict.PASSED, UPDATE, OTHER)).isEmpty();
        assertThat(inTheWayOf(Verdict.PASSED, UPDATE, ROW)).containsExactly(1L);
    }

    @Test
    void whatIsSettledIsInNobodysWay() {
        prepared.prepared(prepare(1, ROW));
        prepared.prepared(prepare(1, ROW));
        assertThat(prepared.isOpen(1)).isTrue();
        prepared.settled(1);
        prepared.settled(1);
        assertThat(prepared.isOpen(1)).isFalse();
        assertThat(inTheWayOf(Verdict.PASSED, UPDATE, ROW)).isEmpty();
    }

    @Test
    void whatIsPreparedIsNotAmongWhatIsToBeUndone() {
        OwnWrites own = new OwnWrites(0, Map.of(), c -> true);
        WriteSet w = own.captured(prepare(1, ROW));
        Certified failed = new Certified(5, Verdict.CONFLICT, 1, 1, LogPosition.START, true, w);
        own.ordered(List.of(failed), 1, 0);
        assertThat(own.size()).isZero();
        Certified winner = new Certified(6, Verdict.PASSED, 0, 0, LogPosition.START, true, w);
        assertThat(own.toUndo(List.of(winner, failed), List.of()).doomed()).isEmpty();
        assertThat(own.prepared().inTheWayOf(List.of(winner))).hasSize(1);
    }

    @Test
    void whatIsPreparedWasBuiltOnWhatIsOpenAndNothingOnIt() {
        OwnWrites own = new OwnWrites(0, Map.of(), c -> true);
        own.captured(writeSet(1, WriteSet.Kind.ROWS, new byte[0], UPDATE, ROW));
        assertThat(own.captured(prepare(2, ROW)).builtOn()).containsExactly(1L);
        own.captured(prepare(3, OTHER));
        assertThat(own.captured(writeSet(4, WriteSet.Kind.ROWS, new byte[0], UPDATE, OTHER))
                        .builtOn())
                .isEmpty();
    }

    @Test
    void anXidOfAnotherFormIsSomebodyElses() {
        CertifiedXid xid = CertifiedXid.of(prepare(3, ROW));
        assertThat(xid).isEqualTo(new CertifiedXid(1, 3, "abc", 41));
        assertThat(xid.sql()).isEqualTo("'1.3.abc','41'," + CertifiedXid.FORMAT);
        for (String global : List.of("", "1.3", "1.3.", "1.3.a'b", "-1.3.a", "1.3.a.b", "1234567890123456789.1.a")) {
            WriteSet w = writeSet(1, WriteSet.Kind.PREPARED, event(global, "41"), UPDATE, ROW);
            assertThatThrownBy(() -> CertifiedXid.of(w)).isInstanceOf(QuorateException.class);
        }
        WriteSet none = writeSet(1, WriteSet.Kind.PREPARED, new byte[0], UPDATE, ROW);
        assertThatThrownBy(() -> CertifiedXid.of(none)).hasMessageContaining("has no XA_PREPARE event");
        byte[] global = "1.3.abc".getBytes(StandardCharsets.US_ASCII);
        assertThat(CertifiedXid.of(global, new byte[0], CertifiedXid.FORMAT)).isEmpty();
        assertThat(CertifiedXid.of(global, new byte[] {'4'}, 1)).isEmpty();
    }
}
