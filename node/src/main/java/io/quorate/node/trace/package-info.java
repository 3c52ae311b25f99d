// SPDX-License-Identifier: Apache-2.0

/**
 * Traces of sampled transactions across nodes, sent to a collector by OTLP. The rooms that know of a transaction's
 * stages tell {@link io.quorate.node.trace.Traces}.
 */
package io.quorate.node.trace;
