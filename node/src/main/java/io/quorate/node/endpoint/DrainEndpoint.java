// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.endpoint;

import io.quorate.core.answer.Outcome;
import io.quorate.node.member.LastServer;
import io.quorate.node.member.Members;
import io.quorate.node.member.Membership;
import io.quorate.node.member.Standing;
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
    private final Standing standing;
    private final Members members;

    DrainEndpoint(Server server, Standing standing, Members members) {
        this.server = server;
        this.standing = standing;
        this.members = members;
    }

    /**
     * @param seconds how long to wait for decisions, 30 if it is left out
     * @param force also where no other server is open to clients. Two that are drained in the same second don't know of
     *     one another; {@code DELETE} takes it back.
     */
    @WriteOperation
    Outcome drain(@Nullable Integer seconds, @Nullable Boolean force) throws InterruptedException {
        int limit = seconds == null ? SECONDS_DEFAULT : seconds;
        if (limit < 0 || limit > SECONDS_MAX) {
            // Before any client is disconnected.
            return Outcome.of("seconds: 0 to " + SECONDS_MAX + ", not " + limit);
        }
        String last = Boolean.TRUE.equals(force) ? null : lastServer();
        if (last != null) {
            return Outcome.of(last);
        }
        return Outcome.of(server.drain(Duration.ofSeconds(limit)));
    }

    private @Nullable String lastServer() {
        Membership known = standing.membership();
        return LastServer.refusal(known.node(), known, members);
    }

    /** Lets clients connect again. */
    @DeleteOperation
    Outcome drainNoMore() {
        return Outcome.of(server.drainNoMore());
    }
}
