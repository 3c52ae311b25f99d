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
}
