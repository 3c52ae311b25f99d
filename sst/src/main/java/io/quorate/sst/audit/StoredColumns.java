// SPDX-License-Identifier: Apache-2.0
package io.quorate.sst.audit;

import io.quorate.core.Identifiers;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * Makes the stored generated columns of a table what they are on another server. Nobody can write them: the server
 * computes them by the settings of the session, and those of the session that wrote a row aren't kept anywhere. But the
 * value says which they may have been. So they are looked for with one row, by having it computed again and again, and
 * what is found is tried on all others that differ: there are few settings, and many rows.
 *
 * <p>Settings are looked for one after the other: what makes one more column right stays while the next one is tried.
 * Only where that doesn't help, two at a time are.
 *
 * <p>Some settings are bound to a table while that is open, so it is closed before others are tried.
 *
 * <p>An offset stands for every time zone, because a row has only one moment or few. Of the settings that can't matter
 * to the table's expressions none are tried.
 */
public final class StoredColumns implements AutoCloseable {
    /** Some minutes. */
    private static final int TRIES_MAX = 20_000;

    private static final int BAG_TRIES_MAX = 400;
    private static final int BATCH = 200;
    private static final int FLUSH_SECONDS = 10;
    private static final int ALL_RIGHT = Integer.MAX_VALUE;
    /** What is bound to a table while that is open. */
    private static final Set<String> BOUND =
            Set.of("lc_time_names", "div_precision_increment", "block_encryption_mode");

    /** All that are tried. */
    private static final List<String> SETTINGS = List.of(
            "time_zone",
            "sql_mode",
            "default_week_format",
            "block_encryption_mode",
            "div_precision_increment",
            "lc_time_names");

    /** How this session reads and writes; restored after each try. */
    private static final String KEEP = SETTINGS.stream()
            .map(name -> "@quorate_" + name + " = @@" + name)
            .collect(Collectors.joining(", ", "SET ", ""));

    private static final String RESTORE = SETTINGS.stream()
            .map(name -> name + " = @quorate_" + name)
            .collect(Collectors.joining(", ", "SET SESSION ", ""));

    /** The server's own, not strict: what is an error then may have been a warning. */
    private static final String SERVERS_MODE =
            "REGEXP_REPLACE(@@GLOBAL.sql_mode," + " 'TRADITIONAL|STRICT_TRANS_TABLES|STRICT_ALL_TABLES', '')";

    private static final List<String> MODES = List.of(
            SERVERS_MODE,
            "''",
            "'NO_ZERO_DATE,NO_ZERO_IN_DATE'",
            "'ALLOW_INVALID_DATES'",
            "'NO_UNSIGNED_SUBTRACTION'",
            "'PAD_CHAR_TO_FULL_LENGTH'",
            "'TIME_TRUNCATE_FRACTIONAL'");

    /** A connection of its own, for FLUSH TABLES, which would commit. */
    @FunctionalInterface
    public interface Connections {
        Connection open() throws SQLException;
    }

    private final Connection connection;
    private final AuditedTable table;
    private final Connections others;
    /** What has helped. */
    private final Set<Map<String, String>> found;
    /** The part of the settings under which the table was opened last; null when that isn't known. */
    private Map<String, String> bound;
    /** Closes the table; null until it has to. */
    private Connection other;

    /** @param found what has helped with other rows of the table; what helps with these is added */
    public StoredColumns(
            Connection connection, AuditedTable table, Connections others, Set<Map<String, String>> found) {
        this.connection = connection;
        this.table = table;
        this.others = others;
        this.found = found;
    }

    /**
     * Has rows of a table with a key computed until they are those of another server.
     *
     * @param wanted {@link AuditedTable#hashes} of each row, by identity
     * @return the identity of a row that no settings make so, or of one that isn't here; null when all are
     */
    public String restore(Map<String, String> wanted) throws SQLException {
        List<String> odd = odd(wanted, wanted.keySet());
        if (odd.isEmpty()) {
            return null;
        }
        bound = null;
        execute(KEEP);
        while (!odd.isEmpty()) {
            String sample = odd.get(0);
            Map<String, String> settings = search(sample, wanted.get(sample));
            if (settings == null) {
                return sample;
            }
            found.add(settings);
            recompute(odd, settings);
            odd = odd(wanted, odd);
        }
        return null;
    }

    /**
     * Has a bag of rows computed until they are those of another server. All of it was written under the same settings,
     * or nothing helps.
     */
    public boolean restore(AuditedTable.Sum wanted) throws SQLException {
        if (wanted.equals(table.sum(connection, AuditedTable.Stretch.ALL))) {
            return true;
        }
        bound = null;
        execute(KEEP);
        Map<String, List<String>> candidates = candidates();
        for (Map<String, String> settings : Stream.concat(changes(candidates, 1), changes(candidates, 2))
                .limit(BAG_TRIES_MAX)
                .toList()) {
            recompute(settings, "TRUE");
            if (wanted.equals(table.sum(connection, AuditedTable.Stretch.ALL))) {
                return true;
            }
        }
        return false;
    }

    private List<String> odd(Map<String, String> wanted, Collection<String> among) throws SQLException {
        List<String> odd = new ArrayList<>();
        List<String> all = new ArrayList<>(among);
        for (int from = 0; from < all.size(); from += BATCH) {
            List<String> some = all.subList(from, Math.min(all.size(), from + BATCH));
            Map<String, String> here = hashes(some);
            some.stream()
                    .filter(identity -> !wanted.get(identity).equals(here.get(identity)))
                    .forEach(odd::add);
        }
        return odd;
    }

    private Map<String, String> hashes(List<String> identities) throws SQLException {
        Map<String, String> hashes = new HashMap<>();
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("SELECT " + table.identity() + ", " + table.hashes() + " FROM "
                        + name() + " WHERE " + anyOf(identities))) {
            while (row.next()) {
                hashes.put(row.getString(1), row.getString(2));
            }
        }
        return hashes;
    }

    private String name() {
        return Identifiers.quoted(table.schema(), table.name());
    }

    private String anyOf(List<String> identities) {
        return identities.stream().map(table::isRow).collect(Collectors.joining(") OR (", "((", "))"));
    }

    /** @return null when none are found, or there is no such row */
    private Map<String, String> search(String sample, String wanted) throws SQLException {
        for (Map<String, String> settings : found) {
            if (tried(settings, sample, wanted) == ALL_RIGHT) {
                return settings;
            }
        }
        Map<String, String> best = Map.of();
        int most = tried(best, sample, wanted);
        int tries = 0;
        Map<String, List<String>> candidates = candidates();
        for (boolean better = true; better && tries < TRIES_MAX; ) {
            better = false;
            for (int together = 1; together <= 2 && !better; together++) {
                Iterator<Map<String, String>> all =
                        changes(candidates, together).iterator();
                while (all.hasNext() && most != ALL_RIGHT && tries++ < TRIES_MAX) {
                    Map<String, String> settings = new TreeMap<>(best);
                    settings.putAll(all.next());
                    int right = tried(settings, sample, wanted);
                    if (right > most) {
                        best = settings;
                        most = right;
                        better = true;
                    }
                }
            }
        }
        return most == ALL_RIGHT ? best : null;
    }

    /** How many columns are right under such settings. */
    private int tried(Map<String, String> settings, String sample, String wanted) throws SQLException {
        recompute(List.of(sample), settings);
        String here = hashes(List.of(sample)).get(sample);
        if (here == null || here.equals(wanted)) {
            return here == null ? -1 : ALL_RIGHT;
        }
        String[] is = here.split(",", -1);
        String[] shouldBe = wanted.split(",", -1);
        return (int) IntStream.range(1, Math.min(is.length, shouldBe.length))
                .filter(i -> is[i].equals(shouldBe[i]))
                .count();
    }

    private static Stream<Map<String, String>> changes(Map<String, List<String>> candidates, int together) {
        List<String> names = List.copyOf(candidates.keySet());
        if (together == 1) {
            return names.stream().flatMap(name -> candidates.get(name).stream().map(value -> Map.of(name, value)));
        }
        return IntStream.range(0, names.size()).boxed().flatMap(i -> IntStream.range(0, i)
                .boxed()
                .flatMap(k -> candidates.get(names.get(i)).stream().flatMap(a -> candidates.get(names.get(k)).stream()
                        .map(b -> Map.of(names.get(i), a, names.get(k), b)))));
    }

    private void recompute(List<String> identities, Map<String, String> settings) throws SQLException {
        for (int from = 0; from < identities.size(); from += BATCH) {
            recompute(settings, anyOf(identities.subList(from, Math.min(identities.size(), from + BATCH))));
        }
    }

    /** What is assigned is what is there, which also keeps ON UPDATE from changing it. */
    private void recompute(Map<String, String> settings, String where) throws SQLException {
        String same = table.columns().stream()
                .map(c -> c.quoted() + " = " + c.quoted())
                .collect(Collectors.joining(", "));
        if (!settings.isEmpty()) {
            execute(settings.entrySet().stream()
                    .map(e -> e.getKey() + " = " + e.getValue())
                    .collect(Collectors.joining(", ", "SET SESSION ", "")));
        }
        try {
            bind(settings);
            execute("UPDATE " + name() + " SET " + same + " WHERE " + where);
        } catch (SQLException e) {
            // Under these settings two rows have the same value, or one has none.
            if (e.getErrorCode() <= 0 || Objects.toString(e.getSQLState(), "").startsWith("08")) {
                throw e;
            }
        } finally {
            execute(RESTORE);
        }
    }

    /** The server is to open the table under these settings. */
    private void bind(Map<String, String> settings) throws SQLException {
        Map<String, String> binding = new TreeMap<>(settings);
        binding.keySet().retainAll(BOUND);
        if (binding.equals(bound)) {
            return;
        }
        if (other == null) {
            other = others.open();
            try (Statement statement = other.createStatement()) {
                statement.execute("SET SESSION lock_wait_timeout = " + FLUSH_SECONDS + ", sql_log_bin = 0");
            }
        }
        try (Statement statement = other.createStatement()) {
            statement.execute("FLUSH TABLES " + name());
        }
        bound = binding;
    }

    @Override
    public void close() throws SQLException {
        if (other != null) {
            other.close();
        }
    }

    private void execute(String sql) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.setEscapeProcessing(false);
            statement.execute(sql);
        }
    }

    private boolean may(String pattern) {
        Pattern uses = Pattern.compile(pattern, Pattern.CASE_INSENSITIVE);
        return table.stored().stream()
                .anyMatch(c -> uses.matcher(c.expression()).find());
    }

    private boolean mayUseTimeZone() {
        return may("from_unixtime|datetime|timestamp")
                || Stream.concat(table.columns().stream(), table.stored().stream())
                        .anyMatch(c -> c.type().equals("timestamp"));
    }

    /** Values of the settings that may matter, the most probable ones first. */
    private Map<String, List<String>> candidates() {
        Map<String, List<String>> candidates = new LinkedHashMap<>();
        if (mayUseTimeZone()) {
            candidates.put("time_zone", zones());
        }
        candidates.put("sql_mode", MODES);
        if (may("extract")) {
            candidates.put("default_week_format", numbers(7));
        }
        if (may("aes_")) {
            candidates.put("block_encryption_mode", blocks());
        }
        if (may("/")) {
            candidates.put("div_precision_increment", numbers(30));
        }
        if (may("name|format|str_to_date")) {
            candidates.put("lc_time_names", locales());
        }
        return candidates;
    }

    /** Every quarter of an hour from -13:45 to +14:00, whole hours first. */
    private static List<String> zones() {
        List<String> zones = new ArrayList<>(List.of("DEFAULT", "'+00:00'"));
        for (int minutes : new int[] {0, 30, 15, 45}) {
            for (int hour = 0; hour <= 14; hour++) {
                if (hour * 60 + minutes <= 14 * 60) {
                    zones.add(String.format("'+%02d:%02d'", hour, minutes));
                }
                if (hour < 14) {
                    zones.add(String.format("'-%02d:%02d'", hour, minutes));
                }
            }
        }
        return zones;
    }

    /** MySQL numbers them from 0, en_US, without gaps. */
    private static List<String> locales() {
        return numbers(110);
    }

    private static List<String> numbers(int last) {
        return IntStream.rangeClosed(0, last).mapToObj(Integer::toString).toList();
    }

    private static List<String> blocks() {
        List<String> modes = new ArrayList<>(List.of("DEFAULT"));
        for (String bits : List.of("128", "192", "256")) {
            for (String mode : List.of("ecb", "cbc", "cfb1", "cfb8", "cfb128", "ofb")) {
                modes.add("'aes-" + bits + "-" + mode + "'");
            }
        }
        return modes;
    }
}
