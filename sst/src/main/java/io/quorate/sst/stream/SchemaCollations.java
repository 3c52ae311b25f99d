// SPDX-License-Identifier: Apache-2.0
package io.quorate.sst.stream;

import io.quorate.core.Identifiers;
import java.sql.SQLException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The collations of the schemas of a server that gets a copy. A stored program keeps the one that its schema had when
 * it was made, and nobody can give it another one: so its schema has to have that for a while. What it has by itself is
 * noted in table {@code quorate.collation} before, so that it gets that back after any crash.
 */
final class SchemaCollations {
    private final Session session;
    private final Map<String, String> now = new HashMap<>();
    private boolean noted;

    SchemaCollations(Session session) throws SQLException {
        this.session = session;
        for (List<String> row :
                session.rows("SELECT SCHEMA_NAME, DEFAULT_COLLATION_NAME FROM information_schema.SCHEMATA")) {
            now.put(row.get(0), row.get(1));
        }
    }

    /** Gives a schema a collation, until {@link #restore}. */
    void lend(String schema, String collation) throws SQLException {
        if (collation.equals(now.get(schema))) {
            return;
        }
        if (!noted) {
            session.execute("CREATE DATABASE IF NOT EXISTS quorate");
            session.execute("CREATE TABLE IF NOT EXISTS quorate.collation (name VARCHAR(64) COLLATE utf8mb4_bin"
                    + " PRIMARY KEY, collation VARCHAR(64)) ENGINE = InnoDB");
            noted = true;
        }
        session.execute("INSERT IGNORE INTO quorate.collation VALUES (" + Session.text(schema) + ", "
                + Session.text(now.get(schema)) + ")");
        set(schema, collation);
    }

    /** Gives a schema a collation that it keeps. */
    void set(String schema, String collation) throws SQLException {
        if (!collation.equals(now.get(schema))) {
            session.execute(Session.COMMON);
            session.make(
                    "the collation of schema " + schema,
                    "ALTER DATABASE " + Identifiers.quoted(schema) + " COLLATE " + Session.text(collation));
            now.put(schema, collation);
        }
    }

    /** Gives all schemas what they had, those of a copy that broke off, too. */
    void restore() throws SQLException {
        if (session.rows("SELECT 1 FROM information_schema.TABLES WHERE TABLE_SCHEMA = 'quorate' AND TABLE_NAME ="
                        + " 'collation'")
                .isEmpty()) {
            return;
        }
        for (List<String> row : session.rows("SELECT name, collation FROM quorate.collation")) {
            if (now.containsKey(row.get(0))) {
                set(row.get(0), row.get(1));
            }
        }
        session.execute("DROP TABLE quorate.collation");
    }
}
