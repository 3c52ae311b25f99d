// SPDX-License-Identifier: Apache-2.0
package io.quorate.capture;

import io.quorate.core.KeyType;
import io.quorate.core.Keys;
import io.quorate.core.KeysBuilder;
import io.quorate.core.TableName;
import java.util.List;
import java.util.Set;

/**
 * What a definition without rows names: accounts, databases, views, stored programs. Two such definitions conflict if
 * they name the same, or one of them decides what the other one makes.
 *
 * @param kind the word for the kind of object, such as VIEW; empty for what is about accounts
 * @param names null when they aren't known; a database has an empty table name
 * @param table of a trigger that is created; otherwise null
 * @param ofAllColumns whether it is a view with all columns of tables, which are those that they have when it is made
 */
record NamedObjects(String kind, List<TableName> names, TableName table, boolean ofAllColumns) {
    static final NamedObjects ACCOUNTS = new NamedObjects("", List.of(), null, false);

    private static final Set<String> OF_ACCOUNTS = Set.of("", "USER", "ROLE");
    private static final Set<String> SCHEMAS = Set.of("DATABASE", "SCHEMA");
    /** Their creators get rights on them, and whoever drops them takes all rights on them. */
    private static final Set<String> ROUTINES = Set.of("PROCEDURE", "FUNCTION");

    boolean isSchema() {
        return SCHEMAS.contains(kind);
    }

    void addKeys(boolean lowerCaseNames, KeysBuilder keys) {
        if (names == null) {
            keys.add(Keys.OBJECTS, KeyType.EXCLUSIVE);
            return;
        }
        keys.add(Keys.OBJECTS, KeyType.REFERENCE);
        if (OF_ACCOUNTS.contains(kind)) {
            keys.add(KeyNames.object("ACCOUNTS", "", ""), KeyType.EXCLUSIVE);
        } else if (ROUTINES.contains(kind)) {
            keys.add(KeyNames.object("ACCOUNTS", "", ""), KeyType.REFERENCE);
        }
        for (TableName name : names) {
            addKeys(lowerCaseNames ? name.inLowerCase() : name, keys);
        }
        if (table != null) {
            // They fire in the order in which they were made.
            keys.add(KeyNames.object("TRIGGERS", table.schema(), table.table()), KeyType.EXCLUSIVE);
        }
    }

    private void addKeys(TableName name, KeysBuilder keys) {
        if (isSchema()) {
            keys.add(KeyNames.schema(name.schema()), KeyType.EXCLUSIVE);
            return;
        }
        // Its character set is that of what is made in it.
        keys.add(KeyNames.schema(name.schema()), KeyType.REFERENCE);
        if (kind.equals("VIEW")) {
            keys.add(KeyNames.table(name.schema(), name.table()), KeyType.EXCLUSIVE);
            keys.add(Keys.DEFINED_TABLES, ofAllColumns ? KeyType.EXCLUSIVE : KeyType.REFERENCE);
        } else {
            keys.add(KeyNames.object(kind, name.schema(), name.table()), KeyType.EXCLUSIVE);
        }
    }
}
