// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.http;

import jakarta.servlet.AsyncContext;
import jakarta.servlet.AsyncEvent;
import jakarta.servlet.AsyncListener;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.Filter;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ReadListener;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletInputStream;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletResponse;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.time.Duration;

/**
 * Receives a request's body before anything else looks at the request. What has come is taken when it comes, and no
 * thread waits for the rest: there are few of them, and a dozen clients that send slowly would hold them all. A body
 * that is large, or isn't complete in time, is refused. Then the request goes on with what {@link WholeBody} holds.
 */
final class WholeBodies implements Filter {
    /** Fifty times what any command sends; a statement of {@code quorate ddl} is the largest thing. */
    static final int BYTES_MAX = 64 << 10;

    /** Larger than that it is taken in all the same, so that whoever sends it hears why it is refused. */
    static final int TAKEN_BYTES_MAX = 1 << 20;

    static final Duration TIME_MAX = Duration.ofSeconds(5);

    private static final String BODY = WholeBodies.class.getName() + ".body";
    private static final int BUFFER_BYTES = 4096;

    private final Refusing refusing;

    WholeBodies(Refusing refusing) {
        this.refusing = refusing;
    }

    @Override
    public void doFilter(ServletRequest any, ServletResponse response, FilterChain chain)
            throws IOException, ServletException {
        HttpServletRequest request = (HttpServletRequest) any;
        if (request.getAttribute(BODY) instanceof byte[] body) {
            chain.doFilter(new WholeBody(request, body), response);
        } else if (request.getDispatcherType() != DispatcherType.REQUEST || !hasBody(request)) {
            chain.doFilter(request, response);
        } else if (request.getContentLengthLong() > TAKEN_BYTES_MAX) {
            refuseSize(request, (HttpServletResponse) response);
        } else {
            AsyncContext context = request.startAsync(request, response);
            context.setTimeout(TIME_MAX.toMillis());
            Reading reading = new Reading(context, request.getInputStream());
            context.addListener(reading);
            request.getInputStream().setReadListener(reading);
        }
    }

    private static boolean hasBody(HttpServletRequest request) {
        return request.getContentLengthLong() > 0 || request.getHeader("Transfer-Encoding") != null;
    }

    private void refuseSize(HttpServletRequest request, HttpServletResponse response) throws IOException {
        // What comes of it still is nobody's.
        response.setHeader("Connection", "close");
        refusing.answer(
                response,
                Refusing.Cause.SIZE,
                request.getRemoteAddr(),
                "a request has at most " + BYTES_MAX + " bytes; send less. What is larger than that belongs into a"
                        + " client of MySQL");
    }

    /** The body that is coming in. */
    private final class Reading implements ReadListener, AsyncListener {
        private final AsyncContext context;
        private final ServletInputStream in;
        private final ByteArrayOutputStream body = new ByteArrayOutputStream();
        private int taken;
        private boolean done;

        Reading(AsyncContext context, ServletInputStream in) {
            this.context = context;
            this.in = in;
        }

        @Override
        public synchronized void onDataAvailable() throws IOException {
            byte[] buffer = new byte[BUFFER_BYTES];
            while (!done && in.isReady() && !in.isFinished()) {
                int read = in.read(buffer);
                taken += Math.max(read, 0);
                if (taken > TAKEN_BYTES_MAX) {
                    refuse();
                } else if (taken <= BYTES_MAX && read > 0) {
                    body.write(buffer, 0, read);
                }
            }
        }

        @Override
        public synchronized void onAllDataRead() throws IOException {
            if (!done && taken > BYTES_MAX) {
                refuse();
            } else if (!done) {
                done = true;
                context.getRequest().setAttribute(BODY, body.toByteArray());
                context.dispatch();
            }
        }

        @Override
        public synchronized void onError(Throwable e) {
            // Whoever sent it is gone.
            end();
        }

        private void refuse() throws IOException {
            refuseSize((HttpServletRequest) context.getRequest(), (HttpServletResponse) context.getResponse());
            end();
        }

        private void end() {
            if (!done) {
                done = true;
                context.complete();
            }
        }

        @Override
        public synchronized void onTimeout(AsyncEvent event) throws IOException {
            if (done) {
                return;
            }
            HttpServletResponse response = (HttpServletResponse) context.getResponse();
            response.setHeader("Connection", "close");
            refusing.answer(
                    response,
                    Refusing.Cause.SLOW,
                    context.getRequest().getRemoteAddr(),
                    "the body of the request wasn't here after " + TIME_MAX.toSeconds() + " s; send it again");
            end();
        }

        @Override
        public void onError(AsyncEvent event) {
            onError(event.getThrowable());
        }

        @Override
        public void onComplete(AsyncEvent event) {}

        @Override
        public void onStartAsync(AsyncEvent event) {}
    }
}
