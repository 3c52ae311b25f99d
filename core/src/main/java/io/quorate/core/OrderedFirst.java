// SPDX-License-Identifier: Apache-2.0
package io.quorate.core;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.UUID;

/**
 * Definitions that are ordered before any server has run them. They have an origin of their own, which is no server.
 * Their numbers follow each other like the GTID numbers of a server, and each proposal is linked to the one before: of
 * two nodes that propose the next definition at the same time, one does, and the other sees that the number is taken.
 *
 * <p>An empty proposal takes up a number too. So whoever waits for the definition of a number, and can't wait any
 * longer, proposes nothing under that number. What is ordered under it then settles for all nodes whether there is a
 * definition.
 */
public final class OrderedFirst {
    /** The origin. No server has it: theirs are of version 1. */
    public static final UUID ORIGIN =
            UUID.nameUUIDFromBytes("io.quorate: definitions that are ordered first".getBytes(StandardCharsets.UTF_8));

    private OrderedFirst() {}

    public static boolean isOrigin(UUID origin) {
        return ORIGIN.equals(origin);
    }

    public static boolean is(WriteSet writeSet) {
        return isOrigin(writeSet.gtid().source());
    }

    /**
     * A definition.
     *
     * @param previous the last number of this origin
     * @param nonce by which the one that proposes it knows it again
     * @param lastSeen the seqno up to which that one knew the order
     */
    public static WriteSet definition(
            long previous, long nonce, long lastSeen, long micros, Keys keys, byte[] payload) {
        return new WriteSet(
                new Gtid(ORIGIN, previous + 1),
                lastSeen,
                micros,
                WriteSet.Kind.DDL,
                keys,
                Payload.of(payload),
                WriteSet.BUILT_ON_NONE,
                nonce);
    }

    /**
     * The keys of what says that one server's tables are right as they are, whatever the order has of them before. No
     * server runs it: at its place every other server is known to differ in these tables, and gets a copy of them.
     *
     * @param tables what a definition of these tables would take
     */
    public static Keys trust(Keys tables, UUID server) {
        KeysBuilder keys = new KeysBuilder();
        for (int i = 0; i < tables.size(); i++) {
            keys.add(tables.hash(i), tables.type(i));
        }
        keys.add(Keys.TRUSTED, KeyType.SHARED);
        keys.add(Keys.trusted(server), KeyType.SHARED);
        return keys.build();
    }

    /** Whether it says that a server's tables are right. */
    public static boolean isTrust(WriteSet writeSet) {
        return is(writeSet) && writeSet.keys().contains(Keys.TRUSTED);
    }

    /** Whether it says that the tables of this server are right. */
    public static boolean trusts(WriteSet writeSet, UUID server) {
        return isTrust(writeSet) && writeSet.keys().contains(Keys.trusted(server));
    }

    public static Proposal proposal(WriteSet definition) {
        long number = definition.gtid().number();
        return new Proposal(ORIGIN, number - 1, number, 0, new long[0], List.of(definition));
    }

    /** Takes up the number after {@code previous}, so that no definition has it. */
    public static Proposal nothing(long previous) {
        return new Proposal(ORIGIN, previous, previous + 1, 0, new long[0], List.of());
    }
}
