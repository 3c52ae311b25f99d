// SPDX-License-Identifier: Apache-2.0
/**
 * Decides which writesets are applied and what each must wait for: a pure, single-threaded function of the total order.
 * {@link io.quorate.certification.Certifier} is that function; {@link io.quorate.certification.OrderedStream} feeds it
 * on a node and reports the results.
 */
package io.quorate.certification;
