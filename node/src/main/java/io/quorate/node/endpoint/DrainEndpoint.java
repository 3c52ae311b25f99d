// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.endpoint;

import io.quorate.core.answer.Outcome;
import io.quorate.node.server.Server;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.actuate.endpoint.annotation.DeleteOperation;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.actuate.endpoint.annotation.WriteOperation;
import org.springframework.stereotype.Component;

/** {@code /actuator/drain}: a POST empties this node's server of clients before mysqld is stopped. */
@Component
@Endpoint(id = "drain")
class DrainEndpoint {
    private static final int SECONDS_DEFAULT = 30;
    /** A request holds a thread while it waits, and there are few. */
    private static final int SECONDS_MAX = 3600;

    private final Server server;

    DrainEndpoint(Server server) {
        this.server = server;
    }

    /** @param seconds how long to wait for decisions, 30 if it is left out */
    @WriteOperation
    Outcome drain(@Nullable Integer seconds) throws InterruptedException {
        int limit = seconds == null ? SECONDS_DEFAULT : seconds;
        if (limit < 0 || limit > SECONDS_MAX) {
            // Before any client is disconnected.
            return Outcome.of("seconds: 0 to " + SECONDS_MAX + ", not " + limit);
        }
        return Outcome.of(server.drain(Duration.ofSeconds(limit)));
    }

    /** Lets clients connect again. */
    @DeleteOperation
    Outcome drainNoMore() {
        return Outcome.of(server.drainNoMore());
    }
}
