// SPDX-License-Identifier: Apache-2.0
package io.quorate.node;

import static org.assertj.core.api.Assertions.assertThat;

import io.quorate.core.AppliedDdl;
import io.quorate.core.NodeState;
import io.quorate.node.server.NodeIdentity;
import io.quorate.sandbox.MySqlServer;
import java.nio.file.Files;
import java.nio.file.Path;
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
            assertThat(node.state()).isEqualTo(NodeState.INCONSISTENT);
        } finally {
            node.stop();
        }
        mysql.restart();
        Node again = start("data");
        try {
            awaitReason(again, "QRT-2010", "RESET MASTER");
            assertThat(again.state()).isEqualTo(NodeState.INCONSISTENT);
        } finally {
            again.stop();
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
            assertThat(mysql.queryLong("SELECT @@GLOBAL.read_only")).isOne();
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
                assertThat(node.state()).isEqualTo(NodeState.INCONSISTENT);
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
