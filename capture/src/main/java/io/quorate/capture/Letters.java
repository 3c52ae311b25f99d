// SPDX-License-Identifier: Apache-2.0
package io.quorate.capture;

import java.util.function.IntConsumer;

/** Characters reduced to what case- and accent-insensitive collations still tell apart. */
final class Letters {
    /** Letters that collations hold equal to others although Unicode doesn't decompose them: each with its letters. */
    private static final String[] EQUALS = {
        "ßss", "ẞss", "æae", "œoe", "øo", "đd", "ðd", "łl", "ħh", "ŧt", "ıi", "þth", "ŋn", "ĸk",
    };

    private Letters() {}

    /** Gives what remains of a character of a decomposed text: nothing, itself folded, or the letters it stands for. */
    static void fold(int c, IntConsumer out) {
        switch (Character.getType(c)) {
            case Character.NON_SPACING_MARK,
                    Character.ENCLOSING_MARK,
                    Character.COMBINING_SPACING_MARK,
                    Character.CONTROL,
                    Character.FORMAT -> {
                return;
            }
            default -> {
                // Counts.
            }
        }
        if (c > 0xffff) {
            // The older Unicode collations know no characters up here: one weight for all.
            out.accept(0xfffd);
            return;
        }
        int folded = Character.toLowerCase(Character.toUpperCase(c));
        if (folded >= 0x80) {
            for (String equal : EQUALS) {
                if (equal.charAt(0) == folded) {
                    equal.chars().skip(1).forEach(out);
                    return;
                }
            }
        }
        out.accept(folded);
    }
}
