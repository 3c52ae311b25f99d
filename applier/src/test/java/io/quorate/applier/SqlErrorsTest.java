// SPDX-License-Identifier: Apache-2.0
package io.quorate.applier;

import static org.assertj.core.api.Assertions.assertThat;

import io.quorate.core.ErrorCode;
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
        "accounts and grants and roles, 1133 1141 1147 1396 1410 3523 3530",
        "servers to federate with, 1476 1477",
        "spatial reference systems, 3548 3712"
    })
    void aServerThatHasOtherObjectsVotesOnTheDefinition(String objects, String codes) {
        for (String code : codes.split(" ")) {
            SQLException refusal = new SQLException("", "HY000", Integer.parseInt(code));
            assertThat(SqlErrors.isAboutContents(refusal))
                    .as("%s: %s", objects, code)
                    .isTrue();
            assertThat(SqlErrors.isRefusal(refusal)).isTrue();
        }
    }

    /** Disks that are full, privileges that are missing, libraries that aren't there. */
    @ParameterizedTest
    @ValueSource(ints = {3, 1021, 1114, 1126, 1142, 1227, 1290, 2013, 1205, 1785, 0})
    void aServerThatCannotRunItDoesNot(int code) {
        SQLException failure = new SQLException("", "HY000", code);
        assertThat(SqlErrors.isAboutContents(failure)).isFalse();
        assertThat(SqlErrors.isRefusal(failure)).isFalse();
    }

    /** A disk, a table space, the binlog's cache, a limit on locks that are full: somebody makes room. */
    @ParameterizedTest
    @ValueSource(ints = {1021, 1114, 1153, 1197, 1206, 1705})
    void aServerThatCannotNowIsTriedAgain(int code) {
        SQLException failure = new SQLException("", "HY000", code);
        assertThat(ApplyErrors.failed(failure).code()).isEqualTo(ErrorCode.SERVER_UNABLE);
        assertThat(ErrorCode.SERVER_UNABLE.isRetryable()).isTrue();
    }

    /** An index that is too long for what is there, a cycle of foreign keys, a dimension of another unit. */
    @ParameterizedTest
    @ValueSource(ints = {1071, 1118, 1831, 3734, 3902, 6000})
    void aServerVotesOnADefinitionThatItRefusesForAReasonThatNobodyHasThoughtOf(int code) {
        assertThat(SqlErrors.isRefusal(new SQLException("", "HY000", code))).isTrue();
    }
}
