// SPDX-License-Identifier: Apache-2.0
package io.quorate.sandbox;

import java.util.List;

/**
 * Where a node's processes run if not simply on loopback: with an address of their own, in a network namespace for
 * instance. A service and its server talk over loopback there too.
 *
 * <p>A server's accounts are for {@code localhost}. A client from elsewhere, this program included, needs an account
 * that is made beforehand: {@code mysql.init-file} names a file of statements for that.
 *
 * @param host the address at which the other nodes and this program reach the node
 * @param command precedes those of the node's processes and has to turn into them, keeping its process id, as {@code
 *     nsenter --net=FILE} does; may be empty
 */
public record Place(String host, List<String> command) {
    static final String LOOPBACK_HOST = "127.0.0.1";
    static final Place LOOPBACK = new Place(LOOPBACK_HOST, List.of());

    public Place {
        command = List.copyOf(command);
    }

    /** The address that a server there listens on. */
    String bindAddress() {
        return host.equals(LOOPBACK_HOST) ? host : LOOPBACK_HOST + "," + host;
    }
}
