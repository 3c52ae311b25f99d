// SPDX-License-Identifier: Apache-2.0
package io.quorate.capture;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.text.Normalizer;
import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Asks the server for the weights of characters under its collations ({@code WEIGHT_STRING}), once for each collation
 * that a key uses: about half a second each. Weights of a released collation never change, so this object outlives
 * connections.
 */
final class ServerWeights {
    /** The planes with letters; the others hold ideographs of one weight each. */
    private static final int CHARACTERS = 0x20000;

    private static final int FIRST_IDEOGRAPH_BEYOND = 0x20000;

    private static final String PAIRS = "SELECT a, b, WEIGHT_STRING(CONVERT(CONVERT(UNHEX(CONCAT(LPAD(HEX(a), 8, '0'),"
            + " LPAD(HEX(b), 8, '0'))) USING utf32) USING %1$s) COLLATE %2$s) FROM (VALUES ";

    private static final String UNICODE = "WITH RECURSIVE n(i) AS"
            + " (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < " + FIRST_IDEOGRAPH_BEYOND + "),"
            + " c(i, h) AS (SELECT i, LPAD(HEX(i), 8, '0') FROM n WHERE i < 55296 OR i > 57343),"
            + " s(i, h, s) AS (SELECT i, h, CONVERT(CONVERT(UNHEX(h) USING utf32) USING %1$s) FROM c)"
            + " SELECT i, 0, WEIGHT_STRING(s COLLATE %2$s), CAST(s AS BINARY) FROM s WHERE HEX(CONVERT(s USING"
            + " utf32)) = h";

    private static final String SINGLE_BYTES = "WITH RECURSIVE n(i) AS"
            + " (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 255)"
            + " SELECT i, 0, WEIGHT_STRING(CONVERT(UNHEX(LPAD(HEX(i), 2, '0')) USING %1$s) COLLATE %2$s) FROM n";

    private static final String SINGLE_BYTE_PAIRS = "WITH RECURSIVE n(i) AS"
            + " (SELECT 65 UNION ALL SELECT i + 1 FROM n WHERE i < 122)"
            + " SELECT a.i, b.i, WEIGHT_STRING(CONVERT(UNHEX(CONCAT(HEX(a.i), HEX(b.i))) USING %1$s) COLLATE %2$s)"
            + " FROM n a, n b WHERE (a.i <= 90 OR a.i >= 97) AND (b.i <= 90 OR b.i >= 97)";

    /**
     * In Hungarian up to four of these are one letter, and a double letter may be written in two ways: they are left
     * out of the comparison.
     */
    private static final String HUNGARIAN_GROUPS = "cdglnstyz";

    /** First and last of each block: full width, small ones for Ainu, circled, squared words, half width, historic. */
    private static final int[][] KANA = {
        {0x3041, 0x30ff}, {0x31f0, 0x31ff}, {0x32d0, 0x32fe}, {0x3300, 0x3357}, {0xff66, 0xff9f}, {0x1b000, 0x1b001}
    };

    /** The characters that lengthen or repeat the kana before them, full width and half width. */
    private static final int[] KANA_MARKS = {0x309d, 0x309e, 0x30fc, 0x30fd, 0x30fe, 0xff70};

    private final Map<String, Weights> known = new ConcurrentHashMap<>();

    /** The weights under a collation. */
    Weights of(Collation collation, Connection connection) throws SQLException {
        Weights weights = known.get(collation.name());
        if (weights == null) {
            weights = load(collation, connection);
            known.put(collation.name(), weights);
        }
        return weights;
    }

    private static Weights load(Collation collation, Connection connection) throws SQLException {
        try (Statement s = connection.createStatement()) {
            s.execute("SET SESSION cte_max_recursion_depth = " + 2 * CHARACTERS);
        }
        if (collation.singleByte()) {
            Weights weights = new Weights(256);
            read(collation, connection, SINGLE_BYTES, r -> weights.add(r.getInt(1), weight(collation, r)));
            read(collation, connection, SINGLE_BYTE_PAIRS, r -> addPair(collation, r, weights));
            return weights;
        }
        Weights weights = new Weights(CHARACTERS);
        boolean unicode = collation.unicode();
        read(collation, connection, UNICODE, r -> {
            if (!unicode) {
                weights.addCode(r.getBytes(4), weight(collation, r));
            } else if (r.getInt(1) == FIRST_IDEOGRAPH_BEYOND) {
                weights.unknown(weight(collation, r));
            } else {
                weights.add(r.getInt(1), weight(collation, r));
            }
        });
        if (unicode) {
            read(collation, connection, PAIRS + unicodePairs() + ") AS p(a, b)", r -> addPair(collation, r, weights));
        }
        if (collation.hungarian()) {
            weights.drop(HUNGARIAN_GROUPS);
        }
        return weights;
    }

    /**
     * Pairs that some collation may treat as one letter: letters of the Latin alphabets, kana and the marks that
     * lengthen or repeat them, and every letter with a mark for which Unicode also has a single character.
     */
    private static String unicodePairs() {
        StringBuilder rows = new StringBuilder();
        for (int first = 'A'; first <= 'z'; first++) {
            for (int second = 'A'; second <= 0x17f; second++) {
                if (Character.isLetter(first) && Character.isLetter(second)) {
                    addRow(first, second, rows);
                }
            }
        }
        for (int[] block : KANA) {
            for (int kana = block[0]; kana <= block[1]; kana++) {
                for (int mark : KANA_MARKS) {
                    addRow(kana, mark, rows);
                }
            }
        }
        for (int c = 0xc0; c < 0xac00; c++) {
            String parts = Normalizer.normalize(Character.toString(c), Normalizer.Form.NFD);
            String first = Normalizer.normalize(parts.substring(0, parts.length() - 1), Normalizer.Form.NFC);
            if (first.length() == 1) {
                addRow(first.charAt(0), parts.charAt(parts.length() - 1), rows);
            }
        }
        return rows.substring(1);
    }

    private static void addRow(int first, int second, StringBuilder rows) {
        rows.append(",ROW(").append(first).append(',').append(second).append(')');
    }

    private interface Row {
        void accept(ResultSet row) throws SQLException;
    }

    private static void addPair(Collation collation, ResultSet row, Weights weights) throws SQLException {
        weights.addPair(row.getInt(1), row.getInt(2), weight(collation, row));
    }

    private static byte[] weight(Collation collation, ResultSet row) throws SQLException {
        byte[] weight = row.getBytes(3);
        return collation.levelled() ? firstLevel(weight) : weight;
    }

    private static void read(Collation collation, Connection connection, String sql, Row row) throws SQLException {
        String query = String.format(sql, collation.charsetName(), collation.name());
        try (PreparedStatement s = connection.prepareStatement(query);
                ResultSet r = s.executeQuery()) {
            while (r.next()) {
                row.accept(r);
            }
        }
    }

    /** Levels are separated by a zero weight; weights have two bytes. */
    private static byte[] firstLevel(byte[] weight) {
        for (int i = 0; i + 1 < weight.length; i += 2) {
            if (weight[i] == 0 && weight[i + 1] == 0) {
                return Arrays.copyOf(weight, i);
            }
        }
        return weight;
    }
}
