// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.quorate.core.QuorateException;
import io.quorate.node.config.NodeProperties;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.source.MapConfigurationPropertySource;

class TokenTest {
    @TempDir
    private Path directory;

    private NodeProperties properties(Map<String, String> more) {
        Map<String, String> keys = new HashMap<>(Map.of(
                "quorate.cluster", "c",
                "quorate.node", "n1",
                "quorate.data-dir", directory.toString(),
                "quorate.peers[0].name", "n1",
                "quorate.peers[0].host", "h",
                "quorate.peers[0].raft-port", "1",
                "quorate.peers[0].channel-port", "2"));
        keys.putAll(more);
        return new Binder(new MapConfigurationPropertySource(keys))
                .bind("quorate", NodeProperties.class)
                .get();
    }

    @Test
    void isDrawnOnceForTheServiceAlone() throws Exception {
        Token first = Token.of(properties(Map.of()), Map.of());
        Path file = directory.resolve("http.token");
        String drawn = Files.readString(file).strip();
        assertThat(drawn).hasSizeGreaterThan(40);
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
                .isEqualTo("rw-------");
        assertThat(first.is(drawn)).isTrue();
        assertThat(first.is(drawn + "\n")).isFalse();
        assertThat(first.is("")).isFalse();
        assertThat(Token.of(properties(Map.of()), Map.of()).is(drawn)).isTrue();
    }

    @Test
    void isThatOfTheFileThatIsNamed() throws Exception {
        Path file = Files.writeString(directory.resolve("mine"), "0123456789abcdef\n");
        Token token = Token.of(properties(Map.of("quorate.http.token-file", file.toString())), Map.of());
        assertThat(token.is("0123456789abcdef")).isTrue();
        assertThat(directory.resolve("http.token")).doesNotExist();
    }

    @Test
    void isThatOfTheEnvironment() {
        Token token = Token.of(properties(Map.of()), Map.of("QUORATE_TOKEN", "0123456789abcdef"));
        assertThat(token.is("0123456789abcdef")).isTrue();
        assertThat(directory.resolve("http.token")).doesNotExist();
    }

    @Test
    void isNeitherShortNorAmbiguousNorAbsent() throws Exception {
        assertThatThrownBy(() -> Token.of(properties(Map.of()), Map.of("QUORATE_TOKEN", "short-secret")))
                .isInstanceOf(QuorateException.class)
                .hasMessageContaining("QUORATE_TOKEN has no usable token")
                .hasMessageNotContaining("short-secret");
        NodeProperties named = properties(
                Map.of("quorate.http.token-file", directory.resolve("absent").toString()));
        assertThatThrownBy(() -> Token.of(named, Map.of()))
                .hasMessageContaining("absent")
                .hasMessageContaining("can't be read");
        assertThatThrownBy(() -> Token.of(named, Map.of("QUORATE_TOKEN", "0123456789abcdef")))
                .hasMessageContaining("two tokens")
                .hasMessageNotContaining("0123456789abcdef");
    }
}
