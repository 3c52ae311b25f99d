// SPDX-License-Identifier: Apache-2.0
package io.quorate.core;

/**
 * How a writeset touches a key, from weakest to strongest. Which pairs conflict and which only order the two writesets
 * is in {@link Matrix}.
 */
public enum KeyType {
    /** Something below the key is written: the key is the table of a row. */
    SHARED,
    /** The key must go on existing: the parent row of a foreign key. */
    REFERENCE,
    /**
     * Written in place, by an update that leaves the key's own columns as they were. The key of a table is written in
     * place by a definition that rows written under the former one fit as well.
     */
    UPDATE,
    /** Appears or disappears: insert, delete, either side of a changed unique key, anything DDL touches. */
    EXCLUSIVE;

    private static final KeyType[] BY_ORDINAL = values();

    public static KeyType of(int ordinal) {
        return BY_ORDINAL[ordinal];
    }
}
