// SPDX-License-Identifier: Apache-2.0
package io.quorate.node;

import io.quorate.certification.OrderedStream;
import io.quorate.node.config.NodeProperties;
import io.quorate.node.order.PausableOrder;
import io.quorate.node.trace.Traces;

/** What all other rooms of a node are built on: its disk, the order and the other nodes. */
record Base(
        NodeProperties properties,
        Home home,
        OrderedStream stream,
        PausableOrder order,
        Network network,
        Counters counters,
        Traces traces) {}
