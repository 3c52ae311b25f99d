// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.join;

import io.quorate.core.NodeState;
import io.quorate.core.QuorateException;
import io.quorate.node.config.NodeProperties;
import io.quorate.node.copy.CopyQuestion;
import io.quorate.node.copy.CopyRates;
import io.quorate.node.copy.ServerCopy;
import io.quorate.node.member.MemberReport;
import io.quorate.node.member.Standing;
import io.quorate.node.question.Questions;
import io.quorate.node.server.JoinCounts;
import io.quorate.node.server.Server;
import io.quorate.node.thread.MonotonicClock;
import io.quorate.sst.CopyProgress;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Has a node that catches up change over to a full copy where that is faster by far: {@link CatchUpPlan} decides by the
 * rate at which this node applies, at which the order brings more, and at which its last copy came.
 */
final class CatchUpChoice {
    private static final Logger log = LoggerFactory.getLogger(CatchUpChoice.class);
    /** How often a node that catches up is looked at. */
    static final long PERIOD_MILLIS = 1000;

    private final NodeProperties properties;
    private final Server server;
    private final ServerCopy copy;
    private final Supplier<NodeState> state;
    private final Standing standing;
    private final LongSupplier applied;
    private final Supplier<List<MemberReport>> present;
    private final Questions questions;
    private final JoinCounts joins;
    private final CopyRates rates;
    private final CatchUpPlan plan;

    /** @param applied the seqno up to which the server holds everything, and after which the cache does */
    CatchUpChoice(
            NodeProperties properties,
            Server server,
            ServerCopy copy,
            Supplier<NodeState> state,
            Standing standing,
            LongSupplier applied,
            Supplier<List<MemberReport>> present,
            Questions questions,
            JoinCounts joins)
            throws IOException {
        this.properties = properties;
        this.server = server;
        this.copy = copy;
        this.state = state;
        this.standing = standing;
        this.applied = applied;
        this.present = present;
        this.questions = questions;
        this.joins = joins;
        this.rates = CopyRates.read(properties);
        this.plan = new CatchUpPlan(properties.sst().switchAfter());
    }

    /** Whether there is a choice. */
    boolean exists() {
        return server.exists() && properties.sst().method() == NodeProperties.Sst.Method.AUTO;
    }

    /** A regular look, every {@link #PERIOD_MILLIS}. */
    void look() throws InterruptedException {
        try {
            choose();
        } catch (IOException | QuorateException e) {
            log.debug("no choice between catching up and a copy: {}", e.toString());
        }
    }

    private void choose() throws IOException, InterruptedException {
        boolean copying = copy.isPending();
        if (copying) {
            remember(copy.look());
        }
        long now = MonotonicClock.millis();
        switch (plan.next(copying, state.get() == NodeState.JOINED, standing.behind(), now)) {
            case ESTIMATE -> estimate(now);
            case GIVE_UP -> {
                giveUp();
                plan.givenUp();
            }
            case NOTHING -> {
                // Most often.
            }
        }
    }

    /** How fast copies come to this node; the newest counts. */
    private void remember(CopyProgress copying) throws IOException {
        if (copying != null
                && copying.bytes() > 0
                && copying.perSecond() > 0
                && copy.method() == NodeProperties.Sst.Method.CLONE) {
            rates.measured(NodeProperties.Sst.Method.CLONE, copying.perSecond());
        }
    }

    private void estimate(long now) throws IOException, InterruptedException {
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
        long catchingUp = plan.secondsToCatchUp();
        String estimate =
                "catching up would take " + (catchingUp == CatchUpPlan.FOR_EVER ? "for ever" : catchingUp + " s") + " ("
                        + standing.rates() + "); a full copy of " + (bytes >> 20) + " MB from "
                        + donor.get().node() + " about "
                        + clone + " s by clone, " + stream + " s by stream";
        if (!plan.isFaster(Math.min(clone, stream))) {
            log.info("{}; catching up it is", estimate);
            return;
        }
        log.warn("{}; changing over to a copy (see quorate.sst.switch-after)", estimate);
        joins.count(JoinCounts.Step.COPY_PREFERRED);
        plan.tries();
        server.suspend();
        try {
            copy.want(applied.getAsLong());
            plan.changed(now);
        } finally {
            server.resume();
        }
    }

    /**
     * Gives up the copy this node has changed over to, and goes on catching up.
     *
     * @return why that can't be, null when it is done
     */
    String cancel() throws IOException, InterruptedException {
        if (!plan.isChanged()) {
            return "this node can't be brought up to date otherwise; stop its service to have it wait";
        }
        return giveUp() ? null : "its server doesn't have its own data any more; stop the service to have it wait";
    }

    /** While nothing was copied the server is as it was, and goes on applying; false when it is too late for that. */
    private boolean giveUp() throws IOException, InterruptedException {
        server.suspend();
        try {
            boolean forgotten = copy.forget();
            if (forgotten) {
                plan.givenUp();
                log.warn("the full copy is given up; catching up instead");
            }
            return forgotten;
        } finally {
            server.resume();
        }
    }
}
