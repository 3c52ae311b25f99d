// SPDX-License-Identifier: Apache-2.0
package io.quorate.applier;

import io.quorate.applier.ApplyCourse.Position;
import io.quorate.applier.ApplyCourse.Register;
import io.quorate.core.Certified;
import io.quorate.core.OwnWrites.Doomed;
import io.quorate.core.OwnWrites.Losers;
import java.util.List;

/**
 * The attempt to get a whole group, or one writeset of it, into the database in one transaction, again and again until
 * it commits; with the losers that have to be undone in the same transaction, as far as they are known.
 */
final class Attempt {
    private final List<Certified> writeSets;
    private final Position position;
    private final boolean alone;
    private final Register register;
    private boolean again;
    private boolean head;
    private boolean inRounds;
    private int round;
    private List<Doomed> losers = List.of();

    /** What follows from what clients have committed by now. */
    enum Outlook {
        /** Everything that stood in the way is undone. */
        CLEAR,
        /** There is more to undo. */
        MORE,
        /** The order has still to tell who loses. */
        UNKNOWN
    }

    /**
     * @param position the position that is saved in the transaction
     * @param alone whether it is one writeset of a group, which sets a savepoint from the start
     */
    Attempt(List<Certified> writeSets, Position position, boolean alone, Register register) {
        this.writeSets = writeSets;
        this.position = position;
        this.alone = alone;
        this.register = register;
        this.again = alone;
    }

    List<Certified> writeSets() {
        return writeSets;
    }

    List<Certified> passed() {
        return writeSets.stream().allMatch(Certified::passed)
                ? writeSets
                : writeSets.stream().filter(Certified::passed).toList();
    }

    Position position() {
        return position;
    }

    boolean isAlone() {
        return alone;
    }

    /** Whether the group was the head when the attempt began. */
    boolean isHead() {
        return head;
    }

    /** Whether there is a savepoint to go back to. */
    boolean isInRounds() {
        return inRounds;
    }

    /** The losers, the latest first. */
    List<Doomed> losers() {
        return losers;
    }

    /** Begins from the start, with no transaction open. */
    void begin(boolean isHead) {
        head = isHead;
        inRounds = false;
        round = 0;
        losers = List.of();
    }

    /** The transaction was rolled back. The next time, if the group is the head, it sets a savepoint from the start. */
    void rolledBack() {
        again = true;
    }

    /** Chooses what is to be undone; false when the order has still to tell who loses. */
    boolean choose() {
        Losers now = register.toUndo(writeSets, losers);
        losers = now.certain() ? now.doomed() : List.of();
        return now.certain();
    }

    /**
     * Whether this group has to wait until it is the head. Only the head undoes, because a group before this one may
     * have to undo the same.
     */
    boolean hasToWait() {
        return !head && !losers.isEmpty();
    }

    /** Whether a savepoint has to be set now. */
    boolean beginsRounds() {
        boolean begins = !inRounds && head && (again || !losers.isEmpty());
        inRounds |= begins;
        return begins;
    }

    /** The transaction is back at the savepoint; returns how often it has been. */
    int nextRound() {
        return ++round;
    }

    Outlook outlook() {
        Losers now = register.toUndo(writeSets, losers);
        if (!now.certain()) {
            return Outlook.UNKNOWN;
        }
        return now.doomed().size() > losers.size() ? Outlook.MORE : Outlook.CLEAR;
    }

    /** Whether there are more losers to undo, whatever the order has still to tell. */
    boolean hasMore() {
        return register.toUndo(writeSets, losers).doomed().size() > losers.size();
    }
}
