// SPDX-License-Identifier: Apache-2.0
package io.quorate.sandbox;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SuiteScriptTest {
    @TempDir
    private Path root;

    private SuiteScript script(String text) throws IOException {
        Files.createDirectories(root.resolve("include"));
        return new SuiteScript("script", Files.writeString(root.resolve("script.test"), text));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "--source include/have_debug.inc | debug build",
                "RESTART; | server of its own, or a restart",
                "exec $MYSQLD --initialize; | server of its own, or a restart",
                "--source include/master-slave.inc | replication of its own",
                "set sql_log_bin= 0; | writes past the binlog, or sets GTIDs",
                "INSTALL PLUGIN example SONAME 'x'; | plugin, component or program that a server lacks",
                "SET SESSION binlog_format= 'STATEMENT'; | a setting that is refused by name"
            })
    void isLeftOutForANamedReason(String line, String reason) throws IOException {
        assertThat(script("SELECT 1;\n" + line + "\n").leftOut(root)).contains(reason);
    }

    @Test
    void isLeftOutForWhatItsIncludesNeed() throws IOException {
        SuiteScript script = script("--source include/outer.inc\n");
        Files.writeString(root.resolve("include/outer.inc"), "source include/inner.inc;\n");
        Files.writeString(root.resolve("include/inner.inc"), "--shutdown_server\n");
        assertThat(script.leftOut(root)).contains("server of its own, or a restart");
    }

    @Test
    void isRunWhateverItsCommentsSay() throws IOException {
        assertThat(script("# RESTART; sql_log_bin, have_debug\nCREATE TABLE t (a INT);\n")
                        .leftOut(root))
                .isEmpty();
    }
}
