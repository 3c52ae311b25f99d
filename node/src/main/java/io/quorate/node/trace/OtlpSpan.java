// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.trace;

import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.common.AttributesBuilder;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.TraceFlags;
import io.opentelemetry.api.trace.TraceState;
import io.opentelemetry.sdk.common.InstrumentationLibraryInfo;
import io.opentelemetry.sdk.common.InstrumentationScopeInfo;
import io.opentelemetry.sdk.resources.Resource;
import io.opentelemetry.sdk.trace.data.EventData;
import io.opentelemetry.sdk.trace.data.LinkData;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.data.StatusData;
import java.util.List;

/**
 * A span as OpenTelemetry's exporter takes it. Its tracer isn't used: that draws the ids itself, and begins and ends
 * spans one inside the other.
 */
record OtlpSpan(TracedSpan span, Origin origin) implements SpanData {
    private static final long NANOS_PER_MICRO = 1000;
    private static final InstrumentationScopeInfo SCOPE = InstrumentationScopeInfo.create("io.quorate");
    private static final AttributeKey<String> NODE = AttributeKey.stringKey("quorate.node");
    private static final AttributeKey<String> CLUSTER = AttributeKey.stringKey("quorate.cluster");
    private static final AttributeKey<String> GTID = AttributeKey.stringKey("quorate.gtid");
    private static final AttributeKey<Long> SEQNO = AttributeKey.longKey("quorate.seqno");
    private static final AttributeKey<String> VERDICT = AttributeKey.stringKey("quorate.verdict");

    /** Where all spans of this node come from. */
    record Origin(String cluster, String node, Resource resource) {
        static Origin of(String cluster, String node) {
            return new Origin(
                    cluster,
                    node,
                    Resource.create(Attributes.of(
                            AttributeKey.stringKey("service.name"),
                            "quorate",
                            AttributeKey.stringKey("service.namespace"),
                            cluster,
                            AttributeKey.stringKey("service.instance.id"),
                            node)));
        }
    }

    @Override
    public String getName() {
        return span.name();
    }

    @Override
    public SpanKind getKind() {
        return SpanKind.INTERNAL;
    }

    @Override
    public SpanContext getSpanContext() {
        return SpanContext.create(
                span.trace().trace(), TraceIds.hex(span.id()), TraceFlags.getSampled(), TraceState.getDefault());
    }

    @Override
    public SpanContext getParentSpanContext() {
        if (span.parent() == 0) {
            return SpanContext.getInvalid();
        }
        String trace = span.trace().trace();
        String parent = TraceIds.hex(span.parent());
        return span.name().equals(TracedSpan.APPLY)
                ? SpanContext.createFromRemoteParent(trace, parent, TraceFlags.getSampled(), TraceState.getDefault())
                : SpanContext.create(trace, parent, TraceFlags.getSampled(), TraceState.getDefault());
    }

    @Override
    public StatusData getStatus() {
        return span.isLost() ? StatusData.error() : StatusData.unset();
    }

    @Override
    public long getStartEpochNanos() {
        return span.startMicros() * NANOS_PER_MICRO;
    }

    @Override
    public long getEndEpochNanos() {
        return span.endMicros() * NANOS_PER_MICRO;
    }

    @Override
    public boolean hasEnded() {
        return true;
    }

    @Override
    public Attributes getAttributes() {
        AttributesBuilder all = Attributes.builder()
                .put(CLUSTER, origin.cluster())
                .put(NODE, origin.node())
                .put(GTID, span.gtid().toString());
        if (span.seqno() > 0) {
            all.put(SEQNO, span.seqno());
        }
        if (span.verdict() != null) {
            all.put(VERDICT, span.verdict() ? "passed" : "lost");
        }
        return all.build();
    }

    @Override
    public int getTotalAttributeCount() {
        return getAttributes().size();
    }

    @Override
    public List<EventData> getEvents() {
        return List.of();
    }

    @Override
    public int getTotalRecordedEvents() {
        return 0;
    }

    @Override
    public List<LinkData> getLinks() {
        return List.of();
    }

    @Override
    public int getTotalRecordedLinks() {
        return 0;
    }

    @Override
    @Deprecated
    public InstrumentationLibraryInfo getInstrumentationLibraryInfo() {
        return InstrumentationLibraryInfo.empty();
    }

    @Override
    public InstrumentationScopeInfo getInstrumentationScopeInfo() {
        return SCOPE;
    }

    @Override
    public Resource getResource() {
        return origin.resource();
    }
}
