// SPDX-License-Identifier: Apache-2.0
package io.quorate.sandbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class MySqlDistributionTest {
    @Test
    void readsTheVersionThatMysqldTells() {
        assertThat(MySqlDistribution.mysqlVersion(
                        "/usr/sbin/mysqld  Ver 8.0.42-0ubuntu0.22.04.1 for Linux on x86_64 ((Ubuntu))"))
                .isEqualTo("8.0.42");
        assertThat(MySqlDistribution.mysqlVersion("mysqld  Ver 10.11.6-MariaDB-0+deb12u1 for debian-linux-gnu"))
                .isNull();
        assertThat(MySqlDistribution.mysqlVersion("mysqld: command not found")).isNull();
    }

    @Test
    void ordersVersionsByNumberNotByText() {
        assertThat(MySqlDistribution.isAtLeastOldest("8.0.30")).isTrue();
        assertThat(MySqlDistribution.isAtLeastOldest("8.4.0")).isTrue();
        assertThat(MySqlDistribution.isAtLeastOldest("8.0.9")).isFalse();
        assertThat(MySqlDistribution.isAtLeastOldest("5.7.44")).isFalse();
    }

    @Test
    void namesTheVariableThatPointsNowhere(@TempDir Path empty) {
        assertThatThrownBy(() -> MySqlDistribution.search(
                        new CacheDirectory(empty), MySqlSeries.ANY, empty.toString(), line -> {}))
                .isInstanceOf(SandboxException.class)
                .hasMessageContaining("QUORATE_MYSQL_HOME");
    }

    @Test
    void unpacksOnlyWhatIsRun() {
        assertThat(MySqlDownload.isRun("bin/mysqld")).isTrue();
        assertThat(MySqlDownload.isRun("bin/mysqld-debug")).isFalse();
        assertThat(MySqlDownload.isRun("share/english/errmsg.sys")).isTrue();
        assertThat(MySqlDownload.isRun("lib/private/libcrypto.so.1.1")).isTrue();
        assertThat(MySqlDownload.isRun("lib/private/libcrypto.so")).isFalse();
        assertThat(MySqlDownload.isRun("lib/plugin/debug/mysql_clone.so")).isFalse();
        assertThat(MySqlDownload.isRun("lib/plugin/mysql_clone.so")).isTrue();
    }

    @Test
    void recognizesWhatTheDynamicLinkerMisses() {
        assertThat(SharedLibraries.missing(
                        "mysqld: error while loading shared libraries: libaio.so.1: cannot open shared"
                                + " object file: No such file or directory"))
                .isEqualTo("libaio.so.1");
        assertThat(SharedLibraries.missing("mysqld  Ver 8.0.33 for Linux on x86_64"))
                .isNull();
    }
}
