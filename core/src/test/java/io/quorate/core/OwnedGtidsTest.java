// SPDX-License-Identifier: Apache-2.0
package io.quorate.core;

import static org.assertj.core.api.Assertions.assertThat;

import io.quorate.fuzz.Fuzz;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.Test;

class OwnedGtidsTest {
    private static final UUID A = UUID.fromString("3e11fa47-71ca-11e1-9e33-c80aa9429562");
    private static final UUID B = UUID.fromString("4e11fa47-71ca-11e1-9e33-c80aa9429562");
    private static final List<String> PRINTED = List.of(
            "",
            A + ":17#29",
            A + ":17#29:18#30" + B + ":16#28",
            A + ":17#29,\n" + B + ":16#28",
            A + ":17#29" + A + ":backup:1#31" + B + ":16#28");

    /** As servers print it: two sources have nothing between them. */
    @Test
    void readsEachSourceWithItsSessions() {
        OwnedGtids owned = OwnedGtids.parse(PRINTED.get(2));
        assertThat(owned.gtids()).hasToString(A + ":17-18," + B + ":16");
        assertThat(owned.sessions())
                .isEqualTo(Map.of(new Gtid(A, 17), 29L, new Gtid(A, 18), 30L, new Gtid(B, 16), 28L));
        assertThat(OwnedGtids.parse("").gtids().isEmpty()).isTrue();
    }

    @Test
    void tagsHaveNumbersOfTheirOwn() {
        OwnedGtids owned = OwnedGtids.parse(PRINTED.get(4));
        assertThat(owned.gtids()).hasToString(A + ":17:backup:1," + B + ":16");
        assertThat(owned.sessions()).containsOnlyKeys(new Gtid(A, 17), new Gtid(B, 16));
    }

    @Test
    void anythingElseIsRefused() {
        Fuzz.of(PRINTED.stream()
                        .map(each -> each.getBytes(StandardCharsets.UTF_8))
                        .toList())
                .refusing(IllegalArgumentException.class)
                .run(text -> OwnedGtids.parse(new String(text, StandardCharsets.UTF_8)));
        Fuzz.of(List.of((A + ":1-5:7," + B + ":3").getBytes(StandardCharsets.UTF_8)))
                .refusing(IllegalArgumentException.class)
                .run(text -> GtidSet.parse(new String(text, StandardCharsets.UTF_8)));
    }
}
