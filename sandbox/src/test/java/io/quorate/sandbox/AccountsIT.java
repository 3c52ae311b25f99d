// SPDX-License-Identifier: Apache-2.0
package io.quorate.sandbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(value = 5, unit = TimeUnit.MINUTES)
class AccountsIT {
    private static MySqlServer one;
    private static MySqlServer two;

    @BeforeAll
    static void start() {
        one = started(1);
        two = started(2);
    }

    private static MySqlServer started(int id) {
        MySqlServer server = MySqlServer.builder()
                .serverId(id)
                .relaxed()
                .option("partial_revokes", "ON")
                .option("log_bin_trust_function_creators", "ON")
                .start();
        Accounts.create(server);
        return server;
    }

    @AfterAll
    static void stop() {
        one.close();
        two.close();
    }

    private static void asApp(MySqlServer server, String... statements) throws SQLException {
        try (Connection connection = server.connect("app", "app", "");
                Statement statement = connection.createStatement()) {
            for (String sql : statements) {
                statement.execute(sql);
            }
        }
    }

    @Test
    void areMadeWholeAlsoAtTheSecondTryAndLeaveNoTraceInTheBinlog() {
        try (MySqlServer server =
                MySqlServer.builder().relaxed().option("partial_revokes", "ON").start()) {
            // As when a start broke off between an account and its rights.
            server.execute("SET sql_log_bin = 0", "CREATE USER quorate@localhost IDENTIFIED BY 'quorate'");
            Accounts.create(server);
            Accounts.create(server);
            assertThat(server.queryOne("SELECT @@gtid_executed")).isEmpty();
            assertThat(server.query("SHOW GRANTS FOR quorate@localhost").toString())
                    .contains("SUPER", "WITH GRANT OPTION");
        }
    }

    @Test
    void letApplicationsDoAllOnTheirSchemasAndNothingOnOthers() throws SQLException {
        asApp(
                one,
                "CREATE DATABASE app_own",
                "CREATE TABLE app_own.t (a INT PRIMARY KEY)",
                "CREATE TRIGGER app_own.tr BEFORE INSERT ON app_own.t FOR EACH ROW SET @x = 1",
                "CREATE VIEW app_own.v AS SELECT * FROM app_own.t",
                "INSERT app_own.t VALUES (1)",
                "DROP DATABASE app_own");
        for (String refused : new String[] {
            "SELECT * FROM mysql.user", "CREATE DATABASE quorate", "DROP DATABASE mysql", "SET GLOBAL read_only = OFF"
        }) {
            assertThatThrownBy(() -> asApp(one, refused)).as(refused).isInstanceOf(SQLException.class);
        }
    }

    @Test
    void letReadOnlyStopApplicationsButNotTheService() throws SQLException {
        two.execute("SET GLOBAL read_only = ON");
        try {
            assertThatThrownBy(() -> asApp(two, "CREATE DATABASE forbidden"))
                    .isInstanceOf(SQLException.class)
                    .hasMessageContaining("--read-only");
            try (Connection connection = two.connect("quorate", "quorate", "");
                    Statement statement = connection.createStatement()) {
                statement.execute("SET sql_log_bin = 0");
                statement.execute("CREATE DATABASE quorate");
                statement.execute("DROP DATABASE quorate");
                statement.execute("SET GLOBAL read_only = OFF");
            }
        } finally {
            two.execute("SET GLOBAL read_only = OFF");
        }
    }

    @Test
    void areSeenAlikeByChecksumsUntilARowDiffers() {
        Map<String, MySqlServer> servers = new LinkedHashMap<>();
        servers.put("n1", one);
        servers.put("n2", two);
        String[] make = {
            "CREATE DATABASE same", "CREATE TABLE same.t (a INT PRIMARY KEY AUTO_INCREMENT)", "INSERT same.t VALUES (5)"
        };
        one.execute(make);
        two.execute(make);
        two.execute("ALTER TABLE same.t AUTO_INCREMENT = 99");
        assertThat(Checksums.compare(servers).differences()).isEmpty();

        two.execute("UPDATE same.t SET a = 6");
        assertThat(Checksums.compare(servers).differences())
                .singleElement()
                .asString()
                .startsWith("table same.t differs: n1 has 1 rows");
        two.execute("DROP DATABASE same");
        one.execute("DROP DATABASE same");
    }
}
