// SPDX-License-Identifier: Apache-2.0
package io.quorate.sandbox;

import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** {@code quorate audit}: whether all nodes have the same rows, which differ, and putting them right. */
@Command(
        name = "audit",
        description =
                "Whether all nodes have the same rows, while they are written to; which differ; putting them right.",
        mixinStandardHelpOptions = true)
final class AuditCommand implements Runnable {
    private static final String PATH = "/actuator/audit";

    @Spec
    private CommandSpec spec;

    @Mixin
    private NodeAddress nodes;

    @Override
    public void run() {
        status();
    }

    @Command(
            description = "Has a node compare all servers: the one named, or the sandbox's first that runs.",
            mixinStandardHelpOptions = true)
    int start(@Option(names = "--table", paramLabel = "SCHEMA.TABLE", description = "only this one") String table) {
        Map<String, String> what = new LinkedHashMap<>(Map.of("action", "start"));
        if (table != null) {
            what.put("table", table);
        }
        NodeAddress.post(nodes.all().get(0), PATH, what);
        return 0;
    }

    @Command(description = "Ends what start began.", mixinStandardHelpOptions = true)
    int stop() {
        NodeAddress.post(owner(), PATH, Map.of("action", "stop"));
        return 0;
    }

    @Command(
            description = "How far it is, and what it has found. 1 when there are differences.",
            mixinStandardHelpOptions = true)
    int status() {
        String body = nodes.ask(owner(), PATH);
        PrintWriter out = spec.commandLine().getOut();
        JsonNode answer = JsonMapper.shared().readTree(body);
        JsonNode audit = answer.path("audit");
        if (nodes.json()) {
            out.println(body);
        } else if (!audit.isObject()) {
            out.println("no audit was done; quorate audit start");
        } else {
            print(out, answer, audit);
        }
        return audit.path("found").asLong() > 0 ? 1 : 0;
    }

    private static void print(PrintWriter out, JsonNode answer, JsonNode audit) {
        boolean running = audit.path("ended").isNull();
        out.printf(
                "%s, begun %s%s by %s: %d rows of %d of %d tables compared on %s%n",
                running ? "running" : audit.path("stopped").asBoolean() ? "stopped" : "complete",
                audit.path("started").asString(),
                running ? "" : ", ended " + audit.path("ended").asString(),
                answer.path("node").asString(),
                audit.path("rows").asLong(),
                audit.path("tablesDone").asInt(),
                audit.path("tables").asInt(),
                String.join(", ", strings(audit.path("nodes"))));
        if (running && audit.path("table").isString()) {
            long toDo = Math.max(
                    0, audit.path("rowsToDo").asLong() - audit.path("rows").asLong());
            out.printf("  is at %s, about %d rows to do%n", audit.path("table").asString(), toDo);
        }
        if (!answer.path("waitsFor").asString("").isEmpty()) {
            out.println("  waits: " + answer.path("waitsFor").asString());
        }
        audit.path("left")
                .properties()
                .forEach(e -> out.printf(
                        "  not audited: %s, %s%n", e.getKey(), e.getValue().asString()));
        audit.path("missed")
                .properties()
                .forEach(e -> out.printf(
                        "  %s could not be asked for %d stretches; audit again when it is SYNCED%n",
                        e.getKey(), e.getValue().asLong()));
        long found = audit.path("found").asLong();
        out.println(found == 0 ? "  no difference" : "  " + found + " differences: quorate audit show");
    }

    @Command(
            description = "What differs: each row as each node has it, and which node is the odd one.",
            mixinStandardHelpOptions = true)
    int show() {
        String body = nodes.ask(owner(), PATH);
        PrintWriter out = spec.commandLine().getOut();
        if (nodes.json()) {
            out.println(body);
            return 0;
        }
        JsonNode audit = JsonMapper.shared().readTree(body).path("audit");
        for (JsonNode difference : audit.path("differences")) {
            out.println(difference.path("identity").isNull() ? definition(difference) : row(difference));
        }
        long more = audit.path("found").asLong() - audit.path("differences").size();
        if (more > 0) {
            out.println("and " + more + " more");
        }
        return 0;
    }

    private static String definition(JsonNode difference) {
        StringBuilder text =
                new StringBuilder("table " + difference.path("table").asString() + " differs");
        difference.path("versions").properties().forEach(e -> text.append("\n  ")
                .append(e.getKey())
                .append(": ")
                .append(e.getValue().asString()));
        return text.toString();
    }

    private static String row(JsonNode difference) {
        StringBuilder text = new StringBuilder(difference.path("table").asString());
        JsonNode rows = difference.path("rows");
        String right = difference.path("right").asString(null);
        List<String> odd = new ArrayList<>();
        difference.path("versions").properties().forEach(e -> {
            if (right != null && !e.getValue().asString().equals(right)) {
                odd.add(e.getKey());
            }
        });
        text.append(": ").append(odd.isEmpty() ? "no majority has the same row" : "odd is " + String.join(", ", odd));
        if (!difference.path("outcome").isNull()) {
            text.append("; ").append(difference.path("outcome").asString());
        }
        Set<String> columns = differing(rows);
        difference.path("versions").properties().forEach(e -> {
            text.append("\n  ").append(e.getKey()).append(": ");
            JsonNode values = rows.path(e.getKey());
            if (e.getValue().asString().equals("absent")) {
                text.append("no such row");
            } else if (values.isObject()) {
                List<String> line = new ArrayList<>();
                values.properties()
                        .forEach(v -> line.add((columns.contains(v.getKey()) ? "*" : "") + v.getKey() + "="
                                + (v.getValue().isNull() ? "NULL" : v.getValue().asString())));
                text.append(String.join(", ", line));
            } else {
                text.append(e.getValue().asString());
            }
        });
        return text.toString();
    }

    /** The columns in which the nodes' rows differ. */
    private static Set<String> differing(JsonNode rows) {
        Map<String, Set<String>> values = new LinkedHashMap<>();
        rows.properties().forEach(row -> row.getValue().properties().forEach(v -> values.computeIfAbsent(
                        v.getKey(), any -> new LinkedHashSet<>())
                .add(v.getValue().toString())));
        values.values().removeIf(each -> each.size() < 2);
        return values.keySet();
    }

    @Command(
            description =
                    "Says how rows would be put right on the nodes that differ from the majority; with --apply does it.",
            mixinStandardHelpOptions = true)
    int repair(
            @Option(names = "--apply", description = "do it") boolean apply,
            @Option(names = "--trust", paramLabel = "NODE", description = "whose rows are right, where no majority is")
                    String trusted) {
        Map<String, String> what = new LinkedHashMap<>(Map.of("action", "repair", "apply", Boolean.toString(apply)));
        if (trusted != null) {
            what.put("trusted", trusted);
        }
        JsonNode answer = NodeAddress.post(owner(), PATH, what);
        PrintWriter out = spec.commandLine().getOut();
        if (nodes.json()) {
            out.println(answer);
            return 0;
        }
        for (JsonNode difference : answer.path("differences")) {
            out.printf(
                    "%s %s: %s%n",
                    difference.path("table").asString(),
                    difference.path("identity").asString("(the table)"),
                    difference.path("outcome").asString());
        }
        if (!apply) {
            out.println("nothing was changed; --apply does it");
        }
        return 0;
    }

    /** The node named; else the one of the sandbox that runs an audit or ran the latest. */
    private String owner() {
        List<String> all = nodes.all();
        String owner = all.get(0);
        String latest = "";
        for (String host : all) {
            String started = JsonMapper.shared()
                    .readTree(nodes.ask(host, PATH))
                    .path("audit")
                    .path("started")
                    .asString("");
            if (started.compareTo(latest) > 0) {
                latest = started;
                owner = host;
            }
        }
        return owner;
    }

    private static List<String> strings(JsonNode array) {
        List<String> strings = new ArrayList<>();
        array.forEach(each -> strings.add(each.asString()));
        return strings;
    }
}
