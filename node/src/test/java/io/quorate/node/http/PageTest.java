// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.http;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The page of a node that runs in the test's own process, as a browser gets it. */
@Timeout(120)
class PageTest {
    @TempDir
    private static Path directory;

    private static RunningService service;

    @BeforeAll
    static void start() {
        service = new RunningService(directory.resolve("data"), "--server.address=0.0.0.0");
    }

    @AfterAll
    static void stop() {
        service.close();
    }

    @ParameterizedTest
    @ValueSource(strings = {"/", "/quorate.js", "/quorate.css"})
    void itsFilesAreThere(String path) throws IOException {
        RunningService.Answered answer = service.get(path);
        assertThat(answer.status()).isEqualTo(200);
        assertThat(answer.text()).contains("X-Frame-Options: DENY");
    }

    /** Nothing of another site is loaded, and nothing that a node sends is run. */
    @Test
    void theBrowserIsToldToLoadNothingOfOthers() throws IOException {
        assertThat(service.get("/").text())
                .contains("content=\"default-src 'self'")
                .doesNotContain("http://", "https://", "onclick", "<style");
        assertThat(service.get("/quorate.js").text()).doesNotContain("innerHTML", "eval(", "document.write");
    }

    @Test
    void itIsToldOnceASecondHowTheClusterIs() throws Exception {
        HttpRequest request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + service.port + "/events"))
                .build();
        HttpResponse<InputStream> response =
                HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofInputStream());
        assertThat(response.headers().firstValue("Content-Type").orElse("")).startsWith("text/event-stream");
        try (BufferedReader lines =
                new BufferedReader(new InputStreamReader(response.body(), StandardCharsets.UTF_8))) {
            for (int look = 0; look < 2; look++) {
                JsonNode data = next(lines);
                assertThat(data.at("/members/health/sentence").asString()).isNotEmpty();
                assertThat(data.at("/cluster/cluster").asString()).isEqualTo("http");
                assertThat(data.at("/conflicts/conflicts").isArray()).isTrue();
                assertThat(data.has("transfer") && data.has("audit")).isTrue();
            }
        }
    }

    private static JsonNode next(BufferedReader lines) throws IOException {
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            if (line.startsWith("data:")) {
                return JsonMapper.shared().readTree(line.substring("data:".length()));
            }
        }
        throw new IOException("no event came");
    }

    @ParameterizedTest
    @ValueSource(strings = {"/", "/events", "/quorate.js"})
    void fromElsewhereItNeedsTheToken(String path) throws Exception {
        InetAddress outer = RunningService.outerAddress();
        Assumptions.assumeTrue(outer != null, "this host has no address but loopback");
        RunningService.Answered answer = RunningService.send(outer.getHostAddress(), service.port, "GET", path, "");
        assertThat(answer.status()).isEqualTo(401);
        assertThat(answer.text()).contains("Basic realm");
    }
}
