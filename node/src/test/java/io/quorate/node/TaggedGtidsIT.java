// SPDX-License-Identifier: Apache-2.0
package io.quorate.node;

import static org.assertj.core.api.Assertions.assertThat;

import io.quorate.core.GtidSet;
import io.quorate.core.NodeState;
import io.quorate.sandbox.MySqlDistribution;
import io.quorate.sandbox.MySqlServer;
import java.nio.file.Path;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Tagged GTIDs in a server's history, and afterwards; skipped where MySQL 9.7 can't be had. */
@Timeout(180)
class TaggedGtidsIT {
    @TempDir
    Path directory;

    private MySqlServer mysql;

    @BeforeEach
    void startServer() {
        MySqlDistribution.unavailable("9.7").ifPresent(Assumptions::abort);
        mysql = MySqlServer.builder().series("9.7").relaxed().start();
        mysql.execute("CREATE DATABASE a", "CREATE TABLE a.t (id INT PRIMARY KEY)");
        insertTagged("mysqlsh", 1);
        insertTagged("other", 2);
        insertTagged("mysqlsh", 3);
    }

    @AfterEach
    void stopServer() {
        if (mysql != null) {
            mysql.close();
        }
    }

    private void insertTagged(String tag, int id) {
        mysql.execute("SET gtid_next = 'AUTOMATIC:" + tag + "'", "INSERT INTO a.t VALUES (" + id + ")");
    }

    private Node start() throws Exception {
        return LocalNode.start("tagged", directory, LocalNode.beside(mysql));
    }

    /** A service begins, captures what a client commits, and ends. */
    private void serves(int id) throws Exception {
        Node node = start();
        try {
            commits(node, id);
        } finally {
            node.stop();
        }
    }

    /** A service begins, and refuses what a client has committed. */
    private void refuses(String... parts) throws Exception {
        Node node = start();
        try {
            awaitRefusal(node, parts);
        } finally {
            node.stop();
        }
    }

    /** Waits until the order has what a client commits, so it is captured. */
    private void commits(Node node, int id) throws InterruptedException {
        LocalNode.awaitState(node, NodeState.SYNCED);
        while (mysql.queryLong("SELECT @@GLOBAL.read_only") != 0) {
            Thread.sleep(20);
        }
        mysql.execute("INSERT INTO a.t VALUES (" + id + ")");
        awaitOrdered(node);
    }

    /** The service commits something there, too, also while it is stopped. */
    private void awaitOrdered(Node node) throws InterruptedException {
        long number = executed().last(UUID.fromString(mysql.uuid()));
        while (node.stream.own().last() < number) {
            assertThat(node.state()).as(node.status().reason()).isNotEqualTo(NodeState.INCONSISTENT);
            Thread.sleep(20);
        }
    }

    /** Purges what was committed before now, and the order has all of that. */
    private void purge(Node node) throws InterruptedException {
        mysql.execute("FLUSH BINARY LOGS");
        awaitOrdered(node);
        while (mysql.query("SHOW BINARY LOGS").size() > 1) {
            // As long as the capture reads an older one, that stays.
            mysql.execute("PURGE BINARY LOGS BEFORE NOW() + INTERVAL 1 DAY");
            Thread.sleep(20);
        }
    }

    private GtidSet executed() {
        return GtidSet.parse(mysql.queryOne("SELECT @@GLOBAL.gtid_executed"));
    }

    @Test
    void thoseFromBeforeAreHistoryAndLaterOnesAreRefusedByName() throws Exception {
        serves(10);
        mysql.restart();
        Node again = start();
        try {
            commits(again, 11);
            purge(again);
        } finally {
            again.stop();
        }
        String later = mysql.uuid() + ":mysqlsh:3";
        Node purged = start();
        try {
            commits(purged, 12);
            insertTagged("mysqlsh", 13);
            awaitRefusal(purged, later);
        } finally {
            purged.stop();
        }
        refuses(later);
        mysql.execute("FLUSH BINARY LOGS", "PURGE BINARY LOGS BEFORE NOW() + INTERVAL 1 DAY");
        refuses(later, "they are purged");
    }

    /** As by a clone of a server that never had them: they would be given out again, and taken for history. */
    @Test
    void thoseThatTheServerNoLongerHasAreNotGivenOutAgain() throws Exception {
        serves(10);
        GtidSet executed = executed();
        GtidSet tagged = executed.tagged(UUID.fromString(mysql.uuid()));
        assertThat(tagged).hasToString(mysql.uuid() + ":mysqlsh:1-2:other:1");
        mysql.execute(mysql.dialect().resetBinlogs(), "SET GLOBAL gtid_purged = '" + executed.minus(tagged) + "'");
        Node again = start();
        try {
            commits(again, 11);
            insertTagged("mysqlsh", 12);
            awaitRefusal(again, mysql.uuid() + ":mysqlsh:3");
        } finally {
            again.stop();
        }
    }

    private static void awaitRefusal(Node node, String... parts) throws InterruptedException {
        String reason = "";
        // What came after it is ordered by then.
        while (!reason.contains("QRT-2012") || !reason.contains("waiting for a node that can give a copy")) {
            Thread.sleep(20);
            reason = String.valueOf(node.status().reason());
        }
        assertThat(node.status().reason()).contains("tagged").contains(parts);
        assertThat(node.state()).as("it waits for a copy").isEqualTo(NodeState.JOINER);
    }
}
