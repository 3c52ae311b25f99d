// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.copy;

import io.quorate.core.ErrorCode;
import io.quorate.core.QuorateException;
import io.quorate.node.config.NodeProperties;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.net.UnknownHostException;

/**
 * How this node's server reaches a donor's server.
 *
 * @param host its name; where the two are on one host, the address that the name had, so that nobody can answer to the
 *     name with another one afterwards
 * @param tls whether what is copied has to be encrypted
 */
record CloneRoute(String host, boolean tls) {
    static CloneRoute to(String host, NodeProperties properties) {
        return switch (properties.sst().tls()) {
            case REQUIRED -> new CloneRoute(host, true);
            case DISABLED -> new CloneRoute(host, false);
            case AUTO -> unlessOnOneHost(host, properties.mysql().isLoopback());
        };
    }

    private static CloneRoute unlessOnOneHost(String host, boolean serverIsHere) {
        try {
            InetAddress address = InetAddress.getByName(host);
            boolean donorIsHere = address.isLoopbackAddress() || NetworkInterface.getByInetAddress(address) != null;
            return serverIsHere && donorIsHere
                    ? new CloneRoute(address.getHostAddress(), false)
                    : new CloneRoute(host, true);
        } catch (UnknownHostException | SocketException e) {
            throw new QuorateException(
                    ErrorCode.COPY_NO_DONOR, "the address of the donor's server isn't known: " + e.getMessage(), e);
        }
    }
}
