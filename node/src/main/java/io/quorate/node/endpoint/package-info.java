// SPDX-License-Identifier: Apache-2.0

/**
 * What people and programs ask a node for over HTTP and JMX; each endpoint has its part of the node alone.
 */
package io.quorate.node.endpoint;
