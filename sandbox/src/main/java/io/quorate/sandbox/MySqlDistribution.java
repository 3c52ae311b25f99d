// SPDX-License-Identifier: Apache-2.0
package io.quorate.sandbox;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A MySQL server program that runs on this machine. Looked for in this order: the home named by {@code
 * QUORATE_MYSQL_HOME}; {@code mysqld} on PATH if it is MySQL 8.0.30 or later; the server from Maven Central, or, for
 * series 9.7, from Debian's archive, unpacked once into the user's cache. Where a series is asked for, those of other
 * series are passed over.
 *
 * <p>Shared libraries that the machine lacks are put into the cache, not into the system; {@link #environment()} tells
 * the dynamic linker where they are.
 */
public final class MySqlDistribution {
    /** From this version on XA survives a crash, and everything here was tried with it or a later one. */
    static final String OLDEST = "8.0.30";

    private static final Pattern VERSION = Pattern.compile("Ver (\\d+)\\.(\\d+)\\.(\\d+)");
    private static final Map<String, MySqlDistribution> FOUND = new HashMap<>();

    private final Path mysqld;
    private final String version;
    private final Path libraries;
    private final CacheDirectory cache;

    private MySqlDistribution(Path mysqld, String version, Path libraries, CacheDirectory cache) {
        this.mysqld = mysqld;
        this.version = version;
        this.libraries = libraries;
        this.cache = cache;
    }

    /**
     * Finds or downloads a server of any series, and reports on standard error what takes long. The same one for the
     * whole process.
     */
    public static MySqlDistribution find() {
        return find(MySqlSeries.ANY, System.err::println);
    }

    /**
     * Finds or downloads a server. The same one for the whole process.
     *
     * @param series such as {@code 9.7}; {@link MySqlSeries#ANY} for the one that the system property {@code
     *     quorate.mysql} names, or the variable {@code QUORATE_MYSQL}, or else the first that is found
     * @param progress is told, a line each, about downloads and installations
     * @throws SandboxException when there is none and none can be had; the message says what to do
     */
    public static synchronized MySqlDistribution find(String series, Consumer<String> progress) {
        String named = series.equals(MySqlSeries.ANY)
                ? System.getProperty(
                        "quorate.mysql", Objects.requireNonNullElse(System.getenv("QUORATE_MYSQL"), MySqlSeries.ANY))
                : series;
        MySqlDistribution found = FOUND.get(named);
        if (found == null) {
            found = search(CacheDirectory.ofUser(), named, System.getenv("QUORATE_MYSQL_HOME"), progress);
            FOUND.put(named, found);
        }
        return found;
    }

    /** Why no server of a series can be had, with what to do; empty when one can, which is here then. */
    public static Optional<String> unavailable(String series) {
        try {
            find(series, System.err::println);
            return Optional.empty();
        } catch (SandboxException e) {
            return Optional.of(e.getMessage());
        }
    }

    static MySqlDistribution search(CacheDirectory cache, String series, String home, Consumer<String> progress) {
        boolean any = series.equals(MySqlSeries.ANY);
        if (home != null && !home.isBlank()) {
            MySqlDistribution there = usable(executableIn(Path.of(home).toAbsolutePath()), cache, progress);
            if (MySqlSeries.isOf(there.version, series)) {
                return there;
            }
        }
        Path onPath = Command.onPath("mysqld");
        if (onPath != null) {
            String output = versionOutput(onPath, null);
            String version = mysqlVersion(output);
            if (version != null && isAtLeastOldest(version) && MySqlSeries.isOf(version, series)) {
                return new MySqlDistribution(real(onPath), version, null, cache);
            }
            if (any) {
                progress.accept("not using " + onPath + ": MySQL " + OLDEST + " or later is needed, it says: "
                        + output.strip().lines().findFirst().orElse("nothing"));
            }
        }
        if (any || MySqlSeries.isOf(MySqlDownload.VERSION, series)) {
            return usable(new MySqlDownload(cache, progress).unpacked().resolve("bin/mysqld"), cache, progress);
        }
        if (!series.equals(DebianMySql.SERIES)) {
            throw new SandboxException("MySQL " + series + " can't be downloaded by this program, only "
                    + MySqlDownload.VERSION.replaceFirst("\\.\\d+$", "") + " and " + DebianMySql.SERIES
                    + "; install MySQL "
                    + series + " and set QUORATE_MYSQL_HOME to its home");
        }
        return usable(new DebianMySql(cache, progress).unpacked().resolve("bin/mysqld"), cache, progress);
    }

    private static Path executableIn(Path home) {
        for (String directory : List.of("bin", "sbin", "libexec")) {
            Path candidate = home.resolve(directory).resolve("mysqld");
            if (Files.isExecutable(candidate)) {
                return candidate;
            }
        }
        throw new SandboxException(
                "QUORATE_MYSQL_HOME names " + home + ", which has no bin/mysqld; correct or unset it");
    }

    private static MySqlDistribution usable(Path mysqld, CacheDirectory cache, Consumer<String> progress) {
        Path libraries = new SharedLibraries(cache, progress).provide(dir -> versionOutput(mysqld, dir));
        String output = versionOutput(mysqld, libraries);
        String version = mysqlVersion(output);
        if (version == null || !isAtLeastOldest(version)) {
            throw new SandboxException(
                    mysqld + " is not a MySQL of " + OLDEST + " or later that runs here: " + output.strip());
        }
        return new MySqlDistribution(mysqld, version, libraries, cache);
    }

    private static String versionOutput(Path mysqld, Path libraries) {
        return Command.run(
                        Duration.ofSeconds(60),
                        null,
                        linkerEnvironment(libraries),
                        List.of(mysqld.toString(), "--no-defaults", "--version"))
                .output();
    }

    /**
     * The version in the output of {@code mysqld --version}, or null when that is not MySQL (MariaDB prints its name
     * there).
     */
    static String mysqlVersion(String output) {
        Matcher matcher = VERSION.matcher(output);
        if (output.contains("MariaDB") || !matcher.find()) {
            return null;
        }
        return matcher.group(1) + "." + matcher.group(2) + "." + matcher.group(3);
    }

    static boolean isAtLeastOldest(String version) {
        return compare(version, OLDEST) >= 0;
    }

    /** Negative when the first version is the older one. */
    static int compare(String version, String other) {
        return Arrays.compare(numbers(version), numbers(other));
    }

    private static int[] numbers(String version) {
        return Pattern.compile("\\.")
                .splitAsStream(version)
                .mapToInt(Integer::parseInt)
                .toArray();
    }

    private static Path real(Path path) {
        try {
            return path.toRealPath();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static Map<String, String> linkerEnvironment(Path libraries) {
        if (libraries == null) {
            return Map.of();
        }
        String inherited = System.getenv("LD_LIBRARY_PATH");
        return Map.of(
                "LD_LIBRARY_PATH",
                inherited == null || inherited.isBlank() ? libraries.toString() : libraries + ":" + inherited);
    }

    /** The directory above the one with {@code mysqld}. */
    public Path home() {
        return mysqld.getParent().getParent();
    }

    public Path mysqld() {
        return mysqld;
    }

    /** The {@code mysql} command line client of this distribution; otherwise the plain name, to be found on PATH. */
    public Path client() {
        Path own = home().resolve("bin/mysql");
        return Files.isExecutable(own) ? own : Path.of("mysql");
    }

    /** Such as {@code 8.0.33}. */
    public String version() {
        return version;
    }

    /** Whether the server has that plugin's file, such as {@code mysql_clone.so}. */
    public boolean hasPlugin(String file) {
        return Files.exists(home().resolve("lib/plugin").resolve(file))
                || Files.exists(home().resolve("lib/mysql/plugin").resolve(file));
    }

    /** What programs of this distribution need in their environment; empty on a machine that has all libraries. */
    public Map<String, String> environment() {
        return linkerEnvironment(libraries);
    }

    /** Where template data directories are kept. */
    CacheDirectory cache() {
        return cache;
    }

    @Override
    public String toString() {
        return "MySQL " + version + " at " + home();
    }
}
