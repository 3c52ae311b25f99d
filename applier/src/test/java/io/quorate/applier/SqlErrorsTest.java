// SPDX-License-Identifier: Apache-2.0
package io.quorate.applier;

import static org.assertj.core.api.Assertions.assertThat;

import java.sql.SQLException;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class SqlErrorsTest {
    /** What 8.0.33 says where an object that a statement names is missing, or is there already. */
    @ParameterizedTest
    @CsvSource({
        "databases, 1007 1008 3503",
        "tables and views, 1050 1051 1146",
        "tablespaces and their files, 1812 1813 1814 3120 3510 3606",
        "routines and triggers and events, 1304 1305 1359 1360 1537 1539",
        "accounts and grants and roles, 1133 1141 1147 1396 3523 3530",
        "servers to federate with, 1476 1477",
        "spatial reference systems, 3548 3712"
    })
    void aServerThatHasOtherObjectsVotesOnTheDefinition(String objects, String codes) {
        for (String code : codes.split(" ")) {
            assertThat(SqlErrors.isAboutContents(new SQLException("", "HY000", Integer.parseInt(code))))
                    .as("%s: %s", objects, code)
                    .isTrue();
        }
    }

    /** Disks that are full, privileges that are missing, libraries that aren't there. */
    @ParameterizedTest
    @ValueSource(ints = {1021, 1114, 1126, 1142, 1227, 1290, 2013, 1205})
    void aServerThatCannotRunItDoesNot(int code) {
        assertThat(SqlErrors.isAboutContents(new SQLException("", "HY000", code)))
                .isFalse();
    }
}
