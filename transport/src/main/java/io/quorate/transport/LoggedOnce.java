// SPDX-License-Identifier: Apache-2.0
package io.quorate.transport;

import java.util.LinkedHashMap;
import java.util.Map;
import org.slf4j.Logger;

/** Logs a warning that repeats with every attempt only once an hour. */
final class LoggedOnce {
    private static final int SUBJECTS_MAX = 100;
    private static final long AGAIN_AFTER_NANOS = 3_600_000_000_000L;

    private final Logger log;
    private final Map<String, Long> last = new LinkedHashMap<>() {
        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Long> eldest) {
            return size() > SUBJECTS_MAX;
        }
    };

    LoggedOnce(Logger log) {
        this.log = log;
    }

    synchronized void warn(String subject, String message) {
        long now = System.nanoTime();
        Long before = last.get(subject);
        if (before == null || now - before > AGAIN_AFTER_NANOS) {
            last.put(subject, now);
            log.warn(message);
        }
    }

    /** The subject has recovered: say so, and warn again if the problem returns. */
    synchronized void mended(String subject, String message) {
        if (last.remove(subject) != null) {
            log.info(message);
        }
    }
}
