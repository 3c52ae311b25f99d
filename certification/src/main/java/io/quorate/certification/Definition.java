// SPDX-License-Identifier: Apache-2.0
package io.quorate.certification;

import io.quorate.core.WriteSet;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.Arrays;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;

/**
 * A definition that passed and may turn out void, or has, with the writesets that were built on it. These are what was
 * written on servers that have run it and needs what it defined: rows of its tables if it changed their columns, and
 * whatever touched the same keys after such rows. If it turns out void, they are void with it, because they fit nowhere
 * else.
 */
final class Definition {
    private static final long[] NONE = {};
    private static final int SERVERS_MAX = Entry.ORIGINS_MAX;

    final long seqno;
    final UUID origin;
    /** Whether its origin held, when it ran there, what the order says. */
    final boolean inPlace;
    /** Whether rows that are written under it may fit no former definition. */
    private final boolean changesColumns;
    /** Once it is void: the seqno of that verdict, and the servers that had run it by then. */
    private long voidBy;

    private final Set<UUID> ran = new TreeSet<>();
    /** Rising. */
    private long[] built = NONE;

    private int count;

    Definition(long seqno, UUID origin, boolean inPlace, boolean changesColumns) {
        this.seqno = seqno;
        this.origin = origin;
        this.inPlace = inPlace;
        this.changesColumns = changesColumns;
    }

    /**
     * Whether a writeset was built on this one.
     *
     * @param index what passed before it touched
     */
    boolean isUnder(WriteSet w, KeyIndex index) {
        if (!changesColumns && count == 0) {
            return false;
        }
        if (!w.gtid().source().equals(origin) && !isSeenBy(w)) {
            return false;
        }
        return w.keys().touchEverything() || index.builtOn(w.keys(), this::isOneOf);
    }

    /** Whether a server other than the origin had run it when this was written there. */
    private boolean isSeenBy(WriteSet w) {
        return w.lastSeen() >= seqno && (voidBy == 0 || ran.contains(w.gtid().source()));
    }

    private boolean isOneOf(long other) {
        return other == seqno ? changesColumns : has(other);
    }

    /** Whether the writeset at this seqno was built on it. */
    boolean has(long other) {
        return other > seqno && Arrays.binarySearch(built, 0, count, other) >= 0;
    }

    void add(long seqno) {
        if (count == built.length) {
            built = Arrays.copyOf(built, Math.max(8, 2 * count));
        }
        built[count++] = seqno;
    }

    int count() {
        return count;
    }

    /** The seqnos of what was built on it. */
    long[] built() {
        return Arrays.copyOf(built, count);
    }

    /** It is void by the verdict at this seqno. */
    void voidBy(long seqno, Set<UUID> ranIt) {
        voidBy = seqno;
        ran.addAll(ranIt);
    }

    long voidBy() {
        return voidBy;
    }

    long digest(long seed) {
        long h = Mix.of(Mix.of(seed, seqno), (inPlace ? 1 : 0) + (changesColumns ? 2 : 0));
        h = Votes.mix(Mix.of(Votes.mix(h, origin), voidBy), ran);
        h = Mix.of(h, count);
        for (int i = 0; i < count; i++) {
            h = Mix.of(h, built[i]);
        }
        return h;
    }

    void writeTo(DataOutput out) throws IOException {
        out.writeLong(seqno);
        Votes.write(out, origin);
        out.writeBoolean(inPlace);
        out.writeBoolean(changesColumns);
        out.writeLong(voidBy);
        Votes.write(out, ran);
        out.writeInt(count);
        for (int i = 0; i < count; i++) {
            out.writeLong(built[i]);
        }
    }

    static Definition readFrom(DataInput in) throws IOException {
        Definition d = new Definition(in.readLong(), Votes.id(in), in.readBoolean(), in.readBoolean());
        d.voidBy = in.readLong();
        Votes.read(in, d.ran, SERVERS_MAX);
        for (int left = Votes.count(in, Votes.BUILT_MAX); left > 0; left--) {
            long next = in.readLong();
            State.require(next > (d.count == 0 ? d.seqno : d.built[d.count - 1]), "what was built out of order");
            d.add(next);
        }
        return d;
    }
}
