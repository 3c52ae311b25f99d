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
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** What the service refuses to start with, and what it says. */
@Timeout(600)
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
            Map<String, String> poor = Map.of(
                    "quorate.mysql.port", Integer.toString(server.port()),
                    "quorate.mysql.user", "poor",
                    "quorate.mysql.password", "p");
            String output = NodeProgram.runJar(directory, 1, rightBut(poor));
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
    void aCheckNamesWhatIsWrongAndWhatOfTheSchemasToKnow() throws Exception {
        try (MySqlServer server =
                MySqlServer.builder().option("binlog-row-metadata", "MINIMAL").start()) {
            server.execute(
                    "CREATE DATABASE shop",
                    "CREATE TABLE shop.p (id INT PRIMARY KEY)",
                    "CREATE TABLE shop.c (id INT PRIMARY KEY, p INT, CONSTRAINT c_p FOREIGN KEY (p) REFERENCES"
                            + " shop.p (id)"
                            + " ON DELETE CASCADE)",
                    "CREATE TABLE shop.keyless (a INT)",
                    "CREATE TABLE shop.old (id INT PRIMARY KEY) ENGINE = MyISAM",
                    "CREATE TABLE shop.expr (id INT PRIMARY KEY, a INT, UNIQUE KEY twice ((a + a)))",
                    "CREATE EVENT shop.hourly ON SCHEDULE EVERY 1 HOUR DISABLE ON SLAVE DO DELETE FROM shop.p",
                    "SET gtid_next = '" + server.uuid() + ":100'",
                    "CREATE DATABASE numbered");
            String address = "127.0.0.1:" + server.port();
            String fill = "SET GLOBAL gtid_purged = '+" + server.uuid() + ":8-99'";
            assertThat(run(1, List.of("check", address, "root")))
                    .contains("SET PERSIST binlog_row_metadata = FULL;", fill + ";")
                    .contains("shop.keyless", "shop.old (MyISAM)", "shop.expr.twice", "shop.c.c_p", "shop.hourly")
                    .doesNotContain("shop.p:", "quorate.", "is fit");
            server.execute("SET PERSIST binlog_row_metadata = FULL", fill);
            assertThat(run(0, List.of("check", address, "root")))
                    .contains("shop.keyless", "auto_increment_increment is 1", "is fit")
                    .doesNotContain("must be changed");
            JsonNode json = JsonMapper.shared().readTree(run(0, List.of("check", address, "root", "json")));
            assertThat(json.get("wrong")).isEmpty();
            // From 8.3 on root may tag GTIDs, of which the check warns, too.
            boolean tags = server.queryLong("SELECT COUNT(*) FROM information_schema.user_privileges"
                            + " WHERE privilege_type = 'TRANSACTION_GTID_TAG'")
                    > 0;
            assertThat(json.get("advice")).hasSize(tags ? 8 : 7);
            assertThat(json.get("advice").get(0).get("what").asString()).contains("FILE, SHUTDOWN, SUPER");
            assertThat(run(1, List.of("check", address, "nobody"))).contains("Access denied");
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
        return run(1, rightBut(changed));
    }

    private List<String> rightBut(Map<String, String> changed) {
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
        List<String> arguments = new ArrayList<>();
        keys.forEach((key, value) -> arguments.add("--" + key + "=" + value));
        return arguments;
    }

    private String run(int exit, List<String> arguments) throws IOException, InterruptedException {
        return NodeProgram.run(directory, exit, arguments);
    }
}
