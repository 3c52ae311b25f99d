// SPDX-License-Identifier: Apache-2.0
package io.quorate.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.quorate.sandbox.MySqlServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The rights of the services' accounts: those of a sandbox have all, and users' have what docs/accounts.md grants. */
final class ServiceRights {
    private static final String ACCOUNT = "'quorate'@'localhost'";
    /** The first grant of the page. */
    private static final Pattern PAGE = Pattern.compile("GRANT ([A-Z_, \\n]+?)\\s+ON \\*\\.\\* TO 'quorate'");

    private ServiceRights() {}

    /** Takes from the accounts of all servers what the page doesn't grant. Sessions that are open keep it. */
    static void asThePageSays(Cluster cluster) throws IOException {
        Matcher page = PAGE.matcher(Files.readString(Path.of("../docs/accounts.md")));
        assertThat(page.find()).isTrue();
        for (int node : cluster.servers()) {
            MySqlServer server = cluster.mysql(node);
            TreeSet<String> surplus = new TreeSet<>(server
                    .query("SELECT PRIVILEGE_TYPE FROM information_schema.USER_PRIVILEGES WHERE GRANTEE = \"" + ACCOUNT
                            + "\"")
                    .stream()
                    .map(row -> row.get(0))
                    .toList());
            surplus.removeAll(Arrays.asList(page.group(1).split(",\\s+")));
            surplus.removeAll(Arrays.asList(server.dialect().anyDefiner().split(", ")));
            assertThat(surplus).contains("FILE", "SHUTDOWN", "SUPER");
            server.execute("SET sql_log_bin = 0", "REVOKE " + String.join(", ", surplus) + " ON *.* FROM " + ACCOUNT);
        }
    }

    /** Of one server's account. */
    static void revoke(MySqlServer server, String right) {
        server.execute("SET sql_log_bin = 0", "REVOKE " + right + " ON *.* FROM " + ACCOUNT);
    }

    static void grant(MySqlServer server, String right) {
        server.execute("SET sql_log_bin = 0", "GRANT " + right + " ON *.* TO " + ACCOUNT + " WITH GRANT OPTION");
    }
}
