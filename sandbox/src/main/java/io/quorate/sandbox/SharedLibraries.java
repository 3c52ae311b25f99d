// SPDX-License-Identifier: Apache-2.0
package io.quorate.sandbox;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.PathMatcher;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Provides a program with shared libraries that a bare machine lacks (mostly libaio and libnuma). On Debian and its
 * relatives the packages are downloaded and unpacked into the user's cache, which needs no root and changes nothing in
 * the system; the program finds them through LD_LIBRARY_PATH. On other systems root installs the packages; otherwise
 * the failure names the command to run.
 */
final class SharedLibraries {
    private static final Pattern MISSING = Pattern.compile("loading shared libraries: (\\S+): cannot open");
    private static final Duration LIMIT = Duration.ofMinutes(10);
    private static final int LIBRARIES_MAX = 8;

    /** For each library: Debian packages to try in turn, then the package of Fedora and RHEL, of SUSE, of Arch. */
    private record Packages(List<String> debian, String fedora, String suse, String arch) {}

    private static final Map<String, Packages> PACKAGES = Map.of(
            // Since the 64-bit time_t change the library has another name; on x86-64 it is the same interface.
            "libaio.so.1", new Packages(List.of("libaio1t64", "libaio1"), "libaio", "libaio1", "libaio"),
            "libnuma.so.1", new Packages(List.of("libnuma1"), "numactl-libs", "libnuma1", "numactl"),
            "libstdc++.so.6", new Packages(List.of("libstdc++6"), "libstdc++", "libstdc++6", "gcc-libs"),
            "libgcc_s.so.1", new Packages(List.of("libgcc-s1", "libgcc1"), "libgcc", "libgcc_s1", "gcc-libs"));

    private final CacheDirectory cache;
    private final Consumer<String> progress;
    /** Package lists of our own, once they are needed. */
    private Path aptLists;

    SharedLibraries(CacheDirectory cache, Consumer<String> progress) {
        this.cache = cache;
        this.progress = progress;
    }

    /**
     * Makes a program runnable.
     *
     * @param trial runs the program with the given library directory (null: none) and returns what it printed
     * @return the directory the program needs in LD_LIBRARY_PATH, or null when the system has everything
     */
    Path provide(Function<Path, String> trial) {
        Path own = cache.root().resolve("lib");
        if (missing(trial.apply(null)) == null) {
            return null;
        }
        try {
            for (int i = 0; i < LIBRARIES_MAX; i++) {
                String library = missing(trial.apply(own));
                if (library == null) {
                    return missing(trial.apply(null)) == null ? null : own;
                }
                get(library, own);
            }
        } finally {
            deleteLists();
        }
        throw new SandboxException(
                "mysqld still lacks shared libraries: " + trial.apply(own).strip());
    }

    private void deleteLists() {
        try {
            if (aptLists != null) {
                CacheDirectory.deleteTree(aptLists);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The library the dynamic linker complains about, or null. */
    static String missing(String output) {
        Matcher matcher = MISSING.matcher(output);
        return matcher.find() ? matcher.group(1) : null;
    }

    private void get(String library, Path own) {
        Packages packages = PACKAGES.get(library);
        if (packages == null) {
            throw new SandboxException("mysqld needs the shared library " + library
                    + ", which this machine lacks; install the package that has it and try again");
        }
        if (Command.onPath("apt-get") != null && Command.onPath("dpkg-deb") != null) {
            fromDebian(library, packages.debian(), own);
            return;
        }
        for (List<String> install : List.of(
                List.of("dnf", "install", "-y", packages.fedora()),
                List.of("yum", "install", "-y", packages.fedora()),
                List.of("zypper", "--non-interactive", "install", packages.suse()),
                List.of("pacman", "-S", "--noconfirm", packages.arch()))) {
            if (Command.onPath(install.get(0)) != null) {
                install(library, install);
                return;
            }
        }
        throw new SandboxException("mysqld needs the shared library " + library
                + ", which this machine lacks, and no package manager known here was found (apt-get, dnf, yum, zypper,"
                + " pacman); install it by hand, or set QUORATE_MYSQL_HOME to a MySQL that runs here");
    }

    private void install(String library, List<String> command) {
        String shown = String.join(" ", command);
        boolean root = "root".equals(System.getProperty("user.name"));
        if (!root) {
            throw new SandboxException("mysqld needs the shared library " + library
                    + ", which this machine lacks. Run this, then try again:\n  sudo " + shown);
        }
        progress.accept("mysqld needs " + library + ", installing it: " + shown);
        Command.Result result = Command.run(LIMIT, command);
        if (!result.ok()) {
            throw new SandboxException("could not install " + library + " with \"" + shown + "\":\n" + result.tail(10));
        }
    }

    private void fromDebian(String library, List<String> packages, Path own) {
        progress.accept("mysqld needs " + library + ", which this machine lacks: downloading Debian package "
                + String.join(" or ", packages) + " into " + own + " (the system is not changed)");
        try {
            Path work = CacheDirectory.newTemporary(cache.root(), "apt-");
            try {
                Path found = findLibrary(library, downloaded(library, packages, work));
                Files.createDirectories(own);
                Path unfinished = own.resolve(library + ".unfinished");
                Files.copy(found, unfinished, StandardCopyOption.REPLACE_EXISTING);
                Files.move(unfinished, own.resolve(library), StandardCopyOption.ATOMIC_MOVE);
            } finally {
                CacheDirectory.deleteTree(work);
            }
        } catch (IOException e) {
            throw new UncheckedIOException("cannot get " + library, e);
        }
    }

    /** Tries the system's package lists first; a fresh container has none, so then our own lists are fetched. */
    private Path downloaded(String library, List<String> packages, Path work) throws IOException {
        Files.createDirectories(work.resolve("cache/archives/partial"));
        List<String> plain = List.of("apt-get", "-q", "-o", "Dir::Cache=" + work.resolve("cache"));
        Path unpacked = aptLists == null ? firstDownloaded(packages, work, plain) : null;
        if (unpacked != null) {
            return unpacked;
        }
        boolean update = aptLists == null;
        if (update) {
            aptLists = CacheDirectory.newTemporary(cache.root(), "apt-lists-");
            Files.createDirectories(aptLists.resolve("partial"));
        }
        List<String> withOwnLists = Stream.concat(
                        plain.stream(), Stream.of("-o", "Dir::State::lists=" + aptLists, "-o", "Debug::NoLocking=1"))
                .toList();
        String said = update ? run(work, withOwnLists, "update").tail(5) : "";
        unpacked = firstDownloaded(packages, work, withOwnLists);
        if (unpacked != null) {
            return unpacked;
        }
        throw new SandboxException("mysqld needs the shared library " + library
                + ", which this machine lacks, and its package could not be downloaded:\n" + said
                + "\nRun this, then try again:\n  sudo apt-get update && sudo apt-get install " + packages.get(0)
                + (packages.size() > 1 ? "   (or " + packages.get(1) + ")" : ""));
    }

    /** The content of the first of the packages that exists, or null. */
    private static Path firstDownloaded(List<String> packages, Path work, List<String> apt) throws IOException {
        for (String name : packages) {
            Path archive = run(work, apt, "download", name).ok() ? firstMatch(work, name + "_*.deb") : null;
            Path unpacked = work.resolve("unpacked");
            if (archive != null
                    && run(work, List.of("dpkg-deb"), "-x", archive.toString(), unpacked.toString())
                            .ok()) {
                return unpacked;
            }
        }
        return null;
    }

    private static Command.Result run(Path work, List<String> program, String... arguments) {
        return Command.run(
                LIMIT,
                work,
                Map.of("LC_ALL", "C"),
                Stream.concat(program.stream(), Stream.of(arguments)).toList());
    }

    private static Path firstMatch(Path directory, String glob) throws IOException {
        PathMatcher matcher = FileSystems.getDefault().getPathMatcher("glob:" + glob);
        try (Stream<Path> files = Files.list(directory)) {
            return files.filter(file -> matcher.matches(file.getFileName()))
                    .findFirst()
                    .orElse(null);
        }
    }

    /** The library under the name asked for, or under its newer name ({@code libaio.so.1t64}). */
    private static Path findLibrary(String library, Path unpacked) throws IOException {
        try (Stream<Path> files = Files.walk(unpacked)) {
            return files.filter(file -> file.getFileName().toString().startsWith(library))
                    .filter(Files::isRegularFile)
                    .findFirst()
                    .orElseThrow(() -> new SandboxException("the package downloaded has no " + library));
        }
    }
}
