// SPDX-License-Identifier: Apache-2.0
/**
 * The service beside one MySQL server: reads the configuration, checks the server, wires capture, order, certification,
 * writeset cache and applier, owns the node's state, and shows it through Actuator, JMX and metrics.
 */
package io.quorate.node;
