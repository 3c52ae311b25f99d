// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.server;

import io.quorate.node.server.ServerCheck.Finding;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;

/** Says what the version of a server brings that needs care. None of it keeps the service from starting. */
final class VersionAdvice {
    /** In the order of information_schema.USER_PRIVILEGES, which quotes name and host. */
    private static final String TAGGING = """
            SELECT GRANTEE FROM information_schema.USER_PRIVILEGES WHERE PRIVILEGE_TYPE = 'TRANSACTION_GTID_TAG'
            ORDER BY 1 LIMIT 100""";

    /** Foreign keys whose child is the parent of another one: rows of at least three levels. */
    private static final String DEEP_CASCADES = """
            SELECT DISTINCT CONCAT(c.CONSTRAINT_SCHEMA, '.', c.REFERENCED_TABLE_NAME)
            FROM information_schema.REFERENTIAL_CONSTRAINTS c
            JOIN information_schema.REFERENTIAL_CONSTRAINTS d ON d.UNIQUE_CONSTRAINT_SCHEMA = c.CONSTRAINT_SCHEMA
              AND d.REFERENCED_TABLE_NAME = c.TABLE_NAME
            WHERE c.DELETE_RULE IN ('CASCADE', 'SET NULL') AND d.DELETE_RULE IN ('CASCADE', 'SET NULL')
            ORDER BY 1 LIMIT 100""";

    private VersionAdvice() {}

    static List<Finding> findings(Connection connection) throws SQLException {
        List<Finding> findings = new ArrayList<>();
        try (Statement statement = connection.createStatement()) {
            List<String> tagging = SchemaAdvice.names(statement, TAGGING);
            if (!tagging.isEmpty()) {
                findings.add(new Finding(
                        "accounts that may tag GTIDs: " + String.join(", ", tagging) + ". What is committed under a"
                                + " tagged GTID beside Quorate isn't captured: it goes, with what was committed there"
                                + " after it, and its node gets a copy (QRT-2012)",
                        "REVOKE TRANSACTION_GTID_TAG ON *.* FROM " + tagging.get(0) + ";"));
            }
            if (cascadesInBinlog(statement)) {
                List<String> deep = SchemaAdvice.names(statement, DEEP_CASCADES);
                if (!deep.isEmpty()) {
                    findings.add(new Finding(
                            "deletes that cascade over more than one foreign key, from " + String.join(", ", deep)
                                    + ": MySQL 9.7.4 leaves rows behind on its own when such a cascade runs outside"
                                    + " InnoDB, as it does by default",
                            "my.cnf: [mysqld] innodb_native_foreign_keys = ON, then restart mysqld"));
                }
            }
        }
        return findings;
    }

    /** Whether the server itself, not InnoDB, carries out what a foreign key asks for (from 9.6 on). */
    private static boolean cascadesInBinlog(Statement statement) throws SQLException {
        try (ResultSet row = statement.executeQuery("SHOW GLOBAL VARIABLES LIKE 'innodb_native_foreign_keys'")) {
            return row.next() && "OFF".equals(row.getString(2));
        }
    }
}
