// SPDX-License-Identifier: Apache-2.0
package io.quorate.sandbox;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** Runs a short-lived program of the operating system and keeps what it printed. */
final class Command {
    /**
     * @param exit the exit status; 127 when the program doesn't exist
     * @param output standard output and error, in the order written
     */
    record Result(int exit, String output) {
        boolean ok() {
            return exit == 0;
        }

        /** The last lines of the output, for a message. */
        String tail(int lines) {
            List<String> all = output.strip().lines().toList();
            return String.join("\n", all.subList(Math.max(0, all.size() - lines), all.size()));
        }
    }

    private Command() {}

    static Result run(Duration limit, List<String> command) {
        return run(limit, null, Map.of(), command);
    }

    /** Runs until the program ends or the limit is over (then it is killed and a {@link SandboxException} thrown). */
    static Result run(Duration limit, Path directory, Map<String, String> environment, List<String> command) {
        try {
            Path output = Files.createTempFile("quorate-", ".out");
            try {
                ProcessBuilder builder = new ProcessBuilder(command)
                        .redirectErrorStream(true)
                        .redirectOutput(output.toFile())
                        .redirectInput(Path.of("/dev/null").toFile());
                builder.environment().putAll(environment);
                if (directory != null) {
                    builder.directory(directory.toFile());
                }
                return await(limit, command, output, builder);
            } finally {
                Files.deleteIfExists(output);
            }
        } catch (IOException e) {
            throw new UncheckedIOException("cannot run " + command.get(0), e);
        }
    }

    private static Result await(Duration limit, List<String> command, Path output, ProcessBuilder builder)
            throws IOException {
        Process process;
        try {
            process = builder.start();
        } catch (IOException e) {
            return new Result(127, e.getMessage());
        }
        try {
            if (process.waitFor(limit.toMillis(), TimeUnit.MILLISECONDS)) {
                return new Result(process.exitValue(), read(output));
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("interrupted while " + command.get(0) + " ran");
        } finally {
            process.destroyForcibly();
        }
        throw new SandboxException(String.join(" ", command) + " did not end within " + limit.toSeconds() + " s:\n"
                + new Result(1, read(output)).tail(20));
    }

    private static String read(Path file) throws IOException {
        return new String(Files.readAllBytes(file), java.nio.charset.StandardCharsets.UTF_8);
    }

    /** The path of a program on PATH, or null. */
    static Path onPath(String program) {
        String path = System.getenv("PATH");
        for (String directory : (path == null ? "" : path).split(":")) {
            Path candidate = Path.of(directory.isEmpty() ? "." : directory, program);
            if (Files.isExecutable(candidate) && !Files.isDirectory(candidate)) {
                return candidate.toAbsolutePath();
            }
        }
        return null;
    }
}
