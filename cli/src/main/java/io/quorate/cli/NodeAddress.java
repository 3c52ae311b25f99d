// SPDX-License-Identifier: Apache-2.0
package io.quorate.cli;

import io.quorate.core.answer.Outcome;
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

/** The options of commands that ask a node, and the requests. */
final class NodeAddress {
    private static final Duration PATIENCE = Duration.ofSeconds(10);
    private static final Duration ANSWER = Duration.ofSeconds(60);

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

    private final LocalNodes local;

    NodeAddress(LocalNodes local) {
        this.local = local;
    }

    boolean json() {
        return output == Output.JSON;
    }

    /** The address given; otherwise those of the running nodes on this machine. */
    List<String> all() {
        return address != null ? List.of(address) : local.running(dir);
    }

    /** The first of them. */
    String first() {
        return all().get(0);
    }

    /**
     * The one that is meant, for what nobody wants done to another one.
     *
     * @param purpose what is to happen to it, for the question which node
     */
    String only(String purpose) {
        List<String> hosts = all();
        if (hosts.size() != 1) {
            throw new CommandException("which node? Name the one that is to " + purpose + " with --http HOST:PORT");
        }
        return hosts.get(0);
    }

    /** A node's answer, as it came. */
    static String ask(String host, String path) {
        return send(host, path, HttpRequest.newBuilder().GET(), ANSWER);
    }

    /** A node's answer. */
    static <T> T ask(String host, String path, Class<T> type) {
        return Answers.read(ask(host, path), type);
    }

    /**
     * Asks a node to do something.
     *
     * @return its answer, as it came
     * @throws CommandException with the node's own words when it refuses
     */
    static String post(String host, String path, Map<String, String> what) {
        return post(host, path, what, ANSWER);
    }

    /**
     * As above.
     *
     * @param answer how long the answer may take
     */
    static String post(String host, String path, Map<String, String> what, Duration answer) {
        return done(
                host,
                send(
                        host,
                        path,
                        HttpRequest.newBuilder()
                                .header("Content-Type", "application/json")
                                .POST(HttpRequest.BodyPublishers.ofString(Answers.write(what))),
                        answer));
    }

    /** Asks a node to take something back; as {@link #post}. */
    static String delete(String host, String path) {
        return done(host, send(host, path, HttpRequest.newBuilder().DELETE(), ANSWER));
    }

    private static String done(String host, String answer) {
        Outcome outcome = Answers.read(answer, Outcome.class);
        if (!outcome.done()) {
            String why = outcome.refusal();
            throw new CommandException(why == null ? "the node at " + host + " refused, and doesn't say why" : why);
        }
        return answer;
    }

    private static String send(String host, String path, HttpRequest.Builder request, Duration answer) {
        try {
            HttpResponse<String> response = HttpClient.newBuilder()
                    .connectTimeout(PATIENCE)
                    .build()
                    .send(
                            request.uri(URI.create("http://" + host + path))
                                    .timeout(answer)
                                    .header("Accept", "application/json")
                                    .build(),
                            HttpResponse.BodyHandlers.ofString());
            if (response.statusCode() == 404) {
                throw new CommandException("the node at " + host + " has nothing at " + path);
            }
            if (response.statusCode() != 200) {
                throw new CommandException(
                        "the node at " + host + " answers " + response.statusCode() + " " + response.body());
            }
            return response.body();
        } catch (IOException e) {
            throw new UncheckedIOException("no node answers at " + host + "; name one with --http", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new CommandException("interrupted");
        }
    }
}
