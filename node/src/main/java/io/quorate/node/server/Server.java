// SPDX-License-Identifier: Apache-2.0
package io.quorate.node.server;

import io.quorate.applier.ApplierStats;
import io.quorate.applier.PositionTable.Position;
import io.quorate.capture.CaptureStats;
import io.quorate.core.TotalOrder;
import io.quorate.transport.AdmissionPlan.Holds;
import java.io.IOException;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** The MySQL server beside this node, as the rest of the node sees it. An arbitrator has none: {@link NoServer}. */
public interface Server extends AutoCloseable {
    /**
     * What the server contains.
     *
     * @param position the place in the order up to which the server holds everything
     * @param holds what somebody has made on it
     */
    record Contents(Position position, Holds holds) {}

    /** Whether the node has a server, be it up or down. */
    boolean exists();

    /** Host and port; null where there is no server. */
    String address();

    /** Begins to work with the server, unless that has begun already. */
    void start();

    /** Says whether clients may write; this is carried out later. */
    void writable(boolean value);

    /** Says whether clients are to be kept from writing until a definition has been run; this is carried out later. */
    void fence(boolean value);

    /** Ends the work with the server for good: the node is INCONSISTENT. */
    void stopWorking();

    /** Ends the session; there is none until {@link #resume}. Returns when the session has ended. */
    void suspend() throws InterruptedException;

    void resume();

    /**
     * Goes on after {@link #suspend} with one thing: what clients have committed is captured and ordered. Nothing is
     * applied, and clients can't write.
     */
    void handOver();

    /** Whether the order has everything that clients had committed when {@link #handOver} was called. */
    boolean hasHandedOver();

    /**
     * Disconnects all clients and keeps others from connecting, then waits until the order has decided everything that
     * they have committed: after that mysqld may be stopped. An orderly stop of mysqld tells everybody OK who still
     * waits in commit mode {@code after-sync}. It ends with {@link #drainNoMore} or with the next start of mysqld.
     *
     * @return why it can't be done, for people; null when it is done
     */
    String drain(Duration limit) throws InterruptedException;

    /** Whether clients are kept out by {@link #drain}. */
    boolean isDraining();

    /** Who keeps clients from writing besides this service, and by what; null when nobody does. */
    default @Nullable String closedBy() {
        ServerSession present = session();
        return present == null ? null : present.closedBy();
    }

    /** Lets clients connect again. */
    String drainNoMore();

    void quorumChanged(TotalOrder.Quorum quorum);

    /** The present session; null while there is none. */
    ServerSession session();

    /** What the applier of the present session has done; null while there is none. */
    default ApplierStats applierStats() {
        ServerSession present = session();
        return present == null ? null : present.applierStats();
    }

    /** What the capture of the present session has done; null while there is none. */
    default CaptureStats captureStats() {
        ServerSession present = session();
        return present == null ? null : present.captureStats();
    }

    /**
     * What it holds. While there is no session, nothing is left waiting that could come to it afterwards.
     *
     * @throws IOException when the server can't be reached, with the reason as its message
     */
    Contents contents() throws IOException;

    /**
     * What somebody has made on a server that never took part. Like {@link #contents}, this closes a server without
     * tables for clients: whoever hears that it has none may begin without any.
     *
     * @return null when it can't be reached, or there is none
     */
    @Nullable
    Holds holds();

    /** Whether somebody has said that its tables are those with which the cluster begins. */
    boolean hasSameTables();

    /**
     * Remembers durably that the cluster begins with nothing that was made on this server. If something has been by the
     * time of the first session, that one is refused.
     */
    void beginWithNothing() throws IOException;

    @Override
    void close();
}
