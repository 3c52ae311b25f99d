// SPDX-License-Identifier: Apache-2.0
package io.quorate.capture;

import io.quorate.core.BinlogEvents;
import java.util.Arrays;

/** The events of the transaction being read, back to back. Reused from one transaction to the next. */
final class Payload {
    private static final int KEPT_BYTES = 1 << 20;
    private static final int NONE = -1;

    private byte[] bytes = new byte[4096];
    private int size;
    private int lastRows = NONE;

    int size() {
        return size;
    }

    void append(byte[] source, int offset, int length) {
        if (size + length > bytes.length) {
            // Sizes stay below 2 GiB: a transaction is at most 1 GiB, and so is an event.
            long twice = Math.min(2L * bytes.length, Integer.MAX_VALUE - 16);
            bytes = Arrays.copyOf(bytes, (int) Math.max(twice, (long) size + length));
        }
        if (BinlogEvents.isRows(BinlogEvents.type(source, offset))) {
            lastRows = size;
        }
        System.arraycopy(source, offset, bytes, size, length);
        size += length;
    }

    /** Ends the statement at the last ROWS event so far: the event that would have ended it is not kept. */
    void endStatement() {
        if (lastRows != NONE) {
            BinlogEvents.endsStatement(bytes, lastRows, true);
        }
    }

    /** Goes back to an earlier size, at the end of a statement. */
    void truncate(int newSize) {
        size = newSize;
        lastRows = NONE;
        for (int at = 0; at < size; at += BinlogEvents.length(bytes, at)) {
            if (BinlogEvents.isRows(BinlogEvents.type(bytes, at))) {
                lastRows = at;
            }
        }
    }

    /** A copy of what was collected; the buffer is empty afterwards. */
    byte[] take() {
        endStatement();
        byte[] taken = Arrays.copyOf(bytes, size);
        clear();
        return taken;
    }

    void clear() {
        size = 0;
        lastRows = NONE;
        if (bytes.length > KEPT_BYTES) {
            bytes = new byte[4096];
        }
    }
}
