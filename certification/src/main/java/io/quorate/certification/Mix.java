// SPDX-License-Identifier: Apache-2.0
package io.quorate.certification;

/** A 64-bit mixing step (the finalizer of MurmurHash3), for digests. */
final class Mix {
    private Mix() {}

    static long of(long seed, long value) {
        long h = (seed ^ value) + 0x9E3779B97F4A7C15L;
        h = (h ^ (h >>> 33)) * 0xFF51AFD7ED558CCDL;
        h = (h ^ (h >>> 33)) * 0xC4CEB9FE1A85EC53L;
        return h ^ (h >>> 33);
    }
}
