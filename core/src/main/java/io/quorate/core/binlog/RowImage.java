// SPDX-License-Identifier: Apache-2.0
package io.quorate.core.binlog;

/** Where each column's value lies in one row image. Reused from row to row; not thread-safe. */
public final class RowImage {
    public static final int NULL = -1;
    public static final int ABSENT = -2;

    private int[] starts = new int[32];
    private int[] lengths = new int[32];

    /**
     * Walks the image at {@code offset}.
     *
     * @param present offset of the bitmap of columns present in the images of this event
     * @param presentCount how many bits of it are set
     * @return the offset after the image
     */
    public int read(TableMap map, byte[] b, int offset, int present, int presentCount) {
        int columns = map.columns();
        if (starts.length < columns) {
            starts = new int[columns];
            lengths = new int[columns];
        }
        int at = offset + (presentCount + 7) / 8;
        for (int i = 0, n = 0; i < columns; i++) {
            if ((b[present + (i >>> 3)] & (1 << (i & 7))) == 0) {
                lengths[i] = ABSENT;
            } else if ((b[offset + (n >>> 3)] & (1 << (n++ & 7))) != 0) {
                lengths[i] = NULL;
            } else {
                int prefix = ColumnType.prefixBytes(map.types[i], map.metadata[i]);
                int length = prefix == 0
                        ? ColumnType.fixedBytes(map.types[i], map.metadata[i])
                        : (int) Bytes.little(b, at, prefix);
                starts[i] = at + prefix;
                lengths[i] = length;
                at += prefix + length;
                if (length < 0 || at > b.length || at < 0) {
                    throw new IndexOutOfBoundsException("column " + i + " of " + map.table + " runs over its event");
                }
            }
        }
        return at;
    }

    public int start(int column) {
        return starts[column];
    }

    /** Bytes of the value, or {@link #NULL}, or {@link #ABSENT}. */
    public int length(int column) {
        return lengths[column];
    }
}
