// SPDX-License-Identifier: Apache-2.0
package io.quorate.core;

/**
 * A place in a server's binlog.
 *
 * @param file the binlog file's name, without directory
 * @param offset of the first byte after what is meant
 */
public record BinlogPosition(String file, long offset) {
    @Override
    public String toString() {
        return file + ":" + offset;
    }
}
