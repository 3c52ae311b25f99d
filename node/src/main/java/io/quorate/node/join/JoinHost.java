// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.join;

import io.quorate.core.Difference;
import io.quorate.core.QuorateException;
import io.quorate.ist.IncrementalTransfer.Offer;
import io.quorate.node.copy.ServerCopy;
import io.quorate.node.member.MemberDesk;
import io.quorate.node.order.PausableOrder.Hold;
import io.quorate.node.server.Server;
import io.quorate.transport.AdmissionPlan;
import io.quorate.transport.Lives;
import io.quorate.transport.TransportSettings.Peer;
import java.io.IOException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The node that joins, as {@link JoinTurns} sees it: its part in the order, its server, its directory, and the others
 * as it reaches them. Each method does one thing or answers one question; in which order, is not decided here.
 */
public interface JoinHost {
    /** What others have said of themselves, all at one time. */
    interface Heard {
        List<? extends AdmissionPlan.Word> words();

        /** What they can give. */
        List<Offer> offers();

        /** Of those only that are in this life of the cluster. */
        Heard in(Lives life);
    }

    /** On a clock that only goes forward. */
    long nanos();

    // Its part in the order.

    /** Leaves the order. */
    void pause(Hold why);

    /** Takes part in it again, unless there is another reason not to. */
    void resume(Hold why);

    /** Leaves it, and takes part again so long after that the leader has given up on this node. */
    void startAgain() throws InterruptedException;

    // Its server.

    /** Begins to work on it, unless that has begun. */
    void startServer();

    /** Ends the work on it for the time being; returns when it is over. */
    void suspendServer() throws InterruptedException;

    void resumeServer();

    /** After {@link #suspendServer}: has the order get what its clients have committed, and does nothing else. */
    void handOver();

    /** Whether that is done. */
    boolean hasHandedOver();

    /** @throws IOException when it can't be reached, with the reason as its message */
    Server.Contents contents() throws IOException;

    /** Whether its server is to have a full copy. */
    boolean isCopyPending();

    /** What its server is to have of a SYNCED one, and nothing was done for yet; null when it is nothing. */
    ServerCopy.@Nullable Wish wish();

    /**
     * After {@link #suspendServer}: wants that no more.
     *
     * @return false when it is too late for that
     */
    boolean forgetWish() throws IOException;

    /** Whether its server is to have a full copy wherever it can. */
    boolean isCopyPreferred();

    /** Whether somebody has said that its server's tables are those with which the cluster begins. */
    boolean hasSameTables();

    /** Remembers durably that the cluster begins with nothing that was made on its server. */
    void beginWithNothing() throws IOException;

    /** What is known of its server, which holds something else than the order says. */
    CopyRule.Server odd(QuorateException difference);

    /**
     * After {@link #handOver} and {@link #suspendServer}: has its server get a copy, of everything or of the tables
     * that differ, which has all that is ordered by now.
     */
    void wantCopy(QuorateException difference) throws IOException, InterruptedException;

    /**
     * Once it has handed over: gives other servers that wait for a copy, too, the tables in which this one doesn't
     * differ.
     */
    void offer(QuorateException difference);

    /** Whether all servers wait for a copy, and it is this one that begins, with tables that the others give it. */
    boolean beginsAmongWaiting();

    /** Whether all servers wait for a copy of the same tables, and it is this one's definitions that may stand. */
    boolean keepsAmongWaiting();

    /** After {@link #handOver} and {@link #suspendServer}: has them stand, if that costs nobody a row. */
    void keepOwn() throws IOException;

    /** As {@link #wantCopy}, of servers that wait, too. */
    void wantCopyOfWaiting(QuorateException difference) throws IOException, InterruptedException;

    /**
     * After {@link #handOver} and {@link #suspendServer}: has its server's tables be right where it differs.
     *
     * @param where nowhere in particular for where a copy is wanted already
     *
     * @return why that can't be; null when it is so
     */
    String trust(Difference where) throws IOException;

    /** Chooses between catching up and a full copy; after how many milliseconds to do so again. */
    long choose() throws InterruptedException;

    // What it holds.

    /** The last seqno that its cache holds, 0 for none. */
    long held();

    /** The last seqno that the order has handed to it. */
    long lastOrdered();

    /** Whether it has no server, or one whose data is settled. */
    boolean hasData();

    /** The life of the cluster that it belongs to. */
    Lives lives();

    /** How it comes to take part, as its directory and its configuration have it. */
    AdmissionPlan plan();

    /** Belongs to another life of the cluster from now on. */
    void takeOver(Lives lives);

    /** Forgets what certification knew; the cache stays. */
    void forget() throws IOException;

    /** Takes part like that when it takes part next. */
    void decide(AdmissionPlan.Way way);

    /** Takes part as one that asks to be a member again, after it was taken out, when it takes part next. */
    void again();

    // The others.

    /** Asks those of the configuration. */
    Heard askConfigured();

    /** Asks the members as it knew them last. */
    Heard askMembers();

    /** Forgets who was a member, and knows these instead. */
    void meet(List<Peer> members);

    /** Names of the other nodes whose servers are SYNCED and have applied that seqno. */
    List<String> holders(long seqno);

    /** How many servers hold what the order says, as far as the order was told. */
    int voters();

    /** Asks to be a member, or goes on with that; null while there is no answer. */
    MemberDesk.Attempt askIn();

    // Receiving.

    void beginReceiving(QuorateException missing);

    /** Does one thing of it; after how many milliseconds to go on, -1 when it is done. */
    long receive() throws IOException, InterruptedException;

    /** It will begin again. */
    void breakOffReceiving();

    /** How far it is, for people; null when nothing is received. Any thread. */
    String received();

    /**
     * Has a node that holds nothing of the order begin with what certification knows at one of these, and with a full
     * copy.
     *
     * @return false when it is told to leave its server alone
     */
    boolean beginWithCopy(Heard others) throws IOException, InterruptedException;
}
