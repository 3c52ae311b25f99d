// SPDX-License-Identifier: Apache-2.0
package io.quorate.sandbox;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * Runs {@code mysqltest} with one script against one server. Nothing is compared with a result file, and the script
 * goes on after a statement that fails: what it was written for may be another version than the server's.
 */
final class SuiteProgram {
    static final String USER = "suite";
    static final String PASSWORD = "suite";
    static final String ACCOUNT = "'suite'@'localhost'";

    private static final int SKIPPED = 62;

    /** How a script ended. */
    enum Ending {
        PASSED,
        FAILED,
        SKIPPED_ITSELF,
        TIME_LIMIT
    }

    /** @param detail what mysqltest said, on one line; may be empty */
    record Outcome(Ending ending, String detail) {}

    private final Path program;
    private final Path root;
    private final Path work;
    private final SandboxNode node;

    /**
     * @param program mysqltest
     * @param root the directory with {@code t/}, {@code include/} and {@code std_data/}
     * @param work the cluster's directory; a server's data directory is two below it, as scripts expect
     */
    SuiteProgram(Path program, Path root, Path work, SandboxNode node) {
        this.program = program;
        this.root = root;
        this.work = work;
        this.node = node;
    }

    /** Makes the directories that scripts read from and write to. */
    void prepare() {
        try {
            for (String each : List.of("tmp", "log", "run")) {
                Files.createDirectories(work.resolve(each));
            }
            if (!Files.exists(work.resolve("std_data"))) {
                Files.createSymbolicLink(work.resolve("std_data"), root.resolve("std_data"));
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    Outcome run(SuiteScript script, Duration limit) {
        try {
            Path main = Files.writeString(
                    work.resolve("run").resolve(script.name() + ".test"),
                    "--disable_abort_on_error\n--source " + script.file() + "\n");
            Path errors = work.resolve("log").resolve(script.name() + ".err");
            ProcessBuilder builder = new ProcessBuilder(command(main))
                    .directory(root.toFile())
                    .redirectInput(Path.of("/dev/null").toFile())
                    .redirectOutput(work.resolve("log").resolve("output").toFile())
                    .redirectError(errors.toFile());
            builder.environment().putAll(environment());
            Process process = builder.start();
            boolean ended = process.waitFor(limit.toMillis(), TimeUnit.MILLISECONDS);
            process.descendants().forEach(ProcessHandle::destroyForcibly);
            process.destroyForcibly().waitFor();
            return ended
                    ? new Outcome(ending(process.exitValue()), firstLine(errors))
                    : new Outcome(Ending.TIME_LIMIT, "still running after " + limit.toSeconds() + " s");
        } catch (IOException e) {
            throw new UncheckedIOException("cannot run " + program, e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new SandboxException("interrupted", e);
        }
    }

    private static Ending ending(int exit) {
        return switch (exit) {
            case 0 -> Ending.PASSED;
            case SKIPPED -> Ending.SKIPPED_ITSELF;
            default -> Ending.FAILED;
        };
    }

    private static String firstLine(Path file) throws IOException {
        String text = new String(Files.readAllBytes(file), java.nio.charset.StandardCharsets.UTF_8);
        return text.lines()
                .filter(line -> !line.isBlank())
                .findFirst()
                .map(line -> line.substring(0, Math.min(line.length(), 200)))
                .orElse("");
    }

    private List<String> command(Path main) {
        return List.of(
                program.toString(),
                "--no-defaults",
                "--silent",
                "--host=localhost",
                "--port=" + node.ports().mysql(),
                "--socket=" + node.mysql().socket(),
                "--user=" + USER,
                "--password=" + PASSWORD,
                "--database=test",
                "--basedir=" + root + "/",
                "--tmpdir=" + work.resolve("tmp"),
                "--logdir=" + work.resolve("log"),
                "--test-file=" + main);
    }

    private Map<String, String> environment() {
        Map<String, String> variables = new LinkedHashMap<>();
        variables.put("LC_ALL", "C");
        variables.put("MYSQLTEST_VARDIR", work.toString());
        variables.put("MYSQLTEST_VARDIR_ABS", work.toString());
        variables.put("MYSQL_TMP_DIR", work.resolve("tmp").toString());
        variables.put("MYSQL_TEST_DIR", root.toString());
        variables.put("MYSQL_TEST_DIR_ABS", root.toString());
        variables.put("SECURE_LOAD_PATH", root.resolve("std_data").toString());
        variables.put("MASTER_MYPORT", Integer.toString(node.ports().mysql()));
        variables.put("MASTER_MYSOCK", node.mysql().socket().toString());
        variables.put("USE_RUNNING_SERVER", "1");
        String client = node.mysql().distribution().mysqld().resolveSibling("mysql") + " --no-defaults --user=" + USER
                + " --password=" + PASSWORD + " --socket=" + node.mysql().socket();
        variables.put("MYSQL", client);
        return variables;
    }
}
