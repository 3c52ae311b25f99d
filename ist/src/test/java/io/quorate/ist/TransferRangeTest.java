// SPDX-License-Identifier: Apache-2.0
package io.quorate.ist;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.quorate.core.ErrorCode;
import io.quorate.core.QuorateException;
import java.io.IOException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** However the thread that fetches ends, whoever takes what it fetched comes to an end. */
@Timeout(30)
class TransferRangeTest {
    private static final Records RECORDS = new Records(1, 10);

    @Test
    void tellsOfAnErrorBehindWhatWasFetchedBefore() throws Exception {
        try (TransferRange range = new TransferRange(1, 9, (from, to, sink) -> {
                    sink.take(RECORDS.range(1, 1));
                    throw new StackOverflowError("on purpose");
                })
                .start()) {
            assertThat(range.next()).hasSize(1);
            assertThatThrownBy(range::next)
                    .isInstanceOf(IOException.class)
                    .hasRootCauseInstanceOf(StackOverflowError.class);
        }
    }

    @Test
    void tellsOfARefusalByItsCode() {
        try (TransferRange range = new TransferRange(1, 9, (from, to, sink) -> {
                    throw new QuorateException(ErrorCode.CACHE_PASSED, "on purpose");
                })
                .start()) {
            assertThatThrownBy(range::next).isInstanceOfSatisfying(QuorateException.class, e -> assertThat(e.code())
                    .isEqualTo(ErrorCode.CACHE_PASSED));
        }
    }

    @Test
    void endsForWhoeverTakesAlsoWhenItIsClosed() {
        TransferRange range = new TransferRange(1, 9, (from, to, sink) -> {
                    while (true) {
                        sink.take(RECORDS.range(1, 1));
                    }
                })
                .start();
        range.close();
        assertThatThrownBy(() -> {
                    while (range.next() != null) {
                        // Those that were fetched before.
                    }
                })
                .isInstanceOf(IOException.class)
                .hasRootCauseInstanceOf(InterruptedException.class);
    }
}
