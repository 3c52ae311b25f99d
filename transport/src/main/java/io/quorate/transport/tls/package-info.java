// SPDX-License-Identifier: Apache-2.0
/**
 * How nodes prove to one another who they are: {@link io.quorate.transport.tls.PeerTls} is used for both ports, the
 * channel's and that of the Ratis servers.
 */
package io.quorate.transport.tls;
