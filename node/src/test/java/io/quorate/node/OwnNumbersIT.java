// SPDX-License-Identifier: Apache-2.0
package io.quorate.node;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.quorate.core.AppliedDdl;
import io.quorate.core.NodeState;
import io.quorate.node.server.NodeIdentity;
import io.quorate.sandbox.MySqlServer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.Statement;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Servers whose GTIDs say something else than the order believes. */
@Timeout(180)
class OwnNumbersIT {
    @TempDir
    Path directory;

    private MySqlServer mysql;

    @BeforeEach
    void startServer() {
        mysql = MySqlServer.builder().relaxed().start();
        mysql.execute("CREATE DATABASE a", "CREATE TABLE a.t (id INT PRIMARY KEY)");
    }

    @AfterEach
    void stopServer() {
        mysql.close();
    }

    private Node start(String data) throws Exception {
        return LocalNode.start("numbers", directory.resolve(data), LocalNode.beside(mysql));
    }

    private static void awaitReason(Node node, String... parts) throws InterruptedException {
        while (!String.valueOf(node.status().reason()).contains(parts[0])) {
            Thread.sleep(20);
        }
        assertThat(node.status().reason()).contains(parts);
    }

    /** What clients commit after it gets numbers that were ordered, and the binlog's reader may never see it. */
    @Test
    void resetMasterIsNoticedAndRememberedAfterARestartOfTheServer() throws Exception {
        Node node = start("data");
        try {
            LocalNode.awaitState(node, NodeState.SYNCED);
            mysql.execute("INSERT INTO a.t VALUES (1)");
            mysql.execute(mysql.dialect().resetBinlogs(), "INSERT INTO a.t VALUES (2)");
            awaitReason(node, "QRT-2010", "RESET MASTER");
            assertThat(node.state()).as("it waits for a copy").isEqualTo(NodeState.JOINER);
        } finally {
            node.stop();
        }
        mysql.restart();
        Node again = start("data");
        try {
            awaitReason(again, "QRT-2010", "RESET MASTER");
            assertThat(again.state()).isEqualTo(NodeState.JOINER);
        } finally {
            again.stop();
        }
    }

    /** Each would close the server against the other, and acknowledge what the other has to have ordered. */
    @Test
    void aSecondServiceLeavesTheServerOfTheFirstAlone() throws Exception {
        Node first = start("data");
        try {
            LocalNode.awaitState(first, NodeState.SYNCED);
            Node second = LocalNode.start("others", directory.resolve("second"), LocalNode.beside(mysql));
            try {
                awaitReason(second, "QRT-1009", "another service works with the MySQL server");
                long until = System.nanoTime() + 3_000_000_000L;
                while (System.nanoTime() < until) {
                    assertThat(first.state()).isEqualTo(NodeState.SYNCED);
                    Thread.sleep(50);
                }
                awaitAnswer("SELECT @@GLOBAL.read_only", 0);
                mysql.execute("INSERT INTO a.t VALUES (1)");
            } finally {
                second.stop();
            }
        } finally {
            first.stop();
        }
    }

    /** Nobody else would have what it writes. */
    @Test
    void theServerOfAnInconsistentNodeTakesNoWritesOfAnybody() throws Exception {
        mysql.execute("CREATE USER operator", "GRANT ALL ON *.* TO operator");
        String superReadOnly = "SELECT @@GLOBAL.super_read_only";
        Node node = start("data");
        try {
            LocalNode.awaitState(node, NodeState.SYNCED);
        } finally {
            node.stop();
        }
        mysql.execute("INSERT INTO a.t VALUES (1)", "FLUSH BINARY LOGS");
        mysql.execute("PURGE BINARY LOGS BEFORE NOW() + INTERVAL 1 DAY");
        for (int start = 1; start <= 2; start++) {
            Node again = start("data");
            try {
                awaitReason(again, "QRT-2003");
                assertThat(again.state()).isEqualTo(NodeState.INCONSISTENT);
                awaitAnswer(superReadOnly, 1);
                assertThatThrownBy(() -> mysql.execute("INSERT INTO a.t VALUES (2)"))
                        .hasMessageContaining("super-read-only");
            } finally {
                again.stop();
            }
        }
        Node looked = start("data");
        try {
            awaitReason(looked, "QRT-2003");
            awaitAnswer(superReadOnly, 1);
            // Somebody who knows what he does, as before he makes the server anew.
            try (Connection operator = mysql.connect("operator", "", "");
                    Statement statement = operator.createStatement()) {
                statement.execute("SET GLOBAL super_read_only = OFF");
                Thread.sleep(2500);
                statement.execute("INSERT INTO a.t VALUES (2)");
            }
            assertThat(mysql.queryLong("SELECT @@GLOBAL.read_only")).isOne();
        } finally {
            looked.stop();
        }
    }

    private void awaitAnswer(String query, long answer) throws InterruptedException {
        while (mysql.queryLong(query) != answer) {
            Thread.sleep(20);
        }
    }

    /** It would be taken for what all servers have in common. */
    @Test
    void whatWasMadeAfterItsNodeBeganAsOneWithoutTablesIsNotTakenForEverybodys() throws Exception {
        Path data = Files.createDirectory(directory.resolve("data"));
        Files.createFile(data.resolve("begins-with-nothing"));
        Node node = start("data");
        try {
            awaitReason(node, "QRT-3010", "somebody has made tables on this server");
            awaitAnswer("SELECT @@GLOBAL.read_only", 1);
        } finally {
            node.stop();
        }
        mysql.execute("DROP DATABASE a");
        Node again = start("data");
        try {
            LocalNode.awaitState(again, NodeState.SYNCED);
        } finally {
            again.stop();
        }
        assertThat(data.resolve("begins-with-nothing")).doesNotExist();
    }

    /** What clients commit without GTIDs is never read, so nobody else would ever have it. */
    @Test
    void aServerThatNoLongerNumbersEverythingIsClosedUntilItDoes() throws Exception {
        Node node = start("data");
        try {
            LocalNode.awaitState(node, NodeState.SYNCED);
            mysql.execute("SET GLOBAL gtid_mode = ON_PERMISSIVE");
            awaitReason(node, "QRT-1001", "gtid_mode is ON_PERMISSIVE, must be ON");
            assertThat(node.state()).isNotEqualTo(NodeState.SYNCED);
            assertThat(mysql.queryLong("SELECT @@GLOBAL.read_only")).isOne();
            mysql.execute("SET GLOBAL gtid_mode = ON");
            LocalNode.awaitState(node, NodeState.SYNCED);
            while (mysql.queryLong("SELECT @@GLOBAL.read_only") != 0) {
                Thread.sleep(20);
            }
        } finally {
            node.stop();
        }
    }

    @Test
    void aNumberThatAClientGaveOutIsNeverOrdered() throws Exception {
        for (int start = 1; start <= 2; start++) {
            Node node = start("data");
            try {
                if (start == 1) {
                    LocalNode.awaitState(node, NodeState.SYNCED);
                    mysql.execute(
                            "SET gtid_next = '" + mysql.uuid() + ":1000'",
                            "INSERT INTO a.t VALUES (1)",
                            "SET gtid_next = AUTOMATIC",
                            "INSERT INTO a.t VALUES (2)");
                }
                awaitReason(node, "QRT-2010", mysql.uuid() + ":1000");
                assertThat(node.state()).isEqualTo(NodeState.JOINER);
            } finally {
                node.stop();
            }
            mysql.restart();
        }
    }

    /** Its definitions would be passed over, and a start would wait for an order that ended. */
    @Test
    void aServerOfAFormerClusterOfTheSameNameIsRefusedUntilItIsReset() throws Exception {
        Node former = start("former");
        try {
            LocalNode.awaitState(former, NodeState.SYNCED);
            mysql.execute("INSERT INTO a.t VALUES (1)");
            while (mysql.queryLong("SELECT MAX(seqno) FROM quorate.position") == 0) {
                Thread.sleep(20);
            }
            String definitions = AppliedDdl.source(
                            NodeIdentity.incarnation("numbers").toString())
                    .toString();
            mysql.execute("SET gtid_next = '" + definitions + ":7'", "CREATE TABLE a.u (id INT PRIMARY KEY)");
        } finally {
            former.stop();
        }
        Node node = start("data");
        try {
            awaitReason(node, "QRT-1005", "earlier cluster numbers up to seqno 1; this one's ends at 0");
        } finally {
            node.stop();
        }
        mysql.execute("SET sql_log_bin = 0", "DROP DATABASE quorate");
        Node anew = start("anew");
        try {
            awaitReason(anew, "QRT-1005", "definitions of an earlier cluster numbers", ":7");
            mysql.execute("DROP DATABASE IF EXISTS quorate", mysql.dialect().resetBinlogs());
            LocalNode.awaitState(anew, NodeState.SYNCED);
        } finally {
            anew.stop();
        }
    }
}
