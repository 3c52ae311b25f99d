// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.http;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.http.HttpHeaders;
import org.springframework.stereotype.Component;

/**
 * Answers requests that are refused, with the cause and the way out. Counts them all ({@code quorate.http.refused}) and
 * has one line a minute in the log, however many there are.
 */
@Component
class Refusing {
    private static final Logger log = LoggerFactory.getLogger(Refusing.class);
    private static final long LINE_NANOS = TimeUnit.MINUTES.toNanos(1);
    private static final int SHOWN_CHARACTERS_MAX = 100;

    /** Why a request is refused, with the status that says so. */
    enum Cause {
        CREDENTIALS(HttpServletResponse.SC_UNAUTHORIZED),
        HOST(421),
        ORIGIN(HttpServletResponse.SC_FORBIDDEN),
        SIZE(HttpServletResponse.SC_REQUEST_ENTITY_TOO_LARGE),
        SLOW(HttpServletResponse.SC_REQUEST_TIMEOUT);

        private final int status;

        Cause(int status) {
            this.status = status;
        }
    }

    private final Map<Cause, Counter> counters = new EnumMap<>(Cause.class);
    private long lineNanos = System.nanoTime() - LINE_NANOS;
    private long untold;

    Refusing(MeterRegistry meters) {
        for (Cause cause : Cause.values()) {
            counters.put(
                    cause,
                    Counter.builder("quorate.http.refused")
                            .description("requests over HTTP that were refused")
                            .tag("cause", cause.name().toLowerCase(Locale.ROOT))
                            .register(meters));
        }
    }

    /**
     * @param from address of whoever asks
     * @param text for him
     */
    void answer(HttpServletResponse response, Cause cause, String from, String text) throws IOException {
        counters.get(cause).increment();
        tell(from, text);
        byte[] body = (text + "\n").getBytes(StandardCharsets.UTF_8);
        response.setStatus(cause.status);
        response.setContentType("text/plain;charset=utf-8");
        response.setHeader(HttpHeaders.CACHE_CONTROL, "no-store");
        if (cause == Cause.CREDENTIALS) {
            response.setHeader(HttpHeaders.WWW_AUTHENTICATE, "Basic realm=\"quorate\", charset=\"UTF-8\"");
            response.addHeader(HttpHeaders.WWW_AUTHENTICATE, "Bearer realm=\"quorate\"");
        }
        response.setContentLength(body.length);
        response.getOutputStream().write(body);
        response.getOutputStream().flush();
    }

    private synchronized void tell(String from, String text) {
        long now = System.nanoTime();
        if (now - lineNanos < LINE_NANOS) {
            untold++;
            return;
        }
        log.warn("refused a request of {}: {}{}", from, text, untold == 0 ? "" : " (and " + untold + " before it)");
        lineNanos = now;
        untold = 0;
    }

    /** What somebody has sent, as far as it can be shown. */
    static String shown(String sent) {
        String clean = sent.replaceAll("[^\\x20-\\x7e]", "?");
        return clean.length() <= SHOWN_CHARACTERS_MAX ? clean : clean.substring(0, SHOWN_CHARACTERS_MAX) + "...";
    }
}
