// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.quorate.core.ErrorCode;
import io.quorate.core.QuorateException;
import io.quorate.core.ServerTls;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.source.MapConfigurationPropertySource;

class MySqlPropertiesTest {
    @TempDir
    private Path directory;

    private static NodeProperties.MySql of(Map<String, String> keys) {
        Map<String, String> all = new HashMap<>();
        keys.forEach((key, value) -> all.put("m." + key, value));
        return new Binder(new MapConfigurationPropertySource(all)).bindOrCreate("m", NodeProperties.MySql.class);
    }

    @ParameterizedTest
    @ValueSource(strings = {"127.0.0.1", "127.1.2.3", "localhost", "::1", "[::1]", "0:0:0:0:0:0:0:1"})
    void nobodyListensOnLoopback(String host) {
        NodeProperties.MySql mysql = of(Map.of("host", host));
        assertThat(mysql.tlsMode()).isEqualTo(ServerTls.Mode.DISABLED);
        assertThat(mysql.isLoopback()).isTrue();
    }

    /** A name may have another address at the next look. */
    @ParameterizedTest
    @ValueSource(
            strings = {"db1", "10.0.0.1", "127.0.0.1.example.com", "localhost.example.com", "ip6-localhost", "::2"})
    void elsewhereTheServerIsVerified(String host) {
        NodeProperties.MySql mysql = of(Map.of("host", host));
        assertThat(mysql.tlsMode()).isEqualTo(ServerTls.Mode.VERIFY_IDENTITY);
        assertThat(mysql.isLoopback()).isFalse();
        assertThat(new ServerTls(ServerTls.Mode.DISABLED, mysql.isLoopback(), null, null).driverProperties())
                .containsEntry("allowPublicKeyRetrieval", "false");
    }

    @ParameterizedTest
    @ValueSource(strings = {"verify-ca", "required", "disabled"})
    void itCanBeChosen(String mode) {
        assertThat(of(Map.of("host", "db1", "tls.mode", mode)).tlsMode().name())
                .isEqualTo(mode.toUpperCase(java.util.Locale.ROOT).replace('-', '_'));
    }

    @Test
    void aPasswordMayBeInAFile() throws Exception {
        Path file = Files.writeString(directory.resolve("secret"), "a b \n");
        NodeProperties.MySql mysql = of(Map.of("password-file", file.toString()));
        assertThat(mysql.secret()).isEqualTo("a b ");
        assertThat(of(Map.of("password", "x")).secret()).isEqualTo("x");
    }

    @Test
    void aPasswordIsInOnePlaceThatCanBeRead() {
        refuses(Map.of("password-file", "/f", "password", "x"), "leave out one");
        refuses(Map.of("password-file", directory.resolve("none").toString()), "none");
    }

    private static void refuses(Map<String, String> keys, String why) {
        assertThatThrownBy(() -> of(keys).secret())
                .isInstanceOf(QuorateException.class)
                .hasMessageStartingWith(ErrorCode.CONFIGURATION.code())
                .hasMessageContaining("quorate.mysql.password-file")
                .hasMessageContaining(why);
    }

    @Test
    void nobodyIsShownThePassword() {
        assertThat(of(Map.of("password", "s3cret")).toString()).isEqualTo("quorate@127.0.0.1:3306");
    }
}
