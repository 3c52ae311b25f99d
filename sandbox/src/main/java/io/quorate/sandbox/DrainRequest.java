// SPDX-License-Identifier: Apache-2.0
package io.quorate.sandbox;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;

/** Has a service empty its server of clients, before both are stopped: {@code POST /actuator/drain}. */
final class DrainRequest {
    private static final int SECONDS = 10;
    private static final Duration PATIENCE = Duration.ofSeconds(SECONDS + 5);

    private DrainRequest() {}

    /** Asks and waits; if the service can't, the server is stopped all the same. */
    static void send(String host, int httpPort) {
        HttpRequest request = HttpRequest.newBuilder(URI.create("http://" + host + ":" + httpPort + "/actuator/drain"))
                .timeout(PATIENCE)
                .header("Content-Type", "application/json")
                .POST(HttpRequest.BodyPublishers.ofString("{\"seconds\": " + SECONDS + "}"))
                .build();
        try {
            HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.discarding());
        } catch (IOException e) {
            // It doesn't answer, so it can't decide anything for its clients either.
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
