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

/** What a service says whose configuration is wrong before there is a node. */
@Timeout(60)
class WrongConfigurationTest {
    @TempDir
    private Path directory;

    @Test
    void aKeyThatDoesNotExistIsToldWithItsPlaceAndNotWithItsValue() throws Exception {
        assertThat(saidAtStart("""
                quorate:
                  cluster: c
                  node: n1
                  data-dir: %s
                  mysql:
                    pasword: hunter2
                  peers:
                    - {name: n1, host: 127.0.0.1, raft-port: 1, channel-port: 2}
                """))
                .contains("quorate.mysql.pasword", "application.yaml", "docs/configuration.md")
                .doesNotContain("hunter2");
    }

    @Test
    void aCertificateThatIsMissingIsNamed() throws Exception {
        assertThat(saidAtStart("""
                quorate:
                  cluster: c
                  node: n1
                  data-dir: %1$s
                  tls: {bundle: nodes}
                  peers:
                    - {name: n1, host: 127.0.0.1, raft-port: 1, channel-port: 2}
                spring.ssl.bundle.pem.nodes:
                  reload-on-update: true
                  keystore: {certificate: 'file:%1$s/node.crt', private-key: 'file:%1$s/node.key'}
                  truststore: {certificate: 'file:%1$s/ca.crt'}
                """))
                .contains("Unable to register SSL bundle 'nodes'", "/data/node.crt", "quorate certs issue");
    }

    private String saidAtStart(String yaml) throws Exception {
        Path file = Files.writeString(directory.resolve("application.yaml"), yaml.formatted(directory.resolve("data")));
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
        return printed.toString(StandardCharsets.UTF_8);
    }
}
