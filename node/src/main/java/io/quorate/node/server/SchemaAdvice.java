// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.server;

import io.quorate.node.server.ServerCheck.Finding;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;

/**
 * Finds in a server's schemas what will conflict more than necessary, can't be undone, or isn't safe. None of it keeps
 * the service from starting.
 */
final class SchemaAdvice {
    private static final int SHOWN_MAX = 100;
    static final String OURS = " NOT IN ('mysql', 'sys', 'performance_schema', 'information_schema', 'quorate')";

    /** Tables without any unique key. */
    static final String KEYLESS = """
            SELECT CONCAT(t.TABLE_SCHEMA, '.', t.TABLE_NAME) FROM information_schema.TABLES t
            LEFT JOIN information_schema.TABLE_CONSTRAINTS c ON c.TABLE_SCHEMA = t.TABLE_SCHEMA
              AND c.TABLE_NAME = t.TABLE_NAME AND c.CONSTRAINT_TYPE IN ('PRIMARY KEY', 'UNIQUE')
            WHERE t.TABLE_TYPE = 'BASE TABLE' AND c.CONSTRAINT_NAME IS NULL
              AND t.TABLE_SCHEMA""" + OURS + " ORDER BY 1 LIMIT " + SHOWN_MAX;

    /** Tables with their engines, all that have no transactions. */
    static final String WITHOUT_TRANSACTIONS = """
            SELECT CONCAT(t.TABLE_SCHEMA, '.', t.TABLE_NAME, ' (', t.ENGINE, ')') FROM information_schema.TABLES t
            JOIN information_schema.ENGINES e ON e.ENGINE = t.ENGINE AND e.TRANSACTIONS <> 'YES'
            WHERE t.TABLE_TYPE = 'BASE TABLE' AND t.TABLE_SCHEMA""" + OURS + " ORDER BY 1 LIMIT " + SHOWN_MAX;

    private static final String MEMORY = of("= 'MEMORY'");
    private static final String MERGE = of("= 'MRG_MYISAM'");
    private static final String OTHERS = of("NOT IN ('MEMORY', 'MRG_MYISAM')");

    private static final String EXPRESSIONS = """
            SELECT DISTINCT CONCAT(TABLE_SCHEMA, '.', TABLE_NAME, '.', INDEX_NAME) FROM information_schema.STATISTICS
            WHERE NON_UNIQUE = 0 AND COLUMN_NAME IS NULL AND TABLE_SCHEMA""" + OURS + " ORDER BY 1 LIMIT " + SHOWN_MAX;

    private static final String CASCADES = """
            SELECT CONCAT(CONSTRAINT_SCHEMA, '.', TABLE_NAME, '.', CONSTRAINT_NAME)
            FROM information_schema.REFERENTIAL_CONSTRAINTS
            WHERE (DELETE_RULE IN ('CASCADE', 'SET NULL') OR UPDATE_RULE IN ('CASCADE', 'SET NULL'))
              AND CONSTRAINT_SCHEMA""" + OURS + " ORDER BY 1 LIMIT " + SHOWN_MAX;

    private static final String EVENTS = """
            SELECT CONCAT(EVENT_SCHEMA, '.', EVENT_NAME) FROM information_schema.EVENTS
            WHERE STATUS LIKE '%SIDE_DISABLED' AND EVENT_SCHEMA""" + OURS + " ORDER BY 1 LIMIT " + SHOWN_MAX;

    /**
     * A server computes by settings as they were when it opened the table, for whoever that was, or that no event has.
     */
    static final String BOUND = """
            SELECT DISTINCT e.NAME FROM (
              SELECT TABLE_SCHEMA, CONCAT(TABLE_SCHEMA, '.', TABLE_NAME) AS NAME, GENERATION_EXPRESSION AS EXPRESSION
              FROM information_schema.COLUMNS WHERE GENERATION_EXPRESSION <> ''
              UNION ALL SELECT TABLE_SCHEMA, CONCAT(TABLE_SCHEMA, '.', TABLE_NAME), EXPRESSION
              FROM information_schema.STATISTICS WHERE EXPRESSION IS NOT NULL
              UNION ALL SELECT t.TABLE_SCHEMA, CONCAT(t.TABLE_SCHEMA, '.', t.TABLE_NAME), c.CHECK_CLAUSE
              FROM information_schema.TABLE_CONSTRAINTS t
              JOIN information_schema.CHECK_CONSTRAINTS c USING (CONSTRAINT_SCHEMA, CONSTRAINT_NAME)) e
            WHERE e.EXPRESSION REGEXP '(monthname|dayname|aes_(en|de)crypt)\\\\(|extract\\\\(week| / '
              AND e.TABLE_SCHEMA""" + OURS + " ORDER BY 1 LIMIT " + SHOWN_MAX;

    /** What InnoDB looks for in such an index depends on the session that writes. */
    static final String ZONED_INDEXES = """
            SELECT DISTINCT CONCAT(s.TABLE_SCHEMA, '.', s.TABLE_NAME, '.', s.INDEX_NAME)
            FROM information_schema.STATISTICS s
            JOIN information_schema.COLUMNS z ON z.TABLE_SCHEMA = s.TABLE_SCHEMA AND z.TABLE_NAME = s.TABLE_NAME
              AND z.DATA_TYPE = 'timestamp'
            LEFT JOIN information_schema.COLUMNS g ON g.TABLE_SCHEMA = s.TABLE_SCHEMA AND g.TABLE_NAME = s.TABLE_NAME
              AND g.COLUMN_NAME = s.COLUMN_NAME AND g.EXTRA LIKE '%VIRTUAL GENERATED%'
            WHERE INSTR(COALESCE(s.EXPRESSION, g.GENERATION_EXPRESSION, ''), CONCAT('`', z.COLUMN_NAME, '`')) > 0
              AND s.TABLE_SCHEMA""" + OURS + " ORDER BY 1 LIMIT " + SHOWN_MAX;

    private SchemaAdvice() {}

    private static String of(String engines) {
        return WITHOUT_TRANSACTIONS.replace("WHERE ", "WHERE t.ENGINE " + engines + " AND ");
    }

    static List<Finding> findings(Connection connection) throws SQLException {
        List<Finding> findings = new ArrayList<>();
        try (Statement statement = connection.createStatement()) {
            add(
                    findings,
                    "tables without any unique key: equal rows conflict, and every change reads the whole table"
                            + " on every node",
                    names(statement, KEYLESS),
                    "add a primary key; where that is a new column with AUTO_INCREMENT, before the server becomes a"
                            + " node's, or by a copy of the table (docs/architecture.md, DDL)");
            add(
                    findings,
                    "tables of engines without transactions: what fails there half-way stays, and what loses a"
                            + " conflict can't be undone, so its server needs a copy of them",
                    names(statement, OTHERS),
                    "ALTER TABLE ... ENGINE = InnoDB; or write to them on one node only");
            add(
                    findings,
                    "tables in memory: a restart of a server empties them there and nowhere else, and it needs a full"
                            + " copy when another node changes a row that is gone",
                    names(statement, MEMORY),
                    "ALTER TABLE ... ENGINE = InnoDB;");
            add(
                    findings,
                    "MERGE tables: each row has two names, so conflicts go unnoticed until rows differ",
                    names(statement, MERGE),
                    "use an InnoDB table with partitions");
            add(
                    findings,
                    "unique indexes over expressions: any two writes to such a table conflict",
                    names(statement, EXPRESSIONS),
                    "use a generated column and a unique index over that");
            add(
                    findings,
                    "foreign keys that cascade: deletes in the parent conflict widely, and can't be undone when"
                            + " they lose",
                    names(statement, CASCADES),
                    "ON DELETE RESTRICT, or send such deletes to one node");
            add(
                    findings,
                    "events that MySQL's replication has switched off: no node runs them",
                    names(statement, EVENTS),
                    "ALTER EVENT ... ENABLE; they then run on one node of the cluster");
            add(
                    findings,
                    "tables with expressions in generated columns, indexes or CHECKs that depend on lc_time_names,"
                            + " div_precision_increment, block_encryption_mode or default_week_format: a server"
                            + " computes them by what these were when it opened the table, or by what no event has."
                            + " Stored columns are the same everywhere if there is a primary key, but servers may"
                            + " index and check otherwise",
                    names(statement, BOUND),
                    "give all sessions the same settings, or write an expression that doesn't depend on them");
            add(
                    findings,
                    "indexes over TIMESTAMPs by expressions or virtual columns: a session with another time zone than"
                            + " the one that wrote a row doesn't find its entry when it changes the row",
                    names(statement, ZONED_INDEXES),
                    "give all sessions the same time zone, or use DATETIME, or a stored column");
        }
        return findings;
    }

    private static void add(List<Finding> findings, String what, List<String> names, String fix) {
        if (!names.isEmpty()) {
            String more = names.size() == SHOWN_MAX ? ", ..." : "";
            findings.add(new Finding(what + ": " + String.join(", ", names) + more, fix));
        }
    }

    static List<String> names(Statement statement, String query) throws SQLException {
        List<String> names = new ArrayList<>();
        try (ResultSet row = statement.executeQuery(query)) {
            while (row.next()) {
                names.add(row.getString(1));
            }
        }
        return names;
    }
}
