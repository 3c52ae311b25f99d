// SPDX-License-Identifier: Apache-2.0
package io.quorate.core;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.UUID;

/**
 * One transaction of one origin: what it wrote, and what certification needs to know of it.
 *
 * @param gtid its name: the GTID under which its origin committed it, rising in that server's binlog
 * @param lastSeen the highest seqno whose writeset had been applied at the origin before this transaction committed,
 *     or, if it is {@link Kind#PREPARED}, before it took its snapshot
 * @param committedMicros when the origin committed or prepared it, microseconds since the epoch by the origin's clock
 * @param kind rows, DDL, or rows that wait for the verdict
 * @param keys what it touches
 * @param payload what it wrote
 * @param builtOn GTID numbers of the origin's own transactions, ascending, that this one was built on and whose fate
 *     was open when it committed: it fails when one of them does. {@link #builtOnAll} for all that were open. Only the
 *     latest of a chain need be named, see {@link OwnWrites}
 * @param session the origin's number of the client's connection, 0 when unknown
 */
public record WriteSet(
        Gtid gtid,
        long lastSeen,
        long committedMicros,
        Kind kind,
        Keys keys,
        Payload payload,
        long[] builtOn,
        long session) {
    public static final long[] BUILT_ON_NONE = {};

    /** Stands for all own transactions whose fate was open; not to be modified. */
    public static long[] builtOnAll() {
        return BUILT_ON_ALL;
    }

    private static final long[] BUILT_ON_ALL = {0};

    /** A writeset of an unknown session that was built on nothing whose fate was open. */
    public WriteSet(Gtid gtid, long lastSeen, long committedMicros, Kind kind, Keys keys, Payload payload) {
        this(gtid, lastSeen, committedMicros, kind, keys, payload, BUILT_ON_NONE, 0);
    }

    /** The same, of events that are an array. */
    public WriteSet(Gtid gtid, long lastSeen, long committedMicros, Kind kind, Keys keys, byte[] payload) {
        this(gtid, lastSeen, committedMicros, kind, keys, Payload.of(payload));
    }

    public WriteSet withBuiltOn(long[] numbers) {
        return new WriteSet(gtid, lastSeen, committedMicros, kind, keys, payload, numbers, session);
    }

    public WriteSet withLastSeen(long seqno) {
        return new WriteSet(gtid, seqno, committedMicros, kind, keys, payload, builtOn, session);
    }

    public WriteSet withKeys(Keys others) {
        return new WriteSet(gtid, lastSeen, committedMicros, kind, others, payload, builtOn, session);
    }

    public WriteSet withPayload(Payload events) {
        return new WriteSet(gtid, lastSeen, committedMicros, kind, keys, events, builtOn, session);
    }

    public boolean isBuiltOnAll() {
        return builtOn.length > 0 && builtOn[0] == 0;
    }

    /** What the payload holds. */
    public enum Kind {
        /** TABLE_MAP and ROWS events of a transaction. */
        ROWS,
        /**
         * A QUERY event that is not row changes: DDL, account statements. A CREATE TABLE ... SELECT is the CREATE's
         * QUERY event followed by its row events. A barrier: applied alone, after everything before it and before
         * everything after it.
         */
        DDL,
        /**
         * Like {@link #ROWS}, of an XA transaction that its origin has prepared and nobody has seen: the verdict
         * decides whether it commits there. Mode {@code certified}; it must satisfy snapshot isolation.
         */
        PREPARED,
        /**
         * No transaction, but the nodes' verdict that a definition is void, at its place in the order. The number of
         * the {@link #gtid} is the definition's seqno; the payload names what was built on it. A barrier, too.
         */
        VOID
    }

    /** The source of the GTIDs of {@link Kind#VOID}; no server has it. */
    private static final UUID NO_SERVER = new UUID(0, 0);

    /**
     * The verdict that a definition is void.
     *
     * @param definition its seqno
     * @param built seqnos of the writesets that passed and are void with it, because they were built on it; rising
     * @param micros when that was decided, microseconds since the epoch
     */
    public static WriteSet voids(long definition, long[] built, long micros) {
        ByteBuffer payload = ByteBuffer.allocate(8 * built.length).order(ByteOrder.LITTLE_ENDIAN);
        for (long seqno : built) {
            payload.putLong(seqno);
        }
        return new WriteSet(
                new Gtid(NO_SERVER, definition),
                definition,
                micros,
                Kind.VOID,
                Keys.NONE,
                Payload.of(payload.array()),
                BUILT_ON_NONE,
                0);
    }

    /** Whether it is applied alone, after everything before it and before everything after it. */
    public boolean isBarrier() {
        return kind == Kind.DDL || kind == Kind.VOID;
    }

    /** Whether it is a definition, which a server runs as a statement. */
    public boolean isDefinition() {
        return kind == Kind.DDL;
    }

    /** Whether it is a statement such as FLUSH PRIVILEGES or ANALYZE, which may run at any place and leaves nothing. */
    public boolean isUpkeep() {
        return isDefinition() && keys.size() == 0;
    }

    /** The seqno of the definition that is void by this; 0 when it is none of these verdicts. */
    public long voidsDefinition() {
        return kind == Kind.VOID ? gtid.number() : 0;
    }

    /** The seqnos of the writesets that are void by this, beside the definition's own; rising. */
    public long[] voidsBuilt() {
        long[] built = new long[kind == Kind.VOID ? payload.size() / 8 : 0];
        payload.buffer().asLongBuffer().get(built);
        return built;
    }

    public boolean isPrepared() {
        return kind == Kind.PREPARED;
    }

    @Override
    public boolean equals(Object o) {
        return o instanceof WriteSet that
                && gtid.equals(that.gtid)
                && lastSeen == that.lastSeen
                && committedMicros == that.committedMicros
                && kind == that.kind
                && session == that.session
                && keys.equals(that.keys)
                && Arrays.equals(builtOn, that.builtOn)
                && payload.equals(that.payload);
    }

    @Override
    public int hashCode() {
        return gtid.hashCode();
    }

    @Override
    public String toString() {
        return gtid + " (" + kind + ", lastSeen " + lastSeen + ", " + keys.size() + " keys, " + payload
                + (builtOn.length == 0 ? "" : ", built on " + Arrays.toString(builtOn)) + ")";
    }
}
