// SPDX-License-Identifier: Apache-2.0
package io.quorate.node;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.github.shyiko.mysql.binlog.BinaryLogClient;
import io.quorate.core.NodeState;
import io.quorate.node.server.ServerAccess;
import io.quorate.sandbox.MySqlServer;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What must be true of a server is compared with what is, and set right again, whoever has changed it. */
@Timeout(180)
class RestoredIT {
    private static final String ENABLED = "@@GLOBAL.rpl_semi_sync_source_enabled";
    private static final String CLIENTS =
            "SELECT VARIABLE_VALUE FROM performance_schema.global_status WHERE VARIABLE_NAME ="
                    + " 'Rpl_semi_sync_source_clients'";

    private static MySqlServer mysql;

    @TempDir
    private Path directory;

    private Node node;

    @BeforeAll
    static void startServer() {
        mysql = MySqlServer.builder().relaxed().start();
        mysql.execute(
                "CREATE USER quorate@localhost IDENTIFIED BY 'secret'",
                "GRANT ALL ON *.* TO quorate@localhost WITH GRANT OPTION",
                "CREATE USER app@localhost IDENTIFIED BY 'secret'",
                "CREATE USER stranger@localhost IDENTIFIED BY 'secret'",
                "GRANT REPLICATION SLAVE, REPLICATION CLIENT ON *.* TO stranger@localhost");
    }

    @AfterAll
    static void stopServer() {
        mysql.close();
    }

    @BeforeEach
    void startNode() throws Exception {
        mysql.execute(
                "SET GLOBAL read_only = OFF",
                "DROP DATABASE IF EXISTS quorate",
                mysql.dialect().resetBinlogs());
        start();
    }

    @AfterEach
    void stopNode() {
        node.stop();
        mysql.execute("SET GLOBAL offline_mode = OFF", "SET GLOBAL rpl_semi_sync_source_enabled = OFF");
    }

    private void start() throws Exception {
        Map<String, String> keys = new HashMap<>(LocalNode.beside(mysql));
        keys.put("quorate.mysql.user", "quorate");
        keys.put("quorate.mysql.password", "secret");
        keys.put("quorate.commit-mode", "after-sync");
        node = LocalNode.start("restored", directory.resolve("data"), keys);
        LocalNode.awaitState(node, NodeState.SYNCED);
        await("@@GLOBAL.read_only", "0");
    }

    /** By one connection: one that is being opened when clients are put out is put out, too. */
    private static void await(String variable, String value) throws Exception {
        try (Connection connection = mysql.connect();
                Statement statement = connection.createStatement()) {
            String is = null;
            while (!value.equals(is)) {
                Thread.sleep(20);
                try (ResultSet row = statement.executeQuery("SELECT " + variable)) {
                    row.next();
                    is = row.getString(1);
                }
            }
        }
    }

    /** Also when its service is started again, which has to know. */
    @Test
    void aDrainedServerStaysSoUntilThatIsTakenBack() throws Exception {
        assertThat(node.beside.server().drain(Duration.ofSeconds(10))).isNull();
        mysql.execute("SET GLOBAL offline_mode = OFF");
        await("@@GLOBAL.offline_mode", "1");
        node.stop();
        start();
        while (!node.beside.server().isDraining()) {
            Thread.sleep(20);
        }
        assertThatThrownBy(() -> mysql.connect("app", "secret", "")).hasMessageContaining("offline mode");
        assertThat(node.beside.server().drainNoMore()).isNull();
        mysql.connect("app", "secret", "").close();
        assertThat(node.beside.server().isDraining()).isFalse();
    }

    /** Not everybody is kept from writing then. */
    @Test
    void commitsWaitAlsoWhileTheServerIsClosed() throws Exception {
        node.beside.server().fence(true);
        await("@@GLOBAL.read_only", "1");
        mysql.execute("SET GLOBAL rpl_semi_sync_source_enabled = OFF");
        await(ENABLED, "1");
        mysql.execute("SET GLOBAL rpl_semi_sync_source_timeout = 1");
        await("@@GLOBAL.rpl_semi_sync_source_timeout", Long.toString(0xffff_ffffL));
        node.beside.server().fence(false);
        await("@@GLOBAL.read_only", "0");
    }

    /** It doesn't go up and down meanwhile. */
    @Test
    void withTwoOtherReplicasTheServerStaysClosedUntilTheyAreGone() throws Exception {
        mysql.execute("SET GLOBAL init_connect = 'SET @rpl_semi_sync_replica = 1'");
        List<BinaryLogClient> others = new ArrayList<>();
        try {
            for (int id = 71; id < 73; id++) {
                others.add(replica(id));
            }
            while (!node.status().reason().contains("2 other semi-sync replicas")) {
                Thread.sleep(20);
            }
            while (!node.status().reason().contains("QRT-1001")) {
                Thread.sleep(20);
            }
            TreeSet<String> states = new TreeSet<>();
            for (long end = System.nanoTime() + Duration.ofSeconds(8).toNanos(); System.nanoTime() < end; ) {
                states.add(node.state() + " " + node.status().reason());
                Thread.sleep(20);
            }
            assertThat(states).hasSize(1);
            assertThat(mysql.queryOne("SELECT @@GLOBAL.read_only")).isEqualTo("1");
        } finally {
            for (BinaryLogClient each : others) {
                each.disconnect();
            }
            // It would notice with the next heartbeat, if they had asked for any.
            for (List<String> session : mysql.query(
                    "SELECT PROCESSLIST_ID FROM performance_schema.threads" + " WHERE PROCESSLIST_USER = 'stranger'")) {
                mysql.execute("KILL " + session.get(0));
            }
            mysql.execute("SET GLOBAL init_connect = ''");
        }
        LocalNode.awaitState(node, NodeState.SYNCED);
        await("@@GLOBAL.read_only", "0");
    }

    private static BinaryLogClient replica(int id) throws Exception {
        long before = Long.parseLong(mysql.queryOne(CLIENTS));
        BinaryLogClient client = new BinaryLogClient("localhost", mysql.port(), "stranger", "secret");
        client.setServerId(id);
        client.setKeepAlive(false);
        client.setBlocking(true);
        client.connect(10_000);
        while (Long.parseLong(mysql.queryOne(CLIENTS)) <= before) {
            Thread.sleep(20);
        }
        return client;
    }

    /** A copy does it with these, and may end after its service was killed. */
    @Test
    void whatSomebodyHasSwitchedOnIsntSwitchedOffAgain() throws Exception {
        mysql.execute("SET GLOBAL local_infile = ON");
        try (Connection ours = mysql.connect("quorate", "secret", "")) {
            onAndOff(ours, "local_infile");
            assertThat(mysql.queryOne("SELECT @@GLOBAL.local_infile")).isEqualTo("1");
            mysql.execute("SET GLOBAL local_infile = OFF");
            onAndOff(ours, "local_infile");
            assertThat(mysql.queryOne("SELECT @@GLOBAL.local_infile")).isEqualTo("0");
        }
    }

    private static void onAndOff(Connection ours, String variable) throws SQLException {
        ServerAccess.turnOn(ours, variable);
        assertThat(ServerAccess.ask(ours, "SELECT @@GLOBAL." + variable)).isEqualTo("1");
        ServerAccess.turnOffAgain(ours, variable);
    }
}
