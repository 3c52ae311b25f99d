// SPDX-License-Identifier: Apache-2.0
package io.quorate.ist;

import java.nio.file.Path;
import java.time.Duration;
import java.util.UUID;

/**
 * @param directory where the segments are; used by nothing else
 * @param incarnation the life of the cluster that the seqnos belong to; segments of another one are refused
 * @param segmentBytes a segment is closed before it would grow beyond this, unless one batch alone is larger
 * @param bytesMax what the segments may take together before the oldest is deleted; never less than two segments
 * @param ageMax segments whose last record is older are deleted even if there is room; zero for never
 */
public record CacheSettings(Path directory, UUID incarnation, long segmentBytes, long bytesMax, Duration ageMax) {
    public static final long SEGMENT_BYTES_DEFAULT = 64L << 20;
    public static final long BYTES_MAX_DEFAULT = 2L << 30;

    public CacheSettings {
        if (segmentBytes < SegmentHeader.BYTES || bytesMax < segmentBytes) {
            throw new IllegalArgumentException("segmentBytes " + segmentBytes + ", bytesMax " + bytesMax);
        }
    }

    public CacheSettings(Path directory, UUID incarnation, long segmentBytes, long bytesMax) {
        this(directory, incarnation, segmentBytes, bytesMax, Duration.ZERO);
    }

    public static CacheSettings of(Path directory, UUID incarnation) {
        return new CacheSettings(directory, incarnation, SEGMENT_BYTES_DEFAULT, BYTES_MAX_DEFAULT);
    }
}
