// SPDX-License-Identifier: Apache-2.0
package io.quorate.cli;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ScopeType;
import picocli.CommandLine.Spec;

/**
 * {@code quorate log}: what a node's writeset cache holds, whether the node runs or not. The service's own jar reads
 * it.
 */
@Command(
        name = "log",
        description = "What the writeset cache of a node holds; reads only, whether the node runs or not.",
        mixinStandardHelpOptions = true)
final class LogCommand implements Runnable {
    @Spec
    private CommandSpec spec;

    @Option(names = "-o", scope = ScopeType.INHERIT, paramLabel = "text|json", description = "text by default")
    private Output output = Output.TEXT;

    @Override
    public void run() {
        throw new ParameterException(spec.commandLine(), "describe, verify or dump?");
    }

    @Command(description = "Its segments, seqnos, times, verdicts and origins.", mixinStandardHelpOptions = true)
    int describe(@Parameters(paramLabel = "DIR", description = DIRECTORY) Path directory) throws InterruptedException {
        return run(List.of("describe", directory.toString()));
    }

    @Command(description = "Checks every record; exit code 1 for damage.", mixinStandardHelpOptions = true)
    int verify(@Parameters(paramLabel = "DIR", description = DIRECTORY) Path directory) throws InterruptedException {
        return run(List.of("verify", directory.toString()));
    }

    @Command(description = "The writesets, with their rows in clear.", mixinStandardHelpOptions = true)
    int dump(
            @Parameters(paramLabel = "DIR", description = DIRECTORY) Path directory,
            @Option(names = "--from", paramLabel = "S", defaultValue = "0", description = "first seqno") long from,
            @Option(names = "--to", paramLabel = "S", defaultValue = "9223372036854775807", description = "last seqno")
                    long to)
            throws InterruptedException {
        return run(List.of("dump", directory.toString(), Long.toString(from), Long.toString(to)));
    }

    private static final String DIRECTORY = "the node's data directory, or the cache below it";

    private int run(List<String> arguments) throws InterruptedException {
        List<String> all = new ArrayList<>(List.of("log"));
        all.addAll(arguments);
        if (output == Output.JSON) {
            all.add("json");
        }
        return NodeJar.run(all);
    }
}
