// SPDX-License-Identifier: Apache-2.0
package io.quorate.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.quorate.sandbox.NodeReport;
import io.quorate.sandbox.Sandbox.Part;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * A node whose volume, a small one in memory, fills up, beside another one and an arbitrator. Needs the right to mount;
 * skipped without, and counted so.
 */
@Timeout(400)
class DiskIT {
    private static final int RESERVE_MB = 32;

    @TempDir
    Path directory;

    static int run(String... command) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(command).inheritIO().start();
        assertThat(process.waitFor(30, TimeUnit.SECONDS)).isTrue();
        return process.exitValue();
    }

    static void copy(Path from, Path to) throws IOException {
        try (Stream<Path> all = Files.walk(from)) {
            for (Path path : all.toList()) {
                Path target = to.resolve(from.relativize(path).toString());
                if (Files.isDirectory(path)) {
                    Files.createDirectories(target);
                } else {
                    Files.copy(path, target);
                }
            }
        }
    }

    @Test
    void aNodeLeavesTheOrderBeforeItsDiskIsFullAndComesBackByItself() throws Exception {
        Path volume = Files.createDirectory(directory.resolve("volume"));
        boolean mounted = run("mount", "-t", "tmpfs", "-o", "size=200m", "tmpfs", volume.toString()) == 0;
        assumeThat(mounted).as("may mount").isTrue();
        try (Cluster cluster =
                Cluster.startWithArbitrators(3, Set.of(3), Map.of("quorate.disk.reserve", RESERVE_MB + "MB"))) {
            cluster.mysql(1).execute("CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY, v INT)");
            cluster.assertConverged();
            cluster.kill(2, Part.SERVICE);
            Path data = cluster.node(2).serviceLog().resolveSibling("quorate");
            copy(data, volume.resolve("data"));
            Files.move(data, directory.resolve("before"));
            Files.createSymbolicLink(data, volume.resolve("data"));
            assertThat(cluster.restart(2)).isTrue();

            Path filler = volume.resolve("filler");
            long usable = Files.getFileStore(volume).getUsableSpace();
            Files.write(filler, new byte[(int) (usable - (RESERVE_MB - 8L) * (1 << 20))]);
            cluster.awaitState(2, "NON_PRIMARY");
            String reason = cluster.node(2).report().map(NodeReport::reason).orElse("");
            assertThat(reason).startsWith("QRT-6005").contains("MB left", "quorate.disk.reserve");
            assertThat(cluster.mysql(2).queryOne("SELECT @@read_only")).isEqualTo("1");

            for (int id = 0; id < 200; id++) {
                cluster.mysql(1).execute("INSERT INTO d.t VALUES (" + id + ", 1)");
            }
            long left = Files.getFileStore(volume).getUsableSpace();
            Thread.sleep(1000);
            assertThat(Files.getFileStore(volume).getUsableSpace())
                    .as("nothing is written")
                    .isGreaterThan(left - (1 << 20));
            assertThat(cluster.state(1)).isEqualTo("SYNCED");
            // Its vote and that of n1 are the majority meanwhile.
            assertThat(cluster.state(3)).isEqualTo("ARBITRATOR");

            Files.delete(filler);
            cluster.awaitState(2, "SYNCED");
            cluster.mysql(2).execute("INSERT INTO d.t VALUES (1000, 1)");
            cluster.assertConverged();
            assertThat(cluster.mysql(1).queryLong("SELECT COUNT(*) FROM d.t")).isEqualTo(201);
        } finally {
            assertThat(List.of(run("umount", volume.toString()))).containsExactly(0);
        }
    }
}
