// SPDX-License-Identifier: Apache-2.0
package io.quorate.node;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.diagnostics.FailureAnalysis;

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
        Path file = configuration("""
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
                """);
        FailureAnalysis analysis = new BundleAnalyzer().analyze(catchThrowable(() -> start(file)));
        assertThat(analysis).isNotNull();
        // Which of the three is met first, differs.
        assertThat(analysis.getDescription())
                .contains("Unable to register SSL bundle 'nodes'")
                .containsPattern("/data/(node|ca)\\.(crt|key)");
        assertThat(analysis.getAction()).contains("quorate certs issue");
    }

    private Path configuration(String yaml) throws IOException {
        return Files.writeString(directory.resolve("application.yaml"), yaml.formatted(directory.resolve("data")));
    }

    private static void start(Path configuration) {
        SpringApplication.run(
                QuorateNode.class,
                "--spring.config.additional-location=file:" + configuration,
                "--server.port=0",
                "--spring.jmx.enabled=false");
    }

    private String saidAtStart(String yaml) throws IOException {
        Path file = configuration(yaml);
        PrintStream before = System.out;
        ByteArrayOutputStream printed = new ByteArrayOutputStream();
        System.setOut(new PrintStream(printed, true, StandardCharsets.UTF_8));
        try {
            assertThatThrownBy(() -> start(file)).isInstanceOf(RuntimeException.class);
        } finally {
            System.setOut(before);
        }
        return printed.toString(StandardCharsets.UTF_8);
    }
}
