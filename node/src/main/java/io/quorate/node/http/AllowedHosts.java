// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.http;

import io.quorate.node.config.NodeProperties;
import java.util.HashSet;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The names by which this node may be asked. A web page can have a browser send requests to any address, under a name
 * of the page's own that it makes point there (DNS rebinding); the header {@code Host} has that name then.
 *
 * @param own of this node, in lower case
 * @param named those of {@code quorate.http.hosts}, in lower case
 */
record AllowedHosts(Set<String> own, Set<String> named) {
    private static final Pattern HOST = Pattern.compile("(\\[[0-9a-fA-F:.%]+]|[^:\\[\\]]+)(?::([0-9]{1,5}))?");
    private static final Pattern ORIGIN = Pattern.compile("https?://(.+)");
    private static final Pattern LOOPBACK =
            Pattern.compile("localhost|127\\.[0-9]{1,3}\\.[0-9]{1,3}\\.[0-9]{1,3}|\\[::1]|\\[(0:){7}1]");

    static AllowedHosts of(NodeProperties properties) {
        Set<String> named = new HashSet<>();
        properties.http().hosts().forEach(host -> named.add(plain(host)));
        return new AllowedHosts(Set.of(plain(properties.self().host())), named);
    }

    private static String plain(String host) {
        String lower = host.strip().toLowerCase(Locale.ROOT);
        String bracketed = lower.contains(":") && !lower.startsWith("[") ? "[" + lower + "]" : lower;
        return bracketed.endsWith(".") ? bracketed.substring(0, bracketed.length() - 1) : bracketed;
    }

    /**
     * Whether a request with this header may be answered.
     *
     * @param host null when there is none, as in HTTP/1.0; no browser leaves it out
     * @param localAddress the address of this host at which it came, in digits: who names that uses no name at all
     */
    boolean allow(@Nullable String host, String localAddress) {
        if (host == null) {
            return true;
        }
        Matcher parts = HOST.matcher(host);
        if (!parts.matches()) {
            return false;
        }
        String name = plain(parts.group(1));
        return LOOPBACK.matcher(name).matches()
                || own.contains(name)
                || named.contains(name)
                || name.equals(plain(localAddress));
    }

    /**
     * Whether a page from there may ask: only one that this node itself has sent, or one of a host that the
     * configuration names.
     */
    boolean allowOrigin(String origin, @Nullable String host) {
        Matcher parts = ORIGIN.matcher(origin);
        if (!parts.matches()) {
            return false;
        }
        String from = parts.group(1);
        Matcher name = HOST.matcher(from);
        return from.equalsIgnoreCase(host) || (name.matches() && named.contains(plain(name.group(1))));
    }
}
