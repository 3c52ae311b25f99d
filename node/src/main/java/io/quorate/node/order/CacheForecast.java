// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.order;

import io.quorate.core.Certified;
import io.quorate.ist.CacheCursor;
import io.quorate.ist.WriteSetCache;
import java.io.IOException;
import java.time.Duration;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * How far back this node's writeset cache reaches, in time as well as in bytes, and for how long members that are away
 * can still catch up from it, at the rate at which it has grown lately.
 */
public final class CacheForecast {
    private static final Logger log = LoggerFactory.getLogger(CacheForecast.class);
    /** Long enough to even out bursts. */
    private static final Duration WINDOW = Duration.ofMinutes(5);

    private final WriteSetCache cache;
    private final Duration warning;
    private final Rate growth = new Rate(WINDOW);
    private final Set<String> warned = new HashSet<>();
    private volatile Map<String, Long> returns = Map.of();
    private long spanOf = -1;
    private volatile long firstMicros;

    /** @param warning when an absent member has less time left than this, the log warns of it */
    public CacheForecast(WriteSetCache cache, Duration warning) {
        this.cache = cache;
        this.warning = warning;
    }

    /**
     * Brings the forecast up to date.
     *
     * @param absent the members that are away, each with the last seqno it is known to have
     */
    public void look(long nowMillis, Map<String, Long> absent) {
        growth.at(nowMillis, cache.stats().appendedBytes());
        lookAtFirst();
        Map<String, Long> next = new TreeMap<>();
        absent.forEach((name, last) -> next.put(name, secondsLeft(last)));
        returns = next;
        next.forEach((name, seconds) -> {
            if (seconds >= 0 && seconds < warning.toSeconds() && warned.add(name)) {
                log.warn(
                        "{} is away and can come back from this node's cache for {} more, at the present rate;"
                                + " after that it"
                                + " needs a full copy (quorate.cache.bytes-max)",
                        name,
                        Duration.ofSeconds(seconds));
            }
        });
        warned.retainAll(next.keySet());
    }

    /**
     * Seconds for which a member that is at seqno {@code last} can still come back: 0 when it is too late, -1 when
     * there is no limit at the present rate.
     */
    private long secondsLeft(long last) {
        if (last + 1 < cache.first()) {
            return 0;
        }
        long rate = growth.last();
        return rate == 0 ? -1 : Math.max(0, cache.bytesMax() - cache.bytesAfter(last)) / rate;
    }

    private void lookAtFirst() {
        long first = cache.first();
        if (first == spanOf || first > cache.last()) {
            return;
        }
        try (CacheCursor cursor = cache.read(first)) {
            Certified record = cursor.next(Duration.ZERO);
            if (record != null) {
                firstMicros = record.writeSet().committedMicros();
                spanOf = first;
            }
        } catch (IOException | RuntimeException e) {
            log.debug("the first record can't be read: {}", e.toString());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /**
     * Seconds for which each absent member can still come back: 0 when it is too late, -1 when there is no limit at the
     * present rate.
     */
    public Map<String, Long> returns() {
        return returns;
    }

    /** How long ago the oldest writeset in the cache was committed, by its origin's clock. */
    public long spanSeconds() {
        return firstMicros == 0 ? 0 : Math.max(0, System.currentTimeMillis() / 1000 - firstMicros / 1_000_000);
    }

    public long bytesPerSecond() {
        return growth.last();
    }

    /** How many seconds of writing a full cache holds at the present rate; -1 while nothing is written. */
    public long fullSeconds() {
        return growth.last() == 0 ? -1 : cache.bytesMax() / growth.last();
    }
}
