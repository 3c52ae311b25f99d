// SPDX-License-Identifier: Apache-2.0
package io.quorate.sandbox;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code quorate suite}: MySQL's own test suite, as an application that writes on one node of a cluster. */
@Command(
        name = "suite",
        description =
                "Runs scripts of MySQL's test suite on one of three nodes, one after the other. After each, all nodes"
                        + " must be SYNCED and hold the same. Says which scripts were left out, and why.",
        mixinStandardHelpOptions = true)
final class SuiteCommand implements Callable<Integer> {
    private static final int NODES = 3;

    /** Rows of scripts are up to 64 MB, and a transaction may take a fifth of a service's heap. */
    private static final Map<String, String> SETTINGS =
            Map.of("quorate.jvm", "-Xmx1500m", "mysql.secure-file-priv", "/", "mysql.local-infile", "ON");

    @Option(names = "--tests", required = true, paramLabel = "D", description = "the directory with t/ and include/")
    private Path tests;

    @Option(names = "--mysqltest", required = true, paramLabel = "F", description = "the program that runs scripts")
    private Path program;

    @Option(
            names = "--limit",
            paramLabel = "S",
            defaultValue = "60",
            description = "seconds for each script (default: ${DEFAULT-VALUE})")
    private int limit;

    @Option(
            names = "--minutes",
            paramLabel = "M",
            defaultValue = "600",
            description = "no script begins later than that (default: ${DEFAULT-VALUE})")
    private int minutes;

    @Option(names = "--every", paramLabel = "N", defaultValue = "1", description = "takes one script of N only")
    private int every;

    @Option(names = "--from", paramLabel = "I", defaultValue = "0", description = "the first one is script I, from 0")
    private int from;

    @Option(names = "--report", paramLabel = "F", description = "a line for each script is appended to this file")
    private Path report;

    @Option(names = "--set", paramLabel = "key=value", description = "as for: quorate sandbox start")
    private Map<String, String> set = new LinkedHashMap<>();

    @Parameters(paramLabel = "SCRIPT", arity = "0..*", description = "names without .test; by default all of t/")
    private List<String> names = new ArrayList<>();

    @Override
    public Integer call() {
        Path root = tests.toAbsolutePath().normalize();
        List<SuiteScript> scripts = scripts(root);
        Path parent = CacheDirectory.ofUser().root();
        Sandbox.endOrphans(parent, System.out::println);
        Map<String, String> settings = new LinkedHashMap<>(SETTINGS);
        settings.putAll(set);
        SuiteRun run = new SuiteRun(
                () -> cluster(parent, settings), program.toAbsolutePath().normalize(), root, Duration.ofSeconds(limit));
        List<SuiteResult> results = new ArrayList<>();
        long end = System.nanoTime() + minutes * 60_000_000_000L;
        try {
            for (SuiteScript script : scripts) {
                results.add(result(run, script, root, System.nanoTime() > end));
            }
        } finally {
            run.end();
        }
        System.out.println(SuiteRun.summary(results));
        return results.stream().allMatch(result -> result.problems().isEmpty()) ? 0 : 1;
    }

    private SuiteResult result(SuiteRun run, SuiteScript script, Path root, boolean late) {
        // Scripts that are named are run whatever they need.
        Optional<String> leftOut = names.isEmpty() ? script.leftOut(root) : Optional.empty();
        if (leftOut.isPresent() || late) {
            return new SuiteResult(
                    script.name(), SuiteResult.LEFT_OUT, leftOut.orElse("the time was over"), 0, List.of());
        }
        SuiteResult result = run.run(script);
        System.out.print(result.lines());
        report(result);
        return result;
    }

    private void report(SuiteResult result) {
        if (report != null) {
            try {
                Files.writeString(report, result.lines(), StandardOpenOption.CREATE, StandardOpenOption.APPEND);
            } catch (IOException e) {
                throw new UncheckedIOException("cannot write to " + report, e);
            }
        }
    }

    private List<SuiteScript> scripts(Path root) {
        if (!Files.isDirectory(root.resolve("t")) || !Files.isExecutable(program) || every < 1 || from < 0) {
            throw SandboxException.usage(
                    "--tests must have t/, --mysqltest must be a program, --every be 1 or more and --from 0 or more");
        }
        if (!names.isEmpty()) {
            return names.stream().map(name -> script(root, name)).toList();
        }
        try (Stream<Path> files = Files.list(root.resolve("t"))) {
            List<String> all = files.map(file -> file.getFileName().toString())
                    .filter(name -> name.endsWith(".test"))
                    .map(name -> name.substring(0, name.length() - ".test".length()))
                    .sorted()
                    .toList();
            List<SuiteScript> some = new ArrayList<>();
            for (int i = from; i < all.size(); i += every) {
                some.add(script(root, all.get(i)));
            }
            return some;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static SuiteScript script(Path root, String name) {
        Path file = root.resolve("t").resolve(name + ".test");
        if (!Files.isRegularFile(file)) {
            throw SandboxException.usage("there is no " + file);
        }
        return new SuiteScript(name, file);
    }

    private static Sandbox cluster(Path parent, Map<String, String> settings) {
        try {
            Path directory = CacheDirectory.newTemporary(parent, "suite-");
            Sandbox sandbox = Sandbox.create(directory, NODES, NodePorts.freeBase(NODES), settings, line -> {});
            sandbox.endWithThisProgram();
            System.out.println("a new cluster, in " + directory);
            return sandbox;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
