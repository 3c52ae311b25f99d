// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.http;

import jakarta.servlet.http.HttpServletRequest;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.List;

/**
 * What may be asked without a token: to read, from this host itself. Who can log in here can read the node's files if
 * he runs it, and sees its server; from elsewhere nobody is known.
 *
 * @param on whether that is allowed at all
 */
record FreeReads(boolean on) {
    /** A proxy on this host passes on what others ask, and says so, if it is one that does. */
    private static final List<String> OF_PROXIES =
            List.of("Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Real-IP", "Via");

    boolean include(HttpServletRequest request) {
        return on
                && isRead(request.getMethod())
                && isLoopback(request.getRemoteAddr())
                && isLoopback(request.getLocalAddr())
                && OF_PROXIES.stream().allMatch(name -> request.getHeader(name) == null);
    }

    private static boolean isRead(String method) {
        return method.equals("GET") || method.equals("HEAD");
    }

    /** @param address as digits, which nothing looks up */
    private static boolean isLoopback(String address) {
        try {
            return InetAddress.getByName(address).isLoopbackAddress();
        } catch (UnknownHostException e) {
            return false;
        }
    }
}
