// SPDX-License-Identifier: Apache-2.0
package io.quorate.core;

import java.util.regex.Pattern;

/**
 * What names, addresses and texts that come from another node have to look like, and how such a text is shown: nothing
 * that somebody else has written may look like a line of its own in a log, in an answer or on an operator's screen.
 */
public final class FromOutside {
    /** What is shown of a text. */
    public static final int SHOWN_CHARACTERS_MAX = 1000;

    private static final int HOST_CHARACTERS_MAX = 253;
    private static final int PORT_MAX = 65535;
    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9_-][A-Za-z0-9._-]{0,62}");
    private static final Pattern HOST = Pattern.compile("[A-Za-z0-9_]([A-Za-z0-9._-]*[A-Za-z0-9._])?");
    private static final Pattern ADDRESS_6 =
            Pattern.compile("\\[?[0-9A-Fa-f:]*:[0-9A-Fa-f:.]*(%[A-Za-z0-9._-]{1,32})?\\]?");

    private FromOutside() {}

    /** Whether it can be the name of a node; such a name is also safe as a file name. */
    public static boolean isName(String text) {
        return text != null && NAME.matcher(text).matches();
    }

    /** Whether it can be a name in the DNS or an address. */
    public static boolean isHost(String text) {
        return text != null
                && text.length() <= HOST_CHARACTERS_MAX
                && (HOST.matcher(text).matches() || ADDRESS_6.matcher(text).matches());
    }

    public static boolean isPort(int port) {
        return port > 0 && port <= PORT_MAX;
    }

    /** Whether it can be {@code host:port}. */
    public static boolean isHostAndPort(String text) {
        int colon = text == null ? -1 : text.lastIndexOf(':');
        String port = colon < 0 ? "" : text.substring(colon + 1);
        return port.matches("[0-9]{1,5}") && isPort(Integer.parseInt(port)) && isHost(text.substring(0, colon));
    }

    /**
     * The text as one line: spaces instead of what breaks a line, question marks instead of other control characters
     * and of those that only change how others are shown, and no more than {@link #SHOWN_CHARACTERS_MAX} characters.
     * Null stays null.
     */
    public static String oneLine(String text) {
        return text == null ? null : oneLine(text, SHOWN_CHARACTERS_MAX);
    }

    private static String oneLine(String text, int charactersMax) {
        StringBuilder line = new StringBuilder(Math.min(text.length(), charactersMax));
        int at = 0;
        while (at < text.length() && line.length() < charactersMax) {
            int character = text.codePointAt(at);
            line.appendCodePoint(shown(character));
            at += Character.charCount(character);
        }
        return at < text.length() ? line + "..." : line.toString();
    }

    private static int shown(int character) {
        return switch (Character.getType(character)) {
            case Character.CONTROL -> Character.isWhitespace(character) ? ' ' : '?';
            case Character.LINE_SEPARATOR, Character.PARAGRAPH_SEPARATOR -> ' ';
            case Character.FORMAT, Character.SURROGATE -> '?';
            default -> character;
        };
    }
}
