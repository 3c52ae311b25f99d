// SPDX-License-Identifier: Apache-2.0

/**
 * What people and programs can ask of a node over HTTP and JMX. Each endpoint has only those parts of the node that it
 * needs.
 */
package io.quorate.node.endpoint;
