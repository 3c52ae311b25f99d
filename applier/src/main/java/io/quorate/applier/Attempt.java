// SPDX-License-Identifier: Apache-2.0
package io.quorate.applier;

import io.quorate.applier.ApplyCourse.Position;
import io.quorate.applier.ApplyCourse.Register;
import io.quorate.core.Certified;
import io.quorate.core.OwnWrites.Doomed;
import io.quorate.core.OwnWrites.Losers;
import java.util.List;

/**
 * What goes into one database transaction, all of a group or one writeset of it, tried until it commits; and what has
 * to be undone in the same transaction, as far as it is known.
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

    /** How it stands with what clients have committed by now. */
    enum Outlook {
        /** All that stands in the way is undone. */
        CLEAR,
        /** There is more to undo. */
        MORE,
        /** The order has still to tell. */
        UNKNOWN
    }

    /**
     * @param position that is saved with it
     * @param alone one writeset of a group, which goes in rounds at once
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

    /** Whether it was the head when it began. */
    boolean isHead() {
        return head;
    }

    /** Whether there is a savepoint to go back to. */
    boolean isInRounds() {
        return inRounds;
    }

    /** The latest first. */
    List<Doomed> losers() {
        return losers;
    }

    /** With nothing open. */
    void begin(boolean isHead) {
        head = isHead;
        inRounds = false;
        round = 0;
        losers = List.of();
    }

    /** It was rolled back: the next time it goes in rounds at once. */
    void rolledBack() {
        again = true;
    }

    /** Chooses what is to be undone; false when the order has still to tell. */
    boolean choose() {
        Losers now = register.toUndo(writeSets, losers);
        losers = now.certain() ? now.doomed() : List.of();
        return now.certain();
    }

    /** Only the head undoes: a group before this one may have to undo the same. */
    boolean hasToWait() {
        return !head && !losers.isEmpty();
    }

    /** Whether a savepoint is to be set. */
    boolean beginsRounds() {
        boolean begins = !inRounds && head && (again || !losers.isEmpty());
        inRounds |= begins;
        return begins;
    }

    /** Back at the savepoint; how often it was. */
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

    /** Whether others are to be undone beside these, whatever the order has still to tell. */
    boolean hasMore() {
        return register.toUndo(writeSets, losers).doomed().size() > losers.size();
    }
}
