// SPDX-License-Identifier: Apache-2.0
package io.quorate.capture;

/**
 * Turns a column's value, as it is in a row image, into bytes that are equal whenever an index of that column holds the
 * values equal. It may be coarser than the index (a false conflict is a retry), never finer (a missed one is lost
 * data). Not thread-safe.
 */
@FunctionalInterface
interface ComparisonForm {
    /** Appends the form of the {@code length} bytes at {@code offset}. */
    void append(byte[] bytes, int offset, int length, KeyBytes out);
}
