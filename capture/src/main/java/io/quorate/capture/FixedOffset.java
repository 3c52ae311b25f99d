// SPDX-License-Identifier: Apache-2.0
package io.quorate.capture;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import org.apache.kafka.connect.runtime.WorkerConfig;
import org.apache.kafka.connect.storage.OffsetBackingStore;
import org.apache.kafka.connect.util.Callback;

/** Debezium's offset store: answers with the start that our own position gives, and keeps nothing. */
public final class FixedOffset implements OffsetBackingStore {
    private String gtids = "";

    @Override
    public void configure(WorkerConfig config) {
        Tap tap = TapProvider.tap(String.valueOf(config.originals().get(TapProvider.TAP_PROPERTY)));
        if (tap == null) {
            throw new IllegalStateException("no tap for this engine");
        }
        gtids = tap.resume();
    }

    @Override
    public Future<Map<ByteBuffer, ByteBuffer>> get(Collection<ByteBuffer> keys) {
        String offset = "{\"file\":\"\",\"pos\":4,\"gtids\":\"" + gtids + "\"}";
        Map<ByteBuffer, ByteBuffer> offsets = new HashMap<>();
        for (ByteBuffer key : keys) {
            offsets.put(key, ByteBuffer.wrap(offset.getBytes(StandardCharsets.UTF_8)));
        }
        return CompletableFuture.completedFuture(offsets);
    }

    @Override
    public Future<Void> set(Map<ByteBuffer, ByteBuffer> values, Callback<Void> callback) {
        if (callback != null) {
            callback.onCompletion(null, null);
        }
        return CompletableFuture.completedFuture(null);
    }

    @Override
    public void start() {
        // Nothing to open.
    }

    @Override
    public void stop() {
        // Nothing to close.
    }

    @Override
    public Set<Map<String, Object>> connectorPartitions(String connectorName) {
        return Set.of();
    }
}
