// SPDX-License-Identifier: Apache-2.0
package io.quorate.sandbox;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

class QuorateCommandTest {
    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    private int run(String... arguments) {
        CommandLine command = QuorateCommand.commandLine();
        command.setOut(new PrintWriter(out, true)).setErr(new PrintWriter(err, true));
        return command.execute(arguments);
    }

    @Test
    void printsItsHelpWhenAskedForNothing() {
        assertThat(run()).isEqualTo(2);
        assertThat(err.toString()).contains("Usage: quorate", "demo", "sandbox");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"--help", "--version", "demo --help", "sandbox --help", "sandbox start --help", "suite --help"})
    void answersWithoutFailing(String line) {
        assertThat(run(line.split(" "))).isZero();
        assertThat(out.toString()).contains("quorate");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "sandbox",
                "frob",
                "sandbox kill",
                "sandbox kill n1 --what everything",
                "demo --nodes many",
                "demo --seconds 0",
                "suite --tests nowhere --mysqltest nothing",
                "sandbox start --nodes 10",
                "sandbox start --set foo=1",
                "sandbox start --base-port 80",
                "sandbox start --mysql nine",
                "sandbox start --mysql n3=9",
                "sandbox upgrade n1"
            })
    void exitsWithTwoOnWrongUsage(String line, @TempDir Path directory) {
        String[] words = line.split(" ");
        if (words.length > 1 && words[0].equals("sandbox")) {
            words = Arrays.copyOf(words, words.length + 2);
            words[words.length - 2] = "--dir";
            words[words.length - 1] = directory.toString();
        }
        assertThat(run(words)).as(err.toString()).isEqualTo(2);
        assertThat(directory).isEmptyDirectory();
    }

    @Test
    void saysWhereItLookedForASandbox(@TempDir Path directory) {
        assertThat(run("sandbox", "status", "--dir", directory.toString())).isEqualTo(1);
        assertThat(err.toString()).contains("there is no sandbox in " + directory);
    }
}
