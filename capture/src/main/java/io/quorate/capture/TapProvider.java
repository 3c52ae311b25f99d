// SPDX-License-Identifier: Apache-2.0
package io.quorate.capture;

import io.debezium.config.CommonConnectorConfig;
import io.debezium.connector.binlog.BinlogStreamingChangeEventSource;
import io.debezium.pipeline.ChangeEventSourceCoordinator;
import io.debezium.pipeline.EventDispatcher;
import io.debezium.pipeline.signal.actions.SignalAction;
import io.debezium.pipeline.signal.actions.SignalActionProvider;
import io.debezium.pipeline.spi.Partition;
import io.debezium.spi.schema.DataCollectionId;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Connects a {@link Tap} with its client. Debezium asks the providers of signal actions, which it finds as services,
 * after it has made the binlog client and before it connects it. That sequence is not documented: Debezium's version is
 * pinned, and a test notices when it changes.
 */
public final class TapProvider implements SignalActionProvider {
    /** The engine's property that names its tap: what Debezium calls its logical name. */
    static final String TAP_PROPERTY = "topic.prefix";

    private static final Map<String, Tap> TAPS = new ConcurrentHashMap<>();

    static void register(String id, Tap tap) {
        TAPS.put(id, tap);
    }

    static void unregister(String id) {
        TAPS.remove(id);
    }

    static Tap tap(String id) {
        return TAPS.get(id);
    }

    /** Attaches the tap the engine's configuration names; other engines in this process are left alone. */
    @Override
    public <P extends Partition> Map<String, SignalAction<P>> createActions(
            EventDispatcher<P, ? extends DataCollectionId> dispatcher,
            ChangeEventSourceCoordinator<P, ?> coordinator,
            CommonConnectorConfig config) {
        Tap tap = TAPS.get(config.getLogicalName());
        if (tap != null) {
            Object source = coordinator.getStreamingSource().orElse(null);
            if (!(source instanceof BinlogStreamingChangeEventSource<?, ?> binlog)) {
                throw new IllegalStateException("no binlog source where this version of Debezium should have one");
            }
            tap.attach(binlog.getBinaryLogClient());
        }
        return Map.of();
    }
}
