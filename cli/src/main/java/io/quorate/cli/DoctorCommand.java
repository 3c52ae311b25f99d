// SPDX-License-Identifier: Apache-2.0
package io.quorate.cli;

import io.quorate.core.answer.AuditAnswer;
import io.quorate.core.answer.ClusterAnswer;
import io.quorate.core.answer.Difference;
import io.quorate.core.answer.MembersAnswer;
import io.quorate.core.answer.NodeStatus;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;
import tools.jackson.core.JacksonException;

/** {@code quorate doctor}: what looks wrong, and everything that nodes say of themselves in one file. */
@Command(
        name = "doctor",
        description = {
            "Asks all nodes that can be reached and says what looks wrong, each with what to do. With --report it keeps"
                    + " all that they say in a ZIP file, for whoever is to help.",
            "The report has no rows, no statements, no passwords and no tokens. It has names: of nodes, hosts, schemas"
                    + " and tables.",
            "Exit status 0: nothing looks wrong; 1: something does; 3: no node answers."
        },
        mixinStandardHelpOptions = true)
final class DoctorCommand implements Callable<Integer> {
    private static final int FOUND = 1;
    private static final int NO_ANSWER = 3;
    private static final String CLUSTER = "/actuator/cluster";
    private static final Pattern SAMPLE = Pattern.compile("(\\w+)(?:\\{(.*)})? (\\S+)");

    @Spec
    private CommandSpec spec;

    @Mixin
    private NodeAddress nodes;

    @Option(names = "--report", paramLabel = "FILE", description = "a ZIP file to be written; it must not exist yet")
    private Path report;

    private final List<Diagnosis.Said> all = new ArrayList<>();
    private final List<String> silent = new ArrayList<>();
    private final Map<String, String> files = new LinkedHashMap<>();

    @Override
    public Integer call() {
        if (report != null && Files.exists(report)) {
            throw new CommandException(report + " is there already; name another file");
        }
        List<AskedNode> known = nodes.all();
        known.forEach(this::ask);
        askOthers(known);
        PrintWriter out = spec.commandLine().getOut();
        if (all.isEmpty()) {
            silent.forEach(each -> spec.commandLine().getErr().println("quorate: " + each));
            return NO_ANSWER;
        }
        List<String> findings = Diagnosis.of(all, silent);
        if (nodes.json()) {
            out.println(Answers.write(Map.of("findings", findings)));
        } else if (findings.isEmpty()) {
            out.println("Nothing looks wrong with " + all.size() + " nodes of cluster "
                    + all.get(0).cluster().cluster() + ".");
        } else {
            findings.forEach(each -> out.println("- " + each));
        }
        if (report != null) {
            files.put("findings.txt", String.join("\n", findings) + "\n");
            write();
            spec.commandLine()
                    .getErr()
                    .println("All that the nodes say is in " + report + ". Logs aren't: add the services' own, if they"
                            + " may be shown.");
        }
        return findings.isEmpty() ? 0 : FOUND;
    }

    /** Those that a node named by hand knows; they may want another token. */
    private void askOthers(List<AskedNode> known) {
        Set<String> asked = new LinkedHashSet<>();
        known.forEach(node -> asked.add(node.address()));
        Set<String> names = new LinkedHashSet<>();
        all.forEach(said -> names.add(said.node()));
        for (Diagnosis.Said said : List.copyOf(all)) {
            for (NodeStatus other : said.cluster().nodes()) {
                if (other.http() != null && names.add(other.name()) && asked.add(other.http())) {
                    ask(nodes.another(other.http()));
                }
            }
        }
    }

    private void ask(AskedNode node) {
        try {
            String cluster = node.askState(CLUSTER);
            String members = node.askState(Membership.PATH);
            String metrics = node.askText("/actuator/prometheus");
            AuditAnswer audit = Answers.read(node.askState("/actuator/audit"), AuditAnswer.class);
            ClusterAnswer answer = Answers.read(cluster, ClusterAnswer.class);
            all.add(new Diagnosis.Said(answer, Answers.read(members, MembersAnswer.class), audit, sums(metrics)));
            if (report != null) {
                String name = answer.node() + "/";
                files.put(name + "cluster.json", cluster);
                files.put(name + "members.json", members);
                files.put(name + "prometheus.txt", metrics);
                files.put(name + "audit.json", Answers.write(withoutRows(audit)));
                keepToo(node, name, "transfer");
                keepToo(node, name, "health");
            }
        } catch (UncheckedIOException | CommandException | JacksonException e) {
            silent.add(node + ": " + e.getMessage());
        }
    }

    /** What nothing is found in: without it, the report is less, and no more than that. */
    private void keepToo(AskedNode node, String name, String endpoint) {
        try {
            files.put(name + endpoint + ".json", node.askState("/actuator/" + endpoint));
        } catch (UncheckedIOException | CommandException e) {
            files.put(name + endpoint + ".error.txt", e.getMessage() + "\n");
        }
    }

    private static AuditAnswer withoutRows(AuditAnswer answer) {
        AuditAnswer.Audit a = answer.audit();
        if (a == null) {
            return answer;
        }
        List<Difference> differences = a.differences().stream()
                .map(d -> new Difference(d.table(), null, Map.of(), null, Map.of(), d.outcome()))
                .toList();
        return new AuditAnswer(
                answer.node(),
                answer.waitsFor(),
                new AuditAnswer.Audit(
                        a.started(),
                        a.ended(),
                        a.stopped(),
                        a.only(),
                        a.table(),
                        null,
                        a.nodes(),
                        a.tables(),
                        a.tablesDone(),
                        a.rows(),
                        a.rowsToDo(),
                        a.seconds(),
                        a.left(),
                        a.missed(),
                        a.found(),
                        differences));
    }

    /**
     * By name, the sum over all labels; of the JVM's memory only the heap. Below zero is what isn't known or has no
     * bound, such as the most that G1 gives to one of its parts of the heap.
     */
    static Map<String, Double> sums(String metrics) {
        Map<String, Double> sums = new LinkedHashMap<>();
        for (String line : metrics.lines().toList()) {
            Matcher sample = SAMPLE.matcher(line);
            boolean counts = sample.matches()
                    && !(sample.group(1).startsWith("jvm_memory")
                            && !String.valueOf(sample.group(2)).contains("area=\"heap\""));
            if (counts) {
                sums.merge(sample.group(1), number(sample.group(3)), (a, b) -> b < 0 ? a : a < 0 ? b : a + b);
            }
        }
        return sums;
    }

    private static double number(String text) {
        try {
            return Double.parseDouble(text);
        } catch (NumberFormatException e) {
            return Double.NaN;
        }
    }

    private void write() {
        try (ZipOutputStream zip = new ZipOutputStream(Files.newOutputStream(report))) {
            for (Map.Entry<String, String> file : files.entrySet()) {
                zip.putNextEntry(new ZipEntry("quorate/" + file.getKey()));
                zip.write(file.getValue().getBytes(StandardCharsets.UTF_8));
                zip.closeEntry();
            }
        } catch (IOException e) {
            throw new UncheckedIOException("the report can't be written to " + report, e);
        }
    }
}
