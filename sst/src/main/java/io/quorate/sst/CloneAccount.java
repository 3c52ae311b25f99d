// SPDX-License-Identifier: Apache-2.0
package io.quorate.sst;

import io.quorate.core.ErrorCode;
import io.quorate.core.QuorateException;
import java.security.SecureRandom;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;

/**
 * The account of a donor's server with which the joiner's server fetches one copy. The donor's service makes it when
 * the copy begins, with a password that nobody else is told, and drops it when the copy has ended. It may do nothing
 * but this, its password is good for a day, and it isn't replicated. The copy has it too, so it is dropped there as
 * well.
 *
 * @param tls whether it may log in with TLS only
 */
public record CloneAccount(String user, String password, boolean tls) {
    private static final String PREFIX = "quorate_clone_";
    private static final int PASSWORD_BYTES = 24;
    /** Where rules for passwords ask for characters of every kind. */
    private static final String EVERY_KIND = "aA1!";

    private static final SecureRandom RANDOM = new SecureRandom();

    /**
     * Makes the account for a joiner at the donor's server, instead of the one of its last copy.
     *
     * @throws QuorateException COPY_REFUSED when the service's account may not
     */
    public static CloneAccount create(Connection donor, String joiner, boolean tls) throws SQLException {
        byte[] secret = new byte[PASSWORD_BYTES];
        RANDOM.nextBytes(secret);
        CloneAccount made = new CloneAccount(
                name(joiner), Base64.getUrlEncoder().withoutPadding().encodeToString(secret) + EVERY_KIND, tls);
        unlogged(
                donor,
                "DROP USER IF EXISTS " + made.account(),
                "CREATE USER " + made.account() + " IDENTIFIED " + made.plugin(donor) + "BY '" + made.password
                        + "' REQUIRE " + (tls ? "SSL" : "NONE") + " PASSWORD EXPIRE INTERVAL 1 DAY",
                "GRANT BACKUP_ADMIN ON *.* TO " + made.account());
        return made;
    }

    /** Without TLS the two servers need a way to check a password that works without it, as the service's own does. */
    private String plugin(Connection donor) throws SQLException {
        if (tls) {
            return "";
        }
        try (Statement statement = donor.createStatement();
                ResultSet row =
                        statement.executeQuery("SELECT 1 FROM mysql.user WHERE CONCAT(user, '@', host) = CURRENT_USER()"
                                + " AND plugin = 'mysql_native_password'")) {
            return row.next() ? "WITH mysql_native_password " : "";
        }
    }

    private String account() {
        return "'" + user + "'@'%'";
    }

    private static String name(String joiner) {
        return PREFIX + String.format("%08x", joiner.hashCode());
    }

    /** Drops the account of a joiner whose copy has ended. */
    public static void drop(Connection donor, String joiner) throws SQLException {
        unlogged(donor, "DROP USER IF EXISTS '" + name(joiner) + "'@'%'");
    }

    /** Drops those that came with a copy, of whichever joiner. */
    public static void dropAll(Connection recipient) throws SQLException {
        List<String> names = new ArrayList<>();
        try (Statement statement = recipient.createStatement();
                ResultSet row = statement.executeQuery("SELECT user FROM mysql.user WHERE user LIKE '"
                        + PREFIX.replace("_", "\\_") + "%' AND host = '%'")) {
            while (row.next()) {
                names.add(row.getString(1));
            }
        }
        for (String name : names) {
            unlogged(recipient, "DROP USER IF EXISTS '" + name.replace("'", "''") + "'@'%'");
        }
    }

    private static void unlogged(Connection connection, String... statements) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute("SET SESSION sql_log_bin = 0");
            try {
                for (String each : statements) {
                    statement.execute(each);
                }
            } finally {
                statement.execute("SET SESSION sql_log_bin = 1");
            }
        }
    }

    /**
     * Makes sure that the service's account at the donor may make one.
     *
     * @param grants those of the service's account, as SHOW GRANTS has them
     * @param what how a refusal names the server
     */
    static void requireGrants(List<String> grants, String grantee, String what) {
        boolean creates = grants.stream()
                .anyMatch(grant -> grant.matches("GRANT .*(CREATE USER|ALL PRIVILEGES).* ON \\*\\.\\* TO .*"));
        boolean grantsOn = grants.stream()
                .anyMatch(grant -> grant.contains("BACKUP_ADMIN") && grant.endsWith("WITH GRANT OPTION"));
        if (!creates || !grantsOn) {
            throw new QuorateException(
                    ErrorCode.COPY_REFUSED,
                    grantee + " can't make the account at " + what + " with which it is copied: "
                            + (creates ? "" : "GRANT CREATE USER ON *.* TO " + grantee + "; ")
                            + (grantsOn ? "" : "GRANT BACKUP_ADMIN ON *.* TO " + grantee + " WITH GRANT OPTION; ")
                            + "or set quorate.sst.method to stream");
        }
    }

    /** Without the password. */
    @Override
    public String toString() {
        return account() + (tls ? ", with TLS only" : "");
    }
}
