// SPDX-License-Identifier: Apache-2.0
package io.quorate.core;

import io.quorate.core.binlog.RowSettings;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;

/**
 * What a writeset wrote: binlog events back to back, as {@link BinlogEvents} describes them. A small one is an array. A
 * large one is a file mapped into memory that has no name any more: its pages come and go as the kernel sees fit, none
 * of the heap is taken, and its room on disk is free again when nobody refers to it. Immutable.
 */
public final class Payload {
    /** Above this size a payload is in a file wherever it can be, bytes. */
    public static final int HEAP_BYTES_MAX = 1 << 20;

    public static final Payload NONE = new Payload(new byte[0], null);

    /** Null when it is in a file. */
    private final byte[] array;
    /** Null when it is an array. */
    private final ByteBuffer file;

    private Payload(byte[] array, ByteBuffer file) {
        this.array = array;
        this.file = file;
    }

    /** The array isn't copied; it belongs to this object from now on. */
    public static Payload of(byte[] events) {
        return events.length == 0 ? NONE : new Payload(events, null);
    }

    /** @param events all of its remaining bytes; they must never change */
    public static Payload inFile(ByteBuffer events) {
        return new Payload(null, events.slice().asReadOnlyBuffer());
    }

    /** Bytes of all events. */
    public int size() {
        return array == null ? file.remaining() : array.length;
    }

    public boolean isEmpty() {
        return size() == 0;
    }

    /** How much of the heap it takes. */
    public int heapBytes() {
        return array == null ? 0 : array.length;
    }

    /**
     * All events in an array, which is not to be modified. A payload that is in a file is copied: only for what is
     * known to be small, such as definitions.
     */
    public byte[] toArray() {
        if (array != null) {
            return array;
        }
        byte[] copy = new byte[file.remaining()];
        file.get(0, copy);
        return copy;
    }

    /** All events; not to be written to. */
    public ByteBuffer buffer() {
        return (array == null ? file.duplicate() : ByteBuffer.wrap(array)).order(ByteOrder.LITTLE_ENDIAN);
    }

    /** A walk from the first event. */
    public Events events() {
        return events(0);
    }

    /**
     * A walk that stands at a definition's statement, behind what it is given of its session. Null where the events
     * don't begin with a statement.
     */
    public Events statement() {
        Events event = events();
        while (event.next()) {
            if (event.type() == BinlogEvents.QUERY) {
                return RowSettings.are(event) ? null : event;
            } else if (!BinlogEvents.isGiven(event.type())) {
                return null;
            }
        }
        return null;
    }

    /** A walk from the event that starts at {@code from}. */
    public Events events(int from) {
        return new Events(from);
    }

    /**
     * A walk over the events; at the beginning it stands before the first. What {@link #bytes} gives is that event
     * until the walk goes on, and not to be modified.
     */
    public final class Events {
        private byte[] bytes = array;
        private int next;
        private int at;
        private int length;

        private Events(int from) {
            next = from;
        }

        /**
         * Goes to the next event; false at the end.
         *
         * @throws IndexOutOfBoundsException where no whole event follows
         */
        public boolean next() {
            if (next == size()) {
                return false;
            }
            go(next);
            return true;
        }

        /** Goes to the event that starts at {@code position}; the walk goes on after it. */
        public void go(int position) {
            if (size() - position < BinlogEvents.HEADER_BYTES) {
                throw cutShort(position);
            }
            length = array == null
                    ? Integer.reverseBytes(file.getInt(position + BinlogEvents.LENGTH_OFFSET))
                    : BinlogEvents.length(array, position);
            if (length < BinlogEvents.HEADER_BYTES || length > size() - position) {
                throw cutShort(position);
            }
            if (array == null) {
                if (bytes == null || bytes.length < length || bytes.length > 2 * Math.max(length, HEAP_BYTES_MAX)) {
                    bytes = new byte[Math.max(length, 16 << 10)];
                }
                file.get(position, bytes, 0, length);
            }
            at = position;
            next = position + length;
        }

        private IndexOutOfBoundsException cutShort(int position) {
            return new IndexOutOfBoundsException("an event cut short at byte " + position + " of " + size());
        }

        /** The array that has the event. */
        public byte[] bytes() {
            return bytes;
        }

        /** Where the event starts in {@link #bytes}. */
        public int offset() {
            return array == null ? 0 : at;
        }

        /** Where the event starts in the payload. */
        public int position() {
            return at;
        }

        /** The event's length, header included. */
        public int length() {
            return length;
        }

        public int type() {
            return BinlogEvents.type(bytes, offset());
        }

        public boolean isRows() {
            return BinlogEvents.isRows(type());
        }

        /** Of a TABLE_MAP or ROWS event. */
        public long tableId() {
            return BinlogEvents.tableId(bytes, offset());
        }

        /** Of a ROWS event. */
        public boolean endsStatement() {
            return BinlogEvents.endsStatement(bytes, offset());
        }

        /** Of a ROWS event. */
        public boolean cascadesAreLogged() {
            return BinlogEvents.cascadesAreLogged(bytes, offset());
        }

        /** A copy of the event. */
        public byte[] copy() {
            return Arrays.copyOfRange(bytes, offset(), offset() + length);
        }
    }

    @Override
    public boolean equals(Object o) {
        return o instanceof Payload that && buffer().equals(that.buffer());
    }

    @Override
    public int hashCode() {
        return size();
    }

    @Override
    public String toString() {
        return size() + " bytes";
    }
}
