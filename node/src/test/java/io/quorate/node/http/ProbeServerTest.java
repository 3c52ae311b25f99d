// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.http;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(60)
class ProbeServerTest {
    private ProbeServer server;
    private int port;

    @BeforeEach
    void start() throws Exception {
        server = ProbeServer.start(
                new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
                path -> path.equals("/well") || path.equals("/ill")
                        ? new ProbeServer.Answer(path.equals("/well"), "SAID")
                        : null);
        port = server.address().getPort();
    }

    @AfterEach
    void stop() {
        server.close();
    }

    private RunningService.Answered send(String method, String path) throws Exception {
        return RunningService.send("127.0.0.1", port, method, path, "");
    }

    @Test
    void answersWithAStatusAndAWord() throws Exception {
        assertThat(send("GET", "/well").text()).startsWith("HTTP/1.1 200 ").endsWith("\r\n\r\nSAID\n");
        assertThat(send("GET", "/well?from=lb").status()).isEqualTo(200);
        assertThat(send("GET", "/ill").text()).startsWith("HTTP/1.1 503 ").endsWith("\r\n\r\nSAID\n");
        assertThat(send("HEAD", "/ill").text()).startsWith("HTTP/1.1 503 ").endsWith("\r\n\r\n");
        assertThat(send("GET", "/actuator").status()).isEqualTo(404);
    }

    @ParameterizedTest
    @ValueSource(strings = {"POST", "DELETE", "OPTIONS", "CONNECT"})
    void takesNothingElse(String method) throws Exception {
        assertThat(send(method, "/well").status()).isEqualTo(405);
        assertThat(RunningService.send("127.0.0.1", port, method, "/well", "x".repeat(100_000))
                        .status())
                .isEqualTo(405);
    }

    @Test
    void understandsTheOldestProbesToo() throws Exception {
        try (Socket socket = RunningService.open("127.0.0.1", port, "GET /well HTTP/1.0\r\n\r\n")) {
            assertThat(RunningService.answer(socket).status()).isEqualTo(200);
        }
    }

    @Test
    void refusesARequestWithoutAnEnd() throws Exception {
        try (Socket socket = RunningService.open("127.0.0.1", port, "GET /well HTTP/1.1\r\nX: " + "x".repeat(5000))) {
            assertThat(RunningService.answer(socket).status()).isEqualTo(431);
        }
    }

    @Test
    void answersWhoeverElseIsConnectedAndSaysNothing() throws Exception {
        List<Socket> silent = new ArrayList<>();
        try {
            for (int i = 0; i < ProbeServer.CONNECTIONS_MAX + 50; i++) {
                silent.add(RunningService.open("127.0.0.1", port, i % 2 == 0 ? "" : "GET /well HTTP/1.1\r\nX:"));
            }
            assertThat(send("GET", "/well").status()).isEqualTo(200);
            // The oldest has given way, and no connection lives long.
            for (Socket each : silent) {
                assertThat(RunningService.answer(each).status()).isZero();
            }
        } finally {
            for (Socket each : silent) {
                each.close();
            }
        }
    }
}
