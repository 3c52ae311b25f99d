// SPDX-License-Identifier: Apache-2.0
package io.quorate.capture;

import io.quorate.core.BinlogEvents;
import java.util.Arrays;

/** Reads LOAD DATA as a statement, as the binlog has it where binlog_format isn't ROW. */
final class ByStatement {
    private static final int TYPE_OFFSET = 4;
    private static final int QUERY_HEAD_BYTES = BinlogEvents.HEADER_BYTES + 13;
    /** The file's number, where its name is in the statement, and what becomes of duplicates. */
    private static final int OF_FILE_BYTES = 13;

    private ByStatement() {}

    /**
     * The QUERY event that an EXECUTE_LOAD_QUERY event is but for what it says of the file. Layout: {@code
     * Execute_load_query_event} in the server's {@code load_data_events.h}.
     *
     * @throws IndexOutOfBoundsException when it is cut short
     */
    static byte[] query(byte[] b, int offset, int length) {
        int restLength = length - QUERY_HEAD_BYTES - OF_FILE_BYTES;
        if (restLength < 0) {
            throw new IndexOutOfBoundsException("an EXECUTE_LOAD_QUERY event of " + length + " bytes");
        }
        byte[] query = Arrays.copyOfRange(b, offset, offset + QUERY_HEAD_BYTES + restLength);
        System.arraycopy(b, offset + length - restLength, query, QUERY_HEAD_BYTES, restLength);
        query[TYPE_OFFSET] = BinlogEvents.QUERY;
        BinlogEvents.length(query, 0, query.length);
        return query;
    }
}
