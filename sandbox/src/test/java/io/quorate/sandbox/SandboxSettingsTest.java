// SPDX-License-Identifier: Apache-2.0
package io.quorate.sandbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SandboxSettingsTest {
    @Test
    void areTheSameAfterWritingAndReading(@TempDir Path directory) {
        SandboxSettings settings =
                new SandboxSettings("c", 5, 14_000, Map.of("mysql.max_connections", "50", "quorate.jvm", "-Xmx1g"));
        assertThat(SandboxSettings.existIn(directory)).isFalse();
        settings.write(directory);
        assertThat(SandboxSettings.existIn(directory)).isTrue();
        assertThat(SandboxSettings.read(directory)).isEqualTo(settings);
    }

    @Test
    void sayWhereEachNodeIs(@TempDir Path directory) {
        Place first = new Place("10.0.0.1", List.of("ip", "netns", "exec", "n1"));
        Place second = new Place("10.0.0.2", List.of());
        SandboxSettings settings = new SandboxSettings(
                "c", 2, Set.of(), Set.of(), 14_000, Map.of(), List.of(first, second), MySqlSeries.any());
        settings.write(directory);
        SandboxSettings read = SandboxSettings.read(directory).with(Map.of("mysql.max_connections", "50"));
        assertThat(read.place(1)).isEqualTo(first);
        assertThat(read.place(2)).isEqualTo(second);
        assertThat(NodeConfiguration.yaml(read, 1, Path.of("/d"), Path.of("/d")))
                .contains("address: 10.0.0.1\n", "mysql:\n    host: 127.0.0.1\n", "name: n2, host: 10.0.0.2,");
    }

    @Test
    void areOnLoopbackWhereAFileSaysNothingOfPlaces(@TempDir Path directory) throws Exception {
        Files.writeString(
                directory.resolve("sandbox.json"),
                "{\"cluster\": \"c\", \"nodes\": 1, \"basePort\": 14000, \"set\": {}}");
        assertThat(SandboxSettings.read(directory).place(1)).isEqualTo(Place.LOOPBACK);
    }

    @Test
    void nameTheFileThatIsDamaged(@TempDir Path directory) throws Exception {
        Files.writeString(directory.resolve("sandbox.json"), "{\"cluster\": ");
        assertThatThrownBy(() -> SandboxSettings.read(directory))
                .isInstanceOf(SandboxException.class)
                .hasMessageContaining("sandbox.json is damaged");
    }

    @ParameterizedTest
    @ValueSource(strings = {"max_connections", "mysql.", "mysql.port", "mysql.log_error", "quorate.data-dir"})
    void refuseWhatCannotBeSet(String key) {
        assertThatThrownBy(() -> new SandboxSettings("c", 3, 14_000, Map.of(key, "1")))
                .isInstanceOf(SandboxException.class)
                .hasMessageContaining('"' + key + '"');
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 10})
    void allowOneToNineNodes(int nodes) {
        assertThatThrownBy(() -> new SandboxSettings("c", nodes, 14_000, Map.of()))
                .isInstanceOf(SandboxException.class)
                .hasMessageContaining("1 to 9");
    }

    @Test
    void becomeTheConfigurationOfANode() {
        SandboxSettings settings = new SandboxSettings(
                "c",
                2,
                14_000,
                Map.of("mysql.sync_binlog", "0", "quorate.jvm", "-Xmx1g", "quorate.apply.workers", "\"2\""));
        assertThat(NodeConfiguration.yaml(settings, 2, Path.of("/d"), Path.of("/d/n2/quorate")))
                .isEqualTo("""
                        server:
                          address: 127.0.0.1
                          port: 14202
                        spring:
                          ssl:
                            bundle:
                              pem:
                                nodes:
                                  reload-on-update: true
                                  options:
                                    ciphers: [TLS_CHACHA20_POLY1305_SHA256, TLS_AES_128_GCM_SHA256]
                                  keystore:
                                    certificate: "file:/d/certs/n2/node.crt"
                                    private-key: "file:/d/certs/n2/node.key"
                                  truststore:
                                    certificate: "file:/d/certs/n2/ca.crt"
                        quorate:
                          cluster: "c"
                          node: n2
                          data-dir: "/d/n2/quorate"
                          http:
                            probe-port: 14252
                          mysql:
                            host: 127.0.0.1
                            port: 14002
                            user: quorate
                            password: quorate
                            start-command: "sh '/d/n2/start-mysqld'"
                          tls:
                            bundle: nodes
                          peers:
                            - {name: n1, host: 127.0.0.1, raft-port: 14301, channel-port: 14401, http: \
                        "127.0.0.1:14201"}
                            - {name: n2, host: 127.0.0.1, raft-port: 14302, channel-port: 14402, http: \
                        "127.0.0.1:14202"}
                        ---
                        "quorate.apply.workers": "\\"2\\""
                        """);
    }

    @Test
    void nameNoServerForAnArbitrator() {
        SandboxSettings settings =
                new SandboxSettings("c", 2, 14_000, Map.of("quorate.mysql.tls.mode", "required")).withOneMore(true);
        assertThat(NodeConfiguration.yaml(settings, 3, Path.of("/d"), Path.of("/d/n3/quorate")))
                .contains("arbitrator: true")
                .doesNotContain("mysql");
        assertThat(NodeConfiguration.yaml(settings, 1, Path.of("/d"), Path.of("/d/n1/quorate")))
                .contains("quorate.mysql.tls.mode", "port: 14001")
                .doesNotContain("arbitrator");
        assertThat(settings.without(3).withOneMore(false).arbitrators()).isEmpty();
    }
}
