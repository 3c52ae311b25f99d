// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.join;

import io.quorate.certification.OrderedStream;
import io.quorate.core.ErrorCode;
import io.quorate.core.NodeEvent;
import io.quorate.core.NodeState;
import io.quorate.core.QuorateException;
import io.quorate.core.Retry;
import io.quorate.ist.HistoryCheck;
import io.quorate.ist.IncrementalTransfer;
import io.quorate.ist.TransferProgress;
import io.quorate.node.config.NodeProperties;
import io.quorate.node.copy.ServerCopy;
import io.quorate.node.join.JoinMachine.Step;
import io.quorate.node.member.MemberDesk;
import io.quorate.node.member.Members;
import io.quorate.node.member.Participation;
import io.quorate.node.member.Standing;
import io.quorate.node.order.PausableOrder;
import io.quorate.node.order.PausableOrder.Hold;
import io.quorate.node.order.Stores;
import io.quorate.node.question.Questions;
import io.quorate.node.server.ApplyProgress;
import io.quorate.node.server.JoinCounts;
import io.quorate.node.server.Server;
import io.quorate.node.thread.FaultHandler;
import io.quorate.node.thread.OwnedThread;
import io.quorate.transport.Lives;
import io.quorate.transport.PeerChannels;
import io.quorate.transport.TransportSettings;
import io.quorate.transport.TransportSettings.Peer;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Carries out what {@link JoinMachine} decides: one thread, which takes turns at the step where the node stands, and
 * between two turns takes what others want of it. It alone leaves and resumes the order and suspends the server on
 * behalf of joining, and it alone tells the node's state machine about it.
 */
public final class Join implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(Join.class);
    private static final Retry.Policy FIND_PLACE = Retry.Policy.unbounded(
                    "nodes that begin together wait for one another, and are started by hand", Duration.ofMillis(200))
            .telling(0, 300);
    private static final Retry.Policy ASK = Retry.Policy.unbounded(
            "without the others it can't take part, and they may be away for any time", Duration.ofSeconds(1));
    private static final Retry.Policy TAKE_OVER = Retry.Policy.unbounded(
            "only the others can say whether it may take part again, and the node has nothing else to do",
            Duration.ofSeconds(1));
    private static final long FOR_EVER = Long.MAX_VALUE;

    private final String self;
    private final Own own;
    private final Server server;
    private final ServerCopy copy;
    private final Standing standing;
    private final Admission admission;
    private final Rejoin rejoin;
    private final ForcedRecovery recovery;
    private final CatchUpChoice choice;
    private final Consumer<NodeEvent> events;
    private final OwnedThread thread;
    private final Inbox inbox = new Inbox();
    private final AtomicBoolean hearsOfLife = new AtomicBoolean();
    /** Guarded by itself: the link to the server tells it of copies, endpoints look at it. */
    private final JoinMachine machine = new JoinMachine();

    private NodeEvent.JoinChanged shown = machine.shown();
    /** By what a peer said of it. */
    private String lifeBegun;

    private int begun;
    private Retry retry;

    /** What is to be known of the others, and how they are reached. */
    public record Others(
            Members members, MemberDesk desk, Questions questions, PeerChannels channels, Standing standing) {}

    /**
     * What this node keeps of the order, and its part in it.
     *
     * @param configured with the peers of the configuration
     * @param directory names the data directory
     * @param incarnation of the cluster
     */
    public record Own(
            TransportSettings configured,
            String directory,
            UUID incarnation,
            Stores stores,
            OrderedStream stream,
            PausableOrder order,
            Participation participation) {}

    /**
     * @param state of this node
     * @param events is told how joining stands, and what can't be mended
     */
    public Join(
            NodeProperties properties,
            Own own,
            Others others,
            Server server,
            ServerCopy copy,
            ApplyProgress progress,
            Supplier<NodeState> state,
            JoinCounts joins,
            Consumer<NodeEvent> events,
            FaultHandler faults)
            throws IOException {
        this.self = properties.node();
        this.own = own;
        this.server = server;
        this.copy = copy;
        this.standing = others.standing;
        this.events = events;
        HistoryCheck history = new HistoryCheck(own.stores.cache(), others.channels, own.incarnation);
        this.rejoin = new Rejoin(
                own.stores, own.stream, own.order, server, copy, others.channels, own.incarnation, this::offers, joins);
        this.admission = new Admission(own, others, server, copy, history, rejoin);
        this.recovery = new ForcedRecovery(own, others, server, history, admission);
        this.choice = new CatchUpChoice(
                properties,
                server,
                copy,
                state,
                others.standing,
                progress::lastApplied,
                others.members::present,
                others.questions,
                joins);
        this.thread = OwnedThread.lasting("quorate-join", this::run, faults);
        others.channels.onFormer(this::leftBehind);
    }

    /** Decides how this node takes part, as far as its own directory can tell. Before {@link #start}. */
    public void decide() {
        on(m -> m.begin(admission.decide(), self));
        if (at() == Step.TAKEN_OUT) {
            own.order.pause(Hold.LEFT);
        }
        if (own.stores.damage() != null) {
            own.order.pause(Hold.TRANSFER);
            on(m -> m.missing(own.stores.damage()));
        }
    }

    /**
     * Starts the node's work: a member takes part in the order when this returns.
     *
     * @throws QuorateException when it can't
     */
    public void start() {
        if (at() == Step.MEMBER) {
            own.order.resume(Hold.START);
        }
        thread.start();
    }

    // What others tell it, on any thread.

    /** What the order brings next can't be had from its log, or what it brought before is lost. */
    public void missing(QuorateException cause) {
        inbox.tell(() -> on(m -> m.missing(cause)));
    }

    /** The order says that this node is no member any more. */
    public void takenOut(String why) {
        inbox.tell(() -> on(m -> m.takenOut(why)));
    }

    /** A full copy says how far it is; null when it is complete or given up. */
    public void copying(String how) {
        on(m -> m.copying(how));
    }

    /**
     * A peer says that this node is of a former life of the cluster. One that is no member yet learns of that by
     * asking.
     */
    private void leftBehind(Peer by, String why) {
        if (own.configured.wasMember() && hearsOfLife.compareAndSet(false, true)) {
            Lives former = own.configured.lives();
            inbox.tell(() -> {
                hearsOfLife.set(false);
                if (own.configured.lives().equals(former)) {
                    on(m -> leftBehind(m, by, why));
                } // Else it has taken over another one since.
            });
        }
    }

    private void leftBehind(JoinMachine machine, Peer by, String why) {
        if (machine.canBeLeftBehind()) {
            log.warn("{}: {}", by.name(), why);
            lifeBegun = why;
            machine.leftBehind(new QuorateException(ErrorCode.FORMER_LIFE, why).getMessage());
        }
    }

    /** Has what is shown say how far it is; to be called now and then. */
    public void tell() {
        String told = rejoin.told();
        if (told != null) {
            on(m -> {
                if (m.at() == Step.RECEIVING) {
                    m.progress(told);
                }
            });
        }
    }

    // What operators want of it.

    /**
     * Asks to be a member again, of a node that was taken out. Returns at once.
     *
     * @throws QuorateException CONFIGURATION when it is a member, or can't be one
     */
    public void join() {
        on(m -> {
            if (m.joins()) {
                admission.again();
                inbox.wake();
            }
        });
    }

    /**
     * Makes this node the cluster, with all it holds of the order. What the missing ones alone hold is lost.
     *
     * @return why not, null when it is done
     */
    public String force() throws InterruptedException {
        return command(() -> {
            String refusal = recovery.force();
            if (refusal == null) {
                on(JoinMachine::alone);
            }
            return refusal;
        });
    }

    /**
     * Gives up the copy this node has changed over to, and goes on catching up.
     *
     * @return why that can't be, null when it is done
     */
    public String cancelCopy() throws InterruptedException {
        return command(choice::cancel);
    }

    private String command(Callable<String> command) throws InterruptedException {
        return thread.isAlive()
                ? inbox.command(command, this::progress)
                : "this node is being started or stopped, or has failed";
    }

    /** What is being received, null when nothing is. */
    public TransferProgress.Look look() {
        return rejoin.look();
    }

    /** What the transfer waits for, null when it doesn't. */
    public String obstacle() {
        return rejoin.obstacle();
    }

    // The thread.

    private void run() throws IOException, InterruptedException {
        long pauseMillis = 0;
        while (true) {
            inbox.runNext(pauseMillis);
            try {
                pauseMillis = turn();
            } catch (QuorateException e) {
                on(JoinMachine::failed);
                events.accept(new NodeEvent.Failed(e));
            }
        }
    }

    /** @return after how many milliseconds there is to be another one */
    private long turn() throws IOException, InterruptedException {
        Step step;
        boolean begins;
        synchronized (machine) {
            step = machine.at();
            begins = machine.entered() != begun;
            begun = machine.entered();
        }
        if (begins) {
            begin(step);
        }
        return switch (step) {
            case FINDING_PLACE -> findPlace();
            case SETTLING_DATA -> settleData();
            case ASKING_IN -> askIn();
            case MEMBER, COPYING -> catchUp();
            case RECEIVING -> receive();
            case LEFT_BEHIND -> takeOver();
            case BEGIN, TAKEN_OUT, STAYING_OUT, FAILED -> FOR_EVER;
        };
    }

    private void begin(Step step) throws InterruptedException {
        if (step != Step.RECEIVING) {
            rejoin.breakOff();
        }
        switch (step) {
            case FINDING_PLACE -> retry = new Retry(FIND_PLACE, System.nanoTime());
            case SETTLING_DATA -> retry = new Retry(ASK, System.nanoTime());
            case ASKING_IN -> {
                retry = new Retry(ASK, System.nanoTime());
                admission.takePart();
            }
            case MEMBER -> {
                own.order.resume(Hold.START);
                server.resume();
                server.start();
            }
            case RECEIVING -> {
                rejoin.begin(ask(JoinMachine::missing));
                if (ask(JoinMachine::isMember)) {
                    // It has its server closed for writes.
                    server.start();
                }
            }
            case TAKEN_OUT -> own.order.pause(Hold.LEFT);
            case LEFT_BEHIND -> {
                retry = new Retry(TAKE_OVER, System.nanoTime());
                recovery.leave();
            }
            case BEGIN, COPYING, STAYING_OUT, FAILED -> {
                // Nothing of its own.
            }
        }
    }

    private long findPlace() {
        String why = admission.findPlace();
        if (why != null) {
            return waits(why, why, "not taking part yet");
        }
        on(m -> m.placed(!admission.isJoining()));
        return 0;
    }

    private long settleData() throws InterruptedException {
        String why = admission.settleData();
        if (why != null) {
            return waits("before it asks to be a member: " + why, why, "not asking to be a member yet");
        }
        on(JoinMachine::dataSettled);
        return 0;
    }

    private long askIn() throws InterruptedException {
        MemberDesk.Attempt attempt = admission.ask(inbox::wake);
        if (attempt == null) {
            return ASK.pause().toMillis();
        }
        String refusal = attempt.refusal();
        if (refusal == null) {
            on(JoinMachine::admitted);
            return 0;
        }
        long nowMillis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime());
        if (ask(m -> m.isStuck(own.stores.cache().last(), nowMillis))) {
            admission.startAgain();
        }
        return waits("asking to be a member: " + refusal, refusal, "not a member yet");
    }

    private long catchUp() throws InterruptedException {
        if (!choice.exists()) {
            return FOR_EVER;
        }
        choice.look();
        if (!copy.isPending()) {
            // It may just have been given up.
            copying(null);
        }
        return CatchUpChoice.PERIOD_MILLIS;
    }

    private long receive() throws IOException, InterruptedException {
        tell();
        long pause = rejoin.turn();
        if (pause < 0) {
            on(JoinMachine::received);
            return 0;
        }
        return pause;
    }

    private long takeOver() throws IOException, InterruptedException {
        try {
            String obstacle = recovery.takeOver();
            if (obstacle != null) {
                String shows = new QuorateException(ErrorCode.FORMER_LIFE, lifeBegun + "; " + obstacle).getMessage();
                return waits(shows, obstacle, "not taking over the cluster's new life yet");
            }
            on(JoinMachine::takenOver);
        } catch (QuorateException e) {
            log.error("this node stays out of the cluster's new life: {}", e.getMessage());
            on(m -> m.staysOut(e.getMessage()));
        }
        return 0;
    }

    /** Says what the step waits for, and how long until it is tried again. */
    private long waits(String shown, String why, String told) {
        on(m -> m.progress(shown));
        Retry.Next next = retry.failed(why, System.nanoTime());
        if (next.tell()) {
            log.info("{}: {}", told, why);
        }
        return next.pauseMillis();
    }

    /** What the others have to give. */
    private List<IncrementalTransfer.Offer> offers() {
        if (!ask(JoinMachine::isMember)) {
            admission.hear();
        }
        return standing.offers();
    }

    private String progress() {
        return ask(m -> m.shown().progress());
    }

    private Step at() {
        return ask(JoinMachine::at);
    }

    private <T> T ask(Function<JoinMachine, T> question) {
        synchronized (machine) {
            return question.apply(machine);
        }
    }

    /** Tells the machine something, and the node's state machine what came of it. */
    private void on(Consumer<JoinMachine> event) {
        synchronized (machine) {
            event.accept(machine);
            if (!machine.shown().equals(shown)) {
                shown = machine.shown();
                events.accept(shown);
            }
        }
    }

    @Override
    public void close() {
        thread.close();
    }
}
