// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.quorate.node.server.LinkSignals.Task;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class LinkCourseTest {
    private static final long RETRY = 700;

    private final Server server = new Server();
    private final LinkCourse course = new LinkCourse(RETRY);

    @Test
    void nothingWaitsOnTheServerAnyMoreWhenASessionBegins() throws Exception {
        assertThat(turn(Task.READ_ONLY)).isZero();
        assertThat(turn(Task.WRITABLE)).isEqualTo(50);
        server.up = true;
        assertThat(turn(Task.WRITABLE)).isEqualTo(1000);
        assertThat(server.done).containsExactly("settle", "open", "look WRITABLE", "look WRITABLE");
    }

    @Test
    void aSessionEndsWhenTheTaskIsNoneForIt() throws Exception {
        turn(Task.READ_ONLY);
        assertThat(turn(Task.SUSPENDED)).isZero();
        turn(Task.SUSPENDED);
        assertThat(server.done).containsExactly("settle", "open", "close");
    }

    @Test
    void whatIsLostIsTriedAgainAfterAPause() throws Exception {
        turn(Task.READ_ONLY);
        assertThat(turn(Task.RECONNECT)).isEqualTo(RETRY);
        server.task = Task.READ_ONLY;
        course.turn(server, Task.RECONNECT);
        assertThat(server.done).containsExactly("settle", "open", "close", "settle", "open");
    }

    @Test
    void aSessionThatFailedBeginsAnew() throws Exception {
        server.fails = true;
        assertThatThrownBy(() -> turn(Task.READ_ONLY)).isInstanceOf(SQLException.class);
        course.ended();
        server.fails = false;
        turn(Task.READ_ONLY);
        assertThat(server.done).containsExactly("settle", "settle", "open");
    }

    @Test
    void thereIsNoSessionWhileTheServerIsToGetAnotherOnesData() throws Exception {
        server.copyPending = true;
        assertThat(turn(Task.READ_ONLY)).isEqualTo(RETRY);
        server.copyPending = false;
        turn(Task.READ_ONLY);
        assertThat(server.done).containsExactly("settle", "copy", "settle", "open");
    }

    @Test
    void handsOverOnceAndThenRestsUntilItIsToldTo() throws Exception {
        turn(Task.READ_ONLY);
        turn(Task.HAND_OVER);
        turn(Task.HAND_OVER);
        assertThat(turn(Task.HAND_OVER)).isEqualTo(50);
        assertThat(course.hasHandedOver()).isFalse();
        server.handedOver = true;
        assertThat(turn(Task.HAND_OVER)).isEqualTo(LinkCourse.FOR_EVER);
        assertThat(turn(Task.HAND_OVER)).isEqualTo(LinkCourse.FOR_EVER);
        assertThat(course.hasHandedOver()).isTrue();
        assertThat(server.done)
                .containsExactly("settle", "open", "close", "settle", "open to hand over", "hand", "hand", "close");
        course.handOver();
        assertThat(course.hasHandedOver()).isFalse();
        assertThat(turn(Task.HAND_OVER)).isZero();
        assertThat(server.done).endsWith("settle", "open to hand over");
    }

    private long turn(Task task) throws Exception {
        server.task = task;
        return course.turn(server, task);
    }

    private static final class Server implements LinkCourse.Work {
        private final List<String> done = new ArrayList<>();
        private Task task;
        private boolean up;
        private boolean copyPending;
        private boolean handedOver;
        private boolean fails;

        @Override
        public Task begin() {
            return task;
        }

        @Override
        public void settleCommits() {
            done.add("settle");
        }

        @Override
        public boolean isCopyPending() {
            return copyPending;
        }

        @Override
        public void copy() {
            done.add("copy");
        }

        @Override
        public void open() throws SQLException {
            if (fails) {
                throw new SQLException("away");
            }
            done.add("open");
        }

        @Override
        public void look(Task now) {
            done.add("look " + now);
        }

        @Override
        public boolean isUp() {
            return up;
        }

        @Override
        public void openToHandOver() {
            done.add("open to hand over");
        }

        @Override
        public boolean handsOver() {
            done.add("hand");
            return handedOver;
        }

        @Override
        public void close() {
            done.add("close");
        }
    }
}
