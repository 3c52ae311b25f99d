// SPDX-License-Identifier: Apache-2.0
package io.quorate.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.quorate.sandbox.MySqlServer;
import io.quorate.sandbox.Ports;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What the service refuses to start with, and what it says. */
@Timeout(180)
class RefusalIT {
    @TempDir
    Path directory;

    @Test
    void namesAllThatIsWrongWithAServerEachWithWhatMendsIt() throws Exception {
        try (MySqlServer server = MySqlServer.builder()
                .option("binlog-format", "MIXED")
                .option("binlog-row-metadata", "MINIMAL")
                .option("gtid-mode", "OFF_PERMISSIVE")
                .start()) {
            server.execute("CREATE USER poor@'127.0.0.1' IDENTIFIED BY 'p'", "GRANT SELECT ON *.* TO poor@'127.0.0.1'");
            String output = refusedWith(Map.of(
                    "quorate.mysql.port", Integer.toString(server.port()),
                    "quorate.mysql.user", "poor",
                    "quorate.mysql.password", "p"));
            assertThat(output)
                    .contains("QRT-1001")
                    .contains("SET PERSIST binlog_format = ROW;")
                    .contains("SET PERSIST binlog_row_metadata = FULL;")
                    .contains("SET PERSIST gtid_mode = ON;")
                    .containsPattern("GRANT .*REPLICATION_APPLIER.* ON \\*\\.\\* TO 'poor'@'127.0.0.1';")
                    .doesNotContain("at io.quorate");
        }
    }

    @Test
    void namesEveryConfigurationKeyThatIsWrong() throws Exception {
        String output = refusedWith(
                Map.of("quorate.node", "no spaces", "quorate.apply.workers", "0", "quorate.mysql.port", "70000"));
        assertThat(output).contains("node", "workers", "port");
    }

    @Test
    void namesANodeThatIsNotAmongItsPeers() throws Exception {
        String output = refusedWith(Map.of("quorate.node", "n9"));
        assertThat(output).contains("QRT-1003", "n9");
    }

    @Test
    void endsWhenItsHttpPortIsTaken() throws Exception {
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            String port = Integer.toString(taken.getLocalPort());
            String output = refusedWith(Map.of("server.address", "127.0.0.1", "server.port", port));
            assertThat(output).contains("Port " + port + " was already in use");
        }
    }

    @Test
    void endsWhenTheOrderCantOpenItsLog() throws Exception {
        UUID group = UUID.nameUUIDFromBytes("io.quorate/refused".getBytes(StandardCharsets.UTF_8));
        Path storage = Files.createDirectories(directory.resolve("data/order/raft"));
        Files.createFile(storage.resolve(group.toString()));
        assertThat(refusedWith(Map.of())).contains("QRT-6002");
    }

    /** Runs the service with a configuration that is right but for {@code arguments}; it must end by itself. */
    private String refusedWith(Map<String, String> changed) throws IOException, InterruptedException {
        Map<String, String> keys = new LinkedHashMap<>();
        keys.put("server.port", "0");
        keys.put("quorate.cluster", "refused");
        keys.put("quorate.node", "n1");
        keys.put("quorate.data-dir", directory.resolve("data").toString());
        keys.put("quorate.mysql.port", Integer.toString(Ports.free()));
        keys.put("quorate.peers[0].name", "n1");
        keys.put("quorate.peers[0].host", "127.0.0.1");
        keys.put("quorate.peers[0].raft-port", Integer.toString(Ports.free()));
        keys.put("quorate.peers[0].channel-port", Integer.toString(Ports.free()));
        keys.putAll(changed);
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx128m",
                "-XX:+UseSerialGC",
                "-jar",
                Path.of("..", "node", "target", "quorate-node.jar").toString()));
        keys.forEach((key, value) -> command.add("--" + key + "=" + value));
        Path output = directory.resolve("output");
        Process process = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(output.toFile())
                .start();
        try {
            assertThat(process.waitFor(90, TimeUnit.SECONDS)).as("it ends").isTrue();
            assertThat(process.exitValue()).isNotZero();
            return Files.readString(output);
        } finally {
            process.destroyForcibly();
        }
    }
}
