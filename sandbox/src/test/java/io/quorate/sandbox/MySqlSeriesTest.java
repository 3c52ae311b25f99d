// SPDX-License-Identifier: Apache-2.0
package io.quorate.sandbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class MySqlSeriesTest {
    @Test
    void oneSeriesIsOfAllNodesButThoseThatHaveTheirOwn() {
        MySqlSeries series = MySqlSeries.parse(List.of("8.0", "n3=9.7", "2=8.4"));
        assertThat(series.of(1)).isEqualTo("8.0");
        assertThat(series.of(2)).isEqualTo("8.4");
        assertThat(series.of(3)).isEqualTo("9.7");
        assertThat(series.without(3).of(3))
                .as("another node that gets its number")
                .isEqualTo("8.0");
        assertThat(series.with(1, "26.10").of(1)).isEqualTo("26.10");
        assertThat(MySqlSeries.parse(List.of())).isEqualTo(MySqlSeries.any());
    }

    @ParameterizedTest
    @ValueSource(strings = {"9", "9.7.4", "n3=", "n3=nine", "n10=9.7", "newest"})
    void whatIsNoSeriesIsRefusedWithAnExample(String word) {
        assertThatThrownBy(() -> MySqlSeries.parse(List.of(word)))
                .isInstanceOf(SandboxException.class)
                .hasMessageContaining("n3=9.7");
    }

    @Test
    void aSandboxKeepsItsSeriesAndOneOfBeforeHasAny(@TempDir Path directory) {
        SandboxSettings settings = new SandboxSettings("c", 3, 14_000, Map.of()).with(3, "9.7");
        settings.write(directory);
        SandboxSettings read = SandboxSettings.read(directory);
        assertThat(read).isEqualTo(settings);
        assertThat(read.mysql().of(3)).isEqualTo("9.7");
        assertThat(read.mysql().of(1)).isEqualTo(MySqlSeries.ANY);
        assertThat(read.without(3).withOneMore(false).mysql().of(3)).isEqualTo(MySqlSeries.ANY);
    }

    @Test
    void aVersionIsOfASeriesByItsFirstTwoNumbers() {
        assertThat(MySqlSeries.isOf("9.7.4", "9.7")).isTrue();
        assertThat(MySqlSeries.isOf("9.70.1", "9.7")).isFalse();
        assertThat(MySqlSeries.isOf("26.10.1", "26.10")).isTrue();
        assertThat(MySqlSeries.isOf("8.0.33", MySqlSeries.ANY)).isTrue();
        assertThat(MySqlDistribution.compare("26.10.0", "9.7.4")).isPositive();
        assertThat(MySqlDistribution.compare("8.0.33", "8.0.33")).isZero();
    }

    @Test
    void mysqldTakesOverDataWithinAMajorVersionAndFromItsLastSeries() {
        assertThat(MySqlSeries.upgradesInPlace("8.0.33", "8.4.1")).isTrue();
        assertThat(MySqlSeries.upgradesInPlace("8.4.1", "9.7.4")).isTrue();
        assertThat(MySqlSeries.upgradesInPlace("9.7.4", "26.10.1")).isTrue();
        assertThat(MySqlSeries.upgradesInPlace("8.0.33", "9.7.4")).isFalse();
        assertThat(MySqlSeries.upgradesInPlace("9.5.0", "26.10.1")).isFalse();
    }

    @Test
    void aSeriesThatCantBeDownloadedIsRefusedWithTheWayOut(@TempDir Path empty) {
        List<String> said = new ArrayList<>();
        assertThatThrownBy(() -> MySqlDistribution.search(new CacheDirectory(empty), "8.4", null, said::add))
                .isInstanceOf(SandboxException.class)
                .hasMessageContainingAll("8.0.33", "9.7", "QUORATE_MYSQL_HOME");
    }
}
