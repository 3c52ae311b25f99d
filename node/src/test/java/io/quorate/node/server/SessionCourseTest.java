// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.quorate.applier.TailCourse;
import io.quorate.node.server.LinkSignals.Task;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class SessionCourseTest {
    private static final long LONG = 21_000;

    private final Work work = new Work();
    private final SessionCourse course = new SessionCourse();

    @Test
    void aServerThatLostNothingIsAppliedToAtOnceAndCapturedFromWhenItIsKnownWhere() throws Exception {
        course.begin(work, Task.READ_ONLY, true);
        assertThat(work.done).containsExactly("close", "apply");
        look(Task.READ_ONLY);
        assertThat(work.done).doesNotContain("capture");
        work.mayCapture = true;
        look(Task.READ_ONLY);
        look(Task.READ_ONLY);
        assertThat(work.done).containsOnlyOnce("capture");
    }

    /** The state of the node may still allow it from before. */
    @Test
    void noClientWritesBeforeItIsKnownWhatTheServerHasLost() throws Exception {
        course.begin(work, Task.WRITABLE, false);
        look(Task.WRITABLE);
        assertThat(work.done).containsExactly("close", "recover", "check");
        assertThat(course.isClosed()).isTrue();
        work.step = TailCourse.Step.DONE;
        look(Task.WRITABLE);
        assertThat(work.done).doesNotContain("open").contains("apply");
        look(Task.WRITABLE);
        assertThat(work.done).contains("open");
        assertThat(course.isOpen()).isTrue();
    }

    @Test
    void whatIsInTheBinlogIsCapturedWithoutAnythingBeingAppliedUntilTheServerIsRepaired() throws Exception {
        course.begin(work, Task.READ_ONLY, false);
        work.mayCapture = true;
        work.step = TailCourse.Step.CAPTURE;
        look(Task.READ_ONLY);
        look(Task.READ_ONLY);
        assertThat(work.done).containsOnlyOnce("capture alone").doesNotContain("apply", "vote false");
        assertThat(course.applies()).isFalse();
        work.step = TailCourse.Step.DONE;
        work.done.clear();
        look(Task.READ_ONLY);
        look(Task.READ_ONLY);
        assertThat(work.done)
                .containsSubsequence("recover", "apply", "capture")
                .containsOnlyOnce("recover", "apply", "capture");
    }

    @Test
    void theServerIsOpenedAndClosedAsTheTaskHasIt() throws Exception {
        course.begin(work, Task.READ_ONLY, true);
        look(Task.WRITABLE);
        look(Task.WRITABLE);
        look(Task.READ_ONLY);
        assertThat(work.done.stream().filter(List.of("open", "close")::contains))
                .containsExactly("close", "open", "close");
        assertThat(work.done).contains("vote true", "vote false");
    }

    @Test
    void aServerThatIsFoundOpenStaysSoForAsLongAsItMay() throws Exception {
        work.staysOpen = true;
        course.begin(work, Task.READ_ONLY, true);
        look(Task.READ_ONLY);
        assertThat(work.done).doesNotContain("close");
        assertThat(course.isClosed()).isFalse();
        work.staysOpen = false;
        look(Task.READ_ONLY);
        assertThat(work.done).contains("close");
        assertThat(course.isClosed()).isTrue();
    }

    @Test
    void itIsUpOnceTheCaptureReadsTheBinlog() throws Exception {
        course.begin(work, Task.READ_ONLY, true);
        work.mayCapture = true;
        look(Task.READ_ONLY);
        assertThat(course.isUp()).isFalse();
        work.captureUp = true;
        look(Task.READ_ONLY);
        look(Task.READ_ONLY);
        assertThat(course.isUp()).isTrue();
        assertThat(work.done).containsOnlyOnce("up");
    }

    /** Nobody's session may be ended for what was committed before. */
    @Test
    void commitsWaitFromThenOnAndWhatWasCommittedBeforeIsNoted() throws Exception {
        course.begin(work, Task.READ_ONLY, true);
        work.mayCapture = true;
        work.captureUp = true;
        look(Task.READ_ONLY);
        assertThat(work.done).containsSubsequence("note", "hold", "up");
        work.done.clear();
        look(Task.WRITABLE);
        assertThat(work.done).containsSubsequence("note", "open");
    }

    @Test
    void theSessionIsLostWhenTheBinlogCantBeReadForLong() throws Exception {
        course.begin(work, Task.READ_ONLY, true);
        work.captureUp = true;
        course.look(work, Task.READ_ONLY, 0);
        work.captureUp = false;
        course.look(work, Task.READ_ONLY, LONG / 2);
        assertThat(work.done).doesNotContain("lost");
        work.captureUp = true;
        course.look(work, Task.READ_ONLY, LONG / 2);
        work.captureUp = false;
        course.look(work, Task.READ_ONLY, LONG);
        assertThat(work.done).doesNotContain("lost");
        course.look(work, Task.READ_ONLY, LONG / 2 + LONG);
        assertThat(work.done).contains("lost");
    }

    /** The order may be away, and the capture waits for it. */
    @Test
    void beforeItWasUpNothingIsLost() throws Exception {
        course.begin(work, Task.READ_ONLY, true);
        look(Task.READ_ONLY);
        course.look(work, Task.READ_ONLY, 2 * LONG);
        assertThat(work.done).doesNotContain("lost");
    }

    @Test
    void whatClientsCommittedIsHandedOverWithoutAnythingBeingApplied() throws Exception {
        work.executed = 5;
        assertThat(course.hasHandedOver(work)).isFalse();
        assertThat(work.done).isEmpty();
        work.current = true;
        assertThat(course.hasHandedOver(work)).isFalse();
        assertThat(course.hasHandedOver(work)).isFalse();
        assertThat(work.done).containsExactly("capture alone");
        work.ordered = 5;
        assertThat(course.hasHandedOver(work)).isTrue();
    }

    /** It has no numbers of the server's own. */
    @Test
    void whatCantBeOrderedIsMetBeforeAllIsHandedOver() throws Exception {
        work.current = true;
        work.passedOver = false;
        assertThat(course.hasHandedOver(work)).isFalse();
        assertThat(work.done).containsExactly("capture alone");
        work.passedOver = true;
        assertThat(course.hasHandedOver(work)).isTrue();
    }

    @Test
    void whereNothingIsToBeHandedOverNothingIsCaptured() throws Exception {
        work.current = true;
        assertThat(course.hasHandedOver(work)).isTrue();
        assertThat(work.done).isEmpty();
    }

    /** A fence may be the reason, which tells the session a moment later. */
    @Test
    void aServerThatIsClosedThoughItWasOpenedIsOpenedAgainAfterASecond() throws Exception {
        course.begin(work, Task.READ_ONLY, true);
        look(Task.WRITABLE);
        work.done.clear();
        work.closed = SessionCourse.Closed.BY_SERVICE;
        course.look(work, Task.WRITABLE, 1000);
        course.look(work, Task.WRITABLE, 1999);
        assertThat(work.done).doesNotContain("open");
        course.look(work, Task.WRITABLE, 2000);
        assertThat(work.done).containsOnlyOnce("open");
        work.done.clear();
        course.look(work, Task.WRITABLE, 3000);
        assertThat(work.done).doesNotContain("open");
    }

    @Test
    void aServerThatSomebodyOpensThoughItIsToBeClosedIsClosedAgain() throws Exception {
        course.begin(work, Task.READ_ONLY, true);
        look(Task.READ_ONLY);
        work.done.clear();
        work.closed = SessionCourse.Closed.BY_NOBODY;
        look(Task.READ_ONLY);
        assertThat(work.done).contains("close");
    }

    @Test
    void whoHasClosedTheServerHimselfFindsItClosedUntilHeOpensIt() throws Exception {
        course.begin(work, Task.READ_ONLY, true);
        look(Task.WRITABLE);
        work.done.clear();
        work.closed = SessionCourse.Closed.BY_SOMEBODY;
        course.look(work, Task.WRITABLE, 0);
        course.look(work, Task.WRITABLE, 10_000);
        assertThat(work.done).doesNotContain("open");
        course.look(work, Task.READ_ONLY, 20_000);
        work.closed = SessionCourse.Closed.BY_SOMEBODY;
        work.done.clear();
        course.look(work, Task.WRITABLE, 20_000);
        assertThat(work.done).contains("hold").doesNotContain("open");
    }

    private void look(Task task) throws Exception {
        course.look(work, task, 0);
    }

    private static final class Work implements SessionCourse.Work {
        private final List<String> done = new ArrayList<>();
        private TailCourse.Step step = TailCourse.Step.PROBE;
        private SessionCourse.Closed closed = SessionCourse.Closed.BY_NOBODY;
        private boolean staysOpen;
        private boolean current;
        private boolean passedOver = true;
        private boolean mayCapture;
        private boolean captureUp;
        private long ordered;
        private long executed;

        @Override
        public boolean staysOpen() {
            return staysOpen;
        }

        @Override
        public void noteAnswered() {
            done.add("note");
        }

        @Override
        public void holdCommits() {
            done.add("hold");
        }

        @Override
        public void openForClients() {
            done.add("open");
            closed = SessionCourse.Closed.BY_NOBODY;
        }

        @Override
        public void closeForClients() {
            done.add("close");
            closed = SessionCourse.Closed.BY_SERVICE;
        }

        @Override
        public void restoreRest() {}

        @Override
        public SessionCourse.Closed closed() {
            return closed;
        }

        @Override
        public TailCourse.Step recover() {
            done.add("recover");
            return step;
        }

        @Override
        public boolean isCurrent() {
            return current;
        }

        @Override
        public boolean hasPassedOver() {
            return passedOver;
        }

        @Override
        public long ownOrdered() {
            return ordered;
        }

        @Override
        public long ownExecuted() {
            return executed;
        }

        @Override
        public void captureAlone() {
            done.add("capture alone");
        }

        @Override
        public void apply() {
            done.add("apply");
        }

        @Override
        public boolean mayCapture() {
            return mayCapture;
        }

        @Override
        public void capture() {
            done.add("capture");
        }

        @Override
        public boolean isCaptureUp() {
            return captureUp;
        }

        @Override
        public void check() {
            done.add("check");
        }

        @Override
        public void vote(boolean synced) {
            done.add("vote " + synced);
        }

        @Override
        public void up() {
            done.add("up");
        }

        @Override
        public void lost(String why) {
            done.add("lost");
        }
    }
}
