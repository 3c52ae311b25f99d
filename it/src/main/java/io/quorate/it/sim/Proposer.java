// SPDX-License-Identifier: Apache-2.0
package io.quorate.it.sim;

import io.quorate.core.CaptureProtocol;
import io.quorate.core.OriginPosition;
import io.quorate.core.ProposalCourse;
import io.quorate.core.ProposalCourse.Submission;
import io.quorate.core.ProposalWindow;
import io.quorate.core.WriteSet;

/** Carries out the product's {@link ProposalCourse} on the simulation's clock. */
final class Proposer implements CaptureProtocol.Proposing {
    private static final long RETRY_MILLIS = 2;

    private final Session session;
    private final World world;
    private final ProposalCourse course;
    private boolean waiting;

    Proposer(Session session, ProposalWindow window) {
        this.session = session;
        this.world = session.world;
        long resendMillis = 40 + 5L * world.faults.delayMicrosMax() / 1000;
        this.course = new ProposalCourse(
                window,
                new ProposalCourse.Timing(resendMillis, RETRY_MILLIS),
                world.order().isPrimary(session.node),
                world.millis());
    }

    /** On some nodes there is room for more than is ever captured, on others the capture has to wait. */
    static ProposalWindow.Limits limits(Node node) {
        return new ProposalWindow.Limits(2048, 3, node.number % 2 == 0 ? 1 << 20 : 12 << 10, 5, 20, 20);
    }

    boolean isFull() {
        return course.isFull();
    }

    boolean isIdle() {
        return course.isIdle();
    }

    @Override
    public void captured(WriteSet writeSet, long[] undecided) {
        course.captured(writeSet, undecided, world.millis());
        submit();
    }

    @Override
    public void progress(long last, long lastSeen, long[] undecided) {
        course.progress(last, lastSeen, undecided, world.millis());
    }

    @Override
    public void delivered(OriginPosition position) {
        course.delivered(position, world.millis());
        submit();
        session.capture();
    }

    @Override
    public void gap() {
        course.gap(world.millis());
        submit();
    }

    void quorumChanged(boolean primary) {
        course.quorumChanged(primary, world.millis());
        submit();
    }

    private void failed(Submission submission) {
        course.failed(submission, "lost", world.millis());
        submit();
    }

    private void submit() {
        if (session.isClosed()) {
            return;
        }
        for (Submission next; (next = course.next(world.millis())) != null; ) {
            Submission submitted = next;
            world.order().submit(session.node, next.entry().toArray(), () -> failed(submitted));
        }
        if (!waiting) {
            waiting = true;
            world.after(1000 * course.waitMillis(world.millis()), () -> {
                waiting = false;
                submit();
            });
        }
    }
}
