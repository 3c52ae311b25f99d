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
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * A file named by Maven coordinates, fetched by Maven itself, so that the user's settings apply: mirrors, proxies,
 * credentials, the place of the local repository. It is used in place if that repository's location is known; otherwise
 * from a copy that is deleted on {@link #close()}.
 */
final class MavenArtifact implements AutoCloseable {
    private static final String PLUGIN = "org.apache.maven.plugins:maven-dependency-plugin:3.10.0";
    private static final Pattern LOCAL_REPOSITORY =
            Pattern.compile("<localRepository>\\s*([^<]+?)\\s*</localRepository>");
    private static final Duration LIMIT = Duration.ofHours(2);

    private final Path file;
    private final Path temporary;

    private MavenArtifact(Path file, Path temporary) {
        this.file = file;
        this.temporary = temporary;
    }

    Path file() {
        return file;
    }

    @Override
    public void close() throws IOException {
        if (temporary != null) {
            CacheDirectory.deleteTree(temporary);
        }
    }

    /**
     * Resolves the artifact, downloading it if the local repository lacks it. {@code bytes}: its size, for progress.
     */
    static MavenArtifact resolve(
            String group,
            String name,
            String version,
            String type,
            String classifier,
            long bytes,
            Consumer<String> log) {
        String coordinates = group + ":" + name + ":" + version + ":" + type + ":" + classifier;
        String relative = group.replace('.', '/') + "/" + name + "/" + version;
        String fileName = name + "-" + version + "-" + classifier + "." + type;
        Path local = inLocalRepository(relative, fileName);
        if (local != null) {
            return new MavenArtifact(local, null);
        }
        log.accept("downloading " + coordinates + " with Maven, " + bytes / 1_000_000 + " MB, once");
        AtomicBoolean done = new AtomicBoolean();
        Thread meter = meter(relative, bytes, log, done);
        try {
            maven(List.of(PLUGIN + ":get", "-Dartifact=" + coordinates, "-Dtransitive=false"), coordinates);
            local = inLocalRepository(relative, fileName);
            return local != null ? new MavenArtifact(local, null) : copied(coordinates, fileName);
        } finally {
            done.set(true);
            meter.interrupt();
        }
    }

    /** Only Maven knows where the local repository is: has it copy the file for us. */
    private static MavenArtifact copied(String coordinates, String fileName) {
        try {
            Path directory = CacheDirectory.newTemporary(CacheDirectory.ofUser().root(), "download-");
            maven(
                    List.of(PLUGIN + ":copy", "-Dartifact=" + coordinates, "-DoutputDirectory=" + directory),
                    coordinates);
            return new MavenArtifact(directory.resolve(fileName), directory);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void maven(List<String> goal, String coordinates) {
        Path mvn = Command.onPath("mvn");
        if (mvn == null) {
            throw new SandboxException("Maven (mvn) is not on PATH; it is needed to get " + coordinates
                    + ". Install Maven, or set QUORATE_MYSQL_HOME to an installed MySQL "
                    + MySqlDistribution.OLDEST + " or later");
        }
        List<String> command = new ArrayList<>(List.of(mvn.toString(), "-B", "-q"));
        command.addAll(goal);
        // A neutral directory, in which no project's pom or .mvn settings apply.
        Path neutral = Path.of(System.getProperty("java.io.tmpdir"));
        Command.Result result = Command.run(LIMIT, neutral, Map.of(), command);
        if (!result.ok()) {
            throw new SandboxException("Maven could not get " + coordinates + ":\n" + result.tail(15)
                    + "\nCheck the network and ~/.m2/settings.xml (mirrors, proxies), or set QUORATE_MYSQL_HOME to an"
                    + " installed MySQL " + MySqlDistribution.OLDEST + " or later");
        }
    }

    private static Path inLocalRepository(String relative, String fileName) {
        for (Path repository : localRepositories()) {
            Path candidate = repository.resolve(relative).resolve(fileName);
            if (Files.isRegularFile(candidate)) {
                return candidate;
            }
        }
        return null;
    }

    private static List<Path> localRepositories() {
        List<Path> repositories = new ArrayList<>();
        String property = System.getProperty("maven.repo.local");
        if (property != null) {
            repositories.add(Path.of(property));
        }
        for (String variable : List.of("MAVEN_ARGS", "MAVEN_OPTS")) {
            Matcher matcher = Pattern.compile("-Dmaven\\.repo\\.local=(\\S+)")
                    .matcher(System.getenv().getOrDefault(variable, ""));
            if (matcher.find()) {
                repositories.add(Path.of(matcher.group(1)));
            }
        }
        Path m2 = Path.of(System.getProperty("user.home"), ".m2");
        try {
            Path settings = m2.resolve("settings.xml");
            Matcher matcher = LOCAL_REPOSITORY.matcher(Files.exists(settings) ? Files.readString(settings) : "");
            if (matcher.find() && !matcher.group(1).contains("$")) {
                repositories.add(Path.of(matcher.group(1)));
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        repositories.add(m2.resolve("repository"));
        return repositories;
    }

    /** Maven prints no progress without a terminal, so the growing file shows it. */
    private static Thread meter(String relative, long bytes, Consumer<String> log, AtomicBoolean done) {
        Thread thread = new Thread(
                () -> {
                    long shown = 0;
                    while (!done.get()) {
                        try {
                            Thread.sleep(5_000);
                        } catch (InterruptedException e) {
                            return;
                        }
                        long have = downloaded(relative);
                        if (have > shown + 1_000_000 && !done.get()) {
                            shown = have;
                            log.accept("  " + have / 1_000_000 + " of " + bytes / 1_000_000 + " MB");
                        }
                    }
                },
                "download-meter");
        thread.setDaemon(true);
        thread.start();
        return thread;
    }

    /** The file grows under a name of its own; the others beside it are small. */
    private static long downloaded(String relative) {
        long largest = 0;
        for (Path repository : localRepositories()) {
            Path directory = repository.resolve(relative);
            if (!Files.isDirectory(directory)) {
                continue;
            }
            try (Stream<Path> files = Files.list(directory)) {
                for (Path file : files.toList()) {
                    largest = Math.max(largest, Files.size(file));
                }
            } catch (IOException e) {
                // A temporary file was renamed meanwhile; the next call sees it.
            }
        }
        return largest;
    }
}
