// SPDX-License-Identifier: Apache-2.0
package io.quorate.sandbox;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Option;
import picocli.CommandLine.ScopeType;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Options of commands that ask a node, and the asking. */
final class NodeAddress {
    private static final Duration PATIENCE = Duration.ofSeconds(10);

    @Option(
            names = "--http",
            scope = ScopeType.INHERIT,
            paramLabel = "HOST:PORT",
            description = "the node's HTTP address; by default the sandbox's")
    private String address;

    @Option(
            names = "--dir",
            scope = ScopeType.INHERIT,
            paramLabel = "D",
            description = "where the sandbox is kept; by default in the user's cache")
    private Path dir;

    @Option(names = "-o", scope = ScopeType.INHERIT, paramLabel = "text|json", description = "text by default")
    private Output output = Output.TEXT;

    boolean json() {
        return output == Output.JSON;
    }

    /** The address given; else the sandbox's nodes that run. */
    List<String> all() {
        if (address != null) {
            return List.of(address);
        }
        List<String> running = sandbox().nodes().stream()
                .filter(SandboxNode::isServiceAlive)
                .map(node -> node.host() + ":" + node.ports().http())
                .toList();
        if (running.isEmpty()) {
            throw new SandboxException("no node of the sandbox runs; start it, or name a node with --http");
        }
        return running;
    }

    private Sandbox sandbox() {
        return Sandbox.open(CacheDirectory.sandbox(dir), line -> {});
    }

    /** What the first of the nodes answers. */
    String ask(String path) {
        return ask(all().get(0), path);
    }

    String ask(String host, String path) {
        return send(host, path, HttpRequest.newBuilder().GET());
    }

    /**
     * Has a node change who is a member.
     *
     * @throws SandboxException with the node's own words when it refuses
     */
    static void change(String host, Map<String, String> what) {
        post(host, "/actuator/members", what);
    }

    /**
     * Has a node do something.
     *
     * @return what it says of it
     * @throws SandboxException with the node's own words when it refuses
     */
    static JsonNode post(String host, String path, Map<String, String> what) {
        JsonMapper json = JsonMapper.shared();
        JsonNode answer = json.readTree(send(
                host,
                path,
                HttpRequest.newBuilder()
                        .header("Content-Type", "application/json")
                        .POST(HttpRequest.BodyPublishers.ofString(json.writeValueAsString(what)))));
        if (!answer.path("done").asBoolean()) {
            throw new SandboxException(answer.path("refusal").asString());
        }
        return answer;
    }

    private static String send(String host, String path, HttpRequest.Builder request) {
        try {
            HttpResponse<String> response = HttpClient.newBuilder()
                    .connectTimeout(PATIENCE)
                    .build()
                    .send(
                            request.uri(URI.create("http://" + host + path))
                                    .timeout(Duration.ofSeconds(60))
                                    .header("Accept", "application/json")
                                    .build(),
                            HttpResponse.BodyHandlers.ofString());
            if (response.statusCode() == 404) {
                throw new SandboxException("the node at " + host + " has nothing at " + path);
            }
            if (response.statusCode() != 200) {
                throw new SandboxException(
                        "the node at " + host + " answers " + response.statusCode() + " " + response.body());
            }
            return response.body();
        } catch (IOException e) {
            throw new UncheckedIOException("no node answers at " + host + "; name one with --http", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new SandboxException("interrupted");
        }
    }
}
