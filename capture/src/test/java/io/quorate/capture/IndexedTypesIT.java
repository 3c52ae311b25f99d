// SPDX-License-Identifier: Apache-2.0
package io.quorate.capture;

import static org.assertj.core.api.Assertions.assertThat;

import io.quorate.core.BinlogEvents;
import io.quorate.core.WriteSet;
import io.quorate.core.binlog.Bytes;
import io.quorate.core.binlog.RowsEvent;
import io.quorate.core.binlog.TableMap;
import io.quorate.sandbox.MySqlServer;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.sql.Connection;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.Function;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Values of every type that an index takes, drawn at random: whatever the server holds equal must have one key. With
 * {@code -Dquorate.long=true} a million pairs for each type, and more types; texts are in {@link CollationIT}, and here
 * as prefixes.
 */
@Timeout(300)
class IndexedTypesIT {
    private static final boolean LONG = Boolean.getBoolean("quorate.long");
    private static final int VALUES = LONG ? 1500 : 600;

    private static MySqlServer server;
    private static CaptureFixture fixture;
    private static int tables;

    @BeforeAll
    static void start() {
        server = MySqlServer.builder().relaxed().start();
        server.execute("CREATE DATABASE v");
        fixture = new CaptureFixture(server);
    }

    @AfterAll
    static void stop() {
        fixture.close();
        server.close();
    }

    /**
     * @param prefix what of it the index holds, 0 for all
     * @param draw a literal
     */
    private record Type(String column, int prefix, Function<Random, String> draw) {
        @Override
        public String toString() {
            return column + (prefix == 0 ? "" : ", prefix " + prefix);
        }
    }

    static Stream<Type> types() {
        List<Type> types = new ArrayList<>();
        for (String[] t : new String[][] {
            {"TINYINT", "8"}, {"SMALLINT", "16"}, {"MEDIUMINT", "24"}, {"INT", "32"}, {"BIGINT", "64"}
        }) {
            int bits = Integer.parseInt(t[1]);
            types.add(new Type(t[0], 0, r -> String.valueOf(r.nextLong() >> (64 - 1 - r.nextInt(bits)))));
            types.add(new Type(
                    t[0] + " UNSIGNED", 0, r -> Long.toUnsignedString(r.nextLong() >>> (64 - 1 - r.nextInt(bits)))));
        }
        types.add(new Type("YEAR", 0, r -> r.nextInt(20) == 0 ? "0" : String.valueOf(1901 + r.nextInt(255))));
        types.add(new Type("BIT(1)", 0, r -> "b'" + r.nextInt(2) + "'"));
        types.add(new Type("BIT(12)", 0, r -> String.valueOf(r.nextInt(1 << 12))));
        types.add(new Type("BIT(64)", 0, r -> Long.toUnsignedString(r.nextLong() >>> r.nextInt(64))));
        types.add(new Type("DECIMAL(6, 3)", 0, r -> decimal(r, 3, 4)));
        types.add(new Type("DECIMAL(12, 0)", 0, r -> decimal(r, 12, 1)));
        types.add(new Type("DECIMAL(65, 30)", 0, r -> decimal(r, 30, 31)));
        types.add(new Type("FLOAT", 0, IndexedTypesIT::floating));
        types.add(new Type("DOUBLE", 0, IndexedTypesIT::floating));
        types.add(new Type("DATE", 0, r -> "'" + date(r) + "'"));
        for (int digits : LONG ? new int[] {0, 1, 3, 4, 6} : new int[] {0, 3, 6}) {
            types.add(new Type("TIME(" + digits + ")", 0, IndexedTypesIT::time));
            types.add(new Type("DATETIME(" + digits + ")", 0, r -> "'" + dateTime(r, date(r)) + "'"));
            types.add(new Type(
                    "TIMESTAMP(" + digits + ") NULL",
                    0,
                    r -> "'" + dateTime(r, LocalDate.of(1971 + 20 * r.nextInt(4), 1, 1 + r.nextInt(5))) + "'"));
        }
        types.add(new Type("ENUM('a', 'b', 'c', 'd')", 0, r -> String.valueOf(1 + r.nextInt(4))));
        types.add(new Type("SET('a', 'b', 'c', 'd', 'e')", 0, r -> String.valueOf(r.nextInt(32))));
        types.add(new Type("BINARY(6)", 0, r -> binary(r, 6)));
        types.add(new Type("VARBINARY(20)", 0, r -> binary(r, 6)));
        types.add(new Type("VARBINARY(300)", 0, r -> binary(r, 6)));
        types.add(new Type("VARBINARY(20)", 3, r -> binary(r, 6)));
        types.add(new Type("BLOB", 4, r -> binary(r, 8)));
        types.add(new Type("BINARY(6)", 2, r -> binary(r, 6)));
        List<String> collations = new ArrayList<>(List.of("utf8mb4_0900_ai_ci", "utf8mb4_bin", "latin1_german2_ci"));
        if (LONG) {
            collations.addAll(
                    List.of("utf8mb4_general_ci", "utf8mb4_ja_0900_as_cs", "latin1_swedish_ci", "utf16_unicode_ci"));
        }
        for (String collation : collations) {
            String charset =
                    " CHARACTER SET " + collation.substring(0, collation.indexOf('_')) + " COLLATE " + collation;
            types.add(new Type("VARCHAR(30)" + charset, 3, IndexedTypesIT::text));
            types.add(new Type("CHAR(10)" + charset, 4, IndexedTypesIT::text));
            types.add(new Type("TEXT" + charset, 2, IndexedTypesIT::text));
        }
        return types.stream();
    }

    private static String decimal(Random r, int whole, int scale) {
        String digits = r.nextInt(3) == 0 ? "0" : new BigInteger(1 + r.nextInt(3 * whole), r).toString();
        String cut = digits.length() > whole ? digits.substring(0, whole) : digits;
        String sign = r.nextBoolean() ? "-" : "";
        return r.nextInt(3) == 0
                ? sign + cut
                : sign + cut + "."
                        + new BigDecimal(r.nextInt(30))
                                .movePointLeft(scale - 1)
                                .toPlainString()
                                .replaceAll("[.-]", "");
    }

    private static String floating(Random r) {
        return switch (r.nextInt(5)) {
            case 0 -> "-0e0";
            case 1 -> "0e0";
            case 2 -> r.nextInt(40) - 20 + "e-1";
            case 3 -> r.nextInt(1 << 26) + "e" + (r.nextInt(60) - 40);
            default -> "-" + r.nextInt(1 << 26) + "e" + (r.nextInt(60) - 40);
        };
    }

    private static LocalDate date(Random r) {
        return r.nextInt(4) == 0
                ? LocalDate.of(1000 + r.nextInt(8999), 1 + r.nextInt(12), 1 + r.nextInt(28))
                : LocalDate.of(2024, 2, 26 + r.nextInt(4));
    }

    private static String fraction(Random r) {
        return r.nextBoolean() ? "" : "." + (r.nextBoolean() ? "%01d" : "%06d").formatted(r.nextInt(10));
    }

    private static String dateTime(Random r, LocalDate date) {
        LocalDateTime at = date.atTime(r.nextInt(4) == 0 ? 23 : 0, r.nextInt(2), r.nextInt(3));
        return at.toLocalDate() + " " + "%02d:%02d:%02d".formatted(at.getHour(), at.getMinute(), at.getSecond())
                + fraction(r);
    }

    private static String time(Random r) {
        int hours = r.nextInt(4) == 0 ? r.nextInt(838) : r.nextInt(2);
        return "'" + (r.nextBoolean() ? "-" : "") + "%02d:%02d:%02d".formatted(hours, r.nextInt(2), r.nextInt(3))
                + fraction(r) + "'";
    }

    private static String binary(Random r, int max) {
        byte[] bytes = new byte[r.nextInt(max + 1)];
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] = (byte) (r.nextInt(3) == 0 ? 0 : r.nextBoolean() ? 0x20 : 0x41 + r.nextInt(2));
        }
        return "X'" + HexFormat.of().formatHex(bytes) + "'";
    }

    private static final String[] LETTERS = {"a", "A", "ä", "Å", "s", "ß", "e", "é", "o", "æ", " ", " ", "b", "ö"};

    private static String text(Random r) {
        StringBuilder s = new StringBuilder("'");
        for (int left = r.nextInt(7); left > 0; left--) {
            s.append(LETTERS[r.nextInt(LETTERS.length)]);
        }
        return s.append('\'').toString();
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("types")
    void whatTheServerHoldsEqualHasOneKey(Type type) throws Exception {
        long seed = Long.getLong("quorate.seed", System.nanoTime());
        Random random = new Random(seed);
        String name = "t" + ++tables;
        server.execute("CREATE TABLE v." + name + " (id INT PRIMARY KEY, x " + type.column + ")");
        StringBuilder insert = new StringBuilder("INSERT IGNORE INTO v." + name + " VALUES ");
        for (int i = 0; i < VALUES; i++) {
            insert.append(i == 0 ? "(" : ", (")
                    .append(i)
                    .append(", ")
                    .append(type.draw.apply(random))
                    .append(')');
        }
        WriteSet w = fixture.captureOne("SET time_zone = '+00:00', NAMES utf8mb4", insert.toString());
        long[] hashes = hashes(w, type);
        int[] classes = classes(name, type);
        Map<Integer, Long> hashOf = new HashMap<>();
        Map<Long, Map<Integer, Long>> counts = new HashMap<>();
        List<String> misses = new ArrayList<>();
        for (int i = 0; i < VALUES; i++) {
            Long first = hashOf.putIfAbsent(classes[i], hashes[i]);
            if (first != null && first != hashes[i]) {
                misses.add(i + " and " + classes[i]);
            }
            counts.computeIfAbsent(hashes[i], h -> new HashMap<>()).merge(classes[i], 1L, Long::sum);
        }
        long falseHits = 0;
        for (Map<Integer, Long> c : counts.values()) {
            long all = c.values().stream().mapToLong(n -> n).sum();
            falseHits += pairs(all)
                    - c.values().stream().mapToLong(IndexedTypesIT::pairs).sum();
        }
        System.out.printf("%s: %d pairs, %d values, %d false hits%n", type, pairs(VALUES), hashOf.size(), falseHits);
        assertThat(misses).as("%s, seed %d", type, seed).isEmpty();
        assertThat(hashOf.size()).as("different values").isGreaterThan(1).isLessThan(VALUES + 1);
    }

    private static long pairs(long n) {
        return n * (n - 1) / 2;
    }

    /** By id, as the capture would have them with a unique index on the column. */
    private static long[] hashes(WriteSet w, Type type) throws Exception {
        TableDefinition.Part part = new TableDefinition.Part("x", type.prefix);
        TableDefinition definition = new TableDefinition(
                0,
                0,
                List.of(
                        new TableDefinition.Index("PRIMARY", List.of(new TableDefinition.Part("id", 0))),
                        new TableDefinition.Index("x", List.of(part))),
                false,
                List.of(),
                List.of(),
                List.of(),
                List.of(),
                List.of(),
                false);
        long[] hashes = new long[VALUES];
        try (Connection connection = server.connect()) {
            ComparisonForms forms =
                    new ComparisonForms(SchemaCatalog.collations(connection), new ServerWeights(), connection);
            byte[] b = w.payload().toArray();
            TablePlan plan = null;
            RowKeys rowKeys = new RowKeys();
            for (int at = 0; at < b.length; at += BinlogEvents.length(b, at)) {
                if (BinlogEvents.type(b, at) == BinlogEvents.TABLE_MAP) {
                    plan = TablePlan.of(TableMap.read(b, at, BinlogEvents.length(b, at)), definition, forms);
                    continue;
                }
                RowsEvent rows = new RowsEvent(plan.map, b, at);
                while (rows.next()) {
                    int id = Bytes.i32(b, rows.after().start(0));
                    hashes[id] = rowKeys.hash(b, rows.after(), plan.keys[1]);
                }
            }
        }
        return hashes;
    }

    /** By id, the lowest id of those that the server holds equal. */
    private static int[] classes(String name, Type type) {
        String value = type.prefix == 0 ? "%s.x" : "LEFT(%s.x, " + type.prefix + ")";
        int[] classes = new int[VALUES];
        List<List<String>> rows = server.query("SELECT a.id, MIN(b.id) FROM v." + name + " a JOIN v." + name + " b ON "
                + value.formatted("a") + " = " + value.formatted("b") + " GROUP BY a.id");
        assertThat(rows).hasSize(VALUES);
        rows.forEach(row -> classes[Integer.parseInt(row.get(0))] = Integer.parseInt(row.get(1)));
        return classes;
    }
}
