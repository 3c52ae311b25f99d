// SPDX-License-Identifier: Apache-2.0
package io.quorate.node;

import io.quorate.core.NodeState;
import io.quorate.core.QuorateException;
import io.quorate.node.question.Questions;
import io.quorate.sst.CopyProgress;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Has a node that catches up change over to a full copy where that is faster by far: apply may take hours for what a copy brings in
 * minutes. It goes by what it measures: the rate at which this node applies, at which the order brings more, and at which its last
 * copy came. It changes over once, for catching up has nothing to lose by going on.
 */
final class CatchUpChoice implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(CatchUpChoice.class);
    private static final long PERIOD_MILLIS = 1000;
    /** What it has gained since it began to catch up says little before. */
    private static final Duration MEASURED_AFTER = Duration.ofSeconds(20);

    private static final Duration ASK_AGAIN = Duration.ofMinutes(1);
    /** How much faster it has to be, by estimates. */
    private static final int FASTER = 3;
    /** A copy that was not necessary is given up when nothing comes of it. */
    private static final Duration GIVE_UP = Duration.ofMinutes(2);

    private final NodeProperties properties;
    private final Server server;
    private final Supplier<NodeState> state;
    private final Standing standing;
    private final LongSupplier applied;
    private final Supplier<List<MemberReport>> present;
    private final Questions questions;
    private final JoinCounts joins;
    private final OwnedThread thread;
    private final CopyRates rates;
    private long joinedNanos;
    private long behindThen;
    private long askNotBeforeNanos = System.nanoTime();
    private long changedNanos;
    private volatile boolean changed;
    private boolean tried;

    /** @param applied the seqno up to which the server holds everything, and after which the cache does */
    CatchUpChoice(
            NodeProperties properties,
            Server server,
            Supplier<NodeState> state,
            Standing standing,
            LongSupplier applied,
            Supplier<List<MemberReport>> present,
            Questions questions,
            JoinCounts joins,
            FaultHandler faults)
            throws IOException {
        this.properties = properties;
        this.server = server;
        this.state = state;
        this.standing = standing;
        this.applied = applied;
        this.present = present;
        this.questions = questions;
        this.joins = joins;
        this.rates = CopyRates.read(properties);
        this.thread = OwnedThread.lasting("quorate-catch-up", this::run, faults);
    }

    void start() {
        if (server.copy() != null && properties.sst().method() == NodeProperties.Sst.Method.AUTO) {
            thread.start();
        }
    }

    private void run() throws InterruptedException {
        while (true) {
            Thread.sleep(PERIOD_MILLIS);
            try {
                look();
            } catch (IOException | QuorateException e) {
                log.debug("no choice between catching up and a copy: {}", e.toString());
            }
        }
    }

    private void look() throws IOException, InterruptedException {
        long now = System.nanoTime();
        if (server.copy().isPending()) {
            joinedNanos = 0;
            remember(server.copy().look());
            if (changed && now - changedNanos > GIVE_UP.toNanos()) {
                giveUp();
                changed = false;
            }
            return;
        }
        changed = false;
        if (state.get() != NodeState.JOINED) {
            joinedNanos = 0;
            return;
        }
        if (joinedNanos == 0) {
            joinedNanos = now;
            behindThen = standing.behind();
        }
        if (!tried && now - joinedNanos > MEASURED_AFTER.toNanos() && now - askNotBeforeNanos > 0) {
            choose(now);
        }
    }

    /** How fast copies come to this node; the newest counts. */
    private void remember(CopyProgress copying) throws IOException {
        if (copying != null
                && copying.bytes() > 0
                && copying.perSecond() > 0
                && server.copy().method() == NodeProperties.Sst.Method.CLONE) {
            rates.measured(NodeProperties.Sst.Method.CLONE, copying.perSecond());
        }
    }

    /**
     * As long as it has gained what it gained since it began. One long statement gains nothing while it runs: that counts only when it
     * has gone on for as long as a node may be catching up.
     */
    private long secondsToCatchUp(long now) {
        long behind = standing.behind();
        long gained = behindThen - behind;
        long elapsed = TimeUnit.NANOSECONDS.toSeconds(now - joinedNanos);
        return gained > 0
                ? (long) ((double) behind * elapsed / gained)
                : elapsed > properties.sst().switchAfter().toSeconds() ? Long.MAX_VALUE : 0;
    }

    private void choose(long now) throws IOException, InterruptedException {
        long catchingUp = secondsToCatchUp(now);
        if (catchingUp <= properties.sst().switchAfter().toSeconds()) {
            return;
        }
        askNotBeforeNanos = now + ASK_AGAIN.toNanos();
        Optional<MemberReport> donor = present.get().stream()
                .filter(m -> m.mysql() != null && m.state().equals("SYNCED"))
                .min(MemberReport.nearest(properties.zone()));
        if (donor.isEmpty()) {
            return;
        }
        long bytes =
                questions.ask(donor.get().node(), new CopyQuestion.CloneFrom()).bytes();
        long clone = rates.seconds(NodeProperties.Sst.Method.CLONE, bytes);
        long stream = rates.seconds(NodeProperties.Sst.Method.STREAM, bytes);
        long copying = Math.min(clone, stream);
        String estimate =
                "catching up would take " + (catchingUp == Long.MAX_VALUE ? "for ever" : catchingUp + " s") + " ("
                        + standing.rates() + "); a full copy of " + (bytes >> 20) + " MB from "
                        + donor.get().node() + " about "
                        + clone + " s by clone, " + stream + " s by stream";
        if (copying > catchingUp / FASTER) {
            log.info("{}; catching up it is", estimate);
            return;
        }
        log.warn("{}; changing over to a copy (see quorate.sst.switch-after)", estimate);
        joins.count(JoinCounts.Step.COPY_PREFERRED);
        tried = true;
        server.suspend();
        try {
            server.copy().want(applied.getAsLong());
            changed = true;
            changedNanos = now;
        } finally {
            server.resume();
        }
    }

    /**
     * Gives up the copy this node has changed over to, and goes on catching up.
     *
     * @return why that can't be, null when it is done
     */
    synchronized String cancel() throws IOException, InterruptedException {
        if (!changed) {
            return "this node can't be brought up to date otherwise; stop its service to have it wait";
        }
        return giveUp() ? null : "its server doesn't have its own data any more; stop the service to have it wait";
    }

    /** While nothing was copied the server is as it was, and goes on applying. */
    private synchronized boolean giveUp() throws IOException, InterruptedException {
        server.suspend();
        try {
            if (!server.copy().forget()) {
                return false;
            }
            changed = false;
            log.warn("the full copy is given up; catching up instead");
            return true;
        } finally {
            server.resume();
        }
    }

    @Override
    public void close() {
        thread.close();
    }
}
