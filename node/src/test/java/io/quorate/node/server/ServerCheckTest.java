// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.server;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ServerCheckTest {
    /**
     * A statement that the server doesn't know would leave its filters unseen, and what they keep out of the binlog
     * lost.
     */
    @ParameterizedTest
    @CsvSource({
        "8.0.33, SHOW MASTER STATUS",
        "8.0.44-35-log, SHOW MASTER STATUS",
        "8.1.0, SHOW MASTER STATUS",
        "8.2.0, SHOW BINARY LOG STATUS",
        "8.4.6, SHOW BINARY LOG STATUS",
        "9.7.0-debian, SHOW BINARY LOG STATUS",
    })
    void asksForTheFiltersOfTheBinlogAsTheVersionKnowsIt(String version, String sql) {
        assertThat(ServerCheck.binlogStatus(version)).isEqualTo(sql);
    }
}
