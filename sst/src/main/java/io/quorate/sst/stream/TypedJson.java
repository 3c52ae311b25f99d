// SPDX-License-Identifier: Apache-2.0
package io.quorate.sst.stream;

import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;

/**
 * A JSON value as an expression that makes it again, including dates, decimals and binary strings, which MySQL stores
 * with their types and prints as text. To find out the type of a value, the server is asked by the value's path.
 */
final class TypedJson {
    private static final int PATHS_PER_QUERY = 200;

    private final String text;
    private int at;
    private final List<Leaf> leaves = new ArrayList<>();

    /** A string or a number; its type is known once the server has been asked. */
    private static final class Leaf {
        private final String path;
        private final String token;
        private String type;

        Leaf(String path, String token) {
            this.path = path;
            this.token = token;
        }
    }

    /** Parts of the expression in order: texts, and leaves, which become text at the end. */
    private final List<Object> pieces = new ArrayList<>();

    private TypedJson(String text) {
        this.text = text;
    }

    /**
     * @param column in the form that statements take
     * @param ofRow the part of a SELECT after its select list that selects the value's row
     * @return null when there is no such expression, because the value holds something that only a column of its type
     *     makes
     */
    static String expression(Connection connection, String column, String ofRow) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.setEscapeProcessing(false);
            String text = one(statement, "SELECT HEX(CAST(" + column + " AS CHAR CHARACTER SET utf8mb4))" + ofRow);
            if (text == null) {
                return null;
            }
            TypedJson json = new TypedJson(new String(HexFormat.of().parseHex(text), StandardCharsets.UTF_8));
            json.value("$");
            json.ask(statement, column, ofRow);
            StringBuilder expression = new StringBuilder();
            for (Object piece : json.pieces) {
                expression.append(piece instanceof Leaf leaf ? made(leaf) : piece);
            }
            String same = "SELECT (" + expression + ") <=> " + column + " AND CAST(" + expression
                    + " AS CHAR CHARACTER SET utf8mb4) <=> CAST(CAST(" + column
                    + " AS CHAR CHARACTER SET utf8mb4) AS BINARY)" + ofRow;
            return "1".equals(one(statement, same)) ? expression.toString() : null;
        }
    }

    private static String one(Statement statement, String query) throws SQLException {
        try (ResultSet row = statement.executeQuery(query)) {
            return row.next() ? text(row, 1) : null;
        }
    }

    /** The session returns results as they are stored, which for these is ASCII. */
    private static String text(ResultSet row, int column) throws SQLException {
        byte[] bytes = row.getBytes(column);
        return bytes == null ? null : new String(bytes, StandardCharsets.US_ASCII);
    }

    private void ask(Statement statement, String column, String ofRow) throws SQLException {
        for (int from = 0; from < leaves.size(); from += PATHS_PER_QUERY) {
            List<Leaf> some = leaves.subList(from, Math.min(leaves.size(), from + PATHS_PER_QUERY));
            StringBuilder query = new StringBuilder("SELECT ");
            for (int i = 0; i < some.size(); i++) {
                query.append(i == 0 ? "" : ", ")
                        .append("JSON_TYPE(JSON_EXTRACT(")
                        .append(column)
                        .append(", ")
                        .append(literal(some.get(i).path))
                        .append("))");
            }
            try (ResultSet row = statement.executeQuery(query + ofRow)) {
                if (!row.next()) {
                    throw new SQLException("the row is gone");
                }
                for (int i = 0; i < some.size(); i++) {
                    some.get(i).type = text(row, i + 1);
                }
            }
        }
    }

    private static String literal(String value) {
        return "_utf8mb4 X'" + HexFormat.of().formatHex(value.getBytes(StandardCharsets.UTF_8)) + "'";
    }

    private static String made(Leaf leaf) {
        String bare = leaf.token.replace("\"", "");
        return switch (leaf.type) {
            case "DATE" -> "CAST('" + bare + "' AS DATE)";
            case "TIME" -> "CAST('" + bare + "' AS TIME(6))";
            case "DATETIME" -> "CAST('" + bare + "' AS DATETIME(6))";
            case "DECIMAL" -> "CAST('" + bare + "' AS DECIMAL(" + precision(bare) + "))";
            case "UNSIGNED INTEGER" -> "CAST(" + bare + " AS UNSIGNED)";
            case "BLOB", "OPAQUE", "BIT" -> binary(bare);
            default -> "CAST(" + literal(leaf.token) + " AS JSON)";
        };
    }

    private static String precision(String decimal) {
        String digits = decimal.replace("-", "");
        int point = digits.indexOf('.');
        int scale = point < 0 ? 0 : digits.length() - point - 1;
        return Math.max(1, digits.length() - (point < 0 ? 0 : 1)) + ", " + scale;
    }

    /** {@code base64:type<number>:<digits>}; the type of the bytes is checked when everything is compared. */
    private static String binary(String text) {
        byte[] bytes = Base64.getMimeDecoder().decode(text.substring(text.lastIndexOf(':') + 1));
        return "CAST(X'" + HexFormat.of().formatHex(bytes) + "' AS BINARY(" + bytes.length + "))";
    }

    private void value(String path) {
        switch (text.charAt(at)) {
            case '{' -> members(path);
            case '[' -> elements(path);
            default -> scalar(path);
        }
    }

    private void members(String path) {
        pieces.add("JSON_OBJECT(");
        at++;
        for (boolean first = true; text.charAt(at) != '}'; first = false) {
            skip(first);
            String key = string();
            pieces.add((first ? "" : ", ") + "JSON_UNQUOTE(" + literal(key) + "), ");
            skipSpaces();
            at++;
            skipSpaces();
            value(path + "." + key);
            skipSpaces();
        }
        at++;
        pieces.add(")");
    }

    private void elements(String path) {
        pieces.add("JSON_ARRAY(");
        at++;
        int i = 0;
        for (; text.charAt(at) != ']'; i++) {
            skip(i == 0);
            pieces.add(i == 0 ? "" : ", ");
            value(path + "[" + i + "]");
            skipSpaces();
        }
        at++;
        pieces.add(")");
    }

    private void skip(boolean first) {
        if (!first) {
            at++;
        }
        skipSpaces();
    }

    private void skipSpaces() {
        while (at < text.length() && text.charAt(at) == ' ') {
            at++;
        }
    }

    private void scalar(String path) {
        String token = text.charAt(at) == '"' ? string() : word();
        if (token.equals("null") || token.equals("true") || token.equals("false")) {
            pieces.add("CAST('" + token + "' AS JSON)");
        } else {
            Leaf leaf = new Leaf(path, token);
            leaves.add(leaf);
            pieces.add(leaf);
        }
    }

    private String string() {
        int from = at++;
        while (text.charAt(at) != '"') {
            at += text.charAt(at) == '\\' ? 2 : 1;
        }
        return text.substring(from, ++at);
    }

    private String word() {
        int from = at;
        while (at < text.length() && ",]} ".indexOf(text.charAt(at)) < 0) {
            at++;
        }
        return text.substring(from, at);
    }
}
