// SPDX-License-Identifier: Apache-2.0
package io.quorate.core.binlog;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;

/**
 * Which settings of a session may decide what a server computes by the expressions of a table's definition. Other
 * settings of a session don't matter to these, or are part of the expression.
 *
 * @param timeZone for what converts from or to it; a text with an offset does when it becomes a DATETIME
 * @param locale names of months and days
 * @param division how many digits it adds
 * @param encryption the mode of AES functions
 * @param bound whether a server resolves some of it when it opens the table, by the settings of whoever that is for,
 *     and keeps it for all who use the table as it was opened: names of months and days, digits of a division,
 *     NO_UNSIGNED_SUBTRACTION, NO_BACKSLASH_ESCAPES and NO_ZERO_DATE
 */
public record ExpressionSettings(
        boolean timeZone, boolean locale, boolean division, boolean encryption, boolean bound) {
    /** Of expressions that nobody knows. */
    public static final ExpressionSettings ALL = new ExpressionSettings(true, true, true, true, true);

    private static final Pattern TIMES = Pattern.compile("from_unixtime|datetime|timestamp", Pattern.CASE_INSENSITIVE);
    private static final Pattern NAMES = Pattern.compile("name|format|str_to_date", Pattern.CASE_INSENSITIVE);
    private static final Pattern DIVISION = Pattern.compile("/");
    private static final Pattern ENCRYPTION = Pattern.compile("aes_", Pattern.CASE_INSENSITIVE);
    private static final Pattern BOUND =
            Pattern.compile("/| - | like |(month|day)name|str_to_date", Pattern.CASE_INSENSITIVE);

    /** A text, with its character set; as the dictionary has it, its quotes have backslashes. */
    private static final Pattern LITERAL = Pattern.compile("(_[a-z0-9]+ ?)?\\\\?'[^'\\\\]*\\\\?'");

    private static final Pattern COLUMN = Pattern.compile("`((?:[^`]|``)*)`");
    private static final Pattern COLLATION = Pattern.compile("\\bcollate \\w+");
    private static final Pattern TOKEN = Pattern.compile("[a-z_][a-z_0-9]*|[^a-z_0-9\\s.,()+*=<>!%]");

    /** Of texts, numbers that keep their type, and JSON. */
    private static final Set<String> INDEPENDENT = Set.of(
            ("json_extract json_unquote json_length json_keys json_valid json_type concat concat_ws lower lcase upper"
                            + " ucase substr substring substring_index left right trim ltrim rtrim replace ifnull"
                            + " coalesce nullif if case when then else end and or xor not is null true false in"
                            + " between md5 sha sha1 sha2 hex unhex crc32 length char_length abs sign cast as char"
                            + " charset signed unsigned binary utf8mb4 utf8mb3 latin1 ascii")
                    .split(" "));

    private static final int LOCALES = 110;
    private static final int DIGITS_MAX = 30;
    private static final int HOURS_EAST = 14;
    private static final int HOURS_WEST = 13;

    /**
     * @param timestamps whether they may use columns of that type
     */
    public static ExpressionSettings of(Collection<String> expressions, boolean timestamps) {
        return new ExpressionSettings(
                !expressions.isEmpty() && (timestamps || uses(TIMES, expressions)),
                uses(NAMES, expressions),
                uses(DIVISION, expressions),
                uses(ENCRYPTION, expressions),
                uses(BOUND, expressions));
    }

    private static boolean uses(Pattern what, Collection<String> expressions) {
        return expressions.stream().anyMatch(text -> what.matcher(text).find());
    }

    /**
     * Whether an expression gives the same under all settings. It is said of few kinds, such as those over parts of
     * JSON.
     *
     * @param expression as {@code information_schema} has it
     * @param plain whether a column is of a type that converts to text and back by itself
     */
    public static boolean isIndependent(String expression, Predicate<String> plain) {
        String text = LITERAL.matcher(expression.toLowerCase(Locale.ROOT)).replaceAll("0");
        Matcher column = COLUMN.matcher(text);
        while (column.find()) {
            if (!plain.test(column.group(1).replace("``", "`"))) {
                return false;
            }
        }
        text = COLLATION.matcher(COLUMN.matcher(text).replaceAll("0")).replaceAll("");
        return TOKEN.matcher(text).results().allMatch(token -> INDEPENDENT.contains(token.group()));
    }

    /**
     * Settings to try when what is computed under some isn't what it was elsewhere; the most probable ones first.
     *
     * @param known which may be right but for one or two
     */
    public List<RowSettings> others(RowSettings known) {
        List<RowSettings> others = new ArrayList<>();
        for (int localeId : locale ? IntStream.rangeClosed(0, LOCALES).toArray() : new int[] {known.locale()}) {
            for (int digits : division ? IntStream.rangeClosed(-1, DIGITS_MAX).toArray() : new int[] {-1}) {
                for (String mode : encryption ? encryptionModes() : List.of("")) {
                    for (String zone : timeZone ? zones() : List.of("")) {
                        others.add(new RowSettings(
                                known.sqlMode(),
                                known.collation(),
                                zone.isEmpty() ? known.timeZone() : zone,
                                localeId,
                                known.utf8Collation(),
                                digits < 0 ? known.divPrecision() : digits,
                                mode.isEmpty() ? known.blockEncryption() : mode));
                    }
                }
            }
        }
        for (long sqlMode : RowSettings.USUAL_MODES) {
            for (String zone : timeZone ? zones() : List.of("")) {
                others.add(new RowSettings(
                        sqlMode,
                        known.collation(),
                        zone.isEmpty() ? known.timeZone() : zone,
                        known.locale(),
                        known.utf8Collation(),
                        known.divPrecision(),
                        known.blockEncryption()));
            }
        }
        return others;
    }

    /**
     * Time zones to try, the most probable ones first; an empty text for the one that is known, or the server's. An
     * offset stands for every time zone, because a row has only one moment or few.
     */
    public static List<String> zones() {
        List<String> zones = new ArrayList<>(List.of(""));
        for (int minutes : new int[] {0, 30, 15, 45}) {
            for (int hour = 0; hour <= HOURS_EAST; hour++) {
                if (hour < HOURS_EAST || minutes == 0) {
                    zones.add(String.format("+%02d:%02d", hour, minutes));
                }
                if (hour <= HOURS_WEST) {
                    zones.add(String.format("-%02d:%02d", hour, minutes));
                }
            }
        }
        return zones;
    }

    private static List<String> encryptionModes() {
        List<String> modes = new ArrayList<>(List.of(""));
        for (String bits : List.of("128", "192", "256")) {
            for (String mode : List.of("ecb", "cbc", "cfb1", "cfb8", "cfb128", "ofb")) {
                modes.add("aes-" + bits + "-" + mode);
            }
        }
        return modes;
    }
}
