// SPDX-License-Identifier: Apache-2.0
package io.quorate.sst.stream;

import io.quorate.sst.stream.Catalog.Account;
import io.quorate.sst.stream.Catalog.Role;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Reads a server's accounts and roles, at the donor to copy them and at the joiner to see what differs. */
final class AccountReader {
    /** The account doesn't exist any more. */
    private static final Set<Integer> DROPPED = Set.of(1141, 1396, 3162);

    private static final String USERS = "SELECT User, Host FROM mysql.user"
            + " WHERE User NOT IN ('mysql.sys', 'mysql.session', 'mysql.infoschema') ORDER BY 1, 2";
    private static final String EDGES = "SELECT TO_USER, TO_HOST, FROM_USER, FROM_HOST, WITH_ADMIN_OPTION = 'Y'"
            + " FROM mysql.role_edges ORDER BY 1, 2, 3, 4";
    private static final String DEFAULTS =
            "SELECT USER, HOST, DEFAULT_ROLE_USER, DEFAULT_ROLE_HOST FROM mysql.default_roles ORDER BY 1, 2, 3, 4";

    private static final String NAME = "`(?:[^`]|``)*+`";
    private static final String TEXT = "'(?:[^'\\\\]|\\\\.|'')*+'";

    /** Matches after the password, which may be any text. */
    private static final Pattern DEFAULT_ROLE = Pattern.compile(
            "(CREATE USER " + NAME + "@" + NAME + " IDENTIFIED WITH " + TEXT + "(?: AS (?:" + TEXT
                    + "|0x[0-9A-Fa-f]*+))?+) DEFAULT ROLE " + NAME + "@" + NAME + "(?:," + NAME + "@" + NAME
                    + ")*+(.*)",
            Pattern.DOTALL);

    private AccountReader() {}

    static List<Account> read(Session session) throws SQLException {
        Map<String, List<Role>> roles = new HashMap<>();
        for (List<String> row : session.rows(EDGES)) {
            Role role =
                    new Role(Session.account(row.get(2), row.get(3)), row.get(4).equals("1"));
            roles.computeIfAbsent(Session.account(row.get(0), row.get(1)), name -> new ArrayList<>())
                    .add(role);
        }
        Map<String, List<String>> defaults = new HashMap<>();
        for (List<String> row : session.rows(DEFAULTS)) {
            defaults.computeIfAbsent(Session.account(row.get(0), row.get(1)), name -> new ArrayList<>())
                    .add(Session.account(row.get(2), row.get(3)));
        }
        List<Account> accounts = new ArrayList<>();
        for (List<String> row : session.rows(USERS)) {
            String name = Session.account(row.get(0), row.get(1));
            try {
                accounts.add(new Account(
                        row.get(0),
                        row.get(1),
                        withoutDefaultRole(session.one("SHOW CREATE USER " + name)),
                        session.rows("SHOW GRANTS FOR " + name).stream()
                                .map(grant -> grant.get(0))
                                // Leaves out grants of roles, among them mandatory roles, which nobody granted.
                                .filter(grant -> !grant.startsWith("GRANT `"))
                                .toList(),
                        roles.getOrDefault(name, List.of()),
                        defaults.getOrDefault(name, List.of())));
            } catch (SQLException e) {
                if (!DROPPED.contains(e.getErrorCode())) {
                    throw e;
                }
            }
        }
        return accounts;
    }

    /** The role may not exist yet when the account is made. */
    static String withoutDefaultRole(String create) {
        Matcher matcher = DEFAULT_ROLE.matcher(create);
        return matcher.matches() ? matcher.group(1) + matcher.group(2) : create;
    }
}
