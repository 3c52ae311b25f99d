// SPDX-License-Identifier: Apache-2.0
package io.quorate.core.binlog;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ExpressionSettingsTest {
    private static final Set<String> PLAIN = Set.of("j", "first name", "n");

    @ParameterizedTest
    @ValueSource(
            strings = {
                "json_unquote(json_extract(`j`,_utf8mb4\\'$.a\\'))",
                "concat(`first name`,_utf8mb4\\' \\',lower(`First Name`))",
                "(`n` * 2)",
                "(case when (`n` > 3) then NULL else coalesce(`n`,0) end)",
                "cast(`j` as char(10) charset utf8mb4) collate utf8mb4_bin",
                "md5(`j`)",
                ""
            })
    void textsNumbersAndJsonAreIndependent(String expression) {
        assertThat(ExpressionSettings.isIndependent(expression, PLAIN::contains))
                .isTrue();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "monthname(`n`)",
                "hour(`ts`)",
                "(`n` / 2)",
                "(`n` - 1)",
                "concat(_utf8mb4\\'a\\',dayname(`n`),_utf8mb4\\'b\\')",
                "concat(_utf8mb4\\'it\\\\\\'s\\',dayname(`n`),_utf8mb4\\'b\\')",
                "concat(_utf8mb4\\'it\\'\\'s\\',dayname(`n`),_utf8mb4\\'b\\')",
                "(`j` like _utf8mb4\\'a%\\')",
                "date_format(`n`,_utf8mb4\\'%M\\')",
                "aes_encrypt(`j`,_utf8mb4\\'k\\')",
                "cast(`j` as datetime)",
                "round(`n`,2)"
            })
    void othersMayDepend(String expression) {
        assertThat(ExpressionSettings.isIndependent(expression, PLAIN::contains))
                .isFalse();
    }

    @Test
    void triesWhatMayMatter() {
        RowSettings known = RowSettings.UNKNOWN;
        assertThat(ExpressionSettings.of(List.of("(`a` * `b`)"), false).others(known))
                .extracting(RowSettings::timeZone)
                .containsOnlyNulls();
        assertThat(ExpressionSettings.of(List.of("hour(`ts`)"), true).others(known))
                .extracting(RowSettings::timeZone)
                .contains("+05:30", "-13:00", "+14:00", "+00:00")
                .doesNotContain("+14:15");
        assertThat(ExpressionSettings.of(List.of("monthname(`d`)"), false).others(known))
                .extracting(RowSettings::locale)
                .contains(0, 4, 110);
        assertThat(ExpressionSettings.of(List.of("(`a` / 2)"), false).others(known))
                .extracting(RowSettings::divPrecision)
                .contains(-1, 0, 30);
        assertThat(ExpressionSettings.of(List.of("aes_encrypt(`a`,`b`)"), false).others(known))
                .extracting(RowSettings::blockEncryption)
                .contains("aes-256-cbc");
    }
}
