// SPDX-License-Identifier: Apache-2.0
package io.quorate.sandbox;

import io.quorate.cli.AskedNode;
import io.quorate.cli.NodeJar;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.jar.JarFile;
import java.util.stream.Stream;
import java.util.zip.CRC32;
import java.util.zip.CheckedInputStream;

/**
 * How the service is run: from a copy of its jar in the cache, unpacked as Spring Boot's tools do it, with an archive
 * of its loaded classes (CDS). This way a start takes a third of the CPU that the jar itself takes, and a running
 * sandbox isn't affected when the jar is built anew.
 */
final class ServiceProgram {
    private static final String PREFIX = "service-";
    /** Copies of earlier builds, 160 MB each, are deleted beyond this number. */
    private static final int KEPT = 3;
    /** But not one that was used just now: a sandbox of another source tree starts services from it. */
    private static final Duration IN_USE = Duration.ofHours(1);

    private static final Duration TOOL_LIMIT = Duration.ofMinutes(2);
    private static final Duration TRAINING_LIMIT = Duration.ofMinutes(2);

    private final CacheDirectory cache;
    private final Consumer<String> progress;

    ServiceProgram(CacheDirectory cache, Consumer<String> progress) {
        this.cache = cache;
        this.progress = progress;
    }

    /** The arguments after the Java options: perhaps more options, then {@code -jar} and the jar. */
    List<String> arguments(Path jar) {
        try {
            if (!isSpringBoot(jar)) {
                return List.of("-jar", jar.toString());
            }
            String name = PREFIX + key(jar);
            Path unpacked = cache.entry(name, directory -> unpack(jar, directory));
            Files.setLastModifiedTime(unpacked, FileTime.fromMillis(System.currentTimeMillis()));
            deleteOld();
            Path runnable = unpacked.resolve(jar.getFileName());
            // Beside the copy, not in it: an archive is only valid for jars that stay where they were.
            Path archive = cache.entry(name + ".cds", directory -> train(runnable, directory))
                    .resolve("classes.jsa");
            List<String> arguments = new ArrayList<>();
            if (Files.exists(archive)) {
                arguments.add("-XX:SharedArchiveFile=" + archive);
            }
            arguments.addAll(List.of("-jar", runnable.toString()));
            return arguments;
        } catch (IOException e) {
            throw new UncheckedIOException("cannot prepare " + jar, e);
        }
    }

    private static boolean isSpringBoot(Path jar) throws IOException {
        try (JarFile file = new JarFile(jar.toFile())) {
            return file.getManifest() != null
                    && file.getManifest().getMainAttributes().getValue("Spring-Boot-Version") != null;
        }
    }

    /**
     * By content, because a build rewrites the jar even if nothing changed; and by JVM, because an archive is valid for
     * one JVM only.
     */
    private static String key(Path jar) throws IOException {
        CRC32 crc = new CRC32();
        try (InputStream in = new CheckedInputStream(Files.newInputStream(jar), crc)) {
            in.transferTo(java.io.OutputStream.nullOutputStream());
        }
        crc.update((System.getProperty("java.home") + System.getProperty("java.vm.version"))
                .getBytes(java.nio.charset.StandardCharsets.UTF_8));
        return Long.toHexString(crc.getValue()) + "-" + Files.size(jar);
    }

    private void unpack(Path jar, Path directory) {
        progress.accept("preparing the service for faster starts, once for each build of it");
        Command.Result result = Command.run(
                TOOL_LIMIT,
                List.of(
                        NodeJar.java(),
                        "-XX:TieredStopAtLevel=1",
                        "-Djarmode=tools",
                        "-jar",
                        jar.toString(),
                        "extract",
                        "--force",
                        "--destination",
                        directory.toString()));
        if (!result.ok() || !Files.exists(directory.resolve(jar.getFileName()))) {
            throw new SandboxException("could not unpack " + jar + ":\n" + result.tail(10));
        }
    }

    /** Runs the service once, until its node is SYNCED, and has the JVM archive the classes it loaded. */
    private void train(Path jar, Path directory) throws IOException {
        Path work = CacheDirectory.newTemporary(cache.root(), "training-");
        try {
            int port = NodePorts.freeBase(1);
            SandboxSettings settings = new SandboxSettings("training", 1, port, Map.of());
            SandboxNode node = new SandboxNode(settings, 1, work.resolve("n1"));
            OnExit undoServer = OnExit.run(node.mysql()::kill9);
            try {
                node.startMySql();
                run(jar, directory, work, settings, port);
            } finally {
                node.mysql().kill9();
                undoServer.forget();
            }
        } finally {
            CacheDirectory.deleteTree(work);
        }
    }

    private static void run(Path jar, Path directory, Path work, SandboxSettings settings, int port)
            throws IOException {
        Path yaml = work.resolve("application.yaml");
        // With them, so that the classes for that are among those archived.
        NodeCertificates.make(work, settings.cluster(), List.of(NodeConfiguration.name(1)));
        Files.writeString(yaml, NodeConfiguration.yaml(settings, 1, work, work.resolve("data")));
        OwnedProcess process = OwnedProcess.start(
                List.of(
                        NodeJar.java(),
                        "-Xmx256m",
                        "-XX:+UseSerialGC",
                        // As the services run: what the optimizing compiler makes isn't archived.
                        "-XX:TieredStopAtLevel=1",
                        "-XX:ArchiveClassesAtExit=" + directory.resolve("classes.jsa"),
                        "-jar",
                        jar.toString(),
                        "--spring.config.additional-location=file:" + yaml),
                Map.of(),
                work,
                work.resolve("log"),
                work.resolve("process"));
        OnExit undo = OnExit.run(process::kill);
        String address = Place.LOOPBACK_HOST + ":" + NodePorts.of(port, 1).http();
        awaitSynced(process, AskedNode.local(address, work.resolve("data/http.token")));
        process.stop(TRAINING_LIMIT);
        undo.forget();
    }

    /** If something keeps it from that, the real run meets it and explains it. */
    private static void awaitSynced(OwnedProcess process, AskedNode node) {
        long deadline = System.nanoTime() + TRAINING_LIMIT.toNanos();
        while (System.nanoTime() < deadline
                && !NodeReport.ask(node).map(NodeReport::isSynced).orElse(false)
                && !process.awaitEnd(Duration.ofMillis(100))) {
            Thread.onSpinWait();
        }
    }

    /**
     * Deletes all but the latest copies and those in use. Of two that do this at once, one would miss what it has just
     * seen.
     */
    void deleteOld() throws IOException {
        cache.exclusively("deleting", this::deleteOldAlone);
    }

    private void deleteOldAlone() throws IOException {
        List<Path> copies;
        try (Stream<Path> entries = Files.list(cache.root())) {
            copies = entries.filter(path -> path.getFileName().toString().matches(PREFIX + "[0-9a-f]+-[0-9]+"))
                    .sorted(Comparator.comparing(ServiceProgram::modified).reversed())
                    .toList();
        }
        FileTime recent = FileTime.from(Instant.now().minus(IN_USE));
        for (Path old : copies.subList(Math.min(KEPT, copies.size()), copies.size())) {
            if (modified(old).compareTo(recent) > 0 || isRun(old)) {
                continue;
            }
            String name = old.getFileName().toString();
            for (String suffix : List.of("", ".lock", ".cds.lock", ".cds")) {
                CacheDirectory.deleteTree(cache.root().resolve(name + suffix));
            }
        }
    }

    /** A service reads classes from it until it ends. */
    private static boolean isRun(Path copy) {
        return ProcessHandle.allProcesses().anyMatch(process -> process.info()
                .commandLine()
                .filter(line -> line.contains(copy + "/"))
                .isPresent());
    }

    private static FileTime modified(Path path) {
        try {
            return Files.getLastModifiedTime(path);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
