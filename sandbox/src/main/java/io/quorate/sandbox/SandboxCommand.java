// SPDX-License-Identifier: Apache-2.0
package io.quorate.sandbox;

import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ScopeType;
import picocli.CommandLine.Spec;
import tools.jackson.databind.json.JsonMapper;

/** {@code quorate sandbox}: a local cluster that stays up. */
@Command(name = "sandbox", description = "A local cluster on loopback that stays up.", mixinStandardHelpOptions = true)
final class SandboxCommand implements Runnable {
    private static final int NODES = 3;
    private static final int BASE_PORT = 25_000;

    @Spec
    private CommandSpec spec;

    @Option(
            names = "--dir",
            scope = ScopeType.INHERIT,
            paramLabel = "D",
            description = "where it is kept; by default in the user's cache")
    private Path dir;

    @Override
    public void run() {
        throw new ParameterException(
                spec.commandLine(), "start, status, stop, destroy, kill, restart, add, remove or upgrade?");
    }

    private Path directory() {
        return CacheDirectory.sandbox(dir);
    }

    private static void say(String line) {
        System.err.println(line);
    }

    @Command(
            description = "Makes a cluster, or starts the one that is there; returns when all nodes are SYNCED.",
            mixinStandardHelpOptions = true)
    int start(
            @Option(names = "--nodes", paramLabel = "1..9", description = "how many (default: 3)") Integer nodes,
            @Option(names = "--arbitrator", description = "the last of them has no server and votes only")
                    boolean arbitrator,
            @Option(
                            names = "--base-port",
                            paramLabel = "P",
                            description = {
                                "default 25000; MySQL of node i listens on P+i, HTTP on P+200+i,",
                                "probes on P+250+i, Raft on P+300+i, the channel on P+400+i"
                            })
                    Integer basePort,
            @Option(
                            names = "--set",
                            paramLabel = "key=value",
                            description = "quorate.key of the service (quorate.jvm: Java options) or mysql.variable"
                                    + " of mysqld")
                    Map<String, String> set,
            @Option(
                            names = "--mysql",
                            paramLabel = "SERIES|NODE=SERIES",
                            description = "of which series the servers are, such as 9.7, or that of one node, such as"
                                    + " n3=9.7 (default: what is found first)")
                    List<String> mysql,
            @Option(
                            names = "--timeout",
                            paramLabel = "S",
                            defaultValue = "180",
                            description = "seconds for becoming SYNCED (default: ${DEFAULT-VALUE})")
                    int timeout) {
        MySqlSeries series = MySqlSeries.parse(mysql == null ? List.of() : mysql);
        Map<String, String> settings = set == null ? Map.of() : new LinkedHashMap<>(set);
        Sandbox sandbox = Sandbox.existsIn(directory())
                ? existing(nodes, arbitrator, basePort, settings, series)
                : made(
                        nodes == null ? NODES : nodes,
                        arbitrator,
                        basePort == null ? BASE_PORT : basePort,
                        settings,
                        series);
        sandbox.start(Duration.ofSeconds(timeout));
        System.out.print(whatNext(sandbox));
        return 0;
    }

    private Sandbox made(int nodes, boolean arbitrator, int basePort, Map<String, String> set, MySqlSeries mysql) {
        if (arbitrator && nodes < 2) {
            throw SandboxException.usage("an arbitrator needs other nodes to vote with; --nodes 2 at least");
        }
        Set<Integer> without = arbitrator ? Set.of(nodes) : Set.of();
        return Sandbox.create(
                directory(),
                nodes,
                without,
                basePort,
                SandboxSettings.forTrial(set),
                List.of(),
                mysql,
                SandboxCommand::say);
    }

    private Sandbox existing(
            Integer nodes, boolean arbitrator, Integer basePort, Map<String, String> set, MySqlSeries mysql) {
        Sandbox sandbox = Sandbox.open(directory(), SandboxCommand::say);
        SandboxSettings is = sandbox.settings();
        if ((nodes != null && nodes != is.numbers().size()) || (basePort != null && basePort != is.basePort())) {
            throw new SandboxException("the sandbox in " + sandbox.directory() + " has "
                    + is.numbers().size()
                    + " nodes and base port " + is.basePort() + "; leave --nodes and --base-port out, or name another"
                    + " --dir, or destroy it first");
        }
        if (!mysql.equals(MySqlSeries.any()) && !mysql.equals(is.mysql())) {
            throw new SandboxException("the sandbox in " + sandbox.directory() + " has servers already; another series"
                    + " comes to one after the other with: quorate sandbox upgrade n1 --mysql "
                    + DebianMySql.SERIES);
        }
        if (arbitrator && is.arbitrators().isEmpty()) {
            throw new SandboxException("the sandbox in " + sandbox.directory()
                    + " has no arbitrator; add one with: quorate sandbox add --arbitrator");
        }
        return set.isEmpty() ? sandbox : sandbox.with(set);
    }

    private String whatNext(Sandbox sandbox) {
        StringBuilder text = new StringBuilder(400);
        text.append("cluster ").append(sandbox.settings().cluster()).append(" in ");
        text.append(sandbox.directory()).append('\n');
        for (SandboxNode node : sandbox.nodes()) {
            text.append(String.format(
                    "  %s  %-28s  HTTP %s:%d%n",
                    node.name(),
                    node.hasServer()
                            ? "MySQL " + node.mysql().distribution().version() + " " + node.host() + ":"
                                    + node.ports().mysql()
                            : "arbitrator",
                    node.host(),
                    node.ports().http()));
        }
        SandboxNode first = sandbox.nodes().get(0);
        String client = first.mysql().distribution().client().toString();
        String where = dir == null ? "" : " --dir " + dir;
        text.append("try:\n");
        text.append("  ")
                .append(client)
                .append(" -h")
                .append(first.host())
                .append(" -P")
                .append(first.ports().mysql());
        text.append(" -uapp -papp      (root has no password)\n");
        text.append("  curl http://")
                .append(first.host())
                .append(':')
                .append(first.ports().http())
                .append("/actuator/cluster\n");
        text.append("  quorate sandbox status")
                .append(where)
                .append("    also stop, destroy, kill, restart, add, remove\n");
        return text.toString();
    }

    @Command(description = "Shows every node.", mixinStandardHelpOptions = true)
    int status(@Option(names = "--json", description = "as one JSON object") boolean json) {
        SandboxStatus status = Sandbox.open(directory(), SandboxCommand::say).status();
        if (json) {
            System.out.println(new JsonMapper().writeValueAsString(status));
        } else {
            System.out.print(table(status));
        }
        return 0;
    }

    private static String table(SandboxStatus status) {
        StringBuilder text = new StringBuilder(500);
        text.append("cluster ").append(status.cluster());
        text.append(status.primaryComponent() ? ", has a majority" : ", has no majority")
                .append('\n');
        String format = "%-5s %-13s %-16s %-10s %-16s %10s %10s %9s %9s%n";
        text.append(String.format(
                format, "node", "state", "mysql", "version", "http", "ordered", "applied", "service", "mysqld"));
        for (SandboxStatus.Node node : status.nodes()) {
            text.append(String.format(
                    format,
                    node.name(),
                    node.state(),
                    orDash(node.mysql()),
                    orDash(node.version()),
                    node.http(),
                    orDash(node.lastOrdered()),
                    orDash(node.lastApplied()),
                    orDash(node.servicePid()),
                    orDash(node.mysqldPid())));
            if (!node.reason().isEmpty()) {
                text.append("      ").append(node.reason()).append('\n');
            }
        }
        status.advice().forEach(each -> text.append(each).append('\n'));
        return text.toString();
    }

    private static Object orDash(Object value) {
        return value == null ? "-" : value;
    }

    @Command(description = "Stops all nodes in order and keeps their data.", mixinStandardHelpOptions = true)
    int stop() {
        Sandbox sandbox = Sandbox.open(directory(), SandboxCommand::say);
        sandbox.stop();
        say("stopped; the data is in " + sandbox.directory());
        return 0;
    }

    @Command(description = "Ends all processes and deletes the directory.", mixinStandardHelpOptions = true)
    int destroy() {
        Sandbox sandbox = Sandbox.open(directory(), SandboxCommand::say);
        sandbox.destroy();
        say("deleted " + sandbox.directory());
        return 0;
    }

    @Command(description = "Sends SIGKILL, as a crash would.", mixinStandardHelpOptions = true)
    int kill(
            @Parameters(paramLabel = "NODE", description = "n1, n2, ...") String node,
            @Option(
                            names = "--what",
                            paramLabel = "service|mysqld|both",
                            defaultValue = "both",
                            description = "which process (default: ${DEFAULT-VALUE})")
                    Sandbox.Part what) {
        Sandbox sandbox = Sandbox.open(directory(), SandboxCommand::say);
        sandbox.kill(sandbox.node(node), what);
        return 0;
    }

    @Command(
            description = "Adds a node with an empty server, or an arbitrator; returns when it is SYNCED.",
            mixinStandardHelpOptions = true)
    int add(
            @Option(names = "--arbitrator", description = "it has no server and votes only") boolean arbitrator,
            @Option(
                            names = "--timeout",
                            paramLabel = "S",
                            defaultValue = "180",
                            description = "seconds for becoming SYNCED (default: ${DEFAULT-VALUE})")
                    int timeout) {
        Sandbox.open(directory(), SandboxCommand::say).add(arbitrator, Duration.ofSeconds(timeout));
        return 0;
    }

    @Command(
            description = "Takes a node out of the cluster, ends it and deletes its data.",
            mixinStandardHelpOptions = true)
    int remove(@Parameters(paramLabel = "NODE", description = "n1, n2, ...") String node) {
        Sandbox sandbox = Sandbox.open(directory(), SandboxCommand::say);
        sandbox.remove(sandbox.node(node));
        return 0;
    }

    @Command(
            description = "Puts a newer MySQL under a node, with its data; returns when it is SYNCED.",
            mixinStandardHelpOptions = true)
    int upgrade(
            @Parameters(paramLabel = "NODE", description = "n1, n2, ...") String node,
            @Option(
                            names = "--mysql",
                            required = true,
                            paramLabel = "SERIES",
                            description = "of which series the new one is, such as 9.7")
                    String series,
            @Option(
                            names = "--timeout",
                            paramLabel = "S",
                            defaultValue = "180",
                            description = "seconds for becoming SYNCED (default: ${DEFAULT-VALUE})")
                    int timeout) {
        Sandbox sandbox = Sandbox.open(directory(), SandboxCommand::say);
        sandbox.upgrade(sandbox.node(node), series, Duration.ofSeconds(timeout));
        return 0;
    }

    @Command(
            description =
                    "Brings back what is down of a node; returns when it is SYNCED, or, while too few nodes run for"
                            + " a majority, when its service answers.",
            mixinStandardHelpOptions = true)
    int restart(
            @Parameters(paramLabel = "NODE", description = "n1, n2, ...") String node,
            @Option(
                            names = "--timeout",
                            paramLabel = "S",
                            defaultValue = "180",
                            description = "seconds for becoming SYNCED (default: ${DEFAULT-VALUE})")
                    int timeout) {
        Sandbox sandbox = Sandbox.open(directory(), SandboxCommand::say);
        if (!sandbox.restart(sandbox.node(node), Duration.ofSeconds(timeout))) {
            say(node + " runs; it becomes SYNCED when a majority of the nodes run");
        }
        return 0;
    }
}
