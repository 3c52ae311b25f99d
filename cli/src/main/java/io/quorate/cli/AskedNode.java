// SPDX-License-Identifier: Apache-2.0
package io.quorate.cli;

import io.quorate.core.answer.Outcome;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.URISyntaxException;
import java.net.http.HttpClient;
import java.net.http.HttpConnectTimeoutException;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpTimeoutException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;

/** A node that is asked over HTTP, with the token that it wants of whoever changes something. */
public final class AskedNode {
    private static final Duration PATIENCE = Duration.ofSeconds(10);
    private static final Duration ANSWER = Duration.ofSeconds(60);
    /** Of a node that is asked how it is: it knows that without asking anybody, or it is in no state to answer. */
    private static final Duration STATE = Duration.ofSeconds(5);

    private static final String JSON = "application/json";
    private static final int UNAUTHORIZED = 401;
    private static final int NOT_FOUND = 404;
    private static final int OK = 200;
    private static final int PORT_MAX = 65535;

    private final String address;
    private final Credentials credentials;

    AskedNode(String address, Credentials credentials) {
        this.address = address.matches("https?://[^/]+/") ? address.substring(0, address.length() - 1) : address;
        this.credentials = credentials;
    }

    /**
     * A node of this machine.
     *
     * @param address {@code host:port}
     * @param tokenFile read whenever the node is asked; until it is there, the node is asked without a token
     */
    public static AskedNode local(String address, Path tokenFile) {
        return new AskedNode(address, Credentials.whenThere(tokenFile));
    }

    /** A node whose token is known. */
    public static AskedNode of(String address, String token) {
        return new AskedNode(address, Credentials.of(Map.of(Credentials.VARIABLE, token)));
    }

    /** {@code host:port}, or a whole URL without a path. */
    public String address() {
        return address;
    }

    /** What a request to it has as its header {@code Authorization}; null without a token. */
    public String authorization() {
        String token = credentials.token();
        return token == null ? null : "Bearer " + token;
    }

    /** Its answer, as it came. */
    String ask(String path) {
        return send(path, HttpRequest.newBuilder().GET(), ANSWER, JSON);
    }

    /** As above, of what it can say at once; whoever asks several nodes doesn't wait long for one that is frozen. */
    String askState(String path) {
        return send(path, HttpRequest.newBuilder().GET(), STATE, JSON);
    }

    /** Its answer where that is no JSON but plain text. */
    String askText(String path) {
        return send(path, HttpRequest.newBuilder().GET(), STATE, "text/plain");
    }

    /** Its answer. */
    <T> T ask(String path, Class<T> type) {
        return Answers.read(ask(path), type);
    }

    /**
     * Asks it to do something.
     *
     * @return its answer, as it came
     * @throws CommandException with the node's own words when it refuses
     */
    String post(String path, Map<String, String> what) {
        return post(path, what, ANSWER);
    }

    /**
     * As above.
     *
     * @param answer how long the answer may take
     */
    String post(String path, Map<String, String> what, Duration answer) {
        HttpRequest.Builder request = HttpRequest.newBuilder()
                .header("Content-Type", JSON)
                .POST(HttpRequest.BodyPublishers.ofString(Answers.write(what)));
        return done(send(path, request, answer, JSON));
    }

    /** Asks it to take something back; as {@link #post}. */
    String delete(String path) {
        return done(send(path, HttpRequest.newBuilder().DELETE(), ANSWER, JSON));
    }

    private String done(String answer) {
        Outcome outcome = Answers.read(answer, Outcome.class);
        if (!outcome.done()) {
            String why = outcome.refusal();
            throw new CommandException(why == null ? "the node at " + this + " refused, and doesn't say why" : why);
        }
        return answer;
    }

    private String send(String path, HttpRequest.Builder request, Duration limit, String accept) {
        String authorization = authorization();
        if (authorization != null) {
            request.header("Authorization", authorization);
        }
        URI uri = uri(path);
        try {
            HttpResponse<String> response = HttpClient.newBuilder()
                    .connectTimeout(PATIENCE)
                    .build()
                    .send(
                            request.uri(uri)
                                    .timeout(limit)
                                    .header("Accept", accept)
                                    .build(),
                            HttpResponse.BodyHandlers.ofString());
            String body = body(path, response, authorization != null);
            requireType(response, accept);
            return body;
        } catch (HttpConnectTimeoutException e) {
            throw new UncheckedIOException(silent(), e);
        } catch (HttpTimeoutException e) {
            throw new UncheckedIOException(
                    "the node at " + address + " takes connections and gives no answer within " + limit.toSeconds()
                            + " s: it is frozen, gets no time of the CPU, or speaks no HTTP there",
                    e);
        } catch (IOException e) {
            throw new UncheckedIOException(silent(), e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new CommandException("interrupted");
        }
    }

    private String silent() {
        return "no node answers at " + address + ": it is starting, is down, or has another address (--http)";
    }

    private URI uri(String path) {
        try {
            URI uri = new URI((address.contains("://") ? "" : "http://") + address + path);
            String scheme = uri.getScheme();
            if (uri.getHost() != null
                    && uri.getPort() <= PORT_MAX
                    && ("http".equals(scheme) || "https".equals(scheme))) {
                return uri;
            }
        } catch (URISyntaxException e) {
            // As below.
        }
        throw new CommandException(
                address + " is no address of a node: HOST:PORT, http://HOST:PORT or https://HOST:PORT");
    }

    private String body(String path, HttpResponse<String> response, boolean hadToken) {
        return switch (response.statusCode()) {
            case OK -> response.body();
            case NOT_FOUND -> throw new NotThereException("the node at " + address + " has nothing at " + path);
            case UNAUTHORIZED ->
                throw new CommandException("the node at " + address
                        + (hadToken ? " doesn't take this token (" + credentials + "). " : " wants its token. ")
                        + "It is in the file http.token of the node's data directory, or where its configuration"
                        + " says (quorate.http.token-file): name a copy of that file with --token-file, or set "
                        + Credentials.VARIABLE);
            default ->
                throw new CommandException(
                        "the node at " + address + " answers " + response.statusCode() + " " + response.body());
        };
    }

    /** Somebody else's answer isn't read as a node's. */
    private void requireType(HttpResponse<String> response, String accept) {
        String type = response.headers().firstValue("Content-Type").orElse(accept);
        if (accept.equals(JSON) && !type.contains("json")) {
            throw new CommandException("what answers at " + address + " is no node of Quorate's (it sends " + type
                    + "): name the node's server.port with --http");
        }
    }

    @Override
    public String toString() {
        return address;
    }
}
