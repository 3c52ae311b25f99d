// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.endpoint;

import io.quorate.certification.CertifierStats;
import io.quorate.certification.OrderedStream;
import org.springframework.jmx.export.annotation.ManagedMetric;
import org.springframework.jmx.export.annotation.ManagedResource;
import org.springframework.jmx.support.MetricType;
import org.springframework.stereotype.Component;

/** {@code io.quorate:type=Certification}: the verdicts of this node, which are those of all. */
@Component
@ManagedResource(
        objectName = "io.quorate:type=Certification",
        description = "the verdicts of this node, which are those of all nodes; counted since its service began")
public class ManagedCertification {
    private final OrderedStream stream;

    ManagedCertification(OrderedStream stream) {
        this.stream = stream;
    }

    private CertifierStats stats() {
        return stream.stats();
    }

    @ManagedMetric(description = "writesets that passed", unit = "writesets", metricType = MetricType.COUNTER)
    public long getPassed() {
        return stats().passed();
    }

    @ManagedMetric(
            description = "writesets that failed by a conflict",
            unit = "writesets",
            metricType = MetricType.COUNTER)
    public long getConflicts() {
        return stats().conflicts();
    }

    @ManagedMetric(
            description = "writesets that failed for an own one they were built on",
            unit = "writesets",
            metricType = MetricType.COUNTER)
    public long getBuiltOnFailed() {
        return stats().builtOnFailed();
    }

    @ManagedMetric(
            description = "writesets that failed for their age",
            unit = "writesets",
            metricType = MetricType.COUNTER)
    public long getTooOld() {
        return stats().tooOld();
    }

    @ManagedMetric(
            description = "entries left out because they were none",
            unit = "entries",
            metricType = MetricType.COUNTER)
    public long getMalformed() {
        return stream.malformed();
    }

    @ManagedMetric(description = "keys in the index", unit = "keys")
    public long getKeys() {
        return stats().keys();
    }

    @ManagedMetric(description = "memory of the index", unit = "bytes")
    public long getIndexBytes() {
        return stats().bytes();
    }

    @ManagedMetric(description = "the index has forgotten what it knew up to this seqno", unit = "seqno")
    public long getCut() {
        return stats().cut();
    }
}
