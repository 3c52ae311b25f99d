// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.http;

import jakarta.servlet.http.HttpServletRequest;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpHeaders;
import org.springframework.security.authentication.BadCredentialsException;
import org.springframework.security.authentication.UsernamePasswordAuthenticationToken;
import org.springframework.security.core.Authentication;
import org.springframework.security.web.authentication.AuthenticationConverter;

/**
 * Finds the token in a request: as a bearer token, or as the password of HTTP basic, for browsers and for programs that
 * know nothing else. With basic the user may have any name.
 */
final class TokenConverter implements AuthenticationConverter {
    private static final String BEARER = "bearer ";
    private static final String BASIC = "basic ";

    @Override
    public @Nullable Authentication convert(HttpServletRequest request) {
        String header = request.getHeader(HttpHeaders.AUTHORIZATION);
        if (header == null) {
            return null;
        }
        if (header.regionMatches(true, 0, BEARER, 0, BEARER.length())) {
            return said("bearer", header.substring(BEARER.length()).strip());
        }
        if (header.regionMatches(true, 0, BASIC, 0, BASIC.length())) {
            return basic(header.substring(BASIC.length()).strip());
        }
        throw new BadCredentialsException("neither Bearer nor Basic");
    }

    private static Authentication basic(String encoded) {
        try {
            String both = new String(Base64.getDecoder().decode(encoded), StandardCharsets.UTF_8);
            int colon = both.indexOf(':');
            if (colon >= 0) {
                return said(both.substring(0, colon), both.substring(colon + 1));
            }
        } catch (IllegalArgumentException e) {
            // Said below, without what it was.
        }
        throw new BadCredentialsException("Basic without a password");
    }

    private static Authentication said(String who, String token) {
        return UsernamePasswordAuthenticationToken.unauthenticated(who, token);
    }
}
