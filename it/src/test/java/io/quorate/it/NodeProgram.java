// SPDX-License-Identifier: Apache-2.0
package io.quorate.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.quorate.sandbox.Sandbox;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** The service's jar as a program, or what a sandbox has made of it, which starts with less work. */
final class NodeProgram {
    private NodeProgram() {}

    /**
     * Runs the service as a sandbox does; it must end by itself with that exit code. Answers what it printed.
     *
     * @param directory for its output
     */
    static String run(Path directory, int exit, List<String> arguments) throws IOException, InterruptedException {
        return run(Sandbox.serviceProgram(), directory, exit, arguments);
    }

    /** The same with the jar that was built. */
    static String runJar(Path directory, int exit, List<String> arguments) throws IOException, InterruptedException {
        Path jar = Path.of("..", "node", "target", "quorate-node.jar");
        return run(List.of("-jar", jar.toString()), directory, exit, arguments);
    }

    private static String run(List<String> program, Path directory, int exit, List<String> arguments)
            throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx128m",
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1"));
        command.addAll(program);
        command.addAll(arguments);
        Path output = directory.resolve("output");
        Process process = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(output.toFile())
                .start();
        try {
            assertThat(process.waitFor(400, TimeUnit.SECONDS)).as("it ends").isTrue();
            String printed = Files.readString(output);
            assertThat(process.exitValue()).as(printed).isEqualTo(exit);
            return printed;
        } finally {
            process.destroyForcibly();
        }
    }
}
