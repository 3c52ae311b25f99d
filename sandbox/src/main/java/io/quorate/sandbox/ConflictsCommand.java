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
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ScopeType;
import picocli.CommandLine.Spec;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** {@code quorate conflicts}: a node's journal of transactions that lost. */
@Command(
        name = "conflicts",
        description = "Transactions that lost against another: which rows, against whom, undone or not.",
        mixinStandardHelpOptions = true)
final class ConflictsCommand implements Runnable {
    private static final Duration PATIENCE = Duration.ofSeconds(10);

    @Spec
    private CommandSpec spec;

    @Option(
            names = "--http",
            scope = ScopeType.INHERIT,
            paramLabel = "HOST:PORT",
            description = "the node's HTTP address; by default the sandbox's first node")
    private String address;

    @Option(
            names = "--dir",
            scope = ScopeType.INHERIT,
            paramLabel = "D",
            description = "where the sandbox is kept; by default in the user's cache")
    private Path dir;

    @Option(names = "-o", scope = ScopeType.INHERIT, paramLabel = "text|json", description = "text by default")
    private Output output = Output.TEXT;

    @Override
    public void run() {
        list(20);
    }

    @Command(description = "The latest, newest first.", mixinStandardHelpOptions = true)
    int list(
            @Option(names = "--limit", paramLabel = "N", defaultValue = "20", description = "how many (default: 20)")
                    int limit) {
        String body = ask("/actuator/conflicts?limit=" + limit);
        if (output == Output.JSON) {
            spec.commandLine().getOut().println(body);
            return 0;
        }
        JsonNode answer = JsonMapper.shared().readTree(body);
        for (JsonNode m : answer.path("mismatches")) {
            spec.commandLine()
                    .getOut()
                    .printf(
                            "%s  INCONSISTENT: %s%n",
                            m.get("at").asString(), m.get("what").asString());
        }
        JsonNode conflicts = answer.get("conflicts");
        for (JsonNode c : conflicts) {
            spec.commandLine()
                    .getOut()
                    .printf(
                            "%d  %s  %s lost %s  %s%n",
                            c.get("seqno").asLong(),
                            c.get("committed").asString(),
                            c.get("loser").asString(),
                            c.get("winner").isNull()
                                    ? "(" + c.get("verdict").asString() + ")"
                                    : "against " + c.get("winner").asString() + " on " + met(c.get("met")),
                            c.get("undone").asString());
        }
        if (conflicts.isEmpty()) {
            spec.commandLine().getErr().println("no transaction has lost");
        }
        return 0;
    }

    @Command(description = "All of one: both transactions with their rows.", mixinStandardHelpOptions = true)
    int show(@Parameters(paramLabel = "SEQNO", description = "as list shows it") long seqno) {
        String body = ask("/actuator/conflicts/" + seqno);
        if (output == Output.JSON) {
            spec.commandLine().getOut().println(body);
            return 0;
        }
        JsonNode c = JsonMapper.shared().readTree(body);
        var out = spec.commandLine().getOut();
        out.printf(
                "seqno %d: %s, %s%n",
                seqno, c.get("verdict").asString(), c.get("undone").asString());
        if (!c.get("met").isEmpty()) {
            out.printf("both wrote %s%n", met(c.get("met")));
        }
        print("lost", c.get("loser"));
        if (!c.get("winner").isNull()) {
            print(c.get("verdict").asString().equals("BUILT_ON_FAILED") ? "was built on" : "won", c.get("winner"));
        }
        return 0;
    }

    private void print(String role, JsonNode transaction) {
        var out = spec.commandLine().getOut();
        String account = transaction.get("account").isNull()
                ? ""
                : " (" + transaction.get("account").asString() + ")";
        out.printf(
                "%s: %s, seqno %d, committed %s by session %d%s, %d rows%n",
                role,
                transaction.get("gtid").asString(),
                transaction.get("seqno").asLong(),
                transaction.get("committed").asString(),
                transaction.get("session").asLong(),
                account,
                transaction.get("rowCount").asLong());
        if (!transaction.get("statement").isNull()) {
            out.printf("  %s%n", transaction.get("statement").asString());
        }
        for (JsonNode row : transaction.get("rows")) {
            out.printf(
                    "  %s  %s -> %s%n",
                    row.get("table").asString(), values(row.get("before")), values(row.get("after")));
        }
    }

    private static String met(JsonNode met) {
        List<String> all = new ArrayList<>();
        for (JsonNode m : met) {
            all.add(m.get("table").asString() + " " + m.get("key").asString() + " " + values(m.get("values")));
        }
        return all.isEmpty() ? "keys that its rows don't show" : String.join(", ", all);
    }

    private static String values(JsonNode values) {
        if (values.isNull()) {
            return "(none)";
        }
        List<String> all = new ArrayList<>();
        for (Map.Entry<String, JsonNode> e : values.properties()) {
            all.add(e.getKey() + "="
                    + (e.getValue().isNull() ? "NULL" : e.getValue().asString()));
        }
        return "(" + String.join(", ", all) + ")";
    }

    private String ask(String path) {
        String host = address != null ? address : ofSandbox();
        try {
            HttpResponse<String> response = HttpClient.newBuilder()
                    .connectTimeout(PATIENCE)
                    .build()
                    .send(
                            HttpRequest.newBuilder(URI.create("http://" + host + path))
                                    .timeout(PATIENCE)
                                    .header("Accept", "application/json")
                                    .build(),
                            HttpResponse.BodyHandlers.ofString());
            if (response.statusCode() == 404) {
                throw new SandboxException("the node at " + host + " has nothing of that seqno in its journal");
            }
            if (response.statusCode() != 200) {
                throw new SandboxException("the node at " + host + " answers " + response.statusCode());
            }
            return response.body();
        } catch (IOException e) {
            throw new UncheckedIOException("no node answers at " + host + "; name one with --http", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new SandboxException("interrupted");
        }
    }

    private String ofSandbox() {
        Sandbox sandbox = Sandbox.open(CacheDirectory.sandbox(dir), line -> {});
        SandboxNode first = sandbox.nodes().get(0);
        return first.host() + ":" + first.ports().http();
    }
}
