// SPDX-License-Identifier: Apache-2.0
package io.quorate.capture;

import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/**
 * What keys need to know of one of the server's collations.
 *
 * @param name the server's name for it
 * @param charset how Java decodes it; null when Java can't
 * @param strength how texts under it are made comparable
 */
record Collation(String name, Charset charset, Strength strength) {
    /** The id of {@code binary}, which marks columns of bytes. */
    static final int BINARY_ID = 63;

    /** Under it all texts are one. */
    static final Collation UNKNOWN = new Collation("unknown", null, Strength.TAILORED);

    /** From exact to coarse. */
    enum Strength {
        /** Bytes, but for trailing spaces. */
        EXACT,
        /** Letters without their marks and case. */
        FOLDED,
        /** Also without what the alphabets of single languages, and old ones, hold equal. */
        TAILORED
    }

    private static final Map<String, Charset> CHARSETS = Map.ofEntries(
            Map.entry("utf8mb4", StandardCharsets.UTF_8),
            Map.entry("utf8mb3", StandardCharsets.UTF_8),
            Map.entry("utf8", StandardCharsets.UTF_8),
            Map.entry("ascii", StandardCharsets.ISO_8859_1),
            Map.entry("ucs2", StandardCharsets.UTF_16BE),
            Map.entry("utf16", StandardCharsets.UTF_16BE),
            Map.entry("utf16le", StandardCharsets.UTF_16LE));

    private static final Map<String, String> JAVA_NAMES = Map.ofEntries(
            Map.entry("utf32", "UTF-32BE"),
            // The server's latin1 is Windows' one.
            Map.entry("latin1", "windows-1252"),
            Map.entry("latin2", "ISO-8859-2"),
            Map.entry("latin5", "ISO-8859-9"),
            Map.entry("latin7", "ISO-8859-13"),
            Map.entry("greek", "ISO-8859-7"),
            Map.entry("hebrew", "ISO-8859-8"),
            Map.entry("cp1250", "windows-1250"),
            Map.entry("cp1251", "windows-1251"),
            Map.entry("cp1256", "windows-1256"),
            Map.entry("cp1257", "windows-1257"),
            Map.entry("cp850", "IBM850"),
            Map.entry("cp852", "IBM852"),
            Map.entry("cp866", "IBM866"),
            Map.entry("koi8r", "KOI8-R"),
            Map.entry("koi8u", "KOI8-U"),
            Map.entry("tis620", "TIS-620"),
            Map.entry("big5", "Big5"),
            Map.entry("gbk", "GBK"),
            Map.entry("gb2312", "GB2312"),
            Map.entry("gb18030", "GB18030"),
            Map.entry("sjis", "Shift_JIS"),
            Map.entry("cp932", "windows-31j"),
            Map.entry("ujis", "EUC-JP"),
            Map.entry("eucjpms", "EUC-JP"),
            Map.entry("euckr", "EUC-KR"));

    /** Collations that follow no single language's alphabet. */
    private static final Set<String> COMMON =
            Set.of("0900_ai_ci", "0900_as_ci", "0900_as_cs", "unicode_ci", "unicode_520_ci", "general_ci");

    static Collation of(String name, String charsetName) {
        String lower = name.toLowerCase(Locale.ROOT);
        if (lower.endsWith("_bin")) {
            return new Collation(name, charset(charsetName), Strength.EXACT);
        }
        boolean unicode = lower.startsWith("utf") || lower.startsWith("ucs") || lower.startsWith("ascii");
        boolean common = unicode && COMMON.contains(lower.substring(lower.indexOf('_') + 1));
        return new Collation(name, charset(charsetName), common ? Strength.FOLDED : Strength.TAILORED);
    }

    /** Whether a text of bytes below 0x80 only is ASCII. */
    boolean asciiBytes() {
        return charset != null
                && !charset.name().startsWith("UTF-16")
                && !charset.name().startsWith("UTF-32");
    }

    /** Java's charset for one of the server's, null when it has none. */
    static Charset charset(String name) {
        Charset known = CHARSETS.get(name);
        if (known != null) {
            return known;
        }
        String javaName = JAVA_NAMES.get(name);
        return javaName != null && Charset.isSupported(javaName) ? Charset.forName(javaName) : null;
    }
}
