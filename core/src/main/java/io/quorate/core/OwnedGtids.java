// SPDX-License-Identifier: Apache-2.0
package io.quorate.core;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The GTIDs of transactions that are being committed, with the session of each, as {@code @@GLOBAL.gtid_owned} prints
 * them: {@code uuid:number#session}. Nothing separates the sources: {@code uuid:17#29:18#30uuid:16#28}. A tag stands
 * before the number, as in {@code uuid:tag:17#29} (8.3 and later).
 *
 * @param gtids of all of them, tagged ones too
 * @param sessions by GTID, without tagged ones
 */
public record OwnedGtids(GtidSet gtids, Map<Gtid, Long> sessions) {
    private static final String UUID_TEXT =
            "\\p{XDigit}{8}-\\p{XDigit}{4}-\\p{XDigit}{4}-\\p{XDigit}{4}-\\p{XDigit}{12}";
    private static final Pattern SOURCE = Pattern.compile(UUID_TEXT);
    private static final Pattern TAG = Pattern.compile(":([a-zA-Z_]\\w{0,31})(?=:)");
    /** The session ends where a source begins, which may begin with digits. */
    private static final Pattern OWNED =
            Pattern.compile(":(\\d{1,18})#(\\d{1,18}?)(?:#\\d{1,18}?)*(?=:|$|" + UUID_TEXT + ")");

    /**
     * Reads what the server prints.
     *
     * @throws IllegalArgumentException for anything else
     */
    public static OwnedGtids parse(String printed) {
        String text = printed.replaceAll("[\\s,]", "");
        GtidSet gtids = new GtidSet();
        Map<Gtid, Long> sessions = new LinkedHashMap<>();
        String source = "";
        String tag = "";
        Matcher m = SOURCE.matcher(text).useTransparentBounds(true);
        while (m.regionStart() < text.length()) {
            if (m.usePattern(SOURCE).lookingAt()) {
                source = m.group();
                tag = "";
            } else if (!source.isEmpty() && m.usePattern(TAG).lookingAt()) {
                tag = m.group();
            } else if (!source.isEmpty() && m.usePattern(OWNED).lookingAt()) {
                gtids.addAll(GtidSet.parse(source + tag + ":" + m.group(1)));
                if (tag.isEmpty()) {
                    sessions.put(
                            new Gtid(UUID.fromString(source), Long.parseLong(m.group(1))), Long.parseLong(m.group(2)));
                }
            } else {
                throw new IllegalArgumentException("not what gtid_owned prints: " + printed);
            }
            m.region(m.end(), text.length());
        }
        return new OwnedGtids(gtids, Collections.unmodifiableMap(sessions));
    }

    /**
     * All that a server has given out: those of executed transactions, and of those that are being committed.
     *
     * @param owned {@code @@GLOBAL.gtid_owned}, to be read first: transactions go from there to the other one
     * @param executed {@code @@GLOBAL.gtid_executed}
     */
    public static GtidSet givenOut(String owned, String executed) {
        return parse(owned).gtids().addAll(GtidSet.parse(executed));
    }
}
