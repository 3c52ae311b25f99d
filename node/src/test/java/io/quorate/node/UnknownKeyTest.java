// SPDX-License-Identifier: Apache-2.0
package io.quorate.node;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.SpringApplication;

/** What a service says whose configuration has a key that doesn't exist. */
@Timeout(60)
class UnknownKeyTest {
    @TempDir
    private Path directory;

    @Test
    void itsNameAndItsPlaceAreToldAndNotItsValue() throws Exception {
        Path file = Files.writeString(directory.resolve("application.yaml"), """
                quorate:
                  cluster: c
                  node: n1
                  data-dir: %s
                  mysql:
                    pasword: hunter2
                  peers:
                    - {name: n1, host: 127.0.0.1, raft-port: 1, channel-port: 2}
                """.formatted(directory.resolve("data")));
        PrintStream before = System.out;
        ByteArrayOutputStream printed = new ByteArrayOutputStream();
        System.setOut(new PrintStream(printed, true, StandardCharsets.UTF_8));
        try {
            assertThatThrownBy(() -> SpringApplication.run(
                            QuorateNode.class,
                            "--spring.config.additional-location=file:" + file,
                            "--server.port=0",
                            "--spring.jmx.enabled=false"))
                    .isInstanceOf(RuntimeException.class);
        } finally {
            System.setOut(before);
        }
        assertThat(printed.toString(StandardCharsets.UTF_8))
                .contains("quorate.mysql.pasword", "application.yaml", "docs/configuration.md")
                .doesNotContain("hunter2");
    }
}
