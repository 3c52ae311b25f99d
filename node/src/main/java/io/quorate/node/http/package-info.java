// SPDX-License-Identifier: Apache-2.0

/**
 * Who may ask a node over HTTP, and how. On the port of Actuator a request passes, in this sequence: {@link
 * io.quorate.node.http.WholeBodies}, which reads its body without holding a thread; {@link
 * io.quorate.node.http.HostFilter}, which refuses requests that a web page made a browser send; and the rules of {@link
 * io.quorate.node.http.HttpRules}, by which only reading from this host itself is free. Probes have a port and a thread
 * of their own, {@link io.quorate.node.http.ProbeServer}. {@code docs/security.md} is the page for operators.
 */
package io.quorate.node.http;
