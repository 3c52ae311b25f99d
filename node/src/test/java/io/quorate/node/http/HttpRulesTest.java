// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.quorate.node.http.RunningService.Answered;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.LoggerFactory;

/** Asks a service as it runs, over connections of its own. */
@Timeout(120)
class HttpRulesTest {
    private static final String SELF = "/actuator/cluster/self";
    private static final int SLOW = 20;

    @TempDir
    private static Path directory;

    private static RunningService service;

    @BeforeAll
    static void start() {
        service = new RunningService(
                directory.resolve("data"),
                "--server.address=0.0.0.0",
                "--quorate.http.hosts=db.example.org",
                "--management.endpoints.web.exposure.include=*",
                "--management.endpoint.env.show-values=always",
                "--management.endpoint.configprops.show-values=always",
                "--some.mysql.password=hunter2");
    }

    @AfterAll
    static void stop() {
        service.close();
    }

    @ParameterizedTest
    @ValueSource(strings = {SELF, "/actuator/members", "/actuator/prometheus", "/actuator/health/liveness"})
    void anybodyOnThisHostReads(String path) throws Exception {
        assertThat(service.get(path).status()).isEqualTo(200);
        assertThat(RunningService.send("127.0.0.1", service.port, "HEAD", path, "")
                        .status())
                .isEqualTo(200);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "POST   | members    | {\"action\":\"leave\",\"member\":\"n1\"}",
                "POST   | members    | {\"action\":\"desync\"}",
                "POST   | audit      | {\"action\":\"repair\",\"apply\":true}",
                "POST   | recovery   | {\"action\":\"force\",\"cluster\":\"http\"}",
                "POST   | transfer   | {\"action\":\"pause\"}",
                "POST   | heal       | {\"tables\":\"s.t\"}",
                "POST   | definition | {\"statement\":\"DROP TABLE s.t\",\"user\":\"root\"}",
                "POST   | drain      | {}",
                "DELETE | drain      | ''",
                "POST   | loggers/io.quorate | {\"configuredLevel\":\"OFF\"}",
                "OPTIONS | members   | ''"
            })
    void nobodyChangesAnythingWithoutTheToken(String method, String endpoint, String body) throws Exception {
        Answered answered = RunningService.send("127.0.0.1", service.port, method, "/actuator/" + endpoint, body);
        assertThat(answered.status()).isEqualTo(401);
        assertThat(answered.text())
                .contains("WWW-Authenticate: ", "http.token", "quorate.http.token-file", "QUORATE_TOKEN");
        assertThat(service.get(SELF).text()).contains("\"state\":\"ARBITRATOR\"");
    }

    @Test
    void whoHasTheTokenMayChangeThings() throws Exception {
        String resync = "{\"action\":\"resync\"}";
        assertThat(service.post("/actuator/members", resync, service.bearer()).status())
                .isEqualTo(200);
        assertThat(service.post("/actuator/members", resync, basic("anybody:" + service.token()))
                        .status())
                .isEqualTo(200);
    }

    private static String basic(String both) {
        return "Authorization: Basic " + Base64.getEncoder().encodeToString(both.getBytes(StandardCharsets.UTF_8));
    }

    @Test
    void aWrongTokenIsRefusedEvenWhereNoneIsNeeded() throws Exception {
        String token = service.token();
        for (String wrong : List.of(
                "Authorization: Bearer " + token.substring(1),
                "Authorization: Bearer " + token + "x",
                "Authorization: Bearer",
                "Authorization: Digest " + token,
                "Authorization: Basic %%%",
                basic(token),
                basic("quorate:"))) {
            assertThat(service.post("/actuator/members", "{\"action\":\"resync\"}", wrong)
                            .status())
                    .as(wrong)
                    .isEqualTo(401);
            assertThat(service.get(SELF, wrong).status()).as(wrong).isEqualTo(401);
        }
    }

    @Test
    void whoAsksFromElsewhereNeedsTheTokenToReadToo() throws Exception {
        InetAddress outer = RunningService.outerAddress();
        Assumptions.assumeTrue(outer != null, "this host has no address but loopback");
        String address = outer.getHostAddress();
        assertThat(RunningService.send(address, service.port, "GET", SELF, "").status())
                .isEqualTo(401);
        assertThat(RunningService.send(address, service.port, "GET", SELF, "", service.bearer())
                        .status())
                .isEqualTo(200);
    }

    @ParameterizedTest
    @ValueSource(strings = {"X-Forwarded-For: 127.0.0.1", "Forwarded: for=127.0.0.1", "Via: 1.1 proxy"})
    void whatAProxyOnThisHostPassesOnNeedsTheToken(String header) throws Exception {
        assertThat(service.get(SELF, header).status()).isEqualTo(401);
        assertThat(service.get(SELF, header, service.bearer()).status()).isEqualTo(200);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"evil.example", "evil.example:8080", "127.0.0.1.evil.example", "10.9.8.7", "localhost.evil"})
    void anotherNameThanTheNodesIsRefused(String host) throws Exception {
        Answered answered = service.get(SELF, "Host: " + host, service.bearer());
        assertThat(answered.status()).isEqualTo(421);
        assertThat(answered.text()).contains("quorate.http.hosts");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"localhost", "LOCALHOST:8080", "127.0.0.1", "[::1]:8080", "db.example.org", "db.example.org."})
    void theNodesOwnNamesAndThoseOfTheConfigurationAreAnswered(String host) throws Exception {
        assertThat(service.get(SELF, "Host: " + host).status()).isEqualTo(200);
    }

    @Test
    void pagesOfOtherSitesMayNotAsk() throws Exception {
        String resync = "{\"action\":\"resync\"}";
        for (String origin : List.of("http://evil.example", "null", "http://127.0.0.1:1", "file://")) {
            Answered answered = service.post("/actuator/members", resync, service.bearer(), "Origin: " + origin);
            assertThat(answered.status()).as(origin).isEqualTo(403);
        }
        for (String origin : List.of("http://127.0.0.1:" + service.port, "https://db.example.org")) {
            assertThat(service.post("/actuator/members", resync, service.bearer(), "Origin: " + origin)
                            .status())
                    .as(origin)
                    .isEqualTo(200);
        }
    }

    @Test
    void aLargeBodyIsRefused() throws Exception {
        String large = "{\"action\":\"" + "x".repeat(70_000) + "\"}";
        Answered answered = service.post("/actuator/members", large, service.bearer());
        assertThat(answered.status()).isEqualTo(413);
        assertThat(answered.text()).contains("65536 bytes");
    }

    @Test
    void whatSaysThatItIsHugeIsRefusedBeforeItComes() throws Exception {
        try (Socket socket = RunningService.open("127.0.0.1", service.port, head("Content-Length: 99999999"))) {
            assertThat(RunningService.answer(socket).status()).isEqualTo(413);
        }
    }

    @Test
    void aBodyInChunksIsTakenOrRefusedLikeAnother() throws Exception {
        String small = "13\r\n{\"action\":\"resync\"}\r\n0\r\n\r\n";
        try (Socket socket = RunningService.open(
                "127.0.0.1", service.port, head("Connection: close\r\nTransfer-Encoding: chunked") + small)) {
            assertThat(RunningService.answer(socket).status()).isEqualTo(200);
        }
        String chunk = "8000\r\n" + " ".repeat(0x8000) + "\r\n";
        try (Socket socket = RunningService.open(
                "127.0.0.1",
                service.port,
                head("Connection: close\r\nTransfer-Encoding: chunked") + chunk.repeat(3) + "0\r\n\r\n")) {
            assertThat(RunningService.answer(socket).status()).isEqualTo(413);
        }
    }

    private static String head(String more) throws Exception {
        return "POST /actuator/members HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
                + service.bearer() + "\r\n" + more + "\r\n\r\n";
    }

    @Test
    void slowBodiesKeepNobodyFromAnAnswerAndEndThemselves() throws Exception {
        List<Socket> slow = new ArrayList<>();
        try {
            for (int i = 0; i < SLOW; i++) {
                // Half of them don't say who they are.
                String head = i % 2 == 0
                        ? head("Content-Length: 1000")
                        : head("Content-Length: 1000").replaceFirst("Authorization:.*\r\n", "");
                slow.add(RunningService.open("127.0.0.1", service.port, head + "{"));
            }
            for (int i = 0; i < SLOW; i++) {
                assertThat(service.get("/actuator/health/liveness").status()).isEqualTo(200);
                assertThat(probe("/livez").status()).isEqualTo(200);
            }
            assertThat(service.post("/actuator/members", "{\"action\":\"resync\"}", service.bearer())
                            .status())
                    .isEqualTo(200);
            for (Socket each : slow) {
                assertThat(RunningService.answer(each).status()).isEqualTo(408);
            }
        } finally {
            for (Socket each : slow) {
                each.close();
            }
        }
    }

    private static Answered probe(String path) throws Exception {
        return RunningService.send("127.0.0.1", service.probePort, "GET", path, "");
    }

    @Test
    void probesSayWhatAnArbitratorCanDo() throws Exception {
        while (probe("/readyz").status() != 200) {
            Thread.sleep(20);
        }
        assertThat(probe("/livez").text()).contains("200 OK", "ARBITRATOR");
        assertThat(probe("/ready/read").status()).isEqualTo(503);
        assertThat(probe("/ready/write").status()).isEqualTo(503);
        assertThat(probe(SELF).status()).isEqualTo(404);
    }

    @Test
    void actuatorHasNoSecondPortWithoutTheseRules(@TempDir Path other) {
        assertThatThrownBy(() -> new RunningService(other.resolve("data"), "--management.server.port=0"))
                .rootCause()
                .hasMessageContaining("leave out management.server.port");
    }

    @Test
    void whereReadingIsNotFreeItNeedsTheTokenToo(@TempDir Path other) throws Exception {
        try (RunningService strict = new RunningService(other.resolve("data"), "--quorate.http.loopback-reads=false")) {
            assertThat(strict.get(SELF).status()).isEqualTo(401);
            assertThat(strict.get(SELF, strict.bearer()).status()).isEqualTo(200);
        }
    }

    @Test
    void refusalsAreCounted() throws Exception {
        service.post("/actuator/members", "{\"action\":\"desync\"}");
        assertThat(service.get("/actuator/prometheus").text())
                .containsPattern("quorate_http_refused_total\\{cause=\"credentials\"} [1-9]");
    }

    @Test
    void refusalsHaveOneLineAMinuteInTheLogWithoutWhatWasSent() throws Exception {
        Logger log = (Logger) LoggerFactory.getLogger(Refusing.class);
        ListAppender<ILoggingEvent> lines = new ListAppender<>();
        lines.start();
        log.addAppender(lines);
        try {
            for (int i = 0; i < 20; i++) {
                assertThat(service.get(SELF, "Authorization: Bearer not-the-token-" + i)
                                .status())
                        .isEqualTo(401);
            }
        } finally {
            log.detachAppender(lines);
        }
        assertThat(lines.list).hasSizeLessThanOrEqualTo(1);
        assertThat(lines.list).noneMatch(line -> line.getFormattedMessage().contains("not-the-token"));
    }

    @Test
    void endpointsThatShowTheConfigurationShowNoSecrets() throws Exception {
        String environment = service.get("/actuator/env").text();
        assertThat(environment).contains("some.mysql.password", "******").doesNotContain("hunter2");
        assertThat(service.get("/actuator/configprops").text()).doesNotContain(service.token());
        assertThat(environment).doesNotContain(service.token());
    }
}
