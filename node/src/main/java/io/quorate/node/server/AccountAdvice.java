// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.server;

import io.quorate.node.server.ServerCheck.Finding;
import io.quorate.sst.stream.CatalogRestore;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * Finds what the service's account may do and has no need to: whoever takes over the service, or learns its password,
 * can do as much. And what it may not do, and would have to if another node's definition or a copy came that needs it.
 * None of it keeps the service from starting.
 */
final class AccountAdvice {
    static final String GRANT_OPTION = "GRANT OPTION";

    /** Rights that no mode of the service uses; what they are good for is in docs/accounts.md. */
    private static final Set<String> NEEDLESS = Set.of("FILE", "SHUTDOWN", "SUPER");

    /** What an account needs for definitions and copies of any kind; of two names for a right, servers know one. */
    static final List<String> FOR_DEFINITIONS = List.of(
            "CREATE TEMPORARY TABLES",
            "LOCK TABLES",
            "CREATE VIEW",
            "SHOW VIEW",
            "CREATE ROUTINE",
            "ALTER ROUTINE",
            "EXECUTE",
            "TRIGGER",
            "EVENT",
            "CREATE TABLESPACE",
            "SHOW DATABASES",
            "RELOAD",
            "SHOW_ROUTINE",
            "SET_USER_ID",
            "SET_ANY_DEFINER",
            "ALLOW_NONEXISTENT_DEFINER",
            "BACKUP_ADMIN",
            "CLONE_ADMIN");

    /** And what it needs besides where accounts are replicated, as they are unless somebody keeps them apart. */
    static final List<String> FOR_ACCOUNTS =
            List.of("CREATE USER", "CREATE ROLE", "DROP ROLE", "ROLE_ADMIN", "SYSTEM_USER", GRANT_OPTION);

    private static final String ANY_HOST = "%";

    private AccountAdvice() {}

    /** @param replicated whether accounts are: definitions of them are run here, too */
    static List<Finding> findings(Connection connection, boolean replicated) throws SQLException {
        TreeSet<String> known = new TreeSet<>();
        try (Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery("SHOW PRIVILEGES")) {
            while (rows.next()) {
                known.add(rows.getString(1).toUpperCase(Locale.ROOT));
            }
        }
        TreeSet<String> privileges = new TreeSet<>(ServerAccess.privileges(connection));
        if (ServerAccess.grantablePrivileges(connection).contains("SELECT")) {
            privileges.add(GRANT_OPTION);
        }
        return findings(ServerAccess.account(connection), privileges, known, replicated);
    }

    /**
     * @param account its name, {@code @}, its host
     * @param privileges those on everything
     * @param known what the server has privileges for
     */
    static List<Finding> findings(String account, Set<String> privileges, Set<String> known, boolean replicated) {
        int at = account.lastIndexOf('@');
        String name = "'" + account.substring(0, at) + "'";
        String host = account.substring(at + 1);
        List<Finding> findings = new ArrayList<>();
        List<String> lacking = new ArrayList<>(FOR_DEFINITIONS);
        if (replicated) {
            lacking.addAll(FOR_ACCOUNTS);
        }
        lacking.retainAll(known);
        lacking.removeAll(privileges);
        if (!lacking.isEmpty()) {
            findings.add(new Finding(
                    "the service's account lacks " + String.join(", ", lacking) + ": a definition of another node that"
                            + " needs one of these would close this server for clients until it is granted"
                            + " (QRT-1006), and full copies may wait for it",
                    grant(lacking) + " ON *.* TO " + name + "@'" + host + "'"
                            + (replicated ? " WITH GRANT OPTION;" : ";")));
        }
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

    /**
     * What accounts of this server have that the service's may not grant. With the same account for the service, no
     * other server takes such a GRANT, or a copy by stream.
     *
     * @param connection for this only
     * @param user the name of the service's account
     */
    static List<Finding> notGrantable(Connection connection, String user) throws SQLException {
        List<Finding> findings = new ArrayList<>();
        String service = ServerAccess.account(connection);
        int at = service.lastIndexOf('@');
        CatalogRestore.notGrantable(connection, user).forEach((account, lacking) -> {
            String rights = String.join(", ", lacking);
            findings.add(new Finding(
                    "account " + account + " has " + rights + ", which the service's account may not grant: no server"
                            + " whose service has the same account takes a copy of this one (QRT-7001), or such a GRANT"
                            + " of another node (QRT-1006)",
                    "GRANT " + rights + " ON *.* TO '" + service.substring(0, at) + "'@'" + service.substring(at + 1)
                            + "' WITH GRANT OPTION; on each server, or REVOKE " + rights + " ON *.* FROM " + account
                            + ";"));
        });
        return findings;
    }

    private static String grant(List<String> lacking) {
        String privileges = lacking.stream()
                .filter(privilege -> !privilege.equals(GRANT_OPTION))
                .collect(Collectors.joining(", "));
        return "GRANT " + (privileges.isEmpty() ? "USAGE" : privileges);
    }
}
