// SPDX-License-Identifier: Apache-2.0
package io.quorate.sandbox;

import io.quorate.cli.NodeJar;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The process of one node's service: {@code java -jar quorate-node.jar} with a configuration of its own. */
final class NodeService {
    private static final Duration STOP_LIMIT = Duration.ofSeconds(30);

    private final SandboxSettings settings;
    private final int node;
    private final Path directory;

    NodeService(SandboxSettings settings, int node, Path directory) {
        this.settings = settings;
        this.node = node;
        this.directory = directory;
    }

    /**
     * Starts the service unless it runs; returns at once.
     *
     * @param program as {@link ServiceProgram#arguments} gives it
     */
    void start(List<String> program) {
        if (isAlive()) {
            return;
        }
        Path yaml = directory.resolve("application.yaml");
        try {
            PrivateFiles.createDirectory(directory);
            PrivateFiles.createDirectory(temporary());
            PrivateFiles.write(yaml, NodeConfiguration.yaml(settings, node, directory.getParent(), dataDirectory()));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        OwnedProcess.start(command(program, yaml), Map.of(), directory, log(), processFile());
    }

    private List<String> command(List<String> program, Path yaml) {
        List<String> command = new ArrayList<>(settings.place(node).command());
        command.addAll(List.of(
                NodeJar.java(),
                // Small machines run several of these, and a heap that must not grow with lag doesn't need more.
                "-Xms64m",
                "-Xmx256m",
                "-XX:+ExitOnOutOfMemoryError",
                // A service that is killed leaves its temporary files: they are to go with the sandbox.
                "-Djava.io.tmpdir=" + temporary()));
        String more = settings.set().getOrDefault(NodeConfiguration.JVM, "").strip();
        if (!more.matches(".*-XX:\\+Use\\w+GC.*")) {
            command.add("-XX:+UseSerialGC");
        }
        if (!more.contains("-XX:TieredStopAtLevel") && !more.contains("-XX:+TieredCompilation")) {
            // For the first minutes the optimizing compiler takes more CPU than everything else in each of them, and
            // gains little.
            command.add("-XX:TieredStopAtLevel=1");
        }
        if (!more.isEmpty()) {
            command.addAll(List.of(more.split("\\s+")));
        }
        command.addAll(program);
        command.add("--spring.config.additional-location=file:" + yaml);
        return command;
    }

    void stop() {
        process().ifPresent(process -> process.stop(STOP_LIMIT));
    }

    void kill9() {
        process().ifPresent(OwnedProcess::kill);
    }

    boolean isAlive() {
        return process().isPresent();
    }

    Optional<OwnedProcess> process() {
        return OwnedProcess.recordedIn(processFile());
    }

    /** The service makes it when it starts for the first time. */
    Path tokenFile() {
        return dataDirectory().resolve("http.token");
    }

    Path dataDirectory() {
        return directory.resolve("quorate");
    }

    private Path temporary() {
        return directory.resolve("tmp");
    }

    private Path processFile() {
        return directory.resolve("service.process");
    }

    Path log() {
        return directory.resolve("service.log");
    }

    /** The end of the log, which has the reason for a failure. */
    String logTail() {
        try {
            List<String> lines = Files.exists(log())
                    ? new String(Files.readAllBytes(log()), StandardCharsets.UTF_8)
                            .lines()
                            .toList()
                    : List.of();
            return "the end of " + log() + ":\n"
                    + String.join("\n", lines.subList(Math.max(0, lines.size() - 25), lines.size()));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
