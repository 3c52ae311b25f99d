// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class ClosingCourseTest {
    private static final long LIMIT = 1000;

    private final ServerOfTest server = new ServerOfTest();
    private final ClosingCourse course = new ClosingCourse(false, Duration.ofMillis(LIMIT), 0);

    @Test
    void aServerWithoutCommitsIsClosedAtOnce() throws SQLException {
        assertThat(course.step(server, 0)).isTrue();
        assertThat(server.done).containsExactly("try", "wait no more");
    }

    @Test
    void whoeverACaptureMayDecideIsWaitedFor() throws SQLException {
        server.committing = true;
        server.replica = true;
        assertThat(course.step(server, LIMIT)).isFalse();
        server.committing = false;
        assertThat(course.step(server, LIMIT + 1)).isTrue();
        assertThat(server.done).containsExactly("try", "try", "wait no more");
    }

    /** Switching it off tells OK to all who wait; so all of them are gone by then, and nobody comes meanwhile. */
    @Test
    void whereNobodyDecidesClientsArePutOutBeforeTheirCommitsGoOn() throws SQLException {
        server.committing = true;
        assertThat(course.step(server, 0)).isTrue();
        assertThat(server.done).containsExactly("try", "offline", "end committing", "wait no more", "close", "online");
    }

    @Test
    void clientsAreNotWaitedForLongerThanTheLimit() throws SQLException {
        server.committing = true;
        server.replica = true;
        assertThat(course.step(server, LIMIT)).isFalse();
        assertThat(course.step(server, LIMIT + 1)).isTrue();
        assertThat(server.done).contains("end committing");
    }

    @Test
    void aServerThatSomebodyKeepsOfflineStaysSo() throws SQLException {
        server.committing = true;
        server.offline = true;
        assertThat(course.step(server, 0)).isTrue();
        assertThat(server.done).doesNotContain("online");
    }

    @Test
    void clientsMayConnectAgainWhenPuttingThemOutFails() {
        server.committing = true;
        server.fails = true;
        assertThatThrownBy(() -> course.step(server, 0)).isInstanceOf(SQLException.class);
        assertThat(server.done).doesNotContain("wait no more").endsWith("online");
    }

    /** Somebody's LOCK TABLES, say. */
    @Test
    void aStatementThatDoesNotEndIsNobodyToBePutOut() throws SQLException {
        server.busy = true;
        assertThat(course.step(server, LIMIT)).isFalse();
        assertThatThrownBy(() -> course.step(server, LIMIT + 1)).hasMessageContaining("doesn't end");
        assertThat(server.done).containsExactly("try", "try");
    }

    /** They are of accounts that read_only doesn't keep from writing. */
    @Test
    void commitsGoOnWaitingForACaptureThatIsThere() throws SQLException {
        ClosingCourse captured = new ClosingCourse(true, Duration.ofMillis(LIMIT), 0);
        server.privileged = true;
        assertThat(captured.step(server, 0)).isTrue();
        assertThat(server.done).containsExactly("try");
    }

    @Test
    void whoeverWaitsOnAClosedServerWithoutACaptureIsEndedWhileOthersStay() throws SQLException {
        server.privileged = true;
        assertThat(course.step(server, 0)).isTrue();
        assertThat(server.done).containsExactly("try", "end committing", "wait no more", "close");
    }

    private static final class ServerOfTest implements ClosingCourse.Server {
        private final List<String> done = new ArrayList<>();
        private boolean committing;
        /** Somebody waits whom a closed server doesn't keep from committing. */
        private boolean privileged;

        private boolean busy;
        private boolean replica;
        private boolean offline;
        private boolean fails;

        @Override
        public boolean closeWithin(Duration limit) {
            done.add("try");
            return !committing && !busy;
        }

        @Override
        public void close() {
            done.add("close");
        }

        @Override
        public boolean hasReplica() {
            return replica;
        }

        @Override
        public boolean isAnyCommitting() {
            return committing || privileged;
        }

        @Override
        public boolean commitsEndWithin(Duration limit) {
            return !isAnyCommitting();
        }

        @Override
        public void endCommitting() throws SQLException {
            if (fails) {
                throw new SQLException("gone");
            }
            done.add("end committing");
        }

        @Override
        public void waitNoMore() {
            done.add("wait no more");
        }

        @Override
        public boolean isOffline() {
            return offline;
        }

        @Override
        public void offline(boolean on) {
            done.add(on ? "offline" : "online");
        }
    }
}
