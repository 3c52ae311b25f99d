// SPDX-License-Identifier: Apache-2.0
package io.quorate.cli;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;

/** Answers as a node's endpoints do, with what a test lays down. */
final class FakeNode implements AutoCloseable {
    private final HttpServer server;
    private final Map<String, String> answers = new ConcurrentHashMap<>();
    private final Map<String, String> outcomes = new ConcurrentHashMap<>();
    private final List<String> posted = new CopyOnWriteArrayList<>();
    private volatile String token;
    private volatile String type;

    FakeNode() {
        try {
            server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        server.createContext("/", this::serve);
        server.start();
    }

    String address() {
        return "127.0.0.1:" + server.getAddress().getPort();
    }

    /** To a GET of {@code /actuator/PATH}. */
    FakeNode answers(String path, String body) {
        answers.put("/actuator/" + path, body);
        return this;
    }

    /** Sends that as the type of its answers from now on. */
    FakeNode type(String aType) {
        type = aType;
        return this;
    }

    /** Answers nobody else from now on. */
    FakeNode wants(String aToken) {
        token = aToken;
        return this;
    }

    /** To a POST. */
    FakeNode refuses(String path, String why) {
        return outcome(path, "{\"done\":false,\"refusal\":\"" + why + "\"}");
    }

    /** To a POST. */
    FakeNode outcome(String path, String body) {
        outcomes.put("/actuator/" + path, body);
        return this;
    }

    /** Bodies of all POSTs so far. */
    List<String> posted() {
        return posted;
    }

    private void serve(HttpExchange exchange) throws IOException {
        String said = exchange.getRequestHeaders().getFirst("Authorization");
        if (token != null && !("Bearer " + token).equals(said)) {
            exchange.sendResponseHeaders(401, -1);
            exchange.close();
            return;
        }
        String path = exchange.getRequestURI().toString();
        String body;
        if (exchange.getRequestMethod().equals("POST")) {
            posted.add(new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8));
            body = outcomes.getOrDefault(path, "{\"done\":true,\"refusal\":null}");
        } else {
            body = answers.get(path);
        }
        byte[] bytes = body == null ? new byte[0] : body.getBytes(StandardCharsets.UTF_8);
        if (type != null) {
            exchange.getResponseHeaders().set("Content-Type", type);
        }
        exchange.sendResponseHeaders(body == null ? 404 : 200, bytes.length == 0 ? -1 : bytes.length);
        exchange.getResponseBody().write(bytes);
        exchange.close();
    }

    @Override
    public void close() {
        server.stop(0);
    }
}
