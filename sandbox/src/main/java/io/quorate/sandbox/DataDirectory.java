// SPDX-License-Identifier: Apache-2.0
package io.quorate.sandbox;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * New data directories of mysqld. Initializing one takes seconds, copying one takes a moment, so the first is kept in
 * the user's cache as a template. It has no auto.cnf, so every copy gets a server UUID of its own.
 */
final class DataDirectory {
    /** Settings that are fixed when a data directory is initialized. */
    private static final List<String> FIXED_AT_INITIALIZATION = List.of(
            "lower-case-table-names",
            "innodb-page-size",
            "innodb-data-file-path",
            "innodb-undo-directory",
            "innodb-data-home-dir",
            "innodb-log-group-home-dir");

    private static final Duration LIMIT = Duration.ofMinutes(5);

    private final MySqlDistribution distribution;

    DataDirectory(MySqlDistribution distribution) {
        this.distribution = distribution;
    }

    /** Makes a data directory that doesn't exist yet. */
    void create(Path directory, Map<String, String> options) {
        Map<String, String> fixed = new TreeMap<>(options);
        fixed.keySet().retainAll(FIXED_AT_INITIALIZATION);
        try {
            if (!fixed.isEmpty()) {
                initialize(directory, fixed);
                return;
            }
            String name = "data-" + distribution.version() + "-"
                    + Integer.toHexString(distribution.mysqld().toString().hashCode());
            Path template = distribution.cache().entry(name, made -> {
                initialize(made.resolve("data"), Map.of());
                Files.deleteIfExists(made.resolve("data/auto.cnf"));
            });
            Files.createDirectories(directory.getParent());
            CacheDirectory.copyTree(template.resolve("data"), directory);
        } catch (IOException e) {
            throw new UncheckedIOException("cannot make the data directory " + directory, e);
        }
    }

    private void initialize(Path directory, Map<String, String> options) {
        List<String> command = new ArrayList<>(List.of(
                distribution.mysqld().toString(),
                "--no-defaults",
                "--initialize-insecure",
                "--datadir=" + directory,
                // Otherwise a new redo log takes 100 MB on disk, to be copied each time.
                "--innodb-redo-log-capacity=8M"));
        command.addAll(MySqlServer.asUser());
        options.forEach((name, value) -> command.add("--" + name + "=" + value));
        Command.Result result = Command.run(LIMIT, null, distribution.environment(), command);
        if (!result.ok()) {
            throw new SandboxException("mysqld could not initialize " + directory + ":\n" + result.tail(15)
                    + "\nA server of the operating system may be confined to its own directories (AppArmor, SELinux);"
                    + " set QUORATE_MYSQL_HOME to another one, or take mysqld off PATH to use the one from Maven"
                    + " Central");
        }
    }
}
