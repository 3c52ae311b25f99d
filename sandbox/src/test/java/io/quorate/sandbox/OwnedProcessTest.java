// SPDX-License-Identifier: Apache-2.0
package io.quorate.sandbox;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
class OwnedProcessTest {
    @TempDir
    Path directory;

    private OwnedProcess start(String... command) {
        return OwnedProcess.start(
                List.of(command), Map.of(), directory, directory.resolve("out"), directory.resolve("record"));
    }

    @Test
    void whatTheCommandIsToldIsNotForTheService() {
        Map<String, String> environment = new HashMap<>(
                Map.of("QUORATE_CACHE", "/somewhere", "QUORATE_MYSQL_PASSWORD", "secret", "PATH", "/usr/bin"));
        OwnedProcess.withoutOurs(environment);
        assertThat(environment).containsOnlyKeys("PATH");
    }

    @Test
    void isFoundAgainByItsRecordUntilItEnds() {
        OwnedProcess process = start("sleep", "60");
        try {
            assertThat(OwnedProcess.recordedIn(directory.resolve("record"))).contains(process);
        } finally {
            process.kill();
        }
        assertThat(process.isAlive()).isFalse();
        assertThat(OwnedProcess.recordedIn(directory.resolve("record"))).isEmpty();
    }

    @Test
    void isNotTakenForAnotherThatGotItsPid() throws Exception {
        OwnedProcess other = start("sleep", "60");
        try {
            OwnedProcess recycled = new OwnedProcess(other.pid(), other.startTicks() - 1);
            Files.writeString(directory.resolve("record"), recycled.pid() + " " + recycled.startTicks());
            assertThat(OwnedProcess.recordedIn(directory.resolve("record"))).isEmpty();
            recycled.kill();
            assertThat(other.isAlive()).isTrue();
        } finally {
            other.kill();
        }
    }

    @Test
    void nobodyElseCanReadWhatItWrites() throws Exception {
        Path made = directory.resolve("made");
        OwnedProcess process = start("sh", "-c", "echo secret; echo secret >" + made);
        assertThat(process.awaitEnd(Duration.ofSeconds(30))).isTrue();
        for (Path file : List.of(made, directory.resolve("out"))) {
            assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
                    .as(file.toString())
                    .isEqualTo("rw-------");
        }
    }

    @Test
    void aFileThatWasWiderIsNarrowedBeforeItIsWritten() throws Exception {
        Path file = Files.writeString(directory.resolve("application.yaml"), "old");
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-r--r--"));
        PrivateFiles.write(file, "password: secret");
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
                .isEqualTo("rw-------");
        assertThat(file).content().isEqualTo("password: secret");
    }

    @Test
    void isKilledWhenItDoesNotStop() throws Exception {
        Path ready = directory.resolve("ready");
        OwnedProcess stubborn = start("sh", "-c", "trap '' TERM; touch " + ready + "; while :; do sleep 1; done");
        while (!Files.exists(ready)) {
            assertThat(stubborn.awaitEnd(Duration.ofMillis(10))).isFalse();
        }
        stubborn.stop(Duration.ofMillis(300));
        assertThat(stubborn.isAlive()).isFalse();
    }

    @Test
    void ignoresARecordThatMakesNoSense() throws Exception {
        Files.writeString(directory.resolve("record"), "12 x");
        assertThat(OwnedProcess.recordedIn(directory.resolve("record"))).isEmpty();
    }
}
