// SPDX-License-Identifier: Apache-2.0
package io.quorate.core;

import java.util.UUID;

/** A MySQL global transaction identifier: the server's UUID and a number from 1 that rises in that server's binlog. */
public record Gtid(UUID source, long number) {
    public Gtid {
        if (source == null || number < 1) {
            throw new IllegalArgumentException("not a GTID: " + source + ":" + number);
        }
    }

    @Override
    public String toString() {
        return source + ":" + number;
    }
}
