// SPDX-License-Identifier: Apache-2.0
package io.quorate.sandbox;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RunningSandboxTest {
    @TempDir
    private Path parent;

    @Test
    void knowsTheTokenOfANodeThatTheUserNames() throws Exception {
        Path directory = parent.resolve("sandbox");
        Sandbox sandbox = Sandbox.create(directory, 2, NodePorts.freeBase(2), Map.of(), line -> {});
        int port = sandbox.node("n2").ports().http();
        RunningSandbox nodes = new RunningSandbox();
        assertThat(nodes.at(directory, "127.0.0.1:" + port).orElseThrow().authorization())
                .isNull();
        Files.createDirectories(directory.resolve("n2/quorate"));
        Files.writeString(directory.resolve("n2/quorate/http.token"), "of-n2\n");
        assertThat(nodes.at(directory, "127.0.0.1:" + port).orElseThrow().authorization())
                .isEqualTo("Bearer of-n2");
        assertThat(nodes.at(directory, "localhost:" + port)).isPresent();
        assertThat(nodes.at(directory, "10.0.0.1:" + port)).isEmpty();
        assertThat(nodes.at(parent.resolve("none"), "127.0.0.1:" + port)).isEmpty();
    }
}
