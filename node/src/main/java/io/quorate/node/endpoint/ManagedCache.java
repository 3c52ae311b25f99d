// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.endpoint;

import io.quorate.ist.WriteSetCacheStats;
import io.quorate.node.order.CacheForecast;
import io.quorate.node.order.Stores;
import java.util.Map;
import org.springframework.jmx.export.annotation.ManagedAttribute;
import org.springframework.jmx.export.annotation.ManagedMetric;
import org.springframework.jmx.export.annotation.ManagedResource;
import org.springframework.stereotype.Component;

/** {@code io.quorate:type=Cache}: the writesets that this node keeps for those that come back. */
@Component
@ManagedResource(
        objectName = "io.quorate:type=Cache",
        description = "the writesets that this node keeps for those that come back")
public class ManagedCache {
    private final Stores stores;
    private final CacheForecast forecast;

    ManagedCache(Stores stores, CacheForecast forecast) {
        this.stores = stores;
        this.forecast = forecast;
    }

    private WriteSetCacheStats stats() {
        return stores.cache().stats();
    }

    @ManagedMetric(description = "first seqno in it", unit = "seqno")
    public long getFirst() {
        return stats().first();
    }

    @ManagedMetric(description = "last seqno in it", unit = "seqno")
    public long getLast() {
        return stats().last();
    }

    @ManagedMetric(description = "its size", unit = "bytes")
    public long getBytes() {
        return stats().bytes();
    }

    @ManagedMetric(description = "how large it may become", unit = "bytes")
    public long getBytesMax() {
        return stores.cache().bytesMax();
    }

    @ManagedMetric(description = "age of the oldest writeset in it", unit = "s")
    public long getSpanSeconds() {
        return forecast.spanSeconds();
    }

    @ManagedAttribute(
            description = "for how many seconds each absent member can still come back by a transfer: 0 when it no"
                    + " longer can, -1 as long as nothing is written")
    public Map<String, Long> getReturns() {
        return forecast.returns();
    }
}
