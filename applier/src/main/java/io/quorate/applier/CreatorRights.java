// SPDX-License-Identifier: Apache-2.0
package io.quorate.applier;

import io.quorate.core.Identifiers;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * EXECUTE and ALTER ROUTINE, which a server grants to whoever creates a routine or a library without having them
 * ({@code automatic_sp_privileges}). The binlog has no statement for that, but says who created the routine, and a
 * replica's own thread grants them to that account (MySQL's {@code sql_parse.cc}, SQLCOM_CREATE_PROCEDURE). The
 * service's account has all rights, so a server to which it applies the statement grants nothing by itself.
 *
 * @param kind PROCEDURE, FUNCTION or LIBRARY
 * @param schema the routine's schema as the statement has it, null when it is the default schema
 * @param routine the routine's name, with that schema, as the statement has it
 */
record CreatorRights(String kind, String schema, String routine, QueryEvent.Account creator) {
    private static final String NAME = "(?:`(?:[^`]++|``)*+`|\"(?:[^\"]++|\"\")*+\"|[^\\s`\"'().]++)";

    /** As a server writes it into its binlog: the definer first, and names quoted. */
    private static final Pattern CREATE = Pattern.compile(
            "\\s*+CREATE\\s++(?:DEFINER\\s*+=\\s*+" + NAME + "(?:@" + NAME + ")?+\\s++)?+(PROCEDURE|FUNCTION|LIBRARY)"
                    + "\\s++(?:IF\\s++NOT\\s++EXISTS\\s++)?+((?:(" + NAME + ")\\.)?" + NAME + ")"
                    + "(?:\\s*+\\(|\\s++(?:COMMENT|LANGUAGE)\\b)",
            Pattern.CASE_INSENSITIVE);

    /** Whether any of them has a right to all routines of the default schema. The mode may exclude escapes. */
    private static final String HAS = "(EXISTS (SELECT * FROM holder h JOIN mysql.user u"
            + " ON u.User = h.user AND u.Host = h.host WHERE u.%1$s = 'Y' AND NOT (@@GLOBAL.partial_revokes"
            + " AND COALESCE(JSON_CONTAINS(u.User_attributes->'$.Restrictions', JSON_OBJECT('Database', DATABASE(),"
            + " 'Privileges', JSON_ARRAY('%2$s'))), 0)))"
            + " OR EXISTS (SELECT * FROM holder h JOIN mysql.db d ON d.User IN (h.user, '')"
            + " AND h.host LIKE d.Host ESCAPE _utf8mb4 x'5c' AND DATABASE() LIKE d.Db ESCAPE _utf8mb4 x'5c'"
            + " WHERE d.%1$s = 'Y'))";

    /** Empty if the statement creates no routine, or the event doesn't say who did. */
    static Optional<CreatorRights> of(QueryEvent event) {
        Matcher create = CREATE.matcher(event.text());
        return event.invoker() != null && create.lookingAt()
                ? Optional.of(new CreatorRights(create.group(1), create.group(3), create.group(2), event.invoker()))
                : Optional.empty();
    }

    /** A query for 1 if this server would grant them, and 0 if not. The default schema must be the routine's. */
    String areDue() {
        // The account, and the roles that it has when it connects.
        return "WITH RECURSIVE account (user, host) AS (SELECT User, Host FROM mysql.user WHERE User = "
                + literal(creator.user())
                + " AND Host = "
                + literal(creator.host())
                + "), role (user, host) AS (SELECT default_role_user, default_role_host"
                + " FROM mysql.default_roles d JOIN account a ON d.user = a.user AND d.host = a.host"
                + " UNION SELECT from_user, from_host FROM mysql.role_edges JOIN account a"
                + " ON to_user = a.user AND to_host = a.host WHERE @@GLOBAL.activate_all_roles_on_login"
                + " UNION SELECT e.from_user, e.from_host FROM mysql.role_edges e JOIN role r"
                + " ON e.to_user = r.user AND e.to_host = r.host),"
                + " holder (user, host) AS (SELECT user, host FROM account UNION SELECT user, host FROM role)"
                + " SELECT COUNT(*) FROM account WHERE @@GLOBAL.automatic_sp_privileges AND NOT ("
                + String.format(HAS, "Execute_priv", "EXECUTE")
                + " AND "
                + String.format(HAS, "Alter_routine_priv", "ALTER ROUTINE")
                + ")";
    }

    private static String literal(String text) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        return "CONVERT(_utf8mb4 x'" + HexFormat.of().formatHex(bytes) + "' USING utf8mb3)";
    }

    /** @param user,host the creator's, as bytes in the statement's character set, one char each */
    String grant(String user, String host) {
        return "GRANT EXECUTE, ALTER ROUTINE ON " + kind + " " + routine + " TO " + Identifiers.quoted(user) + "@"
                + Identifiers.quoted(host);
    }
}
