// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.join;

import io.quorate.certification.OrderedStream;
import io.quorate.core.Difference;
import io.quorate.core.ErrorCode;
import io.quorate.core.NodeEvent;
import io.quorate.core.NodeState;
import io.quorate.core.QuorateException;
import io.quorate.core.TableName;
import io.quorate.ist.HistoryCheck;
import io.quorate.ist.IncrementalTransfer;
import io.quorate.ist.TransferProgress;
import io.quorate.node.config.NodeProperties;
import io.quorate.node.copy.ServerCopy;
import io.quorate.node.join.JoinMachine.Step;
import io.quorate.node.member.Admitted;
import io.quorate.node.member.MemberDesk;
import io.quorate.node.member.MemberReport;
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
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * How this node joins: one thread, which takes {@link JoinTurns}, and between two of them takes what others want of it.
 * It alone leaves and resumes the order and suspends the server on behalf of joining, and it alone tells the node's
 * state machine about it.
 */
public final class Join implements AutoCloseable {
    private final Own own;
    private final Standing standing;
    private final ServerCopy copy;
    private final Admission admission;
    private final Rejoin rejoin;
    private final ForcedRecovery recovery;
    private final CatchUpChoice choice;
    private final JoinTurns turns;
    private final OwnedThread thread;
    private final String self;
    private final Members members;
    private final Inbox inbox = new Inbox();
    private final AtomicBoolean hearsOfLife = new AtomicBoolean();

    /** What is to be known of the others, and how they are reached. */
    public record Others(
            Members members,
            Admitted admitted,
            MemberDesk desk,
            Questions questions,
            PeerChannels channels,
            Standing standing) {}

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
        this.members = others.members();
        this.own = own;
        this.standing = others.standing;
        this.copy = copy;
        this.rejoin = new Rejoin(
                own.stores,
                own.stream,
                server,
                copy,
                others.channels,
                own.incarnation,
                this::offers,
                () -> own.order.holds(Hold.DISK),
                joins);
        this.admission = new Admission(own, others);
        this.recovery = new ForcedRecovery(own, others, admission, copy);
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
        this.turns = new JoinTurns(
                new JoiningNode(own, others, server, copy, admission, rejoin, choice, inbox::wake),
                new HistoryCheck(own.stores.cache(), others.channels, own.incarnation),
                events);
        this.thread = OwnedThread.lasting("quorate-join", this::run, faults);
        others.channels.onFormer(this::leftBehind);
    }

    /** Decides how this node takes part, as far as its own directory can tell. Before {@link #start}. */
    public void decide() {
        turns.begin(self, own.stores.damage());
    }

    /**
     * Starts the node's work: a member takes part in the order when this returns.
     *
     * @throws QuorateException when it can't
     */
    public void start() {
        if (turns.at() == Step.MEMBER) {
            own.order.resume(Hold.START);
        }
        thread.start();
    }

    // What others tell it, on any thread.

    /** What the order brings next can't be had from its log, or what it brought before is lost. */
    public void missing(QuorateException cause) {
        inbox.tell(() -> turns.missing(cause));
    }

    /**
     * This node's server holds something else than the order says.
     *
     * @return whether that will be mended; false when the node may not have a full copy
     */
    public boolean differs(QuorateException cause) {
        if (!copy.isAllowed()) {
            return false;
        }
        inbox.tell(() -> turns.differs(cause));
        return true;
    }

    /** The order says that this node is no member any more. */
    public void takenOut(String why) {
        inbox.tell(() -> turns.takenOut(why));
    }

    /** A full copy says how far it is; null when it is complete or given up. */
    public void copying(String how) {
        turns.copying(how);
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
                    turns.leftBehind(by.name(), why);
                } // Else it has taken over another one since.
            });
        }
    }

    /** Has what is shown say how far it is; to be called now and then. */
    public void tell() {
        turns.tell();
    }

    // What operators want of it.

    /**
     * Asks to be a member again, of a node that was taken out. Returns at once.
     *
     * @throws QuorateException CONFIGURATION when it is a member, or can't be one
     */
    public void join() {
        if (turns.join()) {
            inbox.wake();
        }
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
                turns.alone();
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

    /**
     * Has this node's server get a copy of some tables, as if it were known that they differ.
     *
     * @return why not; null when it begins
     */
    public String heal(Set<TableName> tables) throws InterruptedException {
        if (!copy.isAllowed()) {
            return "quorate.sst.method is none: this node may not have copies";
        }
        String donor = members.present().stream()
                .filter(m -> m.hasSyncedServer() && !m.node().equals(self))
                .map(MemberReport::node)
                .findFirst()
                .orElse(null);
        if (donor == null) {
            return "no other node with a server is SYNCED, which could give a copy";
        }
        List<TableName> unknown = copy.unknown(tables, donor);
        if (!unknown.isEmpty()) {
            return "there is no " + TableName.some(unknown) + ", neither here nor at " + donor;
        }
        QuorateException asked = new QuorateException(
                ErrorCode.COPY_ASKED,
                "a copy of " + TableName.some(tables) + " is wanted",
                null,
                Difference.in(tables));
        return command(() -> turns.heals(asked));
    }

    /**
     * Has this node's tables be right where its server differs, and all other nodes get copies of them: the way out
     * where all servers differ, or the others are wrong.
     *
     * @param tables those that are right; none for all that are known to differ
     * @return why not; null when it begins
     */
    public String trust(Set<TableName> tables) throws InterruptedException {
        return command(() -> turns.trusts(tables));
    }

    private String command(Callable<String> command) throws InterruptedException {
        return thread.isAlive()
                ? inbox.command(command, turns::progress)
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

    private void run() throws IOException, InterruptedException {
        try {
            long pauseMillis = 0;
            while (true) {
                inbox.runNext(pauseMillis);
                pauseMillis = turns.turn();
            }
        } finally {
            inbox.close();
        }
    }

    /** What the others have to give. */
    private List<IncrementalTransfer.Offer> offers() {
        List<IncrementalTransfer.Offer> reported = standing.offers();
        if (!reported.isEmpty() && turns.isMember()) {
            return reported;
        }
        // Nobody reports to a node that was taken out while it took no part in the order either.
        admission.hear();
        return standing.offers();
    }

    @Override
    public void close() {
        thread.close();
    }
}
