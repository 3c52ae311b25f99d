// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.order;

import static org.assertj.core.api.Assertions.assertThat;

import io.quorate.core.Certified;
import io.quorate.core.Gtid;
import io.quorate.core.Keys;
import io.quorate.core.LogPosition;
import io.quorate.core.Verdict;
import io.quorate.core.WriteSet;
import io.quorate.ist.CacheSettings;
import io.quorate.ist.WriteSetCache;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CacheForecastTest {
    private static final long BYTES_MAX = 1 << 20;
    private static final int WRITESET = 10_000;

    @TempDir
    private Path directory;

    private WriteSetCache cache;
    private CacheForecast forecast;

    @BeforeEach
    void open() {
        cache = WriteSetCache.open(new CacheSettings(directory, new UUID(0, 1), 100_000, BYTES_MAX), 0);
        forecast = new CacheForecast(cache, Duration.ofMinutes(30));
    }

    @AfterEach
    void close() throws Exception {
        cache.close();
    }

    private void write(int count) throws Exception {
        for (int i = 0; i < count; i++) {
            long seqno = cache.last() + 1;
            long committed = (System.currentTimeMillis() - 60_000) * 1000;
            WriteSet w = new WriteSet(
                    new Gtid(new UUID(0, 2), seqno), 0, committed, WriteSet.Kind.ROWS, Keys.NONE, new byte[WRITESET]);
            cache.append(List.of(new Certified(seqno, Verdict.PASSED, 0, 0, new LogPosition(1, seqno), true, w)));
        }
    }

    @Test
    void whereNothingIsWrittenThereIsNoEndToIt() throws Exception {
        write(1);
        forecast.look(0, Map.of("n3", 1L));
        forecast.look(1000, Map.of("n3", 1L));
        assertThat(forecast.returns()).isEqualTo(Map.of("n3", -1L));
        assertThat(forecast.fullSeconds()).isEqualTo(-1);
        assertThat(forecast.bytesPerSecond()).isZero();
    }

    @Test
    void anAbsentMemberHasUntilTheCacheIsFullOfWhatItLacks() throws Exception {
        forecast.look(0, Map.of());
        write(10);
        forecast.look(10_000, Map.of("n2", 10L, "n3", 0L));
        long rate = forecast.bytesPerSecond();
        assertThat(rate).isBetween((long) WRITESET, WRITESET + 500L);
        assertThat(forecast.fullSeconds()).isEqualTo(BYTES_MAX / rate);
        assertThat(forecast.returns().get("n2")).isBetween(BYTES_MAX / rate - 1, BYTES_MAX / rate);
        assertThat(forecast.returns().get("n3")).isBetween(BYTES_MAX / rate - 11, BYTES_MAX / rate - 9);
    }

    @Test
    void itIsTooLateForOneThatNeedsWhatIsGone() throws Exception {
        forecast.look(0, Map.of());
        write(200);
        cache.retain(Long.MAX_VALUE);
        assertThat(cache.first()).as("the cache forgets").isGreaterThan(50);
        forecast.look(10_000, Map.of("n2", 20L, "n3", 200L));
        assertThat(forecast.returns().get("n2")).isZero();
        assertThat(forecast.returns().get("n3")).isPositive();
    }

    @Test
    void whoIsBackIsNoLongerForecast() throws Exception {
        write(1);
        forecast.look(0, Map.of("n3", 1L));
        forecast.look(1, Map.of());
        assertThat(forecast.returns()).isEmpty();
    }

    @Test
    void saysForHowLongItHasKept() throws Exception {
        assertThat(forecast.spanSeconds()).isZero();
        write(1);
        forecast.look(0, Map.of());
        assertThat(forecast.spanSeconds()).isBetween(60L, 90L);
    }
}
