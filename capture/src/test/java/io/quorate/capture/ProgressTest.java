// SPDX-License-Identifier: Apache-2.0
package io.quorate.capture;

import static org.assertj.core.api.Assertions.assertThat;

import io.quorate.core.GtidSet;
import io.quorate.core.Keys;
import io.quorate.core.OriginPosition;
import io.quorate.core.Payload;
import io.quorate.core.WriteSet;
import java.util.UUID;
import org.junit.jupiter.api.Test;

class ProgressTest {
    private static final UUID SERVER = UUID.fromString("11111111-2222-3333-4444-555555555555");
    private static final UUID OTHER = UUID.fromString("22222222-2222-3333-4444-555555555555");

    private static Progress progress(long last, long... undecided) {
        GtidSet executed = new GtidSet().add(SERVER, 1, 500).add(OTHER, 1, 7);
        return new Progress(SERVER, CapturePosition.after(SERVER, new OriginPosition(last, 3, undecided), executed));
    }

    @Test
    void resumesAfterWhatIsCoveredAndNothingMore() {
        Progress p = progress(100, 90, 95);
        assertThat(p.resume().toString()).isEqualTo(SERVER + ":1-89:91-94:96-100," + OTHER + ":1-7");
        for (long n : new long[] {101, 102, 104, 105, 103, 200}) {
            p.covered(n);
        }
        p.covered(95);
        assertThat(p.resume().toString()).isEqualTo(SERVER + ":1-89:91-105:200," + OTHER + ":1-7");
        assertThat(p.last()).isEqualTo(200);
    }

    @Test
    void keepsTheUndecidedSortedAndTheArrayWhenNothingChanges() {
        Progress p = progress(10, 4);
        long[] before = p.undecided();
        assertThat(p.undecidedWith(4)).isSameAs(before);
        assertThat(p.undecidedWithout(5)).isSameAs(before);
        p.prepare(new Xid("61", "", 1), prepared(12, 10));
        p.prepare(new Xid("62", "", 1), prepared(4, 10));
        assertThat(p.undecided()).containsExactly(4, 12);
        p.decided(new Xid("62", "", 1));
        assertThat(p.undecided()).containsExactly(12);
        p.decided(new Xid("61", "", 1));
        assertThat(p.undecided()).isEmpty();
    }

    @Test
    void knowsHowMuchIsKeptUndecided() {
        Progress p = progress(10);
        p.prepare(new Xid("61", "", 1), prepared(11, 60));
        // The same again takes no more room.
        p.prepare(new Xid("61", "", 1), prepared(11, 30));
        p.prepare(new Xid("62", "", 1), prepared(12, 80));
        assertThat(p.preparedBytesBeside(new Xid("63", "", 1))).isEqualTo(110);
        assertThat(p.preparedBytesBeside(new Xid("62", "", 1))).isEqualTo(30);
    }

    private static Progress.Prepared prepared(long number, int bytes) {
        return new Progress.Prepared(number, WriteSet.Kind.ROWS, Keys.NONE, Payload.of(new byte[bytes]));
    }
}
