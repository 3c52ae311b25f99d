// SPDX-License-Identifier: Apache-2.0
package io.quorate.core;

/** What {@link OwnWrites} knows of one transaction. Not thread-safe. */
final class OwnTransaction {
    final long number;
    final Keys keys;
    final long[] builtOn;
    final boolean everything;
    /** Whether rows that other nodes wrote to its tables, unseen here, are a conflict. */
    final boolean strict;
    /** The keys by which it is certified, which are stronger where it is guarded ({@link OwnDefinitions}). */
    private final Keys certified;

    final boolean definition;
    /** Whether it is a definition under which rows are written that fit the former one too. */
    final boolean keepsColumns;
    /** Null once it is ordered: then the node's record has it too. */
    WriteSet writeSet;
    /** Its seqno if it has failed, otherwise 0. */
    long failedAt;
    /** The position that was committed with its undo, 0 while its rows are there. */
    long undoneAt;

    boolean indexed;
    /**
     * What it was built on is guessed, on the safe side for certification; the writeset that will be certified may say
     * otherwise.
     */
    boolean guessed;
    /** It was undone, but it isn't known when. */
    boolean undoneSometime;

    OwnTransaction(WriteSet w) {
        number = w.gtid().number();
        certified = w.keys().sortedIfMany();
        definition = w.isDefinition();
        strict = certified.contains(Keys.NO_ROWS_BEFORE);
        keys = strict && !definition ? OwnDefinitions.unguarded(certified) : certified;
        builtOn = w.builtOn();
        writeSet = w;
        everything = keys.touchEverything();
        keepsColumns = keys.contains(Keys.KEEPS_COLUMNS);
    }

    /** Whether it consists of rows that were written under a definition which is on its way. */
    boolean isGuarded() {
        return strict && !definition;
    }

    /** Whether it loses, guarded, against a writeset that holds this key in this way. */
    boolean losesGuarded(long hash, int found) {
        int type = certified.typeOrdinalOf(hash);
        return type >= 0 && Matrix.orders(found, type);
    }

    boolean isUndoneFor(long lastSeen) {
        return undoneAt > 0 && undoneAt <= lastSeen;
    }
}
