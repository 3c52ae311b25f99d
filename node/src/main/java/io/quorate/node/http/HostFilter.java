// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.http;

import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import org.springframework.http.HttpHeaders;
import org.springframework.web.filter.OncePerRequestFilter;

/** Refuses what was asked under a name that isn't this node's, and what the page of another site asks. */
final class HostFilter extends OncePerRequestFilter {
    private final AllowedHosts hosts;
    private final Refusing refusing;

    HostFilter(AllowedHosts hosts, Refusing refusing) {
        this.hosts = hosts;
        this.refusing = refusing;
    }

    @Override
    protected void doFilterInternal(HttpServletRequest request, HttpServletResponse response, FilterChain chain)
            throws ServletException, IOException {
        String host = request.getHeader(HttpHeaders.HOST);
        String origin = request.getHeader(HttpHeaders.ORIGIN);
        if (!hosts.allow(host, request.getLocalAddr())) {
            refusing.answer(
                    response,
                    Refusing.Cause.HOST,
                    request.getRemoteAddr(),
                    "this node isn't called " + Refusing.shown(host) + "; ask it by its own address, or add the name to"
                            + " quorate.http.hosts");
        } else if (origin != null && !hosts.allowOrigin(origin, host)) {
            refusing.answer(
                    response,
                    Refusing.Cause.ORIGIN,
                    request.getRemoteAddr(),
                    "pages from " + Refusing.shown(origin) + " may not ask this node; if they should, add that host to"
                            + " quorate.http.hosts");
        } else {
            chain.doFilter(request, response);
        }
    }
}
