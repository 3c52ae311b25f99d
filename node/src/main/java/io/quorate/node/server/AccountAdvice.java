// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.server;

import io.quorate.node.server.ServerCheck.Finding;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/**
 * Finds what the service's account may do and has no need to: whoever takes over the service, or learns its password,
 * can do as much. None of it keeps the service from starting.
 */
final class AccountAdvice {
    /** Rights that no mode of the service uses; what they are good for is in docs/accounts.md. */
    private static final Set<String> NEEDLESS = Set.of("FILE", "SHUTDOWN", "SUPER");

    private static final String ANY_HOST = "%";

    private AccountAdvice() {}

    static List<Finding> findings(Connection connection) throws SQLException {
        return findings(ServerAccess.account(connection), ServerAccess.privileges(connection));
    }

    /**
     * @param account its name, {@code @}, its host
     * @param privileges those on everything
     */
    static List<Finding> findings(String account, Set<String> privileges) {
        int at = account.lastIndexOf('@');
        String name = "'" + account.substring(0, at) + "'";
        String host = account.substring(at + 1);
        List<Finding> findings = new ArrayList<>();
        TreeSet<String> needless = new TreeSet<>(NEEDLESS);
        needless.retainAll(privileges);
        if (!needless.isEmpty()) {
            String all = needless.size() == NEEDLESS.size() ? " (as after GRANT ALL)" : "";
            findings.add(new Finding(
                    "the service's account has " + String.join(", ", needless) + all
                            + ", which the service doesn't use; with them, whoever has its password can read and write"
                            + " files of the server's host, stop mysqld and change all of its settings",
                    "REVOKE " + String.join(", ", needless) + " ON *.* FROM " + name + "@'" + host
                            + "'; -- unless your own accounts are granted them"));
        }
        if (host.equals(ANY_HOST)) {
            findings.add(new Finding(
                    "the service's account may log in from any host",
                    "RENAME USER " + name + "@'%' TO " + name
                            + "@'127.0.0.1'; -- or the address of the service's host"));
        }
        return findings;
    }
}
