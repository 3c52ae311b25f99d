// SPDX-License-Identifier: Apache-2.0
package io.quorate.node;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PrivateDirectoryTest {
    @TempDir
    private Path parent;

    private static String rights(Path file) throws Exception {
        return PosixFilePermissions.toString(Files.getPosixFilePermissions(file));
    }

    private static Path wide(Path file) throws Exception {
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwxr-xr-x"));
        return file;
    }

    private static Path node(Path directory) throws Exception {
        Files.writeString(directory.resolve("directory.id"), "x");
        return directory;
    }

    @Test
    void makesADirectoryThatNobodyElseCanPass() throws Exception {
        Path directory = parent.resolve("made/for/a/node");
        PrivateDirectory.open(directory);
        assertThat(rights(directory)).isEqualTo("rwx------");
    }

    @Test
    void takesWhatIsThereFromEverybodyElse() throws Exception {
        Path order = wide(Files.createDirectory(parent.resolve("order")));
        Path old = wide(Files.writeString(order.resolve("log_0-1"), "x"));
        Path readOnly = Files.writeString(parent.resolve("id"), "x");
        Files.setPosixFilePermissions(readOnly, PosixFilePermissions.fromString("r--r--r--"));
        node(wide(parent));
        PrivateDirectory.open(parent);
        assertThat(rights(parent)).isEqualTo("rwx------");
        assertThat(rights(order)).isEqualTo("rwx------");
        assertThat(rights(old)).isEqualTo("rwx------");
        assertThat(rights(readOnly)).isEqualTo("r--------");
    }

    @Test
    void takesWhatIsCreatedLater() throws Exception {
        PrivateDirectory directory = PrivateDirectory.open(node(parent));
        Path later = wide(Files.writeString(parent.resolve("later"), "x"));
        directory.look(10_000);
        assertThat(rights(later)).isEqualTo("rwx------");
        wide(later);
        directory.look(14_999);
        assertThat(rights(later)).isEqualTo("rwxr-xr-x");
        directory.look(15_000);
        assertThat(rights(later)).isEqualTo("rwx------");
    }

    @Test
    void leavesADirectoryAloneThatIsSomebodyElses() throws Exception {
        Path file = wide(Files.writeString(parent.resolve("passwd"), "x"));
        wide(parent);
        PrivateDirectory.open(parent).look(10_000);
        assertThat(rights(parent)).isEqualTo("rwxr-xr-x");
        assertThat(rights(file)).isEqualTo("rwxr-xr-x");
    }

    @Test
    void leavesAloneWhatALinkLeadsTo() throws Exception {
        Path elsewhere = wide(Files.writeString(parent.resolve("elsewhere"), "x"));
        Path directory = Files.createDirectory(parent.resolve("data"));
        Files.createSymbolicLink(directory.resolve("link"), elsewhere);
        PrivateDirectory.open(node(directory));
        assertThat(rights(elsewhere)).isEqualTo("rwxr-xr-x");
    }

    @Test
    void aVolumeThatIsNewIsEmpty() throws Exception {
        Files.createDirectory(parent.resolve("lost+found"));
        wide(parent);
        PrivateDirectory.open(parent);
        assertThat(rights(parent)).isEqualTo("rwx------");
    }
}
