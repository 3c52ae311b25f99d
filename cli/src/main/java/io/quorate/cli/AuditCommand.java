// SPDX-License-Identifier: Apache-2.0
package io.quorate.cli;

import io.quorate.core.answer.AuditAnswer;
import io.quorate.core.answer.AuditAnswer.Audit;
import io.quorate.core.answer.AuditOutcome;
import io.quorate.core.answer.ClusterAnswer;
import io.quorate.core.answer.Difference;
import io.quorate.core.answer.NodeStatus;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code quorate audit}: whether all nodes have the same rows, which rows differ, and their repair. */
@Command(
        name = "audit",
        description = "Compares the rows of all nodes while they are written to, shows which differ, and repairs them.",
        mixinStandardHelpOptions = true)
final class AuditCommand implements Runnable {
    private static final String PATH = "/actuator/audit";
    private static final String NONE = "no audit was done; quorate audit start";

    @Spec
    private CommandSpec spec;

    @Mixin
    private NodeAddress nodes;

    @Override
    public void run() {
        status();
    }

    @Command(
            description = "Has a node compare all servers: the one named, or the first running node of the sandbox.",
            mixinStandardHelpOptions = true)
    int start(@Option(names = "--table", paramLabel = "SCHEMA.TABLE", description = "only this one") String table) {
        Map<String, String> what = new LinkedHashMap<>(Map.of("action", "start"));
        if (table != null) {
            what.put("table", table);
        }
        nodes.first().post(PATH, what);
        return 0;
    }

    @Command(description = "Ends what start began.", mixinStandardHelpOptions = true)
    int stop() {
        owner().post(PATH, Map.of("action", "stop"));
        return 0;
    }

    @Command(
            description = "Shows how far the audit is and what it has found. Exit code 1 when there are differences.",
            mixinStandardHelpOptions = true)
    int status() {
        String body = owner().ask(PATH);
        PrintWriter out = spec.commandLine().getOut();
        AuditAnswer answer = Answers.read(body, AuditAnswer.class);
        Audit audit = answer.audit();
        if (nodes.json()) {
            out.println(body);
        } else if (audit == null) {
            out.println(NONE);
        } else {
            print(out, answer, audit);
        }
        return audit != null && audit.found() > 0 ? 1 : 0;
    }

    private static void print(PrintWriter out, AuditAnswer answer, Audit audit) {
        boolean running = audit.ended() == null;
        out.printf(
                "%s, begun %s%s by %s: %d rows of %d of %d tables compared on %s%n",
                standing(audit),
                audit.started(),
                running ? "" : ", ended " + audit.ended(),
                answer.node(),
                audit.rows(),
                audit.tablesDone(),
                audit.tables(),
                String.join(", ", audit.nodes()));
        if (running && audit.table() != null) {
            long toDo = Math.max(0, audit.rowsToDo() - audit.rows());
            out.printf("  is at %s, about %d rows to do%n", audit.table(), toDo);
        }
        if (!answer.waitsFor().isEmpty()) {
            out.println("  waits: " + answer.waitsFor());
        }
        audit.left().forEach((table, why) -> out.printf("  not audited: %s, %s%n", table, why));
        audit.missed()
                .forEach((node, stretches) -> out.printf(
                        "  %s could not be asked for %d stretches; audit again when it is SYNCED%n", node, stretches));
        long found = audit.found();
        out.println(found == 0 ? "  no difference" : "  " + found + " differences: quorate audit show");
    }

    private static String standing(Audit audit) {
        if (audit.ended() == null) {
            return "running";
        }
        return audit.stopped() ? "stopped" : "complete";
    }

    @Command(
            description = "Shows what differs: each row as each node has it, and which node is the odd one.",
            mixinStandardHelpOptions = true)
    int show() {
        String body = owner().ask(PATH);
        PrintWriter out = spec.commandLine().getOut();
        if (nodes.json()) {
            out.println(body);
            return 0;
        }
        Audit audit = Answers.read(body, AuditAnswer.class).audit();
        if (audit == null) {
            out.println(NONE);
            return 0;
        }
        if (audit.found() == 0) {
            out.println("no difference" + (audit.ended() == null ? " so far" : ""));
        }
        for (Difference difference : audit.differences()) {
            out.println(difference.identity() == null ? definition(difference) : row(difference));
        }
        long more = audit.found() - audit.differences().size();
        if (more > 0) {
            out.println("and " + more + " more");
        }
        return 0;
    }

    /** What the other nodes say, as far as they can be asked. */
    private Map<AskedNode, AuditAnswer> others(Set<AskedNode> asked) {
        Map<AskedNode, AuditAnswer> others = new LinkedHashMap<>();
        try {
            for (NodeStatus other : asked.iterator()
                    .next()
                    .ask("/actuator/cluster", ClusterAnswer.class)
                    .nodes()) {
                if (other.http() != null
                        && asked.stream().noneMatch(node -> node.address().equals(other.http()))) {
                    AskedNode node = nodes.another(other.http());
                    others.put(node, Answers.read(node.askState(PATH), AuditAnswer.class));
                }
            }
        } catch (UncheckedIOException | CommandException e) {
            return others; // Those named have answered.
        }
        return others;
    }

    private static String definition(Difference difference) {
        StringBuilder text = new StringBuilder("table " + difference.table() + " differs");
        difference
                .versions()
                .forEach((node, version) ->
                        text.append("\n  ").append(node).append(": ").append(version));
        return text.toString();
    }

    private static String row(Difference difference) {
        List<String> odd = difference.right() == null ? List.of() : difference.odd(difference.right());
        StringBuilder text = new StringBuilder(difference.table());
        text.append(": ").append(odd.isEmpty() ? "no majority has the same row" : "odd is " + String.join(", ", odd));
        if (difference.outcome() != null) {
            text.append("; ").append(difference.outcome());
        }
        Set<String> columns = differing(difference.rows());
        difference.versions().forEach((node, version) -> text.append("\n  ")
                .append(node)
                .append(": ")
                .append(version(version, difference.rows().get(node), columns)));
        return text.toString();
    }

    /**
     * A node's version of a row, with the values where they are known.
     *
     * @param values by column, null when they aren't
     * @param marked columns that aren't the same everywhere
     */
    private static String version(String version, Map<String, String> values, Set<String> marked) {
        if (version.equals(Difference.ABSENT)) {
            return "no such row";
        }
        if (values == null) {
            return version;
        }
        return values.entrySet().stream()
                .map(e -> (marked.contains(e.getKey()) ? "*" : "") + e.getKey() + "=" + Printable.value(e.getValue()))
                .collect(Collectors.joining(", "));
    }

    /** The columns in which the nodes' rows differ. */
    private static Set<String> differing(Map<String, Map<String, String>> rows) {
        Map<String, Set<String>> values = new LinkedHashMap<>();
        rows.values()
                .forEach(row ->
                        row.forEach((column, value) -> values.computeIfAbsent(column, any -> new LinkedHashSet<>())
                                .add(value)));
        values.values().removeIf(each -> each.size() < 2);
        return values.keySet();
    }

    @Command(
            description = "Says how rows would be repaired on the nodes that differ from the majority; with --apply,"
                    + " repairs them.",
            mixinStandardHelpOptions = true)
    int repair(
            @Option(names = "--apply", description = "do it") boolean apply,
            @Option(
                            names = "--trust",
                            paramLabel = "NODE",
                            description = "the node whose rows are right, where most have wrong ones or there is no"
                                    + " majority")
                    String trusted) {
        Map<String, String> what = new LinkedHashMap<>(Map.of("action", "repair", "apply", Boolean.toString(apply)));
        if (trusted != null) {
            what.put("trusted", trusted);
        }
        String body = owner().post(PATH, what);
        PrintWriter out = spec.commandLine().getOut();
        if (nodes.json()) {
            out.println(body);
            return 0;
        }
        List<Difference> differences = Answers.read(body, AuditOutcome.class).differences();
        for (Difference difference : differences == null ? List.<Difference>of() : differences) {
            out.printf(
                    "%s %s: %s%n",
                    difference.table(),
                    difference.identity() == null ? "(the table)" : difference.identity(),
                    difference.outcome());
        }
        if (!apply) {
            out.println("nothing was changed; --apply does it");
        }
        return 0;
    }

    /**
     * The node that the user names; otherwise the sandbox's node that runs an audit or ran the latest. If it has done
     * none, the node that has, of those that it knows.
     */
    private AskedNode owner() {
        Map<AskedNode, AuditAnswer> answers = nodes.answers(PATH, AuditAnswer.class);
        if (answers.values().stream().allMatch(answer -> answer.audit() == null)) {
            answers = new LinkedHashMap<>(answers);
            answers.putAll(others(answers.keySet()));
        }
        AskedNode owner = answers.keySet().iterator().next();
        String latest = "";
        for (Map.Entry<AskedNode, AuditAnswer> each : answers.entrySet()) {
            Audit audit = each.getValue().audit();
            if (audit != null && audit.started().compareTo(latest) > 0) {
                latest = audit.started();
                owner = each.getKey();
            }
        }
        return owner;
    }
}
