// SPDX-License-Identifier: Apache-2.0
package io.quorate.capture;

import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.Map;

/**
 * What keys need to know of one of the server's collations.
 *
 * @param name the server's name for it
 * @param charsetName the server's name for its character set
 * @param singleByte whether every character is one byte
 */
record Collation(String name, String charsetName, boolean singleByte) {
    /** The id of {@code binary}, which marks columns of bytes. */
    static final int BINARY_ID = 63;

    private static final Map<String, Charset> UNICODE = Map.of(
            "utf8mb4", StandardCharsets.UTF_8,
            "utf8mb3", StandardCharsets.UTF_8,
            "utf8", StandardCharsets.UTF_8,
            "ucs2", StandardCharsets.UTF_16BE,
            "utf16", StandardCharsets.UTF_16BE,
            "utf16le", StandardCharsets.UTF_16LE);

    private static final Map<String, String> JAVA_NAMES = Map.ofEntries(
            Map.entry("utf32", "UTF-32BE"),
            Map.entry("ascii", "US-ASCII"),
            // The server's latin1 is Windows-1252.
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

    /** Whether it compares character codes. */
    boolean exact() {
        return name.endsWith("_bin");
    }

    /** Whether the server's weights have levels, of which only the first matters here. */
    boolean levelled() {
        return name.contains("_0900_as");
    }

    /** Whether its letters may consist of more than two characters. */
    boolean hungarian() {
        return name.contains("hungarian") || name.contains("_hu_");
    }

    boolean unicode() {
        return UNICODE.containsKey(charsetName) || charsetName.equals("utf32");
    }

    /** Whether bytes below 0x80 are ASCII, if a text has no others. */
    boolean asciiBytes() {
        return !charsetName.startsWith("utf16") && !charsetName.equals("utf32") && !charsetName.equals("ucs2");
    }

    /**
     * The charset of a statement's text.
     *
     * @param id of the client's collation; negative when the event doesn't say
     * @return null when Java has none
     */
    static Charset charset(int id, Map<Integer, Collation> collations) {
        if (id < 0) {
            return StandardCharsets.UTF_8;
        }
        Collation collation = collations.get(id);
        return collation == null ? null : collation.charset();
    }

    /** The charset with which Java decodes it, null when there is none. */
    Charset charset() {
        Charset unicode = UNICODE.get(charsetName);
        if (unicode != null) {
            return unicode;
        }
        String javaName = JAVA_NAMES.get(charsetName);
        return javaName != null && Charset.isSupported(javaName) ? Charset.forName(javaName) : null;
    }
}
