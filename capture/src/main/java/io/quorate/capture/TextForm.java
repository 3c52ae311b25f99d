// SPDX-License-Identifier: Apache-2.0
package io.quorate.capture;

import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * Text under a collation: the weights of its characters, and of pairs that are one letter, without trailing spaces. If
 * the collation has levels, only the first counts: letters, not marks and case.
 */
final class TextForm implements ComparisonForm {
    private final Collation collation;
    private final Charset charset;
    private final boolean unicode;
    private static final byte[] SPACE = {' '};

    private final int prefix;
    private final Weights weights;

    /**
     * @param prefix how many characters count, 0 for all
     * @param weights of the collation; null for a collation that compares codes
     */
    TextForm(Collation collation, int prefix, Weights weights) {
        this.collation = collation;
        this.charset = collation.charset();
        this.unicode = collation.unicode();
        this.prefix = prefix;
        this.weights = weights;
    }

    @Override
    public void append(byte[] bytes, int offset, int length, KeyBytes out) {
        int counted = prefix == 0 ? length : Math.min(length, prefix);
        if (collation.singleByte() || (unicode && collation.asciiBytes() && isAscii(bytes, offset, length))) {
            appendBytes(bytes, offset, counted, out);
        } else if (unicode) {
            appendText(new String(bytes, offset, length, charset), out);
        } else if (weights == null) {
            // As many bytes as characters count: that is fewer, which makes more texts equal.
            appendBytes(bytes, offset, counted, out);
        } else {
            appendCodes(bytes, offset, offset + length, out);
        }
    }

    private void appendCodes(byte[] bytes, int from, int end, KeyBytes out) {
        int characters = 0;
        int kept = out.size();
        // Every character that weighs as much as a space is padding too.
        byte[] space = weights.ofCode(SPACE, 0, 1);
        for (int at = from; at < end && (prefix == 0 || characters < prefix); characters++) {
            int codeBytes = weights.codeBytes(bytes, at, end);
            byte[] weight = weights.ofCode(bytes, at, codeBytes);
            out.put(weight, 0, weight.length);
            if (!Arrays.equals(weight, space)) {
                kept = out.size();
            }
            at += Math.max(1, codeBytes);
        }
        out.truncate(kept);
    }

    private static boolean isAscii(byte[] bytes, int offset, int length) {
        for (int i = offset; i < offset + length; i++) {
            if (bytes[i] < 0) {
                return false;
            }
        }
        return true;
    }

    /** Characters of one byte each. */
    private void appendBytes(byte[] bytes, int offset, int length, KeyBytes out) {
        int end = offset + length;
        while (end > offset && isPadding(bytes[end - 1] & 0xff)) {
            end--;
        }
        if (weights == null) {
            out.put(bytes, offset, end - offset);
            return;
        }
        for (int i = offset; i < end; i++) {
            int next = i + 1 < end ? bytes[i + 1] & 0xff : -1;
            i += appendCharacter(bytes[i] & 0xff, next, out);
        }
    }

    private void appendText(String text, KeyBytes out) {
        String counted = text;
        if (prefix > 0 && text.codePointCount(0, text.length()) > prefix) {
            counted = text.substring(0, text.offsetByCodePoints(0, prefix));
        }
        int[] characters = counted.codePoints().toArray();
        int end = characters.length;
        while (end > 0 && isPadding(characters[end - 1])) {
            end--;
        }
        if (weights == null) {
            byte[] utf8 = new String(characters, 0, end).getBytes(StandardCharsets.UTF_8);
            out.put(utf8, 0, utf8.length);
            return;
        }
        for (int i = 0; i < end; i++) {
            i += appendCharacter(characters[i], i + 1 < end ? characters[i + 1] : -1, out);
        }
    }

    /** Appends the weight of a character, or of the pair it begins; returns how many more characters that took. */
    private int appendCharacter(int character, int next, KeyBytes out) {
        byte[] pair = next >= 0 && weights.hasPairs() ? weights.pair(character, next) : null;
        byte[] weight = pair == null ? weights.of(character) : pair;
        out.put(weight, 0, weight.length);
        return pair == null ? 0 : 1;
    }

    private boolean isPadding(int character) {
        return character == ' ' || (weights != null && weights.isPadding(character));
    }
}
