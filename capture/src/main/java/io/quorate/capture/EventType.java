// SPDX-License-Identifier: Apache-2.0
package io.quorate.capture;

/** Types of binlog events other than those that make a payload, which are in {@link io.quorate.core.BinlogEvents}. */
final class EventType {
    static final int STOP = 3;
    static final int ROTATE = 4;
    static final int LOAD = 6;
    static final int APPEND_BLOCK = 9;
    static final int DELETE_FILE = 11;
    static final int FORMAT_DESCRIPTION = 15;
    static final int XID = 16;
    static final int BEGIN_LOAD_QUERY = 17;
    static final int EXECUTE_LOAD_QUERY = 18;
    static final int INCIDENT = 26;
    static final int HEARTBEAT = 27;
    static final int ROWS_QUERY = 29;
    static final int GTID = 33;
    static final int GTID_TAGGED = 42;
    static final int PREVIOUS_GTIDS = 35;
    static final int TRANSACTION_PAYLOAD = 40;
    static final int HEARTBEAT_V2 = 41;

    /** Header flag: a reader that doesn't know the event may ignore it. */
    static final int IGNORABLE_FLAG = 0x80;

    private EventType() {}
}
