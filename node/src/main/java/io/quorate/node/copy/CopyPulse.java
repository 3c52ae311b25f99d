// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.copy;

import io.quorate.sst.CopyProgress;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Tells a copy of which nothing comes any more from one that goes on. Looked at by whoever shows it. */
final class CopyPulse {
    private static final long STILL_NANOS = TimeUnit.SECONDS.toNanos(15);

    private long bytes = -1;
    private String stage = "";
    private long movedNanos;

    /**
     * How the copy is shown.
     *
     * @param progress null while nothing is copied
     * @return the same, or without a rate and a time left where nothing comes any more
     */
    synchronized @Nullable CopyProgress shown(@Nullable CopyProgress progress, long nowNanos) {
        if (progress == null) {
            bytes = -1;
            return null;
        }
        if (progress.bytes() != bytes || !progress.stage().equals(stage)) {
            bytes = progress.bytes();
            stage = progress.stage();
            movedNanos = nowNanos;
        }
        return stillSeconds(nowNanos) == 0 || !progress.needsDonor()
                ? progress
                : new CopyProgress(progress.stage(), progress.bytes(), progress.toDo(), 0, -1);
    }

    /** For how long nothing has come; 0 while something does. */
    synchronized long stillSeconds(long nowNanos) {
        return bytes < 0 || nowNanos - movedNanos < STILL_NANOS
                ? 0
                : TimeUnit.NANOSECONDS.toSeconds(nowNanos - movedNanos);
    }
}
