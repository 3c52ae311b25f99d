// SPDX-License-Identifier: Apache-2.0
package io.quorate.sandbox;

import io.quorate.cli.Answers;
import io.quorate.cli.AskedNode;
import io.quorate.core.answer.NodeStatus;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.Optional;
import tools.jackson.core.JacksonException;

/**
 * What a running service says about itself at {@code /actuator/cluster/self}.
 *
 * @param state as in the design: OPEN, CONNECTED, JOINER, JOINED, SYNCED, DONOR, ARBITRATOR, NON_PRIMARY, LEFT,
 *     INCONSISTENT
 * @param primaryComponent whether it has a majority
 * @param reason why it isn't SYNCED, or empty
 * @param slowed how much flow control slows its clients, for which node and why; or empty
 * @param lastOrdered seqno of the last writeset ordered that it knows of
 * @param lastApplied seqno up to which its server has everything
 * @param version of its server; null when it isn't known
 */
public record NodeReport(
        String state,
        boolean primaryComponent,
        String reason,
        String slowed,
        long lastOrdered,
        long lastApplied,
        String version) {
    static final String SYNCED = "SYNCED";
    static final String DONOR = "DONOR";
    static final String ARBITRATOR = "ARBITRATOR";
    static final String INCONSISTENT = "INCONSISTENT";

    private static final Duration PATIENCE = Duration.ofSeconds(2);
    private static final HttpClient HTTP =
            HttpClient.newBuilder().connectTimeout(PATIENCE).build();

    /** Whether it won't take part any more, whatever happens. */
    boolean isOut() {
        return state.equals(INCONSISTENT) || (state.equals("LEFT") && reason.startsWith("QRT-3010"));
    }

    /** Asks the service there; empty when it doesn't answer, or isn't ready to. */
    public static Optional<NodeReport> ask(AskedNode node) {
        HttpRequest.Builder request = HttpRequest.newBuilder(
                        URI.create("http://" + node.address() + "/actuator/cluster/self"))
                .timeout(PATIENCE)
                .header("Accept", "application/json");
        String authorization = node.authorization();
        if (authorization != null) {
            request.header("Authorization", authorization);
        }
        try {
            HttpResponse<String> response = HTTP.send(request.build(), HttpResponse.BodyHandlers.ofString());
            return response.statusCode() == 200 ? Optional.of(parse(response.body())) : Optional.empty();
        } catch (JacksonException | IOException e) {
            return Optional.empty();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return Optional.empty();
        }
    }

    static NodeReport parse(String body) {
        NodeStatus status = Answers.read(body, NodeStatus.class);
        return new NodeReport(
                status.state().isEmpty() ? "UNKNOWN" : status.state(),
                status.primaryComponent(),
                status.reason(),
                status.slowed(),
                status.lastOrdered(),
                status.lastApplied(),
                status.version());
    }

    /** What there is to be said about it besides its state; or empty. */
    String notice() {
        return reason.isEmpty() ? slowed : reason;
    }

    /** True also for a donor, which goes on serving, and for an arbitrator, which has nothing to apply. */
    public boolean isSynced() {
        return (state.equals(SYNCED) || state.equals(DONOR) || state.equals(ARBITRATOR)) && primaryComponent;
    }
}
