// SPDX-License-Identifier: Apache-2.0
package io.quorate.sst.stream;

import io.quorate.sst.stream.Catalog.Account;
import io.quorate.sst.stream.Catalog.Role;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * Gives the joiner the donor's accounts. An existing account is changed before it is dropped and made again: whatever
 * the service's account may not do, or this server can't, is refused while nothing is lost yet.
 */
final class AccountMaker {
    /** No such table, column, routine. */
    private static final Set<Integer> NOT_THERE = Set.of(1049, 1054, 1146, 1305);

    private static final Pattern NOTHING =
            Pattern.compile("GRANT USAGE ON \\*\\.\\* TO .*(?<! WITH GRANT OPTION)", Pattern.DOTALL);

    private static final int NO_SUCH_PLUGIN = 1524;
    private static final Set<Integer> ACCESS_DENIED = Set.of(1044, 1142, 1227);

    private final Session session;
    private final List<Account> wanted;
    private final String keepUser;
    private final List<String> left = new ArrayList<>();

    AccountMaker(Session session, List<Account> wanted, String keepUser) throws SQLException {
        this.session = session;
        KnownRights rights = new KnownRights(
                session.rows("SHOW PRIVILEGES").stream()
                        .map(row -> row.get(0).toUpperCase(Locale.ROOT))
                        .collect(Collectors.toSet()),
                left::add);
        this.wanted = wanted.stream().map(rights::of).toList();
        this.keepUser = keepUser;
    }

    List<String> make() throws SQLException {
        requirePartialRevokes();
        Map<String, Account> here = here();
        for (Account account : wanted) {
            Account before = here.remove(account.name());
            if (before == null) {
                create(account);
            } else if (keeps(account)) {
                grant(account, before.grants());
            } else if (!same(account, before)) {
                change(account, before);
            }
        }
        for (Account surplus : here.values()) {
            if (!keeps(surplus)) {
                drop(surplus);
            }
        }
        roles();
        return left;
    }

    /** Only global privileges are compared: of others, those on everything are enough. */
    void requireRights() throws SQLException {
        Map<String, Account> here = here();
        Map<Account, List<String>> lacking = lacking(here);
        for (Map.Entry<Account, List<String>> each : lacking.entrySet()) {
            String account = each.getKey().name();
            String rights = String.join(", ", each.getValue());
            throw Session.refused("account " + account + " of the donor has " + rights
                    + ", which the service's account may not grant here: GRANT " + rights + " ON *.* TO " + me()
                    + " WITH GRANT OPTION; on this server, or REVOKE " + rights + " ON *.* FROM " + account
                    + "; on one that is SYNCED");
        }
    }

    /** By account, what the service's account may not grant although the account is to have it and lacks it here. */
    Map<Account, List<String>> lacking(Map<String, Account> here) throws SQLException {
        Map<Account, List<String>> lacking = new LinkedHashMap<>();
        Set<String> mine = new TreeSet<>();
        // Of one's own account it shows what its active roles have, too; 9.7 activates mandatory ones by itself.
        session.rows("SHOW GRANTS").stream()
                .map(row -> row.get(0))
                .filter(grant -> grant.endsWith(" WITH GRANT OPTION"))
                .forEach(grant -> mine.addAll(KnownRights.global(grant)));
        for (Account account : wanted) {
            Account before = here.get(account.name());
            List<String> has = before == null ? List.of() : before.grants();
            List<String> rights = account.grants().stream()
                    .filter(grant -> !has.contains(grant))
                    .flatMap(grant -> KnownRights.global(grant).stream())
                    .filter(right -> !right.equals("USAGE") && !mine.contains(right))
                    .toList();
            if (!rights.isEmpty() && !keeps(account)) {
                lacking.put(account, rights);
            }
        }
        return lacking;
    }

    /** The service's account. */
    String me() throws SQLException {
        String me = session.one("SELECT CURRENT_USER()");
        int at = me.lastIndexOf('@');
        return Session.account(me.substring(0, at), me.substring(at + 1));
    }

    private Map<String, Account> here() throws SQLException {
        Map<String, Account> here = new LinkedHashMap<>();
        for (Account account : AccountReader.read(session)) {
            here.put(account.name(), account);
        }
        return here;
    }

    private boolean keeps(Account account) {
        return account.user().equals(keepUser);
    }

    private static boolean same(Account one, Account other) {
        return one.create().equals(other.create()) && one.grants().equals(other.grants());
    }

    private void requirePartialRevokes() throws SQLException {
        boolean has = wanted.stream().flatMap(a -> a.grants().stream()).anyMatch(grant -> grant.startsWith("REVOKE "));
        if (has && session.one("SELECT @@GLOBAL.partial_revokes").equals("0")) {
            throw Session.refused(
                    "the donor's accounts have partial revokes: SET PERSIST partial_revokes = ON here too");
        }
    }

    private void create(Account account) throws SQLException {
        secretly(account, account.create());
        grant(account, List.of());
    }

    /** Most of it can be changed; what a statement can't remove is removed with the account. */
    private void change(Account account, Account before) throws SQLException {
        if (!account.create().equals(before.create())) {
            secretly(account, "ALTER" + account.create().substring("CREATE".length()));
        }
        grant(account, before.grants());
        Account after = here().get(account.name());
        if (after == null || !same(account, after)) {
            drop(account);
            left.removeIf(grant -> grant.endsWith(" [" + account.name() + "]"));
            create(account);
        }
    }

    private void drop(Account account) throws SQLException {
        session.make("the drop of " + account.name(), "DROP USER IF EXISTS " + account.name());
    }

    private void grant(Account account, List<String> has) throws SQLException {
        for (String grant : account.grants()) {
            if (has.contains(grant) || NOTHING.matcher(grant).matches()) {
                continue;
            }
            try {
                session.execute(grant);
            } catch (SQLException e) {
                if (!NOT_THERE.contains(e.getErrorCode())) {
                    throw Session.failure("a grant, " + grant, e);
                }
                left.add(grant + ": " + e.getMessage() + " [" + account.name() + "]");
            }
        }
    }

    /** MySQL's error message may quote a part of the statement, and here that may be the password. */
    private void secretly(Account account, String sql) throws SQLException {
        try {
            session.execute(sql);
        } catch (SQLException e) {
            String why = "MySQL's error " + e.getErrorCode()
                    + (e.getErrorCode() == NO_SUCH_PLUGIN
                            ? ", its authentication plugin isn't loaded"
                            : ACCESS_DENIED.contains(e.getErrorCode())
                                    ? ", " + session.one("SELECT CURRENT_USER()")
                                            + " needs CREATE USER, and SYSTEM_USER for an account that has it"
                                    : "");
            if (Session.passes(e)) {
                throw new SQLException(why + " at account " + account.name(), e.getSQLState(), e.getErrorCode());
            }
            throw Session.refused("can't make account " + account.name() + " here: " + why);
        }
    }

    /** After all accounts, because any of them may be the role of another. */
    private void roles() throws SQLException {
        Map<String, Account> here = here();
        for (Account account : wanted) {
            Account now = here.get(account.name());
            if (now == null) {
                continue;
            }
            for (Role role : now.roles()) {
                if (!keeps(account) && !account.roles().contains(role)) {
                    session.make(
                            "a role less of " + account.name(), "REVOKE " + role.name() + " FROM " + account.name());
                }
            }
            for (Role role : account.roles()) {
                if (!now.roles().contains(role)) {
                    session.make(
                            "role " + role.name() + " of " + account.name(),
                            "GRANT " + role.name() + " TO " + account.name()
                                    + (role.admin() ? " WITH ADMIN OPTION" : ""));
                }
            }
            if (!keeps(account) && !account.defaultRoles().equals(now.defaultRoles())) {
                session.make(
                        "the default roles of " + account.name(),
                        "SET DEFAULT ROLE "
                                + (account.defaultRoles().isEmpty()
                                        ? "NONE"
                                        : String.join(", ", account.defaultRoles()))
                                + " TO " + account.name());
            }
        }
    }
}
