// SPDX-License-Identifier: Apache-2.0
package io.quorate.core;

/**
 * Which pairs of key types conflict (C) and which only order the two writesets (D); Galera's matrix:
 *
 * <pre>
 * found \ incoming  EXCLUSIVE  UPDATE  REFERENCE  SHARED
 * EXCLUSIVE             C         C        C         C
 * UPDATE                C         C        D         D
 * REFERENCE             C         D        -         -
 * SHARED                D         D        -         -
 * </pre>
 *
 * Down each column the effect only weakens as the found type does, so a column is two thresholds on the found type. The
 * index rests on that: a stronger later entry stands in for a weaker earlier one.
 */
public final class Matrix {
    private static final int[] CONFLICTS_FROM = new int[KeyType.values().length];
    private static final int[] ORDERS_FROM = new int[KeyType.values().length];

    static {
        column(KeyType.EXCLUSIVE, KeyType.REFERENCE, KeyType.SHARED);
        column(KeyType.UPDATE, KeyType.UPDATE, KeyType.SHARED);
        column(KeyType.REFERENCE, KeyType.EXCLUSIVE, KeyType.UPDATE);
        column(KeyType.SHARED, KeyType.EXCLUSIVE, KeyType.UPDATE);
    }

    private Matrix() {}

    private static void column(KeyType incoming, KeyType conflictsFrom, KeyType ordersFrom) {
        CONFLICTS_FROM[incoming.ordinal()] = conflictsFrom.ordinal();
        ORDERS_FROM[incoming.ordinal()] = ordersFrom.ordinal();
    }

    /** C. Takes ordinals of {@link KeyType}. */
    public static boolean conflicts(int found, int incoming) {
        return found >= CONFLICTS_FROM[incoming];
    }

    /** C or D. Takes ordinals of {@link KeyType}. */
    public static boolean orders(int found, int incoming) {
        return found >= ORDERS_FROM[incoming];
    }

    /**
     * Whether {@code incoming}, written on top of {@code found}, needs it: what would conflict if it hadn't been seen,
     * and rows under a table's definition. Those two don't conflict, but rows may fit no other definition than the one
     * under which they were written, or a later one. Takes ordinals of {@link KeyType}.
     */
    public static boolean isBuiltOn(int found, int incoming) {
        return conflicts(found, incoming) || isDefinitionOf(found, incoming);
    }

    /**
     * Whether {@code found} is the key of a definition that rows pass beside, and {@code incoming} that of rows of its
     * table. Takes ordinals of {@link KeyType}.
     */
    public static boolean isDefinitionOf(int found, int incoming) {
        return found == KeyType.UPDATE.ordinal() && incoming == KeyType.SHARED.ordinal();
    }
}
