// SPDX-License-Identifier: Apache-2.0
package io.quorate.capture;

import io.quorate.core.Keys;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;

/**
 * The names that are part of keys. An index is identified by its columns, not by its own name, so that a foreign key
 * finds its parent's key from the columns it references, and renaming an index changes nothing.
 */
final class KeyNames {
    private KeyNames() {}

    /** The key of a table as a whole. */
    static long table(String schema, String table) {
        byte[] name = (schema + "\0" + table).getBytes(StandardCharsets.UTF_8);
        return notEverything(Hash64.hash(name, 0, name.length, 0));
    }

    /**
     * The key of those rows of a table that are changed and that no index tells apart. They are compared as a whole, so
     * rows with another number of columns would never meet them.
     */
    static long wholeRows(String schema, String table) {
        byte[] name = (schema + "\0" + table).getBytes(StandardCharsets.UTF_8);
        return notEverything(Hash64.hash(name, 0, name.length, 2));
    }

    /** The key of a database as such, with what counts for all that is made in it. */
    static long schema(String schema) {
        return object("DATABASE", schema, "");
    }

    /** The key of what has no rows; of most kinds names differ by more than case. */
    static long object(String kind, String schema, String name) {
        byte[] all =
                (kind + "\0" + schema + "\0" + name).toLowerCase(Locale.ROOT).getBytes(StandardCharsets.UTF_8);
        return notEverything(Hash64.hash(all, 0, all.length, 3));
    }

    /** The seed for the hashes of an index's values. */
    static long index(String schema, String table, List<String> columns) {
        String columnNames = String.join("\1", columns).toLowerCase(Locale.ROOT);
        byte[] name = (schema + "\0" + table + "\0" + columnNames).getBytes(StandardCharsets.UTF_8);
        return Hash64.hash(name, 0, name.length, 1);
    }

    /** Keeps the special values, which are no hashes, from being used as hashes. */
    static long notEverything(long hash) {
        return hash >= Keys.EVERYTHING && hash <= Keys.RESERVED_LAST ? hash + Keys.RESERVED_LAST + 1 : hash;
    }
}
