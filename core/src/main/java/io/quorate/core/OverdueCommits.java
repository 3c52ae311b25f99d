// SPDX-License-Identifier: Apache-2.0
package io.quorate.core;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Decides which commits have waited for too long because the capture stands still, for whatever reason: nobody has
 * captured them, or not all that the server commits in one group with them. Those for whose verdict an {@link
 * AckCourse} waits are its own. It learns which commits are under way from the server itself, by looking again and
 * again.
 *
 * <p>This class only decides; time comes in as an argument, from any clock that never goes back. Not thread-safe.
 */
public final class OverdueCommits {
    private static final long TOLD = Long.MAX_VALUE;

    private final long limitMillis;
    private final Map<Gtid, Long> seenMillis = new HashMap<>();
    private long progress = -1;
    private long progressMillis;

    /** @param limitMillis how long a commit may wait while the capture stands still */
    public OverdueCommits(long limitMillis) {
        this.limitMillis = limitMillis;
    }

    /**
     * The server was asked.
     *
     * @param waiting the commits under way for whose verdict nobody waits, with their sessions
     * @param read how much the capture has read so far; a commit may be large
     * @return those that are overdue, each once
     */
    public List<Map.Entry<Gtid, Long>> look(Map<Gtid, Long> waiting, long read, long nowMillis) {
        if (read != progress) {
            progress = read;
            progressMillis = nowMillis;
        }
        seenMillis.keySet().retainAll(waiting.keySet());
        List<Map.Entry<Gtid, Long>> overdue = new ArrayList<>();
        waiting.forEach((gtid, session) -> {
            long since = seenMillis.computeIfAbsent(gtid, g -> nowMillis);
            if (since != TOLD && nowMillis - Math.max(since, progressMillis) >= limitMillis) {
                seenMillis.put(gtid, TOLD);
                overdue.add(Map.entry(gtid, session));
            }
        });
        return overdue;
    }
}
