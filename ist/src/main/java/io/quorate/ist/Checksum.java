// SPDX-License-Identifier: Apache-2.0
package io.quorate.ist;

import java.util.zip.CRC32C;

/** CRC32C (Castagnoli), as the processor computes it. */
final class Checksum {
    private Checksum() {}

    static int of(byte[] bytes, int from, int length) {
        CRC32C crc = new CRC32C();
        crc.update(bytes, from, length);
        return (int) crc.getValue();
    }
}
