// SPDX-License-Identifier: Apache-2.0
package io.quorate.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.WebSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;
import java.util.stream.Stream;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * A Chromium without a window, with one page in it, that is told what to do by its DevTools protocol
 * (chromedevtools.github.io/devtools-protocol).
 */
final class Browser implements AutoCloseable {
    private static final Duration LIMIT = Duration.ofSeconds(60);
    private static final JsonMapper JSON = JsonMapper.shared();

    private final Process process;
    private final WebSocket socket;
    private final AtomicInteger last = new AtomicInteger();
    private final Map<Integer, CompletableFuture<JsonNode>> open = new ConcurrentHashMap<>();
    private final List<String> complaints = new CopyOnWriteArrayList<>();

    private Browser(Process process, URI page) {
        this.process = process;
        this.socket = HttpClient.newHttpClient()
                .newWebSocketBuilder()
                .buildAsync(page, new Hearing())
                .orTimeout(LIMIT.toSeconds(), TimeUnit.SECONDS)
                .join();
    }

    /** What {@code -Dquorate.chromium} names, else Chromium where programs are looked for; null where there is none. */
    static String program() {
        String named = System.getProperty("quorate.chromium");
        if (named != null) {
            return named;
        }
        return Stream.of(System.getenv("PATH").split(File.pathSeparator))
                .map(directory -> Path.of(directory, "chromium"))
                .filter(Files::isExecutable)
                .map(Path::toString)
                .findFirst()
                .orElse(null);
    }

    /**
     * @param program path of Chromium
     * @param directory for its profile
     */
    static Browser start(String program, Path directory) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(
                        program,
                        "--headless",
                        "--no-sandbox",
                        "--disable-gpu",
                        "--hide-scrollbars",
                        "--remote-debugging-port=0",
                        "--remote-allow-origins=*",
                        "--user-data-dir=" + directory,
                        "about:blank")
                .redirectErrorStream(true)
                .redirectOutput(directory.resolve("log").toFile())
                .start();
        boolean complete = false;
        try {
            Path told = directory.resolve("DevToolsActivePort");
            for (long end = System.nanoTime() + LIMIT.toNanos(); !Files.exists(told) || Files.size(told) == 0; ) {
                assertThat(process.isAlive() && System.nanoTime() < end)
                        .as("Chromium is there: %s", Files.readString(directory.resolve("log")))
                        .isTrue();
                Thread.sleep(50);
            }
            Browser browser = new Browser(process, page(Files.readAllLines(told).get(0)));
            browser.ask("Page.enable", Map.of());
            browser.ask("Runtime.enable", Map.of());
            browser.ask("Log.enable", Map.of());
            complete = true;
            return browser;
        } finally {
            if (!complete) {
                process.destroyForcibly();
            }
        }
    }

    private static URI page(String port) throws IOException, InterruptedException {
        HttpRequest request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/json"))
                .build();
        String all = HttpClient.newHttpClient()
                .send(request, HttpResponse.BodyHandlers.ofString())
                .body();
        for (JsonNode each : JSON.readTree(all)) {
            if (each.at("/type").asString().equals("page")) {
                return URI.create(each.at("/webSocketDebuggerUrl").asString());
            }
        }
        throw new IOException("no page in " + all);
    }

    /** What the page has complained of: exceptions, and what was refused to it. */
    List<String> complaints() {
        return complaints;
    }

    void look(int width, int height, boolean dark) {
        ask(
                "Emulation.setDeviceMetricsOverride",
                Map.of("width", width, "height", height, "deviceScaleFactor", 1, "mobile", false));
        ask(
                "Emulation.setEmulatedMedia",
                Map.of("features", List.of(Map.of("name", "prefers-color-scheme", "value", dark ? "dark" : "light"))));
    }

    void open(String url) {
        ask("Page.navigate", Map.of("url", url));
    }

    /** What an expression comes to, as text. */
    String evaluate(String expression) {
        JsonNode answer = ask("Runtime.evaluate", Map.of("expression", expression, "returnByValue", true));
        return answer.at("/result/value").asString();
    }

    /** Presses Enter where the page has its focus. */
    void pressEnter() {
        for (String type : List.of("keyDown", "keyUp")) {
            ask(
                    "Input.dispatchKeyEvent",
                    Map.of("type", type, "key", "Enter", "code", "Enter", "windowsVirtualKeyCode", 13, "text", "\r"));
        }
    }

    /** Waits until it comes to what is wanted. */
    void await(String expression, Predicate<String> wanted) throws InterruptedException {
        String[] now = {""};
        assertThat(Cluster.within(Cluster.LIMIT, () -> {
                    now[0] = evaluate(expression);
                    return wanted.test(now[0]);
                }))
                .as(() -> now[0])
                .isTrue();
    }

    void picture(Path file) throws IOException {
        JsonNode answer = ask("Page.captureScreenshot", Map.of("format", "png"));
        Files.createDirectories(file.toAbsolutePath().getParent());
        Files.write(file, Base64.getDecoder().decode(answer.at("/data").asString()));
    }

    private JsonNode ask(String method, Map<String, ?> parameters) {
        int id = last.incrementAndGet();
        CompletableFuture<JsonNode> answer = new CompletableFuture<>();
        open.put(id, answer);
        String text = JSON.writeValueAsString(Map.of("id", id, "method", method, "params", parameters));
        socket.sendText(text, true).join();
        JsonNode whole = answer.orTimeout(LIMIT.toSeconds(), TimeUnit.SECONDS).join();
        assertThat(whole.has("error")).as("%s: %s", method, whole).isFalse();
        return whole.at("/result");
    }

    private void hear(String message) {
        JsonNode said = JSON.readTree(message);
        if (said.has("id")) {
            open.remove(said.at("/id").asInt()).complete(said);
            return;
        }
        String method = said.at("/method").asString();
        boolean complains = method.equals("Runtime.exceptionThrown")
                || (method.equals("Log.entryAdded")
                        && said.at("/params/entry/level").asString().equals("error"));
        if (complains) {
            complaints.add(message);
        }
    }

    /** Puts the parts of each message together. */
    private final class Hearing implements WebSocket.Listener {
        private final StringBuilder parts = new StringBuilder();

        @Override
        public CompletionStage<?> onText(WebSocket from, CharSequence part, boolean isLast) {
            parts.append(part);
            if (isLast) {
                hear(parts.toString());
                parts.setLength(0);
            }
            from.request(1);
            return null;
        }
    }

    @Override
    public void close() {
        socket.abort();
        process.descendants().forEach(ProcessHandle::destroyForcibly);
        process.destroyForcibly();
        try {
            process.waitFor(LIMIT.toSeconds(), TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new UncheckedIOException(new IOException(e));
        }
    }
}
