// SPDX-License-Identifier: Apache-2.0
package io.quorate.node;

import io.quorate.core.NodeEvent;
import io.quorate.node.thread.FaultHandler;
import java.util.function.Consumer;

/**
 * Who is told about what happens in a room.
 *
 * @param copying is told how far a full copy is; null when it is complete
 */
record Told(Consumer<NodeEvent> events, Consumer<String> copying, FaultHandler faults) {}
