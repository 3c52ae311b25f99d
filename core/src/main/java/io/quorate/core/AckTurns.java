// SPDX-License-Identifier: Apache-2.0
package io.quorate.core;

import io.quorate.core.AckCourse.Ack;
import io.quorate.core.AckCourse.Ending;
import java.util.ArrayDeque;
import java.util.Deque;

/**
 * Decides what the one who carries out an {@link AckCourse} does next, which is one of two things: acknowledge a
 * position on the capture's present connection, or end a session. An acknowledgement that is due comes first. When a
 * session can't be ended, none that was to be ended after it can, most likely; nothing is done for a moment then, and
 * all of them are tried again.
 *
 * <p>The server counts everything that a connection doesn't ask for as acknowledged by it. So there is no connection
 * before everything that was captured is settled, and one that breaks counts as gone at once: what couldn't be
 * acknowledged on it is acknowledged on the next one.
 *
 * <p>This class only decides; time comes in as an argument, from any clock that never goes back. Not thread-safe.
 *
 * @param <C> a connection of the capture
 */
public final class AckTurns<C> {
    /** What to do next: acknowledge, or end a session. */
    public sealed interface Turn<C> {}

    /**
     * To acknowledge.
     *
     * @param to the connection to acknowledge on
     */
    public record Acknowledgement<C>(C to, Ack ack) implements Turn<C> {}

    /** To end a session. */
    public record End<C>(Ending ending) implements Turn<C> {}

    private final AckCourse course;
    private final long retryMillis;
    private final Deque<Ending> endings = new ArrayDeque<>();
    private C connection;
    /** What was acknowledged last on the present connection; null when nothing was. */
    private Ack acknowledged;

    private long notBeforeMillis = Long.MIN_VALUE;

    /** @param retryMillis how long nothing is done after a session couldn't be ended */
    public AckTurns(AckCourse course, long retryMillis) {
        this.course = course;
        this.retryMillis = retryMillis;
    }

    // For the capture.

    /** There is no connection any more, and none before {@link #mayConnect}. */
    public void disconnected() {
        connection = null;
    }

    /** Whether another connection may begin. */
    public boolean mayConnect() {
        return course.isSettled();
    }

    public void connected(C next) {
        connection = next;
        acknowledged = null;
    }

    // For whoever carries it out.

    /** What to do next, whose outcome is to be told; null when there is nothing to do now. */
    public Turn<C> next(long nowMillis) {
        if (nowMillis < notBeforeMillis) {
            return null;
        }
        if (isAckDue(nowMillis)) {
            return new Acknowledgement<>(connection, course.acknowledged(nowMillis));
        }
        if (endings.isEmpty()) {
            endings.addAll(course.endings(nowMillis));
        }
        return endings.isEmpty() ? null : new End<>(endings.peek());
    }

    /** Whether the server can be told more than it was told last. */
    public boolean isAckDue(long nowMillis) {
        Ack may = course.acknowledged(nowMillis);
        return connection != null && may != null && !may.equals(acknowledged);
    }

    /**
     * The server was told that.
     *
     * @return whether that was on the present connection
     */
    public boolean acknowledged(Acknowledgement<C> turn) {
        boolean present = turn.to == connection;
        acknowledged = present ? turn.ack : acknowledged;
        return present;
    }

    /** The connection broke meanwhile; the capture will have another one. */
    public void notAcknowledged(Acknowledgement<C> turn) {
        if (turn.to == connection) {
            disconnected();
        }
    }

    /** The session is gone: its client won't hear OK. */
    public void ended(Ending ending) {
        endings.remove(ending);
        course.ended(ending.number());
    }

    /** The session couldn't be ended. */
    public void notEnded(long nowMillis) {
        endings.forEach(ending -> course.notEnded(ending.number()));
        endings.clear();
        notBeforeMillis = nowMillis + retryMillis;
    }

    /** Milliseconds until there may be something to do even if nothing happens; at most {@code otherwise}. */
    public long waitMillis(long nowMillis, long otherwise) {
        return nowMillis < notBeforeMillis ? notBeforeMillis - nowMillis : course.waitMillis(nowMillis, otherwise);
    }
}
