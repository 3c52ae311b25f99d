// SPDX-License-Identifier: Apache-2.0
package io.quorate.core;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;

class WriteSetLogTest {
    private static final long LAST = 5;

    private final Log log = new Log();
    private final List<Long> told = new ArrayList<>();

    @Test
    void tellsOfEachFromTheFirstToTheLast() throws Exception {
        log.each(2, 4, c -> told.add(c.seqno()));
        assertThat(told).containsExactly(2L, 3L, 4L);
        assertThat(log.open).isZero();
    }

    @Test
    void readsNothingWhereThereIsNothingToRead() throws Exception {
        log.each(LAST + 2, LAST + 1, c -> told.add(c.seqno()));
        assertThat(log.find(3, 2, c -> true)).isNull();
        assertThat(told).isEmpty();
    }

    @Test
    void findsTheFirstThatIsWantedAndReadsNoFurther() throws Exception {
        Certified found = log.find(1, LAST + 1, c -> {
            told.add(c.seqno());
            return c.seqno() >= 3;
        });
        assertThat(found.seqno()).isEqualTo(3);
        assertThat(told).containsExactly(1L, 2L, 3L);
        assertThat(log.find(1, LAST, c -> false)).isNull();
        assertThat(log.open).isZero();
    }

    @Test
    void failsWhereTheRecordDoesNotGoOn() {
        assertThatThrownBy(() -> log.each(4, LAST + 1, c -> told.add(c.seqno())))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("seqno 6");
        assertThat(told).containsExactly(4L, 5L);
        assertThat(log.open).isZero();
    }

    /** Holds {@link #LAST} records. */
    private static final class Log implements WriteSetLog {
        private int open;

        @Override
        public long first() {
            return 1;
        }

        @Override
        public long last() {
            return LAST;
        }

        @Override
        public void append(List<Certified> batch) {
            throw new UnsupportedOperationException();
        }

        @Override
        public void force() {}

        @Override
        public Cursor read(long seqno) {
            open++;
            return new Cursor() {
                private long next = seqno;

                @Override
                public Certified next(Duration timeout) {
                    return next > LAST ? null : record(next++);
                }

                @Override
                public void close() {
                    open--;
                }
            };
        }

        @Override
        public void close() {}
    }

    private static Certified record(long seqno) {
        WriteSet w = new WriteSet(new Gtid(new UUID(0, 1), seqno), 0, 0, WriteSet.Kind.ROWS, Keys.NONE, new byte[0]);
        return new Certified(seqno, Verdict.PASSED, 0, 0, new LogPosition(1, seqno), true, w);
    }
}
