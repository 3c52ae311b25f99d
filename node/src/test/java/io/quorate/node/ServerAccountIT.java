// SPDX-License-Identifier: Apache-2.0
package io.quorate.node;

import static org.assertj.core.api.Assertions.assertThat;

import io.quorate.cli.CertificateAuthority;
import io.quorate.core.NodeState;
import io.quorate.sandbox.MySqlServer;
import io.quorate.sandbox.SandboxException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.ssl.DefaultSslBundleRegistry;
import org.springframework.boot.ssl.SslBundle;
import org.springframework.boot.ssl.pem.PemSslStoreBundle;
import org.springframework.boot.ssl.pem.PemSslStoreDetails;

/** How a service reaches its server: by which certificate it knows it, and with which rights it does its work. */
@Timeout(180)
class ServerAccountIT {
    private static final String PASSWORD = "n0body may see this";
    /** The page has two: for most clusters, and the least that is enough for some. */
    private static final Pattern GRANTS =
            Pattern.compile("```sql\\nCREATE USER.*?;\\n(GRANT .*?);\\n```", Pattern.DOTALL);

    private static MySqlServer mysql;
    private static Path authority;
    private static Path other;

    @TempDir
    private static Path certificates;

    @TempDir
    private Path directory;

    @BeforeAll
    static void startServer() throws Exception {
        mysql = MySqlServer.builder().relaxed().start();
        authority = issued("ours");
        other = issued("other");
        mysql.useCertificate(authority);
    }

    /** The certificate of a server that is known as localhost, with that of an authority which signed it. */
    private static Path issued(String authority) throws IOException {
        return CertificateAuthority.create(certificates.resolve(authority), authority, InstantSource.system())
                .issue("localhost", Duration.ofDays(1));
    }

    @AfterAll
    static void stopServer() {
        mysql.close();
    }

    @BeforeEach
    void withoutAnEarlierCluster() {
        mysql.execute(
                "DROP DATABASE IF EXISTS quorate",
                "DROP USER IF EXISTS quorate@localhost",
                "SET GLOBAL read_only = OFF",
                mysql.dialect().resetBinlogs());
    }

    private Node start(Map<String, String> more, Path trusted) throws Exception {
        Map<String, String> keys = new HashMap<>(LocalNode.beside(mysql));
        keys.put("quorate.mysql.user", "quorate");
        keys.put(
                "quorate.mysql.password-file",
                Files.writeString(directory.resolve("password"), PASSWORD + "\n")
                        .toString());
        keys.putAll(more);
        SslBundle bundle = SslBundle.of(new PemSslStoreBundle(
                null, PemSslStoreDetails.forCertificate("file:" + trusted.resolve(CertificateAuthority.AUTHORITY))));
        return LocalNode.start(
                "account-" + UUID.randomUUID(),
                directory.resolve("data"),
                keys,
                new DefaultSslBundleRegistry("server", bundle));
    }

    private static Map<String, String> tls(String host, String mode) {
        return Map.of("quorate.mysql.host", host, "quorate.mysql.tls.mode", mode, "quorate.mysql.tls.bundle", "server");
    }

    private static void account(String grants, String require) {
        mysql.execute(
                "SET sql_log_bin = 0",
                "CREATE USER quorate@localhost IDENTIFIED WITH caching_sha2_password BY '" + PASSWORD + "' REQUIRE "
                        + require,
                grants);
    }

    private static void awaitReason(Node node, String... parts) throws InterruptedException {
        while (!String.valueOf(node.status().reason()).contains(parts[0])) {
            Thread.sleep(20);
        }
        assertThat(node.status().reason()).contains(parts).doesNotContain(PASSWORD);
    }

    /** By name, and by authority alone; the account lets nobody in without TLS. */
    @ParameterizedTest
    @ValueSource(strings = {"localhost verify-identity", "127.0.0.1 verify-ca"})
    void aServerIsKnownByItsCertificate(String how) throws Exception {
        account("GRANT ALL ON *.* TO quorate@localhost WITH GRANT OPTION", "SSL");
        String[] parts = how.split(" ");
        Node node = start(tls(parts[0], parts[1]), authority);
        try {
            LocalNode.awaitState(node, NodeState.SYNCED);
            String ofBinlog = "SELECT CONNECTION_TYPE FROM performance_schema.threads WHERE PROCESSLIST_COMMAND LIKE"
                    + " 'Binlog Dump%'";
            while (mysql.queryOne(ofBinlog) == null) {
                Thread.sleep(20);
            }
            assertThat(mysql.queryOne(ofBinlog)).isEqualTo("SSL/TLS");
        } finally {
            node.stop();
        }
    }

    @Test
    void aServerUnderAnotherNameIsRefused() throws Exception {
        account("GRANT ALL ON *.* TO quorate@localhost WITH GRANT OPTION", "SSL");
        assertRefused(tls("127.0.0.1", "verify-identity"), authority);
    }

    @Test
    void aServerOfAnotherAuthorityIsRefused() throws Exception {
        account("GRANT ALL ON *.* TO quorate@localhost WITH GRANT OPTION", "SSL");
        assertRefused(tls("127.0.0.1", "verify-ca"), other);
    }

    private void assertRefused(Map<String, String> how, Path trusted) throws Exception {
        Node node = start(how, trusted);
        try {
            awaitReason(node, "QRT-1002", "The password was not sent", "quorate.mysql.tls.bundle");
            assertThat(mysql.queryLong(
                            "SELECT COUNT(*) FROM performance_schema.threads WHERE PROCESSLIST_USER" + " = 'quorate'"))
                    .isZero();
        } finally {
            node.stop();
        }
    }

    /** What docs/accounts.md grants is enough, and there is nothing to be said against it. */
    @ParameterizedTest
    @ValueSource(strings = {"async", "after-sync"})
    void theGrantsOfThePageAreEnough(String mode) throws Exception {
        List<String> page = GRANTS.matcher(Files.readString(Path.of("../docs/accounts.md")))
                .results()
                .map(match -> match.group(1)
                        .replace("'quorate'@'127.0.0.1'", "quorate@localhost")
                        .replace("SET_USER_ID", mysql.dialect().anyDefiner()))
                .toList();
        assertThat(page).hasSize(2);
        // That the first one is enough for the definitions of others, system tests show.
        account(page.get(0), "NONE");
        mysql.execute("SET sql_log_bin = 0", "REVOKE ALL, GRANT OPTION FROM quorate@localhost", page.get(1));
        if (mode.equals("after-sync")) {
            mysql.execute("SET sql_log_bin = 0", "GRANT INSERT ON mysql.plugin TO quorate@localhost");
        }
        Node node = start(Map.of("quorate.commit-mode", mode), authority);
        try {
            LocalNode.awaitState(node, NodeState.SYNCED);
            long before = node.stream.lastOrdered();
            mysql.execute(
                    "DROP DATABASE IF EXISTS shop",
                    "CREATE DATABASE shop",
                    "CREATE TABLE shop.item (id INT PRIMARY KEY)",
                    "INSERT INTO shop.item VALUES (1)");
            while (node.stream.lastOrdered() < before + 3) {
                Thread.sleep(20);
            }
            assertThat(node.state()).isEqualTo(NodeState.SYNCED);
        } finally {
            node.stop();
        }
    }

    /** Sessions that are open go on with the former one. */
    @Test
    void aPasswordThatIsChangedIsReadAgain() throws Exception {
        account("GRANT ALL ON *.* TO quorate@localhost WITH GRANT OPTION", "NONE");
        Node node = start(Map.of(), authority);
        try {
            LocalNode.awaitState(node, NodeState.SYNCED);
            mysql.execute("ALTER USER quorate@localhost IDENTIFIED BY 'another one'");
            endSessions();
            Path file = directory.resolve("password");
            awaitReason(node, "Access denied", "QRT-1002", file + " has, and the file is read again");
            Files.writeString(file, "another one\n");
            LocalNode.awaitState(node, NodeState.SYNCED);
            long before = node.stream.lastOrdered();
            mysql.execute("CREATE DATABASE changed", "DROP DATABASE changed");
            while (node.stream.lastOrdered() < before + 2) {
                Thread.sleep(20);
            }
        } finally {
            node.stop();
        }
    }

    private static void endSessions() {
        for (List<String> session : mysql.query(
                "SELECT PROCESSLIST_ID FROM performance_schema.threads WHERE PROCESSLIST_USER = 'quorate'")) {
            try {
                mysql.execute("KILL " + session.get(0));
            } catch (SandboxException e) {
                assertThat(e).hasMessageContaining("Unknown thread id");
            }
        }
    }
}
