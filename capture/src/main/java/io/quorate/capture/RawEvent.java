// SPDX-License-Identifier: Apache-2.0
package io.quorate.capture;

import com.github.shyiko.mysql.binlog.event.Event;
import com.github.shyiko.mysql.binlog.event.EventData;
import com.github.shyiko.mysql.binlog.event.EventHeader;

/** An event in the form shown to Debezium, with the bytes as the server sent them, without checksum. */
final class RawEvent extends Event {
    private static final long serialVersionUID = 1L;

    private final transient byte[] bytes;
    private final boolean endsGroup;

    /** @param endsGroup whether the server asks for an acknowledgement, as it does at the end of a group of commits */
    RawEvent(EventHeader header, EventData data, byte[] bytes, boolean endsGroup) {
        super(header, data);
        this.bytes = bytes;
        this.endsGroup = endsGroup;
    }

    boolean endsGroup() {
        return endsGroup;
    }

    byte[] bytes() {
        return bytes;
    }
}
