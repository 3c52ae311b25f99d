// SPDX-License-Identifier: Apache-2.0
package io.quorate.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** The service's jar as a program. */
final class NodeProgram {
    private NodeProgram() {}

    /**
     * Runs the service's jar; it must end by itself with that exit code. Answers what it printed.
     *
     * @param directory for its output
     */
    static String run(Path directory, int exit, List<String> arguments) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx128m",
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-jar",
                Path.of("..", "node", "target", "quorate-node.jar").toString()));
        command.addAll(arguments);
        Path output = directory.resolve("output");
        Process process = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(output.toFile())
                .start();
        try {
            assertThat(process.waitFor(180, TimeUnit.SECONDS)).as("it ends").isTrue();
            String printed = Files.readString(output);
            assertThat(process.exitValue()).as(printed).isEqualTo(exit);
            return printed;
        } finally {
            process.destroyForcibly();
        }
    }
}
