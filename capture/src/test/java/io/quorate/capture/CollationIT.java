// SPDX-License-Identifier: Apache-2.0
package io.quorate.capture;

import static org.assertj.core.api.Assertions.assertThat;

import io.quorate.sandbox.MySqlServer;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Holds text's comparison form against the server's own weights, for every character of the basic plane. */
@Timeout(300)
class CollationIT {
    /** Letters that some collation takes together with others. */
    private static final String[] LETTERS = {
        "a", "A", "å", "ä", "æ", "Ä", "e", "E", "é", "ø", "ö", "o", "œ", "s", "ß", "S", "c", "C", "h", "H", "l", "L",
        "n", "ñ", "j", "d", "ž", "z", "ǆ", "Ǆ", "y", "ü", "u", "i", "ı", "İ", "\u030a", "\u0301", "\u0308", "\u0303",
        "\u030c", "g", "gy", "cs", "dzs", "か", "が", "カ", "ガ", "ー", "ゝ", "\u3099", "ｶ", "ﾞ", "й", "и", "\u0306", "б",
        "Б", "中", "😀", "𝐀", "\u00ad", "-", "ﬁ", "f", "1", "¹", "①",
    };

    private static MySqlServer server;

    @BeforeAll
    static void start() {
        server = MySqlServer.builder().relaxed().start();
        server.execute(
                "CREATE DATABASE c",
                "CREATE TABLE c.n (i INT PRIMARY KEY)",
                "SET SESSION cte_max_recursion_depth = 70000",
                "INSERT INTO c.n WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 65533)"
                        + " SELECT i FROM n WHERE i < 55296 OR i > 57343");
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    /** Those whose rules differ most. */
    private static final List<String> ALWAYS = List.of(
            "utf8mb4_0900_ai_ci",
            "utf8mb4_0900_as_ci",
            "utf8mb4_general_ci",
            "utf8mb4_unicode_ci",
            "utf8mb4_ja_0900_as_cs",
            "utf8mb4_hungarian_ci",
            "latin2_czech_cs",
            "latin1_swedish_ci",
            "gbk_chinese_ci");

    /** With {@code -Dquorate.long=true}. */
    private static final List<String> MORE = List.of(
            "utf8mb4_0900_as_cs",
            "utf8mb4_unicode_520_ci",
            "utf8mb4_bin",
            "utf8mb4_zh_0900_as_cs",
            "utf8mb4_turkish_ci",
            "utf8mb4_cs_0900_ai_ci",
            "utf8mb4_hr_0900_ai_ci",
            "utf8mb4_es_trad_0900_ai_ci",
            "latin1_german2_ci",
            "cp1251_general_ci",
            "sjis_japanese_ci",
            "euckr_korean_ci",
            "utf16_general_ci",
            "utf32_unicode_ci",
            "utf8mb4_de_pb_0900_ai_ci",
            "utf8mb4_danish_ci",
            "utf8mb4_sv_0900_ai_ci",
            "utf8mb4_spanish2_ci",
            "utf8mb4_lithuanian_ci",
            "utf8mb4_roman_ci",
            "utf8mb4_vietnamese_ci",
            "utf8mb4_ja_0900_as_cs_ks",
            "utf8mb4_da_0900_ai_ci",
            "utf8mb4_hu_0900_ai_ci",
            "utf8mb4_croatian_ci",
            "utf8mb4_czech_ci",
            "utf8mb4_tr_0900_ai_ci",
            "cp1250_czech_cs",
            "dec8_swedish_ci",
            "swe7_swedish_ci",
            "utf8mb4_ru_0900_ai_ci",
            "latin1_german1_ci",
            "latin1_danish_ci",
            "latin1_general_ci",
            "latin1_spanish_ci",
            "latin2_general_ci",
            "latin2_hungarian_ci",
            "cp1250_general_ci",
            "cp1251_ukrainian_ci",
            "greek_general_ci",
            "latin5_turkish_ci",
            "latin7_general_ci",
            "koi8r_general_ci",
            "cp850_general_ci",
            "gb18030_unicode_520_ci",
            "ujis_japanese_ci",
            "big5_chinese_ci",
            "ascii_general_ci");

    /** With {@code -Dquorate.collations=all} each of the server's. */
    static Stream<String> names() {
        if (!"all".equals(System.getProperty("quorate.collations"))) {
            return Boolean.getBoolean("quorate.long") ? Stream.concat(ALWAYS.stream(), MORE.stream()) : ALWAYS.stream();
        }
        return server
                .query("SELECT COLLATION_NAME FROM information_schema.COLLATIONS WHERE COLLATION_NAME <>"
                        + " 'binary' ORDER BY 1")
                .stream()
                .map(row -> row.get(0));
    }

    @ParameterizedTest
    @MethodSource("names")
    void isNeverFinerThanTheIndex(String name) throws Exception {
        String charset = name.substring(0, name.indexOf('_'));
        Collation collation;
        Weights weights;
        try (Connection connection = server.connect()) {
            collation = SchemaCatalog.collations(connection).values().stream()
                    .filter(c -> c.name().equals(name))
                    .findAny()
                    .orElseThrow();
            weights = collation.exact() ? null : new ServerWeights().of(collation, connection);
        }
        TextForm form = new TextForm(collation, 0, weights);
        requireEqualForms(
                form,
                name,
                "SELECT CONVERT(CONVERT(UNHEX(LPAD(HEX(i), 4, '0')) USING utf16) USING " + charset
                        + ") AS s, i FROM c.n");
        // Words, for what a collation makes of letters together.
        long seed = System.nanoTime();
        Random random = new Random(seed);
        List<String> words = new ArrayList<>();
        for (int i = 0; i < 4000; i++) {
            StringBuilder word = new StringBuilder();
            for (int j = random.nextInt(3); j >= 0; j--) {
                word.append(LETTERS[random.nextInt(LETTERS.length)]);
            }
            words.add("SELECT CONVERT(CONVERT(UNHEX('"
                    + java.util.HexFormat.of().formatHex(word.toString().getBytes(StandardCharsets.UTF_8))
                    + "') USING utf8mb4) USING " + charset + ") AS s, 0 AS i");
        }
        requireEqualForms(form, name + ", seed " + seed, String.join(" UNION ALL ", words));
    }

    /** What a mark weighs depends on the character before it; here it follows every one of the basic plane. */
    @ParameterizedTest
    @Tag("long")
    @ValueSource(strings = {"utf8mb4_ja_0900_as_cs", "utf8mb4_ja_0900_as_cs_ks"})
    void weighsKanaMarksByWhatTheyFollow(String name) throws Exception {
        try (Connection connection = server.connect()) {
            Collation collation = SchemaCatalog.collations(connection).values().stream()
                    .filter(c -> c.name().equals(name))
                    .findAny()
                    .orElseThrow();
            TextForm form = new TextForm(collation, 0, new ServerWeights().of(collation, connection));
            for (String mark : List.of("309D", "309E", "30FC", "30FD", "30FE", "FF70")) {
                requireEqualForms(
                        form,
                        name + ", mark " + mark,
                        "SELECT CONVERT(CONVERT(CONCAT(UNHEX(LPAD(HEX(i), 4, '0')), UNHEX('" + mark
                                + "')) USING utf16) USING utf8mb4) AS s, i FROM c.n");
            }
        }
    }

    private static void requireEqualForms(TextForm form, String name, String texts) {
        Map<String, List<String>> byWeight = new HashMap<>();
        for (List<String> row : server.query("SELECT HEX(WEIGHT_STRING(s COLLATE " + name.replaceFirst(",.*", "")
                + ")), HEX(s) FROM (" + texts + ") x WHERE i = 63 OR s NOT LIKE '%?%'")) {
            byWeight.computeIfAbsent(row.get(0), k -> new ArrayList<>()).add(row.get(1));
        }
        report(form, name, byWeight);
        List<String> finer = new ArrayList<>();
        byWeight.forEach((weight, characters) -> {
            String first = form(form, characters.get(0));
            for (String character : characters) {
                if (!form(form, character).equals(first)) {
                    finer.add(weight + ": " + character + " and " + characters.get(0));
                }
            }
        });
        assertThat(finer).as(name + ", of " + byWeight.size() + " weights").isEmpty();
    }

    /** Pairs compared, and those that the server tells apart and the keys don't: false conflicts, no more. */
    private static void report(TextForm form, String name, Map<String, List<String>> byWeight) {
        Map<String, long[]> byForm = new HashMap<>();
        long texts = 0;
        for (List<String> equal : byWeight.values()) {
            long[] group = byForm.computeIfAbsent(form(form, equal.get(0)), f -> new long[2]);
            group[0] += equal.size();
            group[1] += pairs(equal.size());
            texts += equal.size();
        }
        long falseHits =
                byForm.values().stream().mapToLong(g -> pairs(g[0]) - g[1]).sum();
        System.out.printf(
                "%s: %d pairs, false hits 1 in %s%n",
                name, pairs(texts), falseHits == 0 ? "none" : String.valueOf(pairs(texts) / falseHits));
    }

    private static long pairs(long n) {
        return n * (n - 1) / 2;
    }

    private static String form(TextForm form, String hex) {
        byte[] bytes = java.util.HexFormat.of().parseHex(hex);
        KeyBytes out = new KeyBytes();
        form.append(bytes, 0, bytes.length, out);
        StringBuilder s = new StringBuilder();
        for (int i = 0; i < out.size(); i++) {
            s.append((char) out.at(i));
        }
        return s.toString();
    }
}
