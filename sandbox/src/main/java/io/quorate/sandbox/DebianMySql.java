// SPDX-License-Identifier: Apache-2.0
package io.quorate.sandbox;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * MySQL of the series that Debian's unstable suite has, which is 9.7 LTS. Its packages are unpacked into the user's
 * cache with every library they need, the C library and its dynamic linker among them. So they run on older releases,
 * and nothing in the system changes. That suite moves on, so its present version is taken. Packages are taken only with
 * a signature that the machine's own keys verify.
 */
final class DebianMySql {
    /** What is asked for. The suite has one version at a time. */
    static final String SERIES = "9.7";

    private static final Duration LIMIT = Duration.ofMinutes(10);
    private static final List<String> PACKAGES = List.of("mysql-server-core", "mysql-client-core");
    /** What these depend on for scripts that nobody runs here. */
    private static final Pattern LEFT_OUT = Pattern.compile("perl.*|libperl.*|libgdbm.*|libdb5.*|.*-base");

    private static final String LIBRARIES = "usr/lib/x86_64-linux-gnu";

    private final CacheDirectory cache;
    private final Consumer<String> progress;

    DebianMySql(CacheDirectory cache, Consumer<String> progress) {
        this.cache = cache;
        this.progress = progress;
    }

    /** The unpacked server's home. */
    Path unpacked() {
        return cache.entry("mysql-" + SERIES, directory -> {
            Path work = CacheDirectory.newTemporary(cache.root(), "apt-");
            try {
                get(work, directory);
            } finally {
                CacheDirectory.deleteTree(work);
            }
        });
    }

    private void get(Path work, Path home) throws IOException {
        Apt apt = new Apt(work, archive());
        progress.accept("MySQL " + SERIES + " comes from Debian's unstable suite: reading its list of packages");
        apt.run("update");
        List<String> names = apt.needed();
        progress.accept("downloading " + names.size() + " packages, about 50 MB, into " + cache.root()
                + " (the system is not changed)");
        apt.download(names);
        Path root = home.resolve("root");
        for (Path archive : apt.downloaded()) {
            require(Command.run(LIMIT, List.of("dpkg-deb", "-x", archive.toString(), root.toString())), "dpkg-deb");
        }
        for (String program : List.of("sbin/mysqld", "bin/mysql", "bin/mysqlbinlog", "bin/mysqldump")) {
            writeStarter(home, program);
        }
        Files.createDirectories(home.resolve("lib/mysql"));
        Files.createSymbolicLink(home.resolve("lib/mysql/plugin"), Path.of("../../root/usr/lib/mysql/plugin"));
    }

    /** A script that runs a program with the libraries beside it; it works wherever the home is. */
    private static void writeStarter(Path home, String program) throws IOException {
        // Options that say which defaults to read have to be the first ones.
        String options = program.equals("sbin/mysqld") ? """
                 \\
                  --basedir="$root/usr" --lc-messages-dir="$root/usr/share/mysql" \\
                  --character-sets-dir="$root/usr/share/mysql/charsets" --plugin-dir="$root/usr/lib/mysql/plugin" \\
                  --secure-file-priv=""" : "";
        Path starter = home.resolve("bin").resolve(Path.of(program).getFileName());
        Files.createDirectories(starter.getParent());
        String script = """
                #!/bin/sh
                root=$(dirname "$(dirname "$(readlink -f "$0")")")/root
                lib=$root/%s
                exec "$lib/ld-linux-x86-64.so.2" --library-path "$lib" "$root/usr/%s" "$@\"""";
        Files.writeString(starter, script.formatted(LIBRARIES, program) + options + "\n");
        if (!starter.toFile().setExecutable(true, false)) {
            throw new IOException("cannot make " + starter + " executable");
        }
    }

    /** The archive that this machine gets its own packages from. */
    private static String archive() {
        String machine = System.getProperty("os.name") + " " + System.getProperty("os.arch");
        if (machine.equals("Linux amd64") && Command.onPath("apt-get") != null && Command.onPath("dpkg-deb") != null) {
            Command.Result known = Command.run(
                    LIMIT, List.of("apt-get", "indextargets", "--format", "$(REPO_URI)", "Created-By: Packages"));
            String archive = known.output()
                    .lines()
                    .filter(line -> line.endsWith("/debian/"))
                    .findFirst()
                    .orElse(null);
            if (archive != null) {
                return archive;
            }
        }
        throw new SandboxException("MySQL " + SERIES + " is taken from Debian's archive, for Linux on x86-64, and this"
                + " machine doesn't get its packages there. Install MySQL " + SERIES + " and set QUORATE_MYSQL_HOME to"
                + " its home");
    }

    private static Command.Result require(Command.Result result, String what) {
        if (!result.ok()) {
            throw new SandboxException("could not get MySQL " + SERIES + ": " + what + " says:\n" + result.tail(10));
        }
        return result;
    }

    /** apt-get with lists, a state and a cache of its own, as if nothing were installed. */
    private static final class Apt {
        private final Path work;
        private final List<String> options;

        Apt(Path work, String archive) throws IOException {
            this.work = work;
            Path sources = Files.writeString(work.resolve("sources.list"), "deb " + archive + " sid main\n");
            Path state = Files.createFile(work.resolve("status"));
            Files.createDirectories(work.resolve("lists/partial"));
            Files.createDirectories(work.resolve("cache/archives/partial"));
            options = List.of(
                    "-q",
                    "-o",
                    "Dir::Etc::sourcelist=" + sources,
                    "-o",
                    "Dir::Etc::sourceparts=/dev/null",
                    "-o",
                    "Dir::State::lists=" + work.resolve("lists"),
                    "-o",
                    "Dir::State::status=" + state,
                    "-o",
                    "Dir::Cache=" + work.resolve("cache"),
                    "-o",
                    "Debug::NoLocking=1",
                    "-o",
                    "APT::Sandbox::User=");
        }

        Command.Result run(String... arguments) {
            List<String> command = new ArrayList<>(List.of("apt-get"));
            command.addAll(options);
            command.addAll(List.of(arguments));
            return require(Command.run(LIMIT, work, Map.of("LC_ALL", "C"), command), "apt-get " + arguments[0]);
        }

        /** The packages and all they depend on. */
        List<String> needed() {
            List<String> arguments = new ArrayList<>(List.of("install", "-s", "--no-install-recommends"));
            arguments.addAll(PACKAGES);
            return run(arguments.toArray(String[]::new))
                    .output()
                    .lines()
                    .filter(line -> line.startsWith("Inst "))
                    .map(line -> line.split(" ")[1])
                    .filter(name -> !LEFT_OUT.matcher(name).matches())
                    .toList();
        }

        void download(List<String> names) {
            List<String> arguments = new ArrayList<>(List.of("download"));
            arguments.addAll(names);
            run(arguments.toArray(String[]::new));
        }

        List<Path> downloaded() throws IOException {
            try (Stream<Path> files = Files.list(work)) {
                return files.filter(file -> file.toString().endsWith(".deb"))
                        .sorted()
                        .toList();
            }
        }
    }
}
