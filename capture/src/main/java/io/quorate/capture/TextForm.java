// SPDX-License-Identifier: Apache-2.0
package io.quorate.capture;

import java.nio.charset.StandardCharsets;
import java.text.Normalizer;

/**
 * Text under a collation, as coarse as it takes without asking the server for its weights: compatibility decomposition,
 * no marks, no ignorable characters, no case, no trailing spaces. ASCII, which is most of it, goes a short way that gives
 * the same bytes.
 */
final class TextForm implements ComparisonForm {
    private final Collation collation;
    private final int prefix;

    /** @param prefix characters that count, 0 for all */
    TextForm(Collation collation, int prefix) {
        this.collation = collation;
        this.prefix = prefix;
    }

    @Override
    public void append(byte[] bytes, int offset, int length, KeyBytes out) {
        if (collation.charset() == null) {
            return;
        }
        int from = out.size();
        if (!collation.asciiBytes() || !appendAscii(bytes, offset, length, out)) {
            out.truncate(from);
            appendText(new String(bytes, offset, length, collation.charset()), out);
        }
        int end = out.size();
        while (end > from && out.at(end - 1) == ' ') {
            end--;
        }
        out.truncate(end);
    }

    private boolean appendAscii(byte[] bytes, int offset, int length, KeyBytes out) {
        int end = offset + (prefix == 0 ? length : Math.min(length, prefix));
        Collation.Strength strength = collation.strength();
        int start = out.size();
        for (int i = offset; i < end; i++) {
            int c = bytes[i];
            if (c < 0) {
                return false;
            }
            if (strength == Collation.Strength.EXACT) {
                out.put(c);
            } else if (c >= ' ' && c < 0x7f) {
                appendFolded(c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c, start, out);
            }
        }
        return true;
    }

    private void appendText(String text, KeyBytes out) {
        String counted = text;
        if (prefix > 0 && text.length() > prefix && text.codePointCount(0, text.length()) > prefix) {
            counted = text.substring(0, text.offsetByCodePoints(0, prefix));
        }
        if (collation.strength() == Collation.Strength.EXACT) {
            byte[] utf8 = counted.getBytes(StandardCharsets.UTF_8);
            out.put(utf8, 0, utf8.length);
            return;
        }
        String plain = Normalizer.normalize(counted, Normalizer.Form.NFKD);
        int start = out.size();
        for (int i = 0; i < plain.length(); ) {
            int c = plain.codePointAt(i);
            i += Character.charCount(c);
            Letters.fold(c, letter -> appendFolded(letter, start, out));
        }
    }

    /** A letter without mark and case; the older collations' alphabets are narrowed further. */
    private void appendFolded(int letter, int start, KeyBytes out) {
        if (collation.strength() == Collation.Strength.TAILORED) {
            appendTailored(letter, start, out);
        } else if (letter < 0x80) {
            out.put(letter);
        } else {
            byte[] utf8 = Character.toString(letter).getBytes(StandardCharsets.UTF_8);
            out.put(utf8, 0, utf8.length);
        }
    }

    /**
     * What some alphabet holds equal beyond marks: i, j and y; u, v, w (and y with ü); aa with å; ae, oe, ue with their
     * umlauts; letters that count double. Any of it is let go for all of them.
     */
    private void appendTailored(int letter, int start, KeyBytes out) {
        int l = letter;
        if (l == 'j' || l == 'y' || l == 'u' || l == 'v' || l == 'w') {
            l = 'i';
        }
        if (l == 'e' && out.size() > start && isUmlautBase(out.at(out.size() - 1))) {
            return;
        }
        if (l >= 0x80) {
            byte[] utf8 = Character.toString(l).getBytes(StandardCharsets.UTF_8);
            out.put(utf8, 0, utf8.length);
        } else if (l < 'a' || l > 'z' || out.size() == start || out.at(out.size() - 1) != l) {
            out.put(l);
        }
    }

    private static boolean isUmlautBase(int letter) {
        return letter == 'a' || letter == 'o' || letter == 'i';
    }
}
