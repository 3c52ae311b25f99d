// SPDX-License-Identifier: Apache-2.0
package io.quorate.sst.stream;

import io.quorate.sst.audit.AuditedTable.Stretch;

/**
 * Part of a {@link Unit}: a stretch of its only table, or all of it.
 *
 * @param number from 0 on, in the order of the key
 * @param stretch its end is unknown, and so null, until the donor has looked it up
 * @param bounded whether its end is known, even if it is the table's end
 */
public record Piece(Unit unit, int number, Stretch stretch, boolean bounded) {
    /** The first piece of a unit. */
    public static Piece first(Unit unit) {
        return new Piece(unit, 0, Stretch.ALL, unit.whole());
    }

    /** The same, ending at {@code to}; null for the table's end. */
    public Piece endingAt(String to) {
        return new Piece(unit, number, new Stretch(stretch.from(), to), true);
    }

    /** The next piece; null after the last. */
    public Piece next() {
        return stretch.to() == null ? null : new Piece(unit, number + 1, new Stretch(stretch.to(), null), false);
    }
}
