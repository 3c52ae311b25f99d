// SPDX-License-Identifier: Apache-2.0
package io.quorate.core;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class FromOutsideTest {
    @ParameterizedTest
    @ValueSource(strings = {"n1", "node-3.eu", "_a", "A"})
    void namesOfNodes(String name) {
        assertThat(FromOutside.isName(name)).isTrue();
    }

    @ParameterizedTest
    @ValueSource(strings = {"", ".a", "n1\n", "n 1", "n1/../x", "\u001b[31m", "näh", "a#2"})
    void whatIsNoName(String name) {
        assertThat(FromOutside.isName(name)).isFalse();
        assertThat(FromOutside.isName("n".repeat(64))).isFalse();
        assertThat(FromOutside.isName(null)).isFalse();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"localhost", "10.0.0.1", "db_1.example.com", "::1", "[fe80::1%eth0]", "::ffff:10.0.0.1", "a"})
    void namesAndAddressesOfHosts(String host) {
        assertThat(FromOutside.isHost(host)).isTrue();
        assertThat(FromOutside.isHostAndPort(host + ":3306")).isTrue();
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "a b", "a\nb", "-a", "a'b", "a;b", "host\u0000"})
    void whatIsNoHost(String host) {
        assertThat(FromOutside.isHost(host)).isFalse();
        assertThat(FromOutside.isHostAndPort(host + ":3306")).isFalse();
    }

    @Test
    void portsAreNumbers() {
        assertThat(FromOutside.isHostAndPort("a:0")).isFalse();
        assertThat(FromOutside.isHostAndPort("a:65536")).isFalse();
        assertThat(FromOutside.isHostAndPort("a:33 06")).isFalse();
        assertThat(FromOutside.isHostAndPort("a")).isFalse();
        assertThat(FromOutside.isHostAndPort(null)).isFalse();
    }

    @Test
    void aTextIsOneLine() {
        assertThat(FromOutside.oneLine("n1\r\n2026-01-01 ERROR all is lost\u2028x"))
                .isEqualTo("n1  2026-01-01 ERROR all is lost x");
        assertThat(FromOutside.oneLine("a\u001b[2Jb\u0000c\u202ed\ud800")).isEqualTo("a?[2Jb?c?d?");
        assertThat(FromOutside.oneLine("späť 後 😀")).isEqualTo("späť 後 😀");
        assertThat(FromOutside.oneLine(null)).isNull();
    }

    @Test
    void noMoreThanItsBeginningIsShown() {
        assertThat(FromOutside.oneLine("x".repeat(5000)))
                .hasSize(FromOutside.SHOWN_CHARACTERS_MAX + 3)
                .endsWith("x...");
        assertThat(FromOutside.oneLine("x".repeat(1000))).isEqualTo("x".repeat(1000));
    }
}
