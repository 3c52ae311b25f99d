// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.join;

import io.quorate.applier.PositionTable.Position;
import io.quorate.core.Difference;
import io.quorate.core.ErrorCode;
import io.quorate.core.NodeEvent;
import io.quorate.core.QuorateException;
import io.quorate.core.Retry;
import io.quorate.core.TableName;
import io.quorate.ist.HistoryCheck;
import io.quorate.node.copy.ServerCopy;
import io.quorate.node.join.JoinMachine.Step;
import io.quorate.node.member.MemberDesk;
import io.quorate.node.order.PausableOrder.Hold;
import io.quorate.transport.AdmissionPlan;
import io.quorate.transport.Lives;
import io.quorate.transport.NewLife;
import java.io.IOException;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The turns of a node that joins: what each step of {@link JoinMachine} asks for when it begins, what is tried at it
 * then, and what the machine and the node's state machine are told of that. It has no thread, no clock and no network
 * of its own; {@link JoinHost} has. {@link #turn} is for one thread, what tells it something for any.
 */
public final class JoinTurns {
    private static final Logger log = LoggerFactory.getLogger(JoinTurns.class);
    private static final Retry.Policy FIND_PLACE = Retry.Policy.unbounded(
                    "nodes that begin together wait for one another, and are started by hand", Duration.ofMillis(200))
            .telling(0, 300);
    private static final Retry.Policy ASK = Retry.Policy.unbounded(
            "without the others it can't take part, and they may be away for any time", Duration.ofSeconds(1));
    private static final Retry.Policy AWAIT_COPY = Retry.Policy.unbounded(
                    "its server is of no use without a copy, and somebody who can give one may come at any time",
                    Duration.ofSeconds(1))
            .telling(0, 60);
    private static final Retry.Policy TAKE_OVER = Retry.Policy.unbounded(
            "only the others can say whether it may take part again, and the node has nothing else to do",
            Duration.ofSeconds(1));
    private static final String NOT_HANDED_OVER = "what this server has committed is being ordered first";
    /** How often it is looked whether anybody is left who could give the copy that is wanted. */
    private static final long WISH_MILLIS = 1000;
    /** Until there is news. */
    public static final long FOR_EVER = Long.MAX_VALUE;

    /** So long it is asked whether anybody is in a new life, after a peer has said that there is one. */
    private static final Duration CLAIM = Duration.ofSeconds(30);

    private static final long CLAIM_MILLIS = 1000;

    /** A peer says that this node is of a former life. */
    private record Claim(String by, String why, long untilNanos) {}

    private final JoinHost host;
    private final HistoryCheck history;
    private final FirstData data;
    private final Consumer<NodeEvent> events;
    /** Guarded by itself: the link to the server tells it of copies, endpoints look at it. */
    private final JoinMachine machine = new JoinMachine();

    /** Held by the thread that passes on what the machine shows, so that nothing is overtaken by what was before it. */
    private final ReentrantLock passing = new ReentrantLock();

    /** What was passed on last. Changed under {@link #passing}. */
    private volatile NodeEvent.JoinChanged shown = machine.shown();
    /** What a peer said of a new life, while nobody else has shown it; null while there is nothing of the kind. */
    private Claim claim;
    /** By what a peer said of it. */
    private String lifeBegun;

    private int begun;
    private Retry retry;

    /**
     * @param history compares what this node holds with the others
     * @param events is told how joining stands, and what can't be mended
     */
    public JoinTurns(JoinHost host, HistoryCheck history, Consumer<NodeEvent> events) {
        this.host = host;
        this.history = history;
        this.data = new FirstData(host, history);
        this.events = events;
    }

    /**
     * Decides how this node takes part, as far as its own directory can tell. Before the first turn.
     *
     * @param name of this node
     * @param damage what was wrong with its cache, which is empty now for that; null when nothing was
     */
    public void begin(String name, QuorateException damage) {
        AdmissionPlan.Way way = host.plan().ofDirectory();
        host.decide(way);
        on(m -> m.begin(way, name));
        if (at() == Step.TAKEN_OUT) {
            host.pause(Hold.LEFT);
        }
        if (damage != null) {
            host.pause(Hold.TRANSFER);
            missing(damage);
        }
    }

    // What it is told.

    /** What the order brings next can't be had from its log, or what it brought before is lost. */
    public void missing(QuorateException cause) {
        on(m -> m.missing(cause));
    }

    /** Its server holds something else than the order says. */
    public void differs(QuorateException cause) {
        on(m -> m.differs(cause, host.lastOrdered()));
    }

    /**
     * Somebody wants its server to get a copy, as if it were known to differ; or, where it waits for one, though few
     * others hold what it lacks.
     *
     * @return why not now; null when it begins
     */
    public String heals(QuorateException asked) {
        Step step = ask(JoinMachine::at);
        if (step == Step.AWAITING_COPY) {
            on(m -> m.copyIsAsked(asked));
        } else if (step == Step.MEMBER) {
            differs(asked);
        } else {
            return "this node is busy: " + progress();
        }
        return null;
    }

    /**
     * Somebody has chosen this server among those that differ: its tables are right.
     *
     * @param tables those that are; none for all of which anything is known to differ
     * @return why that can't be; null when it begins
     */
    public String trusts(Set<TableName> tables) throws IOException, InterruptedException {
        Step step = ask(JoinMachine::at);
        if (step == Step.COPYING) {
            // It may be one that nobody can give.
            host.suspendServer();
            try {
                return host.trust(Difference.in(tables));
            } finally {
                host.resumeServer();
            }
        }
        if (step != Step.AWAITING_COPY) {
            String does = progress();
            return "this node doesn't wait for a copy" + (does.isEmpty() ? "" : ", but: " + does)
                    + ". Where others have wrong rows: quorate audit start, then quorate audit repair --trust NODE";
        }
        if (!host.hasHandedOver()) {
            return NOT_HANDED_OVER + "; try again";
        }
        host.suspendServer();
        String why = host.trust(tables.isEmpty() ? ask(m -> m.difference().difference()) : Difference.in(tables));
        if (why == null) {
            on(JoinMachine::copyBegins);
        }
        return why;
    }

    /** The order says that this node is no member any more. */
    public void takenOut(String why) {
        on(m -> m.takenOut(why));
    }

    /**
     * A peer says that this node is of a former life of the cluster. It leaves once a node shows that it is in a later
     * one: what one peer says may be made up, and would end the work of all that call it.
     */
    public void leftBehind(String by, String why) {
        on(m -> {
            if (claim == null && m.canBeLeftBehind()) {
                log.warn("{}: {}; asking who is in that life", by, why);
                claim = new Claim(by, why, host.nanos() + CLAIM.toNanos());
            }
        });
    }

    /** @return whether it is still open whether there is a new life, as a peer has said */
    private boolean looksForNewLife() {
        Claim of = ask(m -> claim);
        if (of == null) {
            return false;
        }
        boolean shown = successor(host.askMembers()) != null;
        boolean over = shown || host.nanos() - of.untilNanos >= 0;
        on(m -> {
            claim = over ? null : claim;
            if (shown && m.canBeLeftBehind()) {
                lifeBegun = of.why;
                m.leftBehind(new QuorateException(ErrorCode.FORMER_LIFE, of.why).getMessage());
            }
        });
        if (over && !shown) {
            log.warn(
                    "no node that answers is in a later life of the cluster than this one, which stays in it. Look at"
                            + " {}: either it can't be asked, or something else than its service answers there",
                    of.by);
        }
        return !over;
    }

    private Lives successor(JoinHost.Heard all) {
        return NewLife.successor(
                host.lives(),
                all.words().stream().map(AdmissionPlan.Word::lives).toList());
    }

    /** It is the cluster alone. */
    public void alone() {
        on(JoinMachine::alone);
    }

    /** A full copy says how far it is; null when it is complete or given up. */
    public void copying(String how) {
        on(m -> m.copying(how));
    }

    /**
     * Somebody wants it to be a member.
     *
     * @return whether it begins with that, at its next turn; false when it is under way
     * @throws QuorateException CONFIGURATION when it is a member, or can't be one
     */
    public boolean join() {
        boolean[] begins = new boolean[1];
        on(m -> {
            begins[0] = m.joins();
            if (begins[0]) {
                host.again();
            }
        });
        return begins[0];
    }

    /** Has what is shown say how far it is; to be called now and then. */
    public void tell() {
        String told = host.received();
        if (told != null) {
            on(m -> {
                if (m.at() == Step.RECEIVING) {
                    m.progress(told);
                }
            });
        }
    }

    public Step at() {
        return ask(JoinMachine::at);
    }

    /** Whether it is a member, or was one when it began to receive what it missed. */
    public boolean isMember() {
        return ask(JoinMachine::isMember);
    }

    /** How far it is, or what it waits for, for people. */
    public String progress() {
        return ask(m -> m.shown().progress());
    }

    // The turns.

    /** @return after how many milliseconds there is to be another one, unless there is news before */
    public long turn() throws IOException, InterruptedException {
        boolean open = looksForNewLife();
        Step step;
        boolean begins;
        synchronized (machine) {
            step = machine.at();
            begins = machine.entered() != begun;
            begun = machine.entered();
        }
        try {
            if (begins) {
                begin(step);
            }
            long pause = take(step);
            return open ? Math.min(pause, CLAIM_MILLIS) : pause;
        } catch (QuorateException e) {
            on(JoinMachine::failed);
            events.accept(new NodeEvent.Failed(e));
            return 0;
        }
    }

    private void begin(Step step) throws InterruptedException {
        if (step != Step.RECEIVING) {
            host.breakOffReceiving();
        }
        switch (step) {
            case FINDING_PLACE -> retry = new Retry(FIND_PLACE, host.nanos());
            case SETTLING_DATA -> retry = new Retry(ASK, host.nanos());
            case ASKING_IN -> {
                retry = new Retry(ASK, host.nanos());
                // It hears what is ordered while it asks to be a member.
                host.resume(Hold.START);
                host.resume(Hold.LEFT);
            }
            case MEMBER -> {
                host.resume(Hold.START);
                host.resumeServer();
                host.startServer();
            }
            case RECEIVING -> {
                host.beginReceiving(ask(JoinMachine::missing));
                host.pause(Hold.TRANSFER);
                host.suspendServer();
                if (isMember()) {
                    // It has its server closed for writes.
                    host.startServer();
                }
            }
            case AWAITING_COPY -> {
                retry = new Retry(AWAIT_COPY, host.nanos());
                String difference = ask(m -> m.difference().getMessage());
                log.error("this server holds something else than the order says, and needs a copy: {}", difference);
                host.suspendServer();
                host.handOver();
            }
            case COPYING -> host.resumeServer();
            case TAKEN_OUT -> host.pause(Hold.LEFT);
            case LEFT_BEHIND -> {
                retry = new Retry(TAKE_OVER, host.nanos());
                // Of the former life's order; nothing more is taken from this server.
                host.pause(Hold.LEFT);
                host.suspendServer();
            }
            case BEGIN, STAYING_OUT, FAILED -> {
                // Nothing of its own.
            }
        }
    }

    private long take(Step step) throws IOException, InterruptedException {
        return switch (step) {
            case FINDING_PLACE -> findPlace();
            case SETTLING_DATA -> settleData();
            case ASKING_IN -> askIn();
            case MEMBER, COPYING -> catchUp();
            case AWAITING_COPY -> awaitCopy();
            case RECEIVING -> receive();
            case LEFT_BEHIND -> takeOver();
            case BEGIN, TAKEN_OUT, STAYING_OUT, FAILED -> FOR_EVER;
        };
    }

    private long findPlace() throws IOException, InterruptedException {
        JoinHost.Heard others = host.askConfigured();
        AdmissionPlan.Word authority = AdmissionPlan.authority(others.words());
        if (authority != null && !host.lives().equals(authority.lives())) {
            if (host.held() > 0) {
                // Its directory isn't new: it had taken over another life, and was no member of that yet.
                String why = notCompared(others.in(authority.lives()));
                if (why != null) {
                    return waits(why, why, "not taking part yet");
                }
                host.forget();
            }
            // Before it can be told which generations its directory is free for.
            host.takeOver(authority.lives());
        }
        AdmissionPlan.Way way = host.plan().ofWords(others.words());
        if (way instanceof AdmissionPlan.Wait wait) {
            return waits(wait.why(), wait.why(), "not taking part yet");
        }
        String why = way instanceof AdmissionPlan.Member ? data.unsettledOfFounder(others) : null;
        if (why != null) {
            return waits(why, why, "not taking part yet");
        }
        host.decide(way);
        on(m -> m.placed(way instanceof AdmissionPlan.Member));
        return 0;
    }

    private long settleData() throws InterruptedException {
        String why = data.unsettledOfJoiner();
        if (why != null) {
            return waits("before it asks to be a member: " + why, why, "not asking to be a member yet");
        }
        on(JoinMachine::dataSettled);
        return 0;
    }

    private long askIn() throws InterruptedException {
        MemberDesk.Attempt attempt = host.askIn();
        if (attempt == null) {
            return ASK.pause().toMillis();
        }
        String refusal = attempt.refusal();
        if (refusal == null) {
            on(JoinMachine::admitted);
            return 0;
        }
        long held = host.held();
        long now = millis();
        if (ask(m -> m.isStuck(held, now))) {
            log.info("the leader doesn't come to an end with this node; starting again");
            host.startAgain();
        }
        return waits("asking to be a member: " + refusal, refusal, "not a member yet");
    }

    private long catchUp() throws IOException, InterruptedException {
        if (waitsAgain()) {
            return 0;
        }
        long pause = host.choose();
        if (!host.isCopyPending()) {
            // It may just have been given up.
            copying(null);
        }
        return host.wish() == null ? pause : Math.min(pause, WISH_MILLIS);
    }

    /**
     * Has a server wait as the others do, where it wanted a copy of one of these: two that begin to differ at one time
     * may each take the other for SYNCED still. Whoever wants a copy of a SYNCED server gives nothing and would keep
     * all others waiting too ({@link WaitingServers}).
     */
    private boolean waitsAgain() throws IOException, InterruptedException {
        ServerCopy.Wish wish = at() == Step.COPYING ? host.wish() : null;
        if (wish == null || !host.holders(0).isEmpty()) {
            return false;
        }
        host.suspendServer();
        if (!host.forgetWish()) {
            host.resumeServer();
            return false;
        }
        on(m -> m.differs(
                new QuorateException(
                        ErrorCode.COPY_NOT_GIVEN,
                        "this node wanted a copy of what differs, and those that could give one need one too",
                        null,
                        wish.where()),
                wish.from()));
        return true;
    }

    private long awaitCopy() throws IOException, InterruptedException {
        QuorateException difference = ask(JoinMachine::difference);
        if (!host.hasHandedOver()) {
            return waits(difference.getMessage() + "; " + NOT_HANDED_OVER, NOT_HANDED_OVER, "no copy yet");
        }
        long orderedThen = ask(JoinMachine::orderedThen);
        CopyRule rule = new CopyRule(difference.code(), orderedThen, host.holders(orderedThen), host.voters());
        CopyRule.Server odd = host.odd(difference);
        String why = rule.obstacle(odd);
        if (why == null) {
            host.suspendServer();
            host.wantCopy(difference);
        } else if (rule.isItsOwnFault(odd) && isFirstOfWaiting(difference)) {
            log.warn("all servers wait for a copy; this one begins, with what the others have");
            host.suspendServer();
            host.wantCopyOfWaiting(difference);
        } else if (rule.isItsOwnFault(odd) && host.keepsAmongWaiting()) {
            log.warn("all servers wait for a copy of the same tables; this one tries to keep its own definitions");
            host.suspendServer();
            host.keepOwn();
        } else {
            return waits(difference.getMessage() + "; " + why, why, "no copy yet");
        }
        on(JoinMachine::copyBegins);
        return 0;
    }

    private boolean isFirstOfWaiting(QuorateException difference) {
        host.offer(difference);
        return host.beginsAmongWaiting();
    }

    private long receive() throws IOException, InterruptedException {
        tell();
        long pause = host.receive();
        if (pause >= 0) {
            return pause;
        }
        host.resume(Hold.TRANSFER);
        on(m -> m.received(host.isCopyPending()));
        return 0;
    }

    private long takeOver() throws IOException {
        try {
            String obstacle = notTakenOver();
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

    /**
     * Takes over the cluster's new life, if what this node holds is a beginning of what the others hold.
     *
     * @return what it waits for; null when it is done, and the node is to ask to be a member
     * @throws QuorateException when it has a history of its own
     */
    private String notTakenOver() throws IOException {
        JoinHost.Heard all = host.askMembers();
        Lives theirs = successor(all);
        if (theirs == null) {
            return "nobody of the new life answers";
        }
        JoinHost.Heard others = all.in(theirs);
        String why = notCompared(others);
        if (why != null) {
            return why;
        }
        log.info(
                "what this node holds is the beginning of what the cluster holds in life {}; taking it over",
                theirs.name());
        host.forget();
        host.takeOver(theirs);
        host.meet(others.words().get(0).members());
        host.decide(new AdmissionPlan.Joiner(
                host.plan().generationAnew(others.words()), "the cluster's new life goes on from what it holds"));
        return null;
    }

    /**
     * Compares what this node holds with others.
     *
     * @return why that can't be told yet; null when it is a beginning of what they hold
     * @throws QuorateException when it isn't
     */
    private String notCompared(JoinHost.Heard others) {
        try {
            Position position = host.contents().position();
            history.require(others.offers(), position.seqno(), position.log(), millis());
            return null;
        } catch (IOException e) {
            return text(e);
        } catch (QuorateException e) {
            if (e.code().kind() == ErrorCode.Kind.FATAL) {
                throw e;
            }
            return e.detail();
        }
    }

    /** Never null, which would mean that nothing stands in the way. */
    static String text(IOException e) {
        return e.getMessage() == null ? e.toString() : e.getMessage();
    }

    /** Says what the step waits for, and how long until it is tried again. */
    private long waits(String shows, String why, String told) {
        on(m -> m.progress(shows));
        Retry.Next next = retry.failed(why, host.nanos());
        if (next.tell()) {
            log.info("{}: {}", told, why);
        }
        return next.pauseMillis();
    }

    private long millis() {
        return TimeUnit.NANOSECONDS.toMillis(host.nanos());
    }

    private <T> T ask(Function<JoinMachine, T> question) {
        synchronized (machine) {
            return question.apply(machine);
        }
    }

    /**
     * Tells the machine something, and the node's state machine what came of it. That one may have to wait until there
     * is room for news, so the machine isn't held meanwhile, and of several threads with news one waits for all.
     */
    private void on(Consumer<JoinMachine> event) {
        synchronized (machine) {
            event.accept(machine);
        }
        while (!ask(JoinMachine::shown).equals(shown) && passing.tryLock()) {
            try {
                shown = ask(JoinMachine::shown);
                events.accept(shown);
            } finally {
                passing.unlock();
            }
        }
    }
}
