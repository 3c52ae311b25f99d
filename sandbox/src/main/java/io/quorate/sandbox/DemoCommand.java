// SPDX-License-Identifier: Apache-2.0
package io.quorate.sandbox;

import io.quorate.cli.CommandException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ThreadLocalRandom;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import tools.jackson.databind.json.JsonMapper;

/** {@code quorate demo}: a temporary cluster, written to on all nodes at once, and compared. */
@Command(
        name = "demo",
        description =
                "Starts a cluster on loopback, writes on all its nodes at once, waits, and compares every table on"
                        + " every node. Ends everything it started.",
        mixinStandardHelpOptions = true)
final class DemoCommand implements Callable<Integer> {
    private static final Duration SYNCED_LIMIT = Duration.ofMinutes(3);

    @Option(names = "--nodes", paramLabel = "1..9", defaultValue = "3", description = "default: ${DEFAULT-VALUE}")
    private int nodes;

    @Option(
            names = "--seconds",
            paramLabel = "S",
            defaultValue = "10",
            description = "how long to write (default: ${DEFAULT-VALUE})")
    private int seconds;

    @Option(
            names = "--writers",
            paramLabel = "N",
            defaultValue = "2",
            description = "connections that write on each node (default: ${DEFAULT-VALUE})")
    private int writers;

    @Option(
            names = "--seed",
            paramLabel = "N",
            description = "of the writers' choices (default: another one each time)")
    private Long seed;

    @Option(names = "--set", paramLabel = "key=value", description = "as for: quorate sandbox start")
    private Map<String, String> set = new LinkedHashMap<>();

    @Option(names = "--json", description = "the last line is one JSON object")
    private boolean json;

    @Override
    public Integer call() {
        if (seconds < 1 || writers < 1) {
            throw SandboxException.usage("--seconds and --writers must be 1 or more");
        }
        Sandbox.endOrphans(CacheDirectory.ofUser().root(), System.out::println);
        Path directory = newDirectory();
        Sandbox sandbox = Sandbox.create(
                directory, nodes, NodePorts.freeBase(nodes), SandboxSettings.forTrial(set), System.out::println);
        sandbox.endWithThisProgram();
        boolean good = false;
        try {
            sandbox.start(SYNCED_LIMIT);
            long chosen = seed == null ? ThreadLocalRandom.current().nextInt(1_000_000) : seed;
            DemoResult result = new Demo(sandbox, writers, chosen, System.out::println).run(seconds);
            good = result.converged();
            System.out.println(summary(result));
            printJson(result);
            return good ? 0 : 1;
        } catch (CommandException e) {
            printJson(new Failure(nodes, false, e.getMessage()));
            throw e;
        } finally {
            if (good) {
                sandbox.destroy();
            } else {
                sandbox.killAll();
                System.err.println("data and logs are kept in " + directory);
            }
        }
    }

    /** What {@code --json} prints when the demo failed. */
    private record Failure(int nodes, boolean converged, String reason) {}

    private void printJson(Object value) {
        if (json) {
            System.out.println(new JsonMapper().writeValueAsString(value));
        }
    }

    private static Path newDirectory() {
        try {
            return CacheDirectory.newTemporary(CacheDirectory.ofUser().root(), "demo-");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String summary(DemoResult r) {
        String verdict = r.converged()
                ? "All " + r.nodes() + " nodes hold the same rows: " + r.rows() + " rows in " + r.tables()
                        + " tables, equal by checksum."
                : "The nodes DIFFER, see above.";
        return String.format(
                "%n%d transactions in %.1f s on %d nodes at once: %.0f a second, %d writesets ordered, %d retries.%n"
                        + "A commit was visible on another node after %d ms (median), %d ms (95%%).%n%s",
                r.transactions(),
                r.seconds(),
                r.nodes(),
                r.tps(),
                r.ordered(),
                r.retries(),
                r.applyLagMillisP50(),
                r.applyLagMillisP95(),
                verdict);
    }
}
