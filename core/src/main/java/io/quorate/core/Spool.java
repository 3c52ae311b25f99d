// SPDX-License-Identifier: Apache-2.0
package io.quorate.core;

import java.nio.ByteBuffer;

/** Room outside the heap for large payloads while they are made. Any thread. */
public interface Spool {
    /** For where everything is small enough, or the heap large enough. */
    Spool HEAP = new Spool() {
        @Override
        public int heapBytesMax() {
            return Integer.MAX_VALUE;
        }

        @Override
        public File open() {
            throw new UnsupportedOperationException("the heap is all there is");
        }
    };

    /** What isn't larger than this stays on the heap. */
    default int heapBytesMax() {
        return Payload.HEAP_BYTES_MAX;
    }

    /**
     * A new file.
     *
     * @throws QuorateException {@link ErrorCode#DISK}, as all methods of the file do
     */
    File open();

    /** A file without a name: it is gone when it is closed and nobody has it mapped. For one thread. */
    interface File extends AutoCloseable {
        void write(byte[] bytes, int offset, int length, long at);

        /** The first bytes, mapped; they are not written to any more. */
        ByteBuffer map(int size);

        @Override
        void close();
    }
}
