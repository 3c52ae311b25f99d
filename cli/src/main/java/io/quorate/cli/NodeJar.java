// SPDX-License-Identifier: Apache-2.0
package io.quorate.cli;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** The service's executable jar, in the source tree that the working directory is part of, and its tools. */
public final class NodeJar {
    private static final String PROPERTY = "quorate.node.jar";
    private static final Path IN_TREE = Path.of("node", "target", "quorate-node.jar");

    private NodeJar() {}

    /** Runs one of the jar's tools, which prints its own output; returns its exit code. */
    static int run(List<String> arguments) throws InterruptedException {
        List<String> command = new ArrayList<>(List.of(java(), "-XX:TieredStopAtLevel=1", "-jar", find().toString()));
        command.addAll(arguments);
        try {
            return new ProcessBuilder(command).inheritIO().start().waitFor();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The java program that runs this one. */
    public static String java() {
        return Path.of(System.getProperty("java.home"), "bin", "java").toString();
    }

    /** @throws CommandException when it isn't there; the message says how it is built */
    public static Path find() {
        String named = System.getProperty(PROPERTY);
        if (named != null) {
            Path jar = Path.of(named).toAbsolutePath();
            if (!Files.isRegularFile(jar)) {
                throw new CommandException(jar + " is not there; build it: mvn -B -DskipTests package -pl node -am");
            }
            return jar;
        }
        for (Path tree = Path.of("").toAbsolutePath(); tree != null; tree = tree.getParent()) {
            if (Files.isRegularFile(tree.resolve(IN_TREE))) {
                return tree.resolve(IN_TREE);
            }
        }
        throw new CommandException(
                "cannot find " + IN_TREE + " above the working directory; build it (mvn -B -DskipTests"
                        + " package -pl node -am) or name it with -D" + PROPERTY);
    }
}
